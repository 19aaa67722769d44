"""The blocks of reStructuredText, as those of `markdown`: titles by their lines, items, directives.

One pass over the lines, no parser of its own: what matters for a cut is where blocks begin and end,
and which titles stand above them. A directive with all that is indented below it is one block of
code, and a label belongs to what it labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foreword.pattern import lazy_pattern
from foreword.text import line_markup
from foreword.text.markdown import Block

_SIGNS = lazy_pattern(r"([!-/:-@\[-`{-~])\1{2,}\s*\Z")
_EXPLICIT = lazy_pattern(r"\.\.(?:\s|\Z)|__ ")
_LABEL = lazy_pattern(r"\.\. _[^\n]*:\s*\Z|\.\. index::")
_ITEM = lazy_pattern(r"(?P<indent>[ \t]*)(?:[-*+•]|#\.|\(?(?:\d{1,4}|[A-Za-z])[.)])[ \t]+\S")
_TABLE = lazy_pattern(r"[ \t]*(?:\+[-=+]{3,}|={2,}(?: +={2,})+)\s*\Z")


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order; what lies between them is only white space."""
    rows = line_markup.lines(text)
    return line_markup.blocks_of_spans(text, rows, _spans_with_levels(rows))


def _spans_with_levels(rows: Sequence[str]) -> Iterator[tuple[str, int, int, int]]:
    styles: list[str] = []  # of titles, the highest first: a text says by their order what ranks
    for kind, first, last, style in _spans(rows):
        if kind != "heading":
            yield kind, first, last, _indent(rows[first])
            continue
        if style not in styles:
            styles.append(style)
        yield kind, first, last, styles.index(style) + 1


def _spans(rows: Sequence[str]) -> Iterator[tuple[str, int, int, str]]:
    """Blocks as kind, first line, line behind the last, and of a title its style."""
    at = 0
    while at < len(rows):
        if not rows[at].strip():
            at += 1
            continue
        style, end = _title(rows, at)
        kind = "heading"
        if not style:
            kind, end = _plain_block(rows, at)
        yield kind, at, end, style
        at = end


def _title(rows: Sequence[str], at: int) -> tuple[str, int]:
    """The signs of the title that begins at a line, and the line behind it; none where it is
    none."""
    has_overline = _SIGNS.match(rows[at]) is not None
    title = at + has_overline
    if title + 1 >= len(rows) or not rows[title].strip():
        return "", at
    underline = rows[title + 1].rstrip()
    if not _SIGNS.match(underline) or _SIGNS.match(rows[title]):
        return "", at
    if has_overline and underline != rows[at].rstrip():
        return "", at
    if not has_overline and len(underline) < len(rows[title].rstrip()):
        return "", at
    return underline[0] * (1 + has_overline), title + 2


def _plain_block(rows: Sequence[str], at: int) -> tuple[str, int]:
    """The kind of the block that begins at a line, and the line behind it."""
    row = rows[at]
    indent = _indent(row)
    if _LABEL.match(row):
        return "label", at + 1
    if _EXPLICIT.match(row.lstrip()):
        return "code", _end_of_deeper(rows, at + 1, indent)
    if _TABLE.match(row):
        return "code", _end_of_table(rows, at)
    item = _ITEM.match(row) is not None or _is_term(rows, at)
    end = at + 1
    while end < len(rows) and rows[end].strip():
        is_next = _ITEM.match(rows[end]) is not None or _title(rows, end)[0] != ""
        if item and (is_next or _indent(rows[end]) <= indent):
            break
        end += 1
    if item:
        return "item", end
    # What is indented stands below a paragraph that ends in `::`, or in an item.
    if indent and _is_literal(rows, at, indent):
        return "code", _end_of_deeper(rows, end, indent - 1)
    return "paragraph", end


def _is_term(rows: Sequence[str], at: int) -> bool:
    """Whether a line is defined by the deeper ones right below it."""
    if at + 1 >= len(rows) or not rows[at + 1].strip():
        return False
    return _indent(rows[at + 1]) > _indent(rows[at])


def _is_literal(rows: Sequence[str], at: int, indent: int) -> bool:
    """Whether the block in front, which is less indented, says that code follows."""
    before = at - 1
    while before >= 0 and not rows[before].strip():
        before -= 1
    return before >= 0 and _indent(rows[before]) < indent and rows[before].rstrip().endswith("::")


def _end_of_deeper(rows: Sequence[str], at: int, indent: int) -> int:
    """The line behind all lines from here on that are deeper, blank ones between included."""
    end = at
    while at < len(rows) and (not rows[at].strip() or _indent(rows[at]) > indent):
        at += 1
        if rows[at - 1].strip():
            end = at
    return end


def _end_of_table(rows: Sequence[str], at: int) -> int:
    """The line behind a table: a blank one may be inside, up to its last line of signs."""
    is_grid = rows[at].lstrip().startswith("+")
    end = at + 1
    last = at + 1
    while end < len(rows) and (rows[end].strip() or not is_grid):
        end += 1
        if _TABLE.match(rows[end - 1]):
            last = end
            if not is_grid and (end == len(rows) or not rows[end].strip()):
                break
    return end if is_grid else last


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" \t"))
