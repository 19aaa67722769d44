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

NAMED = 2.0  # what naming the likeliest name weighs beside what a line says
OVERHEAD_TOKENS = 5  # a short line is not better for being short
OLDEST = 0.7  # of the room for what lasts goes to the oldest, the rest to the newest


class LineChoice:
    """Lines to choose among, their sizes in units, and what it is worth to name each name."""

    def __init__(
        self, lines: Sequence[CandidateLine], worth: Mapping[str, float], counter: Counter
    ) -> None:
        self.lines, self._worth, self._measure = lines, worth, counter.measure
        self._overhead = OVERHEAD_TOKENS * counter.units_per_token
        self._sizes: dict[int, int] = {}

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

    def fill(
        self, room: int, taken: Sequence[int] = (), caps: Mapping[Part, int] | None = None
    ) -> list[int]:
        """The lines taken and those to take beside them, in order of gain, within the room and
        each part's cap."""
        chosen, used, spent = list(taken), self.total(taken), self._spent(taken)
        named = {name for at in taken for name in self.lines[at].names}
        heap = [(-self._gain(at, named), at) for at in set(range(len(self.lines))) - set(taken)]
        heapify(heap)
        while heap:
            gain, at = heappop(heap)
            now = -self._gain(at, named)
            if now > gain + 1e-12:
                heappush(heap, (now, at))
                continue
            cost, part = self.size(at), PART_OF[self.lines[at].kind]
            cap = caps.get(part, room) if caps else room
            if used + cost <= room and spent[part] + cost <= cap:
                chosen.append(at)
                named.update(self.lines[at].names)
                used += cost
                spent[part] += cost
        return chosen

    def _by_age(self) -> list[int]:
        """The lasting lines, oldest first: each part is in order of time, so the first of each
        are the oldest."""
        age: dict[int, int] = {}
        seen: dict[Part, int] = dict.fromkeys(HEADINGS, 0)
        for at, line in enumerate(self.lines):
            if line.is_lasting:
                age[at] = seen[PART_OF[line.kind]]
                seen[PART_OF[line.kind]] += 1
        return sorted(age, key=lambda at: (age[at], at))

    def _spent(self, taken: Iterable[int]) -> dict[Part, int]:
        spent: dict[Part, int] = dict.fromkeys(HEADINGS, 0)
        for at in taken:
            spent[PART_OF[self.lines[at].kind]] += self.size(at)
        return spent

    def _gain(self, at: int, named: set[str]) -> float:
        line = self.lines[at]
        new = sum(self._worth.get(name, 0.0) for name in line.names if name not in named)
        return (line.weight + NAMED * new) / (self.size(at) + self._overhead)
