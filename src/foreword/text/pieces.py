"""Split a text into pieces small enough to choose among, without losing a character.

Blocks first; a block that is too long falls into sentences and lines, and what is still too long into chunks at
white space. The pieces joined are the text. Which pieces are worth keeping is the business of `weight`, `relevance`
and `choose`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from foreword.text import markdown

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]*(?:(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*|\Z)")
_STOP = re.compile(
    r"""[.!?]+["'\u201d\u2019)\]*_`]*\s+        # a Western stop, closing quotes or markup, white space
    |[\u3002\uff01\uff1f\uff1b\uff61]+["'\u201d\u2019\u300d\u300f\uff09\u3011]*\s*  # a CJK stop needs no white space
    |(?:\r\n?|\n)[ \t]*(?=\*\*|\|)    # a line that opens with a bold label or a table cell stands alone
    """,
    re.VERBOSE,
)
_ABBREVIATED = re.compile(r"(?:^|[\s(\[*_])(?:(?i:e\.g|i\.e|vs|cf|approx|incl|resp|mr|mrs|ms|dr|prof|fig|no)|[A-Z])\.$")
_NUMBERED = re.compile(r"\s*(?:[-*+>#]\s*)*[\d.]+\.\s*$")
_JOINERS = "\u200d\ufe0e\ufe0f"
_TAGS = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)
_ENDINGS = tuple("\r\n.!?:;)*_`\"'\u201d\u3002\uff01\uff1f\uff1b\uff61\u300d\u300f\uff09\u3011")
_PROSE = ("paragraph", "item", "quote")

LONGEST_LEAD = 160

Splitter = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of the text and where it starts; its kind is its block's, or `fence` for the lines around split code."""

    text: str
    kind: str
    level: int
    start: int


def split(text: str, largest: int, *, finely: bool = False) -> list[Piece]:
    """Pieces of at most `largest` characters that join to the text; `finely` makes every sentence a piece."""
    found = markdown.blocks(text) or [markdown.Block("paragraph", 0, len(text))]
    edges = [0, *(block.start for block in found[1:]), len(text)]
    pieces: list[Piece] = []
    for block, start, end in zip(found, edges, edges[1:], strict=False):
        for kind, part in _parts(text[start:end], block.kind, max(1, largest), finely):
            pieces.append(Piece(part, kind, block.level, start))
            start += len(part)
    return pieces


def sentences(text: str) -> list[str]:
    """The sentences of a text with the white space after them; `e.g.`, `1.2` and `a.b` do not end one."""
    found, start = [], 0
    for stop in _STOP.finditer(text):
        if stop.end() < len(text) and _ends_sentence(text, start, stop):
            found.append(text[start : stop.end()])
            start = stop.end()
    return [*found, text[start:]] if start < len(text) else found


def is_lead(piece: Piece) -> bool:
    """Whether a piece only leads in to what follows it."""
    return piece.text.rstrip(" \t\r\n*_").endswith((":", "\uff1a")) and len(piece.text) <= LONGEST_LEAD


def is_markup(piece: Piece) -> bool:
    """Whether a piece is nothing but a tag, a comment or decoration."""
    return piece.kind != "code" and not re.search(r"\w", _TAGS.sub("", piece.text))


def is_torn(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a piece begins in the middle of a line that was too long to keep whole."""
    return at > 0 and not pieces[at - 1].text.rstrip(" \t").endswith(_ENDINGS)


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    if stop[0][0] not in ".!?":
        return True
    if text[stop.end()].islower():
        return False
    before = text[max(start, stop.start() - 12) : stop.start() + 1]
    return not _ABBREVIATED.search(before) and not _NUMBERED.match(text[start : stop.start() + 1][:40])


def _parts(body: str, kind: str, largest: int, finely: bool) -> Iterator[tuple[str, str]]:
    """The pieces of one block as (kind, text)."""
    if finely and kind == "paragraph":
        for sentence in sentences(body):
            yield from ((kind, part) for part in _within(sentence, largest, (_lines,)))
    elif len(body) <= largest:
        if body:
            yield kind, body
    elif kind == "code" and _FENCE.match(body):
        yield from _fenced(body, largest)
    else:
        ways = (sentences, _lines) if kind in _PROSE else (_lines, sentences)
        for index, part in enumerate(_within(body, largest, ways)):
            yield ("paragraph" if index and kind == "heading" else kind), part


def _fenced(body: str, largest: int) -> Iterator[tuple[str, str]]:
    """A code block too long to stay whole: its fences as pieces of their own, so that a part can wear them."""
    rows = _lines(body)
    closed = len(rows) > 1 and _FENCE.match(rows[-1])
    inner = "".join(rows[1:-1] if closed else rows[1:])
    ends = (rows[0], rows[-1] if closed else "")
    if max(map(len, ends)) > largest:
        yield from (("code", part) for part in _within(body, largest, (_lines,)))
        return
    yield "fence", ends[0]
    yield from (("code", part) for part in _within(inner, largest, (_lines,)))
    if closed:
        yield "fence", ends[1]


def _within(text: str, largest: int, ways: tuple[Splitter, ...]) -> Iterator[str]:
    """Parts of at most `largest`, by the first way that makes them small enough; small neighbours stay together."""
    if len(text) <= largest:
        if text:
            yield text
    elif not ways:
        yield from _chunks(text, largest)
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


def _chunks(text: str, largest: int) -> Iterator[str]:
    start = 0
    while len(text) - start > largest:
        end = _break_before(text, start, start + largest)
        yield text[start:end]
        start = end
    yield text[start:]


def _break_before(text: str, start: int, end: int) -> int:
    """The last good place to break in the second half of a chunk: after white space, else between whole characters."""
    window = text[(start + end) // 2 : end]
    kept = re.search(r"\s\S*\Z", window) if not window.isalnum() else None
    if kept:
        return end - len(window) + kept.start() + 1
    for place in range(end, max(start + 1, end - 8), -1):
        if not unicodedata.combining(text[place]) and text[place] not in _JOINERS and text[place - 1] != "\u200d":
            return place
    return end
