"""Choose pieces inside a room, and write the chosen ones out in the author's order.

The selection core that the three cuts share. A piece brings along what it can't be read without:
the headings above it, the head of its table, the header of its file. Between two pieces that were
apart a mark is written, and paid for. Sizes are measured once, and only when a piece is really
tried. Where the order comes from and what the whole looks like is the business of `cut`.

Of one layout more room never gives less: pieces are tried in one order whatever the room, and what
is written never shrinks when a piece is added. So the first piece that only the larger room has
space for makes its text larger than anything the smaller room can hold. Where a larger room has
another layout, as with a line whole that the smaller one divides, it may hold a little less.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise

from foreword.section import Measure
from foreword.text.gap_marks import (
    PLAIN_KINDS,
    SMALL_GAP,
    charged_text,
    count_of,
    gap_text,
    header_of,
    is_inside_a_line,
    line_count,
    plain_mark,
)
from foreword.text.omission_mark import GAP
from foreword.text.pieces import Layout

_LITTLE = 0.01  # of the room: what is left over and smaller stays empty
# Pieces in a row that are tried without finding one that fits: past that, only crumbs would.
_MOST_MISSES = 400
# Pieces kept behind the first gap that are looked at for one with room for words, each time that a
# piece is added: nearly always the first gap has it, and in data none.
_GAPS_TRIED = 8


class PieceSizes:
    """The pieces of a layout with their sizes, measured once, and all that each needs."""

    def __init__(
        self,
        layout: Layout,
        measure: Measure,
        units_per_char: float,
        *,
        mark_first: bool = False,
    ) -> None:
        self.layout = layout
        self.measure = measure
        self.mark_first = mark_first  # the mark for the whole text stands in the first gap
        self._units_per_char = units_per_char
        self._sizes: dict[int, int] = {}
        self._closures: dict[int, tuple[int, ...]] = {}
        self._gap_units: dict[str, int] = {}
        self._between: dict[tuple[int, int], int] = {}
        self._saved: dict[tuple[int, int, int], int] = {}
        # of all pieces in front of each
        texts = [piece.text for piece in layout.pieces]
        self._chars = list(accumulate(map(len, texts), initial=0))
        self._breaks = list(accumulate([text.count("\n") for text in texts], initial=0))

    @cached_property
    def _lines(self) -> list[int]:
        """The lines that say something, of all pieces in front of each; prose does not ask."""
        counts = [line_count(piece.text) for piece in self.layout.pieces]
        return list(accumulate(counts, initial=0))

    @cached_property
    def _not_plain(self) -> list[int]:
        """How many pieces whose lines are counted are in front of each."""
        are_counted = [piece.kind not in PLAIN_KINDS for piece in self.layout.pieces]
        return list(accumulate(are_counted, initial=0))

    @cached_property
    def _unit_places(self) -> list[int]:
        """The pieces that a mark counts as something else than lines."""
        return [at for at, piece in enumerate(self.layout.pieces) if piece.unit]

    @cached_property
    def _unit_counts(self) -> dict[str, list[int]]:
        """How many of each such kind are in front of each piece."""
        pieces = self.layout.pieces
        counts: dict[str, list[int]] = {}
        for unit in {pieces[at].unit for at in self._unit_places}:
            are_of_it = [piece.unit == unit for piece in pieces]
            counts[unit] = list(accumulate(are_of_it, initial=0))
        return counts

    def without_needs(self, places: Collection[int]) -> PieceSizes:
        """The same pieces where none needs the ones at these places."""

        def without(needed: Iterable[int]) -> tuple[int, ...]:
            return tuple([at for at in needed if at not in places])

        needs = [without(needed) for needed in self.layout.needs]
        layout = replace(self.layout, needs=needs)
        return PieceSizes(layout, self.measure, self._units_per_char, mark_first=self.mark_first)

    def size(self, at: int) -> int:
        """The measured size of a piece."""
        if at not in self._sizes:
            self._sizes[at] = self.measure(self.layout.pieces[at].text)
        return self._sizes[at]

    def has_one_within(self, room: int) -> bool:
        """Whether any piece is as small as the room; what is measured for that is not remembered,
        since `could_fit` goes by what was."""
        for piece in self.layout.pieces:
            # No character has more than four bytes, and no text more units than bytes.
            if 4 * len(piece.text) <= room or self.measure(piece.text) <= room:
                return True
        return False

    def gap_units(self, first: int, end: int) -> int:
        """What the mark for a gap is charged, as far as it is known what it will say."""
        has_break = self._breaks[end] > self._breaks[first]
        count = self._count(first, end)
        text = charged_text(self.layout, first, end, count=count, has_break=has_break)
        return self._units_of(text)

    def saved_in_gap(self, first: int, end: int, last: int) -> int:
        """What is charged and not written where the mark for the whole text stands in a gap, and
        `last` is the last piece: the mark of that gap, beside one that the end then has."""
        key = (first, end, last)
        if key not in self._saved:
            saved = self._mark_units(first, end)
            stop = len(self.layout.pieces)
            if not self.is_small_gap(last, stop):
                saved += self.end_units(last) - self.gap_units(last + 1, stop)
            self._saved[key] = saved
        return self._saved[key]

    def saved_at_end(self, last: int) -> int:
        """The same where nothing is missing in front of the last piece: in an outline the mark for
        the whole text stands in the place of what is missing behind it."""
        stop = len(self.layout.pieces)
        if self.layout.shape != "outline" or self.is_small_gap(last, stop):
            return 0
        return self._mark_units(last + 1, stop)

    def _mark_units(self, first: int, end: int) -> int:
        """The mark for a gap, and the line breaks in front of one that stands behind everything."""
        return self._units_of(f"\n\n{plain_mark(self._count(first, end))}")

    def _units_of(self, text: str) -> int:
        if text not in self._gap_units:
            self._gap_units[text] = self.measure(text)
        return self._gap_units[text]

    def _count(self, first: int, end: int) -> str:
        """What the mark for a gap says is missing: of the first kind that is counted there, or
        lines, or nothing."""
        place = bisect_left(self._unit_places, first)
        if place < len(self._unit_places) and self._unit_places[place] < end:
            unit = self.layout.pieces[self._unit_places[place]].unit
            before = self._unit_counts[unit]
            return count_of(before[end] - before[first], unit)
        if self._not_plain[end] == self._not_plain[first]:
            return ""
        lines = self._lines[end] - self._lines[first]
        return count_of(lines, "line") if lines > 1 else ""

    def end_units(self, at: int) -> int:
        """What a mark behind the last piece is charged: in an outline one for what is missing
        there, else one for the rest of its line, if any."""
        if self.layout.shape == "outline" and at + 1 < len(self.layout.pieces):
            return self.gap_units(at + 1, len(self.layout.pieces))
        if at < 0 or not is_inside_a_line(self.layout.pieces[at]):
            return 0
        return self._units_of(f" {GAP}")

    def could_fit(self, at: int, room: int) -> bool:
        """Whether a piece is worth measuring: its length alone says when it is far too large."""
        # Twice the room: a piece may have fewer units to its characters than the whole text.
        usual = len(self.layout.pieces[at].text) * self._units_per_char
        return at in self._sizes or usual <= 2 * room + 8

    def between(self, before: int, behind: int) -> int:
        """What is written between two neighbours of those kept: nothing, a mark, or all of a gap
        that holds no more than its mark would."""
        pair = (before, behind)
        if pair not in self._between:
            self._between[pair] = self._units_between(before, behind)
        return self._between[pair]

    def _units_between(self, before: int, behind: int) -> int:
        if before + 1 == behind:
            adjoins = before < 0 or self.adjoins(before)
            return 0 if adjoins else self.gap_units(before, behind)
        if self.is_small_gap(before, behind):
            return sum(self.size(at) for at in range(before + 1, behind))
        if behind == len(self.layout.pieces):
            return self.end_units(before)
        return self.gap_units(before + 1, behind)

    def is_small_gap(self, before: int, behind: int) -> bool:
        """Whether a gap holds no more than its mark would."""
        if self._chars[behind] - self._chars[before + 1] > SMALL_GAP:
            return False
        return all(self.adjoins(at) for at in range(max(0, before), behind - 1))

    def closure(self, at: int) -> tuple[int, ...]:
        """A piece with all that it needs, and all that those need."""
        known = self._closures.get(at)
        if known is not None:
            return known
        found = {at}
        waiting = [at]
        while waiting:
            for other in self.layout.needs[waiting.pop()]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        closure = tuple(sorted(found))
        self._closures[at] = closure
        return closure

    def adjoins(self, at: int) -> bool:
        """Whether the next piece begins where this one ends; not so between two windows."""
        pieces = self.layout.pieces
        here = pieces[at]
        is_last = at + 1 == len(pieces)
        return is_last or here.start + len(here.text) == pieces[at + 1].start


class PieceChoice:
    """The pieces chosen so far, and the size of what will be written for them."""

    def __init__(self, sizes: PieceSizes) -> None:
        self.sizes = sizes
        self.used = 0
        self._charged = 0  # with marks that are not written in the end
        self._opening = 0  # pieces from the first on without a gap
        self.kept: list[int] = []
        self._held: set[int] = set()
        self._end = len(sizes.layout.pieces)

    def fill(self, order: Iterable[int], room: int) -> None:
        """Take pieces in the order given, each with what it needs, if they still fit."""
        misses = 0
        for at in order:
            if room - self.used <= _LITTLE * room or misses > _MOST_MISSES:
                return
            if at in self._held:
                continue
            misses = 0 if self._take(at, room) else misses + 1

    def cost(self, at: int) -> int:
        """What a piece would take by itself, with all that it needs."""
        alone = PieceChoice(self.sizes)
        return alone._add(alone._missing(at))

    def _take(self, at: int, room: int) -> bool:
        if not self.sizes.could_fit(at, room - self.used):
            return False
        missing = self._missing(at)
        before = (self._charged, self._opening, self.used)
        if self._add(missing) <= room:
            return True
        for other in missing:
            self.kept.pop(bisect_left(self.kept, other))
            self._held.discard(other)
        self._charged, self._opening, self.used = before
        return False

    def _missing(self, at: int) -> list[int]:
        return [other for other in self.sizes.closure(at) if other not in self._held]

    def _add(self, places: Sequence[int]) -> int:
        """Add pieces; returns the size of the whole."""
        sizes = self.sizes
        for at in places:
            index = bisect_left(self.kept, at)
            before = self.kept[index - 1] if index else -1
            behind = self.kept[index] if index < len(self.kept) else self._end
            if self.kept:
                self._charged -= sizes.between(before, behind)
            self._charged += sizes.between(before, at) + sizes.between(at, behind)
            self._charged += sizes.size(at)
            insort(self.kept, at)
            self._held.add(at)
        self.used = self._charged - self._saving()
        return self.used

    def _saving(self) -> int:
        """What is charged and not written, as the mark for the whole text stands in a gap."""
        kept = self.kept
        sizes = self.sizes
        while self._opening < len(kept) and not self._has_gap_before(self._opening):
            self._opening += 1
        if self._opening == len(kept):
            return sizes.saved_at_end(kept[-1])
        if not sizes.mark_first:
            return 0
        for index in range(self._opening, len(kept))[:_GAPS_TRIED]:
            if index > self._opening and not self._has_gap_before(index):
                continue
            first = kept[index - 1] + 1 if index else 0
            if _takes_words(sizes.layout, first):
                return sizes.saved_in_gap(first, kept[index], kept[-1])
        return 0

    def _has_gap_before(self, index: int) -> bool:
        before = self.kept[index - 1] if index else -1
        at = self.kept[index]
        return before + 1 < at and not self.sizes.is_small_gap(before, at)

    def runs(self) -> list[tuple[int, int]]:
        """What will be written, as runs of pieces: from the first up to the second."""
        found: list[tuple[int, int]] = []
        last = -1
        for at in self.kept:
            joins = at == last + 1 and (last < 0 or self.sizes.adjoins(last))
            if last + 1 < at and self.sizes.is_small_gap(last, at):
                joins = True
            if joins and found:
                found[-1] = (found[-1][0], at + 1)
            else:
                found.append((0 if joins else at, at + 1))
            last = at
        if found and last + 1 < self._end and self.sizes.is_small_gap(last, self._end):
            found[-1] = (found[-1][0], self._end)
        return found

    def write(self, mark: str) -> tuple[str, bool]:
        """The chosen pieces in order, a mark in every gap but the one at the end; `mark` stands in
        the first one that has room for words. Says whether it does."""
        layout = self.sizes.layout
        runs = self.runs()
        written: list[str] = []
        is_marked = not mark
        for (_, end), (start, stop) in pairwise([(0, 0), *runs]):
            if end < start:
                here = "" if is_marked or not _takes_words(layout, end) else mark
                written.append(gap_text(layout, end, start, here))
                is_marked = is_marked or bool(here)
            elif end:
                written.append(f"{GAP}\n")  # between two windows of a text
            written += [piece.text for piece in layout.pieces[start:stop]]
        return "".join(written), bool(mark) and is_marked


def _takes_words(layout: Layout, at: int) -> bool:
    """Whether the mark for the whole text may stand in the place of a piece: not inside data, and
    not in the place of a body or inside a code block, which would seem to hold all that is
    missing."""
    piece = layout.pieces[at]
    if piece.kind in ("member", "element", "string", "yaml"):
        return False
    if layout.shape == "prose" and piece.kind == "code" and piece.begins != "block":
        return False
    return layout.shape != "outline" or header_of(layout, at) < 0
