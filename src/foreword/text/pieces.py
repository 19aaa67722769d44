"""A text as pieces to choose among, and which of them can't be read without which others.

The pieces joined are the text, character for character. What is a piece depends on what the text
is: the modules of `layouts` make them. Which are worth keeping is the business of `weight` and
`relevance`, choosing that of `choose`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from foreword.pattern import lazy_pattern

__all__ = [
    "BOLD_TITLE_LEVEL",
    "LONGEST_LEAD",
    "Begins",
    "Layout",
    "LayoutBuilder",
    "Over",
    "Piece",
    "Shape",
    "ends_in_colon",
    "is_lead",
    "is_markup",
]

_WORD = lazy_pattern(r"\w")
# A line that says nothing by itself: what opens or closes a box or a condition, a place's name, a
# directive of reStructuredText with nothing in it.
BARE_MARKUP_LINE = lazy_pattern(
    r"^[ \t]*(?::::.*|\{[%{].*[%}]\}|\([\w-]+\)=|\.\. .*)[ \t]*(?:\r\n?|\n|\Z)", re.MULTILINE
)
_TAGS = lazy_pattern(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)

LONGEST_LEAD = 160  # characters: a longer line that ends in a colon says something for itself
BOLD_TITLE_LEVEL = 7  # of a bold line that is a title: Markdown has six levels of headings

Begins = Literal["block", "sentence", "middle"]
Shape = Literal["prose", "outline", "sequence"]
Over = Callable[[int, str], bool]
"""Whether what stands at an offset is larger than the whole room, so that it has to be divided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of the text that stays or goes whole, and where it starts.

    It begins with its block, with a sentence or line inside it, or in the middle of one too long to
    keep whole.
    """

    text: str
    kind: str
    level: int = 0
    start: int = 0
    begins: Begins = "block"
    rank: int = 1  # of an outline: lower ranks are kept first
    unit: str = ""  # what a mark counts it as, where lines would say less
    # falls into smaller pieces where it is larger than the whole room
    divisible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """The pieces of a text, what each needs, and how a smaller form of it is shaped."""

    pieces: list[Piece]
    needs: list[tuple[int, ...]]
    shape: Shape = "prose"
    comment: str = ""  # what opens a comment, where a mark must be one to leave the text readable


@dataclass(slots=True)
class LayoutBuilder:
    """A layout under way: pieces are added in the order of the text."""

    start: int = 0
    pieces: list[Piece] = field(default_factory=list)
    needs: list[tuple[int, ...]] = field(default_factory=list)

    def add(
        self,
        text: str,
        kind: str,
        *,
        needs: Sequence[int] = (),
        level: int = 0,
        begins: Begins = "block",
        rank: int = 1,
        unit: str = "",
        divisible: bool = False,
    ) -> list[int]:
        """Add a piece; returns its place, or nothing where there is no text."""
        if not text:
            return []
        piece = Piece(
            text=text,
            kind=kind,
            level=level,
            start=self.start,
            begins=begins,
            rank=rank,
            unit=unit,
            divisible=divisible,
        )
        self.pieces.append(piece)
        self.needs.append(tuple(needs))
        self.start += len(text)
        return [len(self.pieces) - 1]

    def embed(self, layout: Layout, *, needs: Sequence[int] = (), level: int = 0) -> list[int]:
        """Add the pieces of a text inside this one; returns their places."""
        first = len(self.pieces)
        offset = self.start
        for piece, needed in zip(layout.pieces, layout.needs, strict=True):
            begins: Begins = "middle" if piece.begins == "middle" else "sentence"
            self.pieces.append(
                replace(piece, start=offset + piece.start, begins=begins, level=level)
            )
            self.needs.append((*needs, *[first + at for at in needed]))
            self.start += len(piece.text)
        return list(range(first, len(self.pieces)))

    def require(self, at: int, others: Iterable[int]) -> None:
        """Let a piece need others as well."""
        more = [other for other in others if other != at]
        self.needs[at] = tuple(dict.fromkeys([*self.needs[at], *more]))

    def layout(self, shape: Shape = "prose", comment: str = "") -> Layout:
        """What was added, as a layout."""
        return Layout(pieces=self.pieces, needs=self.needs, shape=shape, comment=comment)


def is_lead(piece: Piece) -> bool:
    """Whether a piece only leads in to what follows it."""
    return ends_in_colon(piece.text) and len(piece.text) <= LONGEST_LEAD


def ends_in_colon(text: str) -> bool:
    """Whether what is said goes on in what follows."""
    return text.rstrip(" \t\r\n*_").endswith((":", "\uff1a"))


def is_markup(piece: Piece) -> bool:
    """Whether a piece is nothing but a tag, a comment, the edge of a box or decoration."""
    if piece.kind == "code":
        return (
            piece.text.startswith(".. ")
            and BARE_MARKUP_LINE.fullmatch(piece.text.strip()) is not None
        )
    text = _TAGS.sub("", piece.text) if "<" in piece.text else piece.text
    return _WORD.search(text) is None or BARE_MARKUP_LINE.fullmatch(text.strip()) is not None
