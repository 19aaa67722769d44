"""Choose lines for a room: what weighs most for its size, and names what no line taken before has
named.

Greedy with a heap: a line's gain only falls as others are taken, so a line is looked at again only
when it comes to the top. What an earlier summary found worth lasting has part of the room to
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from foreword.session.summary.candidate_lines import CandidateLine
from foreword.session.summary.summary_text import HEADINGS, PART_OF, Part
from foreword.tokens import Counter

# What naming the likeliest name weighs beside what a line says. Chosen as `draft.LINE_SHARES`: at 8
# four of 100 whole lines that are needed later are lost, 14 and 20 differ by one.
NAMED = 20.0
OVERHEAD_TOKENS = 5  # added to the size of every line: a short one is not better for being short
OLDEST = 0.7  # of the room for what lasts goes to the oldest, the rest to the newest
# what the user demands; what was decided or tried in vain
STATEMENTS = (("constraint",), ("decision", "failure"))
# Lines one after another that are too long for what is left of a room, until it counts as full: the
# next ones gain little, and to try thousands takes a tenth of a second.
MOST_MISFITS = 100
ROUNDING = 1e-12  # gains that differ by less are the same


class LineChoice:
    """Lines to choose among, their sizes in units, and what it is worth to name each name."""

    def __init__(
        self, lines: Sequence[CandidateLine], worth: Mapping[str, float], counter: Counter
    ) -> None:
        self.lines = lines
        self._worth = worth
        self._measure = counter.measure
        self._overhead = OVERHEAD_TOKENS * counter.units_per_token
        self._sizes: dict[int, int] = {}
        self._first_gains: list[tuple[float, int]] = []

    def size(self, at: int) -> int:
        """The size of a line as it will be written; measured once."""
        if at not in self._sizes:
            self._sizes[at] = self._measure(f"- {self.lines[at].text}\n")
        return self._sizes[at]

    def total(self, places: Iterable[int]) -> int:
        """The size of several lines."""
        return sum(map(self.size, places))

    def lasting(self, room: int) -> list[int]:
        """The lines that outlive this compression: the oldest first, then the newest; the middle
        gives way."""
        places = self._by_age()
        taken: dict[int, None] = {}
        used = 0
        for order, limit in ((places, int(OLDEST * room)), (places[::-1], room)):
            for at in order:
                if at not in taken and used + self.size(at) <= limit:
                    taken[at] = None
                    used += self.size(at)
        return list(taken)

    def statements(self, room: int, taken: Sequence[int]) -> list[int]:
        """The lines taken, and of each kind of statement those that weigh most for their size,
        whatever they name: a rule that names nothing would never be worth its room beside a line
        of names."""
        chosen = dict.fromkeys(taken)
        for kinds in STATEMENTS:
            stated = [at for at, line in enumerate(self.lines) if line.kind in kinds]
            used = 0
            for at in sorted(stated, key=lambda at: (-self._weight_for_size(at), at)):
                if at not in chosen and used + self.size(at) <= room:
                    chosen[at] = None
                    used += self.size(at)
        return list(chosen)

    def fill(self, room: int, taken: Sequence[int] = ()) -> list[int]:
        """The lines taken and those to take beside them, in order of gain, within the room."""
        filling = self.filling(taken)
        filling.fill(room)
        return filling.taken

    def filling(self, taken: Sequence[int]) -> Filling:
        """A room to be filled, with these lines in it."""
        if not self._first_gains:
            nothing = set[str]()
            self._first_gains = [(-self.gain(at, nothing), at) for at in range(len(self.lines))]
            heapify(self._first_gains)
        return Filling(self, taken, self._first_gains.copy())

    def _by_age(self) -> list[int]:
        """The lasting lines, oldest first: each part is in order of time, so the first of each
        are the oldest."""
        age: dict[int, int] = {}
        count: dict[Part, int] = dict.fromkeys(HEADINGS, 0)
        for at, line in enumerate(self.lines):
            if line.is_lasting:
                part = PART_OF[line.kind]
                age[at] = count[part]
                count[part] += 1
        return sorted(age, key=lambda at: (age[at], at))

    def _weight_for_size(self, at: int) -> float:
        return self.lines[at].weight / (self.size(at) + self._overhead)

    def gain(self, at: int, named: set[str]) -> float:
        """What a line says and names for its size, beside what is named already."""
        line = self.lines[at]
        new = sum(self._worth.get(name, 0.0) for name in line.names if name not in named)
        return (line.weight + NAMED * new) / (self.size(at) + self._overhead)


class Filling:
    """A room that is filled with lines, again and again as there is more of it.

    The heap holds what each line gains at most, negative, since heapq takes the smallest first.
    """

    def __init__(
        self, choice: LineChoice, taken: Iterable[int], heap: list[tuple[float, int]]
    ) -> None:
        self.taken = list(taken)
        self.size = choice.total(self.taken)
        self._choice = choice
        self._heap = heap
        self._is_taken = set(self.taken)
        self._named = set[str]()
        self._size_by_part: dict[Part, int] = dict.fromkeys(HEADINGS, 0)
        for at in self.taken:
            self._note(at)

    def fill(self, room: int, caps: Mapping[Part, int] | None = None) -> None:
        """Take lines in order of gain, within the room and each part's cap; what does not fit may
        do so the next time."""
        misfits = list[tuple[float, int]]()
        in_a_row = 0
        while self._heap and in_a_row < MOST_MISFITS:
            negative_gain, at = heappop(self._heap)
            if at in self._is_taken:
                continue
            cost = self._choice.size(at)
            part = PART_OF[self._choice.lines[at].kind]
            cap = caps.get(part, room) if caps else room
            if self._size_by_part[part] + cost > cap:
                misfits.append((negative_gain, at))
                continue
            if self.size + cost > room:
                misfits.append((negative_gain, at))
                in_a_row += 1
                continue
            negative_now = -self._choice.gain(at, self._named)
            if negative_now > negative_gain + ROUNDING:
                heappush(self._heap, (negative_now, at))
                continue
            in_a_row = 0
            self.taken.append(at)
            self._is_taken.add(at)
            self.size += cost
            self._note(at)
        self._heap += misfits
        heapify(self._heap)

    def _note(self, at: int) -> None:
        line = self._choice.lines[at]
        self._named.update(line.names)
        self._size_by_part[PART_OF[line.kind]] += self._choice.size(at)
