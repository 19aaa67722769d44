"""The blocks of AsciiDoc and Org, as those of `markdown`.

In both the first sign of a line tells what it is: a title, an item, what opens a block that
a later line closes. One pass over the lines and a table of signs, no parser: what matters for a cut
is which titles stand above a line, and what has to stay together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.text.markdown import Block

__all__ = ["LANGUAGES", "blocks", "blocks_of_spans", "lines"]

_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_UNLIKE = 2  # characters that the line below a title may be longer or shorter, as AsciiDoc has it
_NEVER = lazy_pattern(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """How lines of a markup language begin."""

    title: re.Pattern[str]  # with its `sign`, whose length is the rank
    opens: re.Pattern[str]  # a block, up to the line that its `name` is closed by
    item: re.Pattern[str]
    label: re.Pattern[str]  # of what follows
    closing: Callable[[str], str] = lambda name: rf"{re.escape(name)}\s*\Z"
    begins: re.Pattern[str] = _NEVER  # a paragraph, though no blank line is in front
    underlines: str = ""  # signs of a line below a title, the highest first
    indents_code: bool = False


LANGUAGES = {
    "asciidoc": _Language(
        title=lazy_pattern(r"(?P<sign>={1,6}|\#{1,6})[ \t]+\S"),
        opens=lazy_pattern(r"(?P<name>(?P<char>[-=.*_+/])(?P=char){3,}|[|,:!]={3,}|--|```+)\s*\Z"),
        item=lazy_pattern(
            r"[ \t]*(?:(?P<depth>\*+|\.+)|-|\d+\.|<\d+>)[ \t]+\S|[ \t]*\w[^\n]*::+\s"
        ),
        label=lazy_pattern(r"\[[^\n]*\]\s*\Z|\.[^\s.]"),
        begins=lazy_pattern(r"\+\s*\Z"),
        underlines="=-~^+",
        indents_code=True,
    ),
    "org": _Language(
        title=lazy_pattern(r"(?P<sign>\*+)[ \t]+\S"),
        opens=lazy_pattern(r"[ \t]*(?i:\#\+begin_(?P<name>\w+)|:(?P<drawer>properties|logbook):)"),
        closing=lambda name: rf"(?i:[ \t]*(?:\#\+end_{re.escape(name)}\b|:end:))",
        item=lazy_pattern(r"[ \t]*(?:[-+]|\d+[.)])[ \t]+\S"),
        label=lazy_pattern(r"(?i:\#\+(?:name|caption|attr_\w+):)"),
    ),
}


def blocks(text: str, language: str) -> list[Block]:
    """The blocks of a text in order; what lies between them is only white space."""
    rows = lines(text)
    return blocks_of_spans(text, rows, _spans(rows, LANGUAGES[language]))


def lines(text: str) -> list[str]:
    """The lines of a text, each with its line break."""
    return [row for row in _LINE.findall(text) if row]


def blocks_of_spans(
    text: str, rows: Sequence[str], spans: Iterable[tuple[str, int, int, int]]
) -> list[Block]:
    """Blocks by offsets of those that are given by kind, first line, line behind the last, and
    level; a label belongs to what it labels."""
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    found: list[Block] = []
    start = -1  # of labels that wait for what they label
    for kind, first, last, level in spans:
        start = first if start < 0 else start
        if kind == "label":
            continue
        end = offsets[last - 1] + len(rows[last - 1].rstrip())
        found.append(Block(kind, offsets[start], end, level))
        start = -1
    if start >= 0:
        found.append(Block("paragraph", offsets[start], len(text.rstrip())))
    return found


def _spans(rows: Sequence[str], language: _Language) -> Iterator[tuple[str, int, int, int]]:
    """Blocks as kind, first line, line behind the last, and level."""
    at = 0
    while at < len(rows):
        if not rows[at].strip():
            at += 1
            continue
        kind, end, level = _block(rows, at, language)
        yield kind, at, end, level
        at = end


def _block(rows: Sequence[str], at: int, language: _Language) -> tuple[str, int, int]:
    """The kind of the block that begins at a line, the line behind it, and its level."""
    row = rows[at]
    title = language.title.match(row)
    if title:
        return "heading", at + 1, len(title["sign"])
    rank = _underlined_rank(rows, at, language)
    if rank:
        return "heading", at + 2, rank
    if language.label.match(row):
        return "label", at + 1, 0
    opened = language.opens.match(row)
    end = _end_of_opened(rows, at, language, opened) if opened else at
    if end > at:
        return "code", end, 0
    item = language.item.match(row)
    indent = len(row) - len(row.lstrip(" \t"))
    if indent and language.indents_code and not item:
        return "code", _end_of_indented(rows, at), 0
    end = at + 1
    while end < len(rows) and rows[end].strip() and not _begins_block(rows[end], language):
        end += 1
    depth = len(item.groupdict().get("depth") or "") if item else 0
    return "item" if item else "paragraph", end, max(indent, depth)


def _underlined_rank(rows: Sequence[str], at: int, language: _Language) -> int:
    """The rank of a title that has a line of signs below it, as long as itself; else 0."""
    if not language.underlines or at + 1 == len(rows):
        return 0
    title = rows[at].rstrip()
    below = rows[at + 1].rstrip()
    is_line = len(below) > 2 and below == below[0] * len(below)
    is_as_long = abs(len(below) - len(title)) <= _UNLIKE
    if not is_line or not is_as_long or not title[0].isalnum():
        return 0
    return language.underlines.find(below[0]) + 1


def _begins_block(row: str, language: _Language) -> bool:
    patterns = (language.title, language.opens, language.item, language.begins)
    return any(pattern.match(row) for pattern in patterns)


def _end_of_opened(rows: Sequence[str], at: int, language: _Language, opened: re.Match[str]) -> int:
    """The line behind the one that closes what this line opens, or this one where none does."""
    name = next(group for group in opened.groupdict().values() if group)
    closing = re.compile(language.closing(name))
    depth = 1
    for end in range(at + 1, len(rows)):
        again = language.opens.match(rows[end])
        if closing.match(rows[end]):
            depth -= 1
        elif again and again[0].strip() == opened[0].strip():
            depth += 1
        if not depth:
            return end + 1
    return at


def _end_of_indented(rows: Sequence[str], at: int) -> int:
    end = at + 1
    last = end
    while end < len(rows) and (not rows[end].strip() or rows[end][0] in " \t"):
        end += 1
        if rows[end - 1].strip():
            last = end
    return last
