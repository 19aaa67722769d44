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

from foreword.text import markdown
from foreword.text.sentences import LONGEST_UNIT, sentences, standing_lines

__all__ = ["LONGEST_LEAD", "Begins", "Piece", "is_lead", "is_markup", "sentences", "split"]

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]*(?:(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*|\Z)")
_ENTRY = re.compile(r"(?<=[\r\n])(?=\S)")
_JOINERS = "\u200d\ufe0e\ufe0f"
_TAGS = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)

LONGEST_LEAD = 160

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
    edges = [0, *(block.start for block in found[1:]), len(text)]
    pieces: list[Piece] = []
    for block, start, end in zip(found, edges, edges[1:], strict=False):
        opens = len(pieces)
        for kind, part, torn in _parts(text[start:end], block.kind, max(1, largest), finely):
            begins: Begins = "middle" if torn else "block" if len(pieces) == opens else "sentence"
            pieces.append(
                Piece(text=part, kind=kind, level=block.level, start=start, begins=begins)
            )
            start += len(part)
    return pieces


def is_lead(piece: Piece) -> bool:
    """Whether a piece only leads in to what follows it."""
    return (
        piece.text.rstrip(" \t\r\n*_").endswith((":", "\uff1a")) and len(piece.text) <= LONGEST_LEAD
    )


def is_markup(piece: Piece) -> bool:
    """Whether a piece is nothing but a tag, a comment or decoration."""
    return piece.kind != "code" and not re.search(r"\w", _TAGS.sub("", piece.text))


def _parts(body: str, kind: str, largest: int, finely: bool) -> Iterator[tuple[str, str, bool]]:
    """The pieces of one block as (kind, text, whether it begins in the middle of something)."""
    if finely and kind == "paragraph":
        for sentence in sentences(body):
            yield from ((kind, *part) for part in _within(sentence, largest, (standing_lines,)))
    elif len(body) <= largest:
        if body:
            yield kind, body, False
    elif kind == "code" and _FENCE.match(body):
        yield from _fenced(body, largest)
    else:
        for index, (part, torn) in enumerate(_within(body, largest, _WAYS.get(kind, (_lines,)))):
            yield ("paragraph" if index and kind == "heading" else kind), part, torn


def _fenced(body: str, largest: int) -> Iterator[tuple[str, str, bool]]:
    """A code block too long to stay whole: its fences as pieces of their own, so that a part can
    wear them."""
    rows = _lines(body)
    closed = len(rows) > 1 and _FENCE.match(rows[-1])
    inner = "".join(rows[1:-1] if closed else rows[1:])
    ends = (rows[0], rows[-1] if closed else "")
    if max(map(len, ends)) > LONGEST_UNIT:
        yield from (("code", *part) for part in _within(body, largest, (_lines,)))
        return
    yield "fence", ends[0], False
    yield from (("code", *part) for part in _within(inner, largest, (_lines,)))
    if closed:
        yield "fence", ends[1], False


def _within(text: str, largest: int, ways: tuple[Splitter, ...]) -> Iterator[tuple[str, bool]]:
    """Parts of at most `largest`, or whole units, with whether each begins in the middle of one;
    small ones packed."""
    if len(text) <= largest or (not ways and len(text) <= LONGEST_UNIT):
        if text:
            yield text, False
    elif not ways:
        yield from ((part, at > 0) for at, part in enumerate(_chunks(text, largest)))
    else:
        for part in _packed(ways[0](text), max(1, largest // 3)):
            yield from _within(part, largest, ways[1:])


def _packed(parts: Iterable[str], enough: int) -> Iterator[str]:
    held = ""
    for part in parts:
        if held and len(held) + len(part) > enough:
            yield held
            held = ""
        held += part
    if held:
        yield held


def _lines(text: str) -> list[str]:
    return [line for line in _LINE.findall(text) if line]


def _entries(text: str) -> list[str]:
    """The keys of front matter, each with the indented lines that belong to it."""
    return _ENTRY.split(text)


_WAYS: dict[str, tuple[Splitter, ...]] = {
    **dict.fromkeys(("paragraph", "item", "quote"), (sentences, standing_lines)),
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
    kept = re.search(r"\s\S*\Z", window) if not window.isalnum() else None
    if kept:
        return end - len(window) + kept.start() + 1
    for place in range(end, max(start + 1, end - 8), -1):
        if (
            not unicodedata.combining(text[place])
            and text[place] not in _JOINERS
            and text[place - 1] != "\u200d"
        ):
            return place
    return end
