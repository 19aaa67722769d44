"""The block structure of a Markdown text, as character offsets into the author's own text.

Reads structure only: inline markup is never parsed and nothing is ever rendered. A text too large
to parse, or one that the parser chokes on, is read line by line instead (`lines`). How blocks
become pieces is the business of `pieces`; what to keep is that of `cut`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.text import lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Characters. What is larger is mostly a log or data, whose lines tell enough; the rough reader
# takes time in proportion to the text, and a hostile one can't make it take more.
LARGEST_PARSED = 400_000

_FRONT_MATTER = lazy_pattern(
    r"\ufeff?---[ \t]*(?:\r\n?+|\n)(?![ \t]*[\r\n])"  # with a blank line behind it, it is a rule
    r"(?:[^\r\n]*+(?:\r\n?+|\n))*?(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)"
)
_ATX = lazy_pattern(r"[ \t]{0,3}#{1,6}(?:[ \t]++|$)|(?<![ \t])[ \t]++#++[ \t]*+$")
_TITLE_FIRST = lazy_pattern(r"(?>(?:[ \t]*+\n)*)(?P<heading> {0,3}#{1,6}[ \t]++[^\r\n]++)")
# The lines that may make or hide a heading: those with a `#`, a fence, the mark of a quote or a tag
# in front, and what may be the line under a title.
_MARKED_LINE = lazy_pattern(
    r"""^(?:
    \#{1,6}(?:[ \t][^\n]*)?$
    | ```+[^`\n]*$ | ~~~+[^\n]*$
    | [ ]{1,3}(?:\#|```|~~~)
    | [ ]*\t
    | [ ]{0,3}<
    | (?<=[^\n]\n)[ ]{0,3}(?:=+|-+)[ \t]*$
    )""",
    re.MULTILINE | re.VERBOSE,
)
_RULE_FIRST = ("---", "\ufeff---")  # behind a byte order mark, too
_LEAVES = {"fence": "code", "code_block": "code", "html_block": "html", "hr": "rule"}


@dataclass(frozen=True, slots=True)
class Block:
    """One block: `level` is a heading's rank, an item's depth, and 1 for the body rows of a
    table."""

    kind: str
    start: int
    end: int
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading and its section: the heading starts at `start`, its body at `body`, the section
    stops at `end`."""

    level: int
    title: str
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class _Span:
    """A block in line numbers, before it has offsets."""

    kind: str
    first: int
    last: int
    level: int


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order; what lies between them is only white space."""
    starts = lines.starts(text)
    if len(text) > LARGEST_PARSED:
        spans = _scan(text)
    else:
        skipped, matter = _front_matter(text)
        try:
            spans = matter + list(_parse(text, starts, skipped))
        except (RecursionError, ValueError, IndexError, KeyError, TypeError):
            spans = _scan(text)
    return list(_place(text, starts, spans))


def headings(text: str) -> list[Heading]:
    """The headings of a text with their sections; a `#` inside a code fence is not one."""
    found = _plain_headings(text)
    if found is None:
        found = [block for block in blocks(text) if block.kind == "heading"]
    ends = _section_ends(found, len(text))
    return [
        Heading(
            level=block.level,
            title=_title(text[block.start : block.end]),
            start=block.start,
            body=block.end,
            end=end,
        )
        for block, end in zip(found, ends, strict=True)
    ]


def _plain_headings(text: str) -> list[Block] | None:
    """The headings of a text in which only a parser could find others than lines with a `#` in
    front; None for all other texts. To load the parser takes longer than many a command."""
    if len(text) > LARGEST_PARSED or "\r" in text or text.startswith(_RULE_FIRST):
        return None
    found: list[Block] = []
    fence = ""  # what opened the code that this line is in
    for line in _MARKED_LINE.finditer(text):
        mark = line[0]
        if fence and mark.lstrip(" ").startswith(fence[:3]):
            if mark.startswith(" "):
                return None
            if mark.startswith(fence) and not mark.strip(f"{fence[0]} \t"):
                fence = ""
        elif fence:
            continue
        elif mark.startswith("#"):
            level = len(mark) - len(mark.lstrip("#"))
            found.append(Block("heading", line.start(), line.start() + len(mark.rstrip()), level))
        elif mark.startswith(("```", "~~~")):
            fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
        else:
            return None
    return found


def under_heading(text: str, title: str) -> str | None:
    """What stands under a heading, up to the next one of its rank or higher, byte for byte; None
    without it."""
    heading = _find(text, title)
    return None if heading is None else lines.strip_blank_lines(text[heading.body : heading.end])


def without_span(text: str, start: int, end: int) -> str:
    """The text without what stands between two places; at its end, no blank lines are left."""
    before = text[:start]
    after = text[end:]
    if after:
        return before + after
    kept = before.rstrip()
    return before[: len(kept) + len(lines.first_break(before[len(kept) :]))]


def first_title(text: str) -> str:
    """The title of the first heading, or nothing; where a text begins with it, no parser is
    needed."""
    beginning = _TITLE_FIRST.match(text)
    if beginning is not None:
        return _title(beginning["heading"])
    found = headings(text)
    return found[0].title if found else ""


def _find(text: str, title: str) -> Heading | None:
    wanted = _key(title)
    for heading in headings(text):
        if _key(heading.title) == wanted:
            return heading
    return None


def _key(title: str) -> str:
    return " ".join(re.sub(r"[*_`]+", "", title).casefold().rstrip(" :").split())


def _title(heading: str) -> str:
    rows = heading.splitlines()
    if rows[0].lstrip().startswith("#"):
        return _ATX.sub("", rows[0]).strip()
    return " ".join(row.strip() for row in rows[:-1])


def _section_ends(found: list[Block], end: int) -> list[int]:
    ends = [end] * len(found)
    waiting: list[int] = []
    for index, block in enumerate(found):
        while waiting and found[waiting[-1]].level >= block.level:
            ends[waiting.pop()] = block.start
        waiting.append(index)
    return ends


def _front_matter(text: str) -> tuple[int, list[_Span]]:
    match = _FRONT_MATTER.match(text) if text.startswith(_RULE_FIRST) else None
    if match is None:
        return 0, []
    count = lines.count(match[0])
    return count, [_Span("front_matter", 0, count, 0)]


def _scan(text: str) -> list[_Span]:
    return [_Span(kind, first, last, level) for kind, first, last, level in lines.scan(text)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _parse(text: str, starts: list[int], skipped: int) -> Iterator[_Span]:
    rest = text[starts[skipped] :] if skipped < len(starts) else ""
    for span in _spans(_parser().parse(rest)):
        yield _Span(span.kind, span.first + skipped, span.last + skipped, span.level)


def _spans(tokens: list[Token]) -> Iterator[_Span]:
    """One span for each token that opens a block of ours; what is nested in a quote belongs to
    the quote."""
    depth = 0
    quoted = 0
    in_item = False
    for token in tokens:
        if token.type.startswith("blockquote"):
            if token.nesting == 1 and not quoted:
                yield _span("quote", token, depth)
            quoted += token.nesting
            in_item = False  # what follows a quote in an item is a paragraph of its own
        elif quoted:
            continue
        elif token.type == "list_item_open":
            yield _span("item", token, depth)
            depth += 1
            in_item = True
        elif token.type == "list_item_close":
            depth -= 1
            in_item = False
        elif token.type == "paragraph_open":
            if not in_item:
                yield _span("paragraph", token, depth)
        else:
            span = _leaf(token, depth)
            if span:
                yield span
                in_item = False


def _leaf(token: Token, depth: int) -> _Span | None:
    if token.type == "heading_open":
        return _span("heading" if not depth else "paragraph", token, int(token.tag[1]))
    if token.type == "thead_open" and token.map:
        return _Span("table", token.map[0], token.map[0] + 2, 0)
    if token.type == "tr_open":
        return _span("table", token, 1)
    kind = _LEAVES.get(token.type)
    return _span(kind, token, depth) if kind else None


def _span(kind: str, token: Token, level: int) -> _Span:
    first, last = token.map or [0, 0]
    return _Span(kind, first, last, level)


def _place(text: str, starts: list[int], spans: Iterable[_Span]) -> Iterator[Block]:
    """Spans as blocks: each ends where the next begins, and lines no span claims (link
    definitions) are paragraphs."""
    done = 0
    apart = _first_on_each_line(spans)
    for index, span in enumerate(apart):
        yield from _block(text, starts, _Span("paragraph", done, span.first, 0))
        done = span.last
        if index + 1 < len(apart):
            done = min(done, apart[index + 1].first)
        yield from _block(text, starts, _Span(span.kind, span.first, done, span.level))
    yield from _block(text, starts, _Span("paragraph", done, len(starts), 0))


def _first_on_each_line(spans: Iterable[_Span]) -> list[_Span]:
    """Of spans that begin on the same line (`- - a list in a list`) the outermost."""
    by_line: dict[int, _Span] = {}
    for span in spans:
        by_line.setdefault(span.first, span)
    return list(by_line.values())


def _block(text: str, starts: list[int], span: _Span) -> Iterator[Block]:
    if span.first >= min(span.last, len(starts)):
        return
    start = starts[span.first]
    stop = starts[span.last] if span.last < len(starts) else len(text)
    body = text[start:stop]
    padded = lines.strip_blank_lines(body)
    if padded.strip():
        start += body.index(padded)
        yield Block(span.kind, start, start + len(padded), span.level)
