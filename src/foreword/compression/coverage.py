"""Choose lines and names by what they add for their size: one order, of which a budget takes the
beginning.

Each name and word is worth something once; a line that mentions it earns all of that, a list of
names a share. Whatever adds most for its size comes next, so the order does not depend on the
budget, and a larger one keeps all that a smaller one kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from foreword.compression.candidate_lines import CandidateLine
from foreword.compression.summary_text import (
    CUT,
    NAMES_TAG,
    SEPARATOR,
    TAGS,
    Part,
    SummaryLine,
    bullet,
    opening,
    shorten_line,
    write,
)
from foreword.tokens import Counter

# What mentioning the likeliest name is worth beside the weight of a line. On 17 real compactions
# and 82 sessions of two projects (mean of nine figures 88.1): 20 loses 2.6 points, 60 0.8.
NAMED = 130.0
# What a name in the list is worth beside one in a line: at 0.5 2 points of the mean are lost, at
# 1.0 half of the whole lines.
LISTED = 0.9
LINE_OVERHEAD = 7.0  # tokens added to the size of a line: a short one is not better for being short
NAME_OVERHEAD = 7.0  # the same for a name: 6 loses two whole lines of 100, 9 two names
LEAST_CUT_TOKENS = 6  # of the line that does not fit: less of it says nothing
ROUNDING = 1e-12  # gains that differ by less are the same


@dataclass(slots=True, kw_only=True)
class Coverage:
    """Candidates, what their names and words are worth, and the room in units."""

    lines: Sequence[CandidateLine]
    names: Mapping[str, float]
    words: Mapping[str, float]
    first: Sequence[str]  # names that come before everything else
    room: int
    counter: Counter
    _taken: list[int] = field(default_factory=list)
    _listed: dict[str, int] = field(default_factory=dict)  # sizes
    _earned: dict[object, float] = field(default_factory=dict)  # shares of names, words, templates
    _said: str = ""

    def text(self) -> str:
        """Return the summary: the beginning of the order that fits the room."""
        measure = self.counter.measure
        lines, names = self._choose()
        text = write(lines, names)
        while (lines or names) and measure(text) > self.room:
            if names:
                names = names[:-1]
            else:
                lines = lines[:-1]
            text = write(lines, names)
        return text if measure(text) <= self.room else ""

    def _choose(self) -> tuple[list[SummaryLine], list[str]]:
        measure = self.counter.measure
        used = measure(f"<{NAMES_TAG}>\n\n</{NAMES_TAG}>\n")
        open_parts = set[Part]()
        cut_line: tuple[int, str] | None = None
        for name in self.first:
            used += self._list(name, self.room - used)
        for place, name in self._order():
            if name:
                size = self._list(name, self.room - used)
                if size < 0:
                    break
                used += size
                continue
            line = self.lines[place]
            frame = 0
            if line.part not in open_parts:
                frame = measure(f"{opening(line.part)}</{TAGS[line.part]}>\n")
            size = frame + measure(bullet(line.text))
            size -= sum(self._listed.get(name, 0) for name in line.names)
            if used + size > self.room:
                cut_line = (place, self._beginning(line.text, self.room - used - frame))
                break
            open_parts.add(line.part)
            used += size
            self._take(place)
        texts = {place: self.lines[place].text for place in self._taken}
        if cut_line is not None and cut_line[1]:
            texts[cut_line[0]] = cut_line[1]
        lines = [SummaryLine(self.lines[place].part, texts[place]) for place in sorted(texts)]
        return lines, list(self._listed)

    def _order(self) -> Iterable[tuple[int, str]]:
        """Return lines by their place, and names, whatever adds most for its size first. A gain
        only falls as others are taken, so each is looked at again only when it comes to the top."""
        per_token = self.counter.units_per_token
        measure = self.counter.measure
        items = list[tuple[int, str]]()
        sizes = list[float]()
        for place, line in enumerate(self.lines):
            items.append((place, ""))
            sizes.append(measure(bullet(line.text)) + LINE_OVERHEAD * per_token)
        for name in self.names:
            if SEPARATOR in name:
                continue
            items.append((-1, name))
            sizes.append(measure(f"{SEPARATOR}{name}") + NAME_OVERHEAD * per_token)

        def gain(at: int) -> float:
            place, name = items[at]
            value = self._name_gain(name) if name else self._line_gain(self.lines[place])
            return value / sizes[at]

        heap = [(-gain(at), at) for at in range(len(items))]
        heapify(heap)
        while heap:
            negative, at = heappop(heap)
            now = gain(at)
            if now <= ROUNDING:
                continue
            if -now > negative + ROUNDING:
                heappush(heap, (-now, at))
            else:
                yield items[at]

    def _line_gain(self, line: CandidateLine) -> float:
        earned = self._earned
        new = 0.0
        for name in line.names:
            new += self.names.get(name, 0.0) * (1 - earned.get(name, 0.0))
        if line.template in earned:  # another line says the same but for names and numbers
            return NAMED * new
        for word in line.words:
            if ("word", word) not in earned:
                new += self.words.get(word, 0.0)
        return line.weight + NAMED * new

    def _name_gain(self, name: str) -> float:
        return NAMED * self.names[name] * max(0.0, LISTED - self._earned.get(name, 0.0))

    def _take(self, place: int) -> None:
        line = self.lines[place]
        self._taken.append(place)
        self._said += f"\n{line.text}"
        self._earned[line.template] = 1.0
        self._earned.update(dict.fromkeys(line.names, 1.0))
        self._earned.update(dict.fromkeys([("word", word) for word in line.words], 1.0))
        for name in line.names:
            self._listed.pop(name, None)

    def _list(self, name: str, left: int) -> int:
        """List a name and return its size, 0 where something said has it, -1 without room."""
        self._earned[name] = 1.0
        if name in self._said:
            return 0
        size = self.counter.measure(f"{SEPARATOR}{name}")
        if size > left:
            return -1
        self._listed[name] = size
        self._said += f"\n{name}"
        self._earned[name] = LISTED
        return size

    def _beginning(self, text: str, left: int) -> str:
        """Return as much of a line as there is room for, or nothing."""
        longest = len(text)
        while longest > len(CUT):
            cut = shorten_line(text, longest)
            over = self.counter.measure(bullet(cut)) - left
            if over <= 0:
                is_telling = self.counter.count(cut) >= LEAST_CUT_TOKENS
                return cut if is_telling and cut.endswith(CUT) else ""
            longest = min(longest, len(cut)) - max(1, round(over))
        return ""
