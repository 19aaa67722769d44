"""Split a text into pieces small enough to choose among, without losing a character.

Blocks first; a block that is too long falls into its sentences or lines, and these stay whole,
however small the pieces are meant to be: only what no reader would call a sentence any more falls
into chunks at white space. The pieces joined are the text. Where sentences end is in `sentences`;
which pieces are worth keeping is the business of `weight`, `relevance` and `choose`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.text import markdown
from foreword.text.sentences import LONGEST_UNIT, sentences, unwrapped_lines

__all__ = ["LONGEST_LEAD", "Begins", "Piece", "is_lead", "is_markup", "sentences", "split"]

_FENCE = lazy_pattern(r"[ \t]*(?:```|~~~)")
_LINE = lazy_pattern(r"[^\r\n]*(?:(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*|\Z)")
_ENTRY = lazy_pattern(r"(?<=[\r\n])(?=\S)")
_ZERO_WIDTH_JOINER = "\u200d"
_JOINERS = _ZERO_WIDTH_JOINER + "\ufe0e\ufe0f"
_LONGEST_CLUSTER = 8  # characters that make one, as a family of four does; after that it is torn
_TAGS = lazy_pattern(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)

LONGEST_LEAD = 160  # characters: a longer line that ends in a colon says something for itself

Begins = Literal["block", "sentence", "middle"]
Splitter = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of the text and where it starts; its kind is its block's, or `fence` for the lines
    around split code.

    It begins with its block, with a sentence or line inside it, or in the middle of one too long to
    keep whole.
    """

    text: str
    kind: str
    level: int
    start: int
    begins: Begins = "block"


def split(text: str, largest: int, *, finely: bool = False) -> list[Piece]:
    """Pieces that join to the text, of about `largest` characters or one sentence; `finely`
    parts all sentences."""
    found = markdown.blocks(text) or [markdown.Block("paragraph", 0, len(text))]
    starts = [0, *[block.start for block in found[1:]]]
    ends = [*starts[1:], len(text)]
    pieces: list[Piece] = []
    for block, start, end in zip(found, starts, ends, strict=True):
        at = start
        for kind, part, torn in _parts(text[start:end], block.kind, max(1, largest), finely):
            begins: Begins = "block" if at == start else "sentence"
            if torn:
                begins = "middle"
            pieces.append(Piece(text=part, kind=kind, level=block.level, start=at, begins=begins))
            at += len(part)
    return pieces


def is_lead(piece: Piece) -> bool:
    """Whether a piece only leads in to what follows it."""
    ends_in_colon = piece.text.rstrip(" \t\r\n*_").endswith((":", "\uff1a"))
    return ends_in_colon and len(piece.text) <= LONGEST_LEAD


def is_markup(piece: Piece) -> bool:
    """Whether a piece is nothing but a tag, a comment or decoration."""
    return piece.kind != "code" and not re.search(r"\w", _TAGS.sub("", piece.text))


def _parts(body: str, kind: str, largest: int, finely: bool) -> Iterator[tuple[str, str, bool]]:
    """The pieces of one block as (kind, text, whether it begins in the middle of something)."""
    if finely and kind == "paragraph":
        for sentence in sentences(body):
            for part, torn in _within(sentence, largest, (unwrapped_lines,)):
                yield kind, part, torn
    elif len(body) <= largest:
        if body:
            yield kind, body, False
    elif kind == "code" and _FENCE.match(body):
        yield from _fenced(body, largest)
    else:
        ways = _WAYS.get(kind, (_lines,))
        for index, (part, torn) in enumerate(_within(body, largest, ways)):
            # Only the first part of a heading too long for one still has its `#`.
            yield ("paragraph" if index and kind == "heading" else kind), part, torn


def _fenced(body: str, largest: int) -> Iterator[tuple[str, str, bool]]:
    """A code block too long to stay whole: its fences as pieces of their own, so that a part can
    wear them."""
    rows = _lines(body)
    is_closed = len(rows) > 1 and _FENCE.match(rows[-1]) is not None
    opening = rows[0]
    closing = rows[-1] if is_closed else ""
    has_fences = max(len(opening), len(closing)) <= LONGEST_UNIT  # longer than that, it is no fence
    inner = body
    if has_fences:
        inner = "".join(rows[1:-1] if is_closed else rows[1:])
        yield "fence", opening, False
    for part, torn in _within(inner, largest, (_lines,)):
        yield "code", part, torn
    if has_fences and is_closed:
        yield "fence", closing, False


def _within(text: str, largest: int, ways: tuple[Splitter, ...]) -> Iterator[tuple[str, bool]]:
    """Parts of at most `largest`, or whole units, with whether each begins in the middle of one;
    small ones packed."""
    if len(text) <= largest or (not ways and len(text) <= LONGEST_UNIT):
        if text:
            yield text, False
    elif not ways:
        for index, chunk in enumerate(_chunks(text, largest)):
            yield chunk, index > 0
    else:
        for part in _join_small(ways[0](text), max(1, largest // 3)):
            yield from _within(part, largest, ways[1:])


def _join_small(parts: Iterable[str], enough: int) -> Iterator[str]:
    """The parts, neighbours joined as long as they are not longer than `enough` together."""
    joined = ""
    for part in parts:
        if joined and len(joined) + len(part) > enough:
            yield joined
            joined = ""
        joined += part
    if joined:
        yield joined


def _lines(text: str) -> list[str]:
    return [line for line in _LINE.findall(text) if line]


def _entries(text: str) -> list[str]:
    """The keys of front matter, each with the indented lines that belong to it."""
    return _ENTRY.split(text)


_WAYS: dict[str, tuple[Splitter, ...]] = {
    "paragraph": (sentences, unwrapped_lines),
    "item": (sentences, unwrapped_lines),
    "quote": (sentences, unwrapped_lines),
    "front_matter": (_entries,),
}


def _chunks(text: str, largest: int) -> Iterator[str]:
    start = 0
    while len(text) - start > largest:
        end = _break_before(text, start, start + largest)
        yield text[start:end]
        start = end
    yield text[start:]


def _break_before(text: str, start: int, end: int) -> int:
    """The last good place to break in the second half of a chunk: after white space, else
    between whole characters."""
    window = text[(start + end) // 2 : end]
    last_word = re.search(r"\s\S*\Z", window) if not window.isalnum() else None
    if last_word:
        return end - len(window) + last_word.start() + 1
    for place in range(end, max(start + 1, end - _LONGEST_CLUSTER), -1):
        if not _belongs_to_the_one_before(text, place):
            return place
    return end


def _belongs_to_the_one_before(text: str, place: int) -> bool:
    """Whether a character is an accent, or part of an emoji made of several."""
    char = text[place]
    if unicodedata.combining(char) or char in _JOINERS:
        return True
    return text[place - 1] == _ZERO_WIDTH_JOINER
