"""Choose pieces by score inside a room, and write the chosen ones out in the author's order.

The selection core that the three cuts share. A piece brings along what it can't be read without:
the headings above it, the head of its table, the fences of its code. Sizes are measured once, and
only when a piece is really tried. Where the scores come from and what the whole looks like is the
business of `cut`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from foreword.section import Measure
from foreword.text.needs import needs
from foreword.text.omission_mark import GAP
from foreword.text.pieces import Piece


class PieceChoice:
    """The pieces chosen so far, what they bring along, and their size in units."""

    def __init__(
        self, pieces: Sequence[Piece], measure: Measure, units_per_char: float, *, gaps: bool
    ) -> None:
        self.pieces = pieces
        self.picked: dict[int, None] = {}
        self.used = 0
        self._measure = measure
        self._units_per_char = units_per_char
        self._gaps = gaps
        self._gap_units = measure(f"\n{GAP}\n")
        self._needs = needs(pieces)
        self._breaks = _Breaks(pieces)
        self._held: Counter[int] = Counter()
        self._sizes: dict[int, int] = {}
        self._shortened: dict[int, str] = {}
        self._torn: set[int] = set()

    @property
    def kept(self) -> list[int]:
        """Every piece that will be written, in order."""
        return sorted(at for at, holders in self._held.items() if holders)

    def holds(self, at: int) -> bool:
        """Whether a piece will be written, for itself or because another needs it."""
        return self._held[at] > 0

    def fill(self, order: Iterable[int], room: int) -> None:
        """Take pieces in the order given, each if it still fits."""
        for at in order:
            if at in self.picked or not self._could_fit(at, room - self.used):
                continue
            if self.used + self.cost(at) <= room:
                self.add(at)

    def run(self, order: Iterable[int], goal: int, room: int) -> None:
        """Take pieces in the order given up to the goal, or just past it where that is nearer."""
        for at in order:
            passed = self.used + self.cost(at) - goal
            if passed > max(0, goal - self.used) or passed > room - goal:
                return
            self.add(at)

    def add(self, at: int) -> None:
        """Take a piece and what it needs."""
        self.used += self.cost(at)
        self.picked[at] = None
        self._held.update((at, *self._needs[at]))

    def drop(self, at: int) -> None:
        """Give a piece up, and what only it needed."""
        del self.picked[at]
        self._held.subtract((at, *self._needs[at]))
        self.used -= self.cost(at)
        self._forget(at)

    def shorten(self, at: int, part: str, *, torn: bool = True) -> None:
        """Take the opening part of a piece; one that is torn ends in dots."""
        self._forget(at)
        self._shortened[at] = part
        if torn:
            self._torn.add(at)
        self.add(at)

    def cost(self, at: int) -> int:
        """What taking a piece would add."""
        units = 0
        for index in (at, *self._needs[at]):
            if not self._held[index]:
                units += self.size(index)
        lonely = not (self._held[at - 1] or self._held[at + 1])
        if lonely and (self._gaps or self._goes_on(at)):
            units += self._gap_units
        return units

    def size(self, at: int) -> int:
        """The measured size of a piece as it would be written."""
        if at not in self._sizes:
            self._sizes[at] = self._measure(self.text(at))
        return self._sizes[at]

    def text(self, at: int) -> str:
        """A piece as it would be written."""
        return self._shortened.get(at) or self.pieces[at].text

    def write(self, gap: Callable[[int, bool], str]) -> str:
        """The chosen pieces in order; `gap(n, evident)` is the line for the nth place where
        something is missing."""
        written: list[str] = []
        gaps = 0
        for at, following in pairwise([*self.kept, len(self.pieces)]):
            if at not in self._shortened and following == at + 1 and self._adjoins(at):
                written.append(self.text(at))
                continue
            line = ""
            if not self._is_slight(at, following):
                line = gap(gaps, self._is_evident(at, following))
            if line:
                gaps += 1
            elif self._goes_on(following):
                line = GAP
            tail = " ..." if not line and self._ends_early(at) else ""
            ending = _with_gap_line(line, self._breaks.between(at, following))
            written.append(self.text(at).rstrip() + tail + ending)
        return "".join(written)

    def _ends_early(self, at: int) -> bool:
        """Whether a piece, as it is written, stops in the middle of a sentence or line."""
        if at in self._shortened:
            return at in self._torn
        return self._adjoins(at) and self._goes_on(at + 1)

    def _goes_on(self, at: int) -> bool:
        """Whether a piece begins in the middle of a sentence or line."""
        return at < len(self.pieces) and self.pieces[at].begins == "middle"

    def _is_slight(self, at: int, following: int) -> bool:
        """Whether nothing worth a word is missing: only a rule, or only the end, which has its
        own mark."""
        if following == len(self.pieces):
            return True
        if at in self._shortened or not self._adjoins(at):
            return False
        return all(piece.kind == "rule" for piece in self.pieces[at + 1 : following])

    def _is_evident(self, at: int, following: int) -> bool:
        """Whether a reader expects something to be missing here: after a heading, or between the
        rows of a table."""
        kind = self.pieces[at].kind
        return kind == "heading" or (kind == "table" and self.pieces[following].kind == "table")

    def _adjoins(self, at: int) -> bool:
        """Whether the next piece begins where this one ends; not so between two windows."""
        here = self.pieces[at]
        is_last = at + 1 == len(self.pieces)
        return is_last or here.start + len(here.text) == self.pieces[at + 1].start

    def _could_fit(self, at: int, room: int) -> bool:
        """Whether a piece is worth measuring: its length alone says when it is far too large."""
        # Twice the room: a piece may have fewer units to its characters than the whole text.
        usual = len(self.pieces[at].text) * self._units_per_char
        return at in self._sizes or usual <= 2 * room + 8

    def _forget(self, at: int) -> None:
        self._shortened.pop(at, None)
        self._torn.discard(at)
        self._sizes.pop(at, None)


class _Breaks:
    """How two pieces with others missing between them are parted: as the author parted what
    stood there."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        # For each place, the last piece in front of it that ends so.
        self._line = [-1]
        self._blank = [-1]
        self._space = [-1]
        self._newline = "\r\n" if any("\r\n" in piece.text for piece in pieces[:50]) else "\n"
        for at, piece in enumerate(pieces):
            tail = piece.text[len(piece.text.rstrip()) :]
            self._space.append(at if tail else self._space[-1])
            self._line.append(at if "\n" in tail or "\r" in tail else self._line[-1])
            self._blank.append(at if tail.count("\n") > 1 else self._blank[-1])

    def between(self, at: int, following: int) -> str:
        """The white space that parts two pieces: blank line, line break, or the space between
        sentences."""
        if self._blank[following] >= at:
            return self._newline * 2
        if self._line[following] >= at:
            return self._newline
        return " " if self._space[following] >= at else ""


def _with_gap_line(line: str, joint: str) -> str:
    """What parts two pieces, with the line for what is missing between them, if there is one."""
    newline = "\r\n" if "\r" in joint else "\n"
    if not line:
        return joint or newline
    if line == GAP and not joint.strip(" "):
        return f" {line} "
    return newline + line + (joint.strip(" ") or newline)
