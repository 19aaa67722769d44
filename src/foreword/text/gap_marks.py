"""What stands in the place of pieces that were left out: one mark for each gap.

A mark is `[...]`, with a count where that says more: `[... 12 lines]`, `[... 3 hunks]`. Inside JSON
it is a member of its own and inside YAML a comment, so that both stay what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foreword.pattern import lazy_pattern
from foreword.text.omission_mark import CUT_START, GAP
from foreword.text.pieces import Layout, Piece
from foreword.text.quantity import quantity

# Characters: a gap that holds no more is written as it was, for its mark would hardly be shorter.
SMALL_GAP = 16
# Pieces that are looked at for an indent: a comment may be three, and a blank line one.
_LOOKED_AT = 5
_PLURALS = {"entry": "entries"}
_INDENT = lazy_pattern(r"(?>(?:[ \t]*+(?:\#[^\n]*+)?\r?\n)*)(?P<indent>[ \t]*+)(?=\S)")
_OUTER = lazy_pattern(r"\s*?(?P<indent>[ \t]*+)(?=\S)")
# White space at the end of a piece: line breaks, and what the next line is indented by. A line of
# spaces between is a line of a diff.
_TAIL = lazy_pattern(r"(?P<breaks>[ \t]*(?:\r?\n)*)\s*?(?P<indent>[ \t]*)\Z")
# Kinds of pieces that may end inside a line, at the end of a sentence or a statement.
_LINE_KINDS = ("paragraph", "item", "quote", "html", "entry", "code")
# What is missing of these is not counted in lines.
PLAIN_KINDS = ("paragraph", "item", "quote", "heading", "html", "rule", "fence", "string")


def gap_text(layout: Layout, first: int, end: int, mark: str = "") -> str:
    """What is written in place of the pieces from `first` up to `end`; `mark` instead of the one
    for such a gap."""
    if not mark and _leaves_body(layout, first, end):
        behind = _end_of_body(layout, first)
        body = _text_of_gap(layout, first, behind)
        return body + _text_of_gap(layout, behind, end)
    return _text_of_gap(layout, first, end, mark)


def _text_of_gap(layout: Layout, first: int, end: int, mark: str = "") -> str:
    missing = layout.pieces[first:end]
    if missing[0].kind in ("member", "element"):
        mark = _as_member(layout, first, end)
    return _mark_text(
        missing[0],
        missing[-1],
        mark or _mark(layout, first, end),
        indent=_indent(layout.pieces, first),
        comment=layout.comment,
        line_break=_line_break(
            layout,
            first,
            end,
            has_break=any("\n" in piece.text for piece in missing),
            has_own_line=bool(mark),
        ),
    )


def _leaves_body(layout: Layout, first: int, end: int) -> bool:
    """Whether a gap begins inside of a definition and ends outside: one mark for both, in the place
    of the body, would say that all of it was in there."""
    piece = layout.pieces[first]
    if layout.shape != "outline" or piece.kind != "code" or piece.unit:
        return False
    header = header_of(layout, first)
    return header >= 0 and not _is_inside(layout, end - 1, header)


def header_of(layout: Layout, at: int) -> int:
    """The line of the innermost definition that a piece is inside of, or -1."""
    return max([other for other in layout.needs[at] if other < at], default=-1)


def _end_of_body(layout: Layout, first: int) -> int:
    """The first piece behind one that is not inside of the same definition."""
    header = header_of(layout, first)
    at = first + 1
    while _is_inside(layout, at, header):
        at += 1
    return at


def _is_inside(layout: Layout, at: int, header: int) -> bool:
    """Whether a piece needs a header, or needs what needs it, as the rest of a docstring does."""
    waiting = [at]
    seen = {at}
    while waiting:
        for other in layout.needs[waiting.pop()]:
            if other == header:
                return True
            if other > header and other not in seen:
                seen.add(other)
                waiting.append(other)
    return False


def _line_break(
    layout: Layout, first: int, end: int, *, has_break: bool, has_own_line: bool = False
) -> str:
    """What parts the mark for a gap from what stands behind it, where that was on another line and
    does not begin it; quotes that close stay with theirs."""
    pieces = layout.pieces
    is_closed = end < len(pieces) and pieces[end].kind == "closing"
    if is_closed or not has_break:
        return ""
    if pieces[end - 1].kind not in _LINE_KINDS:
        return "\n"
    is_beside = first > 0 and is_inside_a_line(pieces[first - 1])
    if not is_beside and not has_own_line:
        return ""  # the mark stands on the line of what is behind it
    return f"\n{GAP} "


def is_inside_a_line(piece: Piece) -> bool:
    """Whether a line of prose goes on behind a piece."""
    ends_line = piece.text.rstrip(" \t").endswith(("\n", "\r"))
    return piece.kind in _LINE_KINDS and not ends_line


def charged_text(layout: Layout, at: int, end: int, *, count: str, has_break: bool) -> str:
    """About what will be written in place of the pieces from `at` up to `end`, where the mark says
    `count`."""
    first = layout.pieces[at]
    mark = plain_mark(count)
    if first.kind in ("member", "element"):
        mark = f'"{mark}",' if first.kind == "element" else f'"{mark}": null,'
    if _leaves_body(layout, at, end):
        mark = f"{mark}\n{mark}"
    return _mark_text(
        first,
        layout.pieces[end - 1],
        mark,
        indent=_indent(layout.pieces, at),
        comment=layout.comment,
        line_break=_line_break(layout, at, end, has_break=has_break),
    )


def _mark_text(
    first: Piece, last: Piece, mark: str, *, indent: str, comment: str, line_break: str
) -> str:
    """A mark with the indent of what is missing in front of it, and the space behind; parts of two
    lines never become one."""
    found = _TAIL.match(last.text, len(last.text.rstrip()))
    tail = found["breaks"] + found["indent"] if found else ""
    if line_break and "\n" not in tail:
        tail = line_break
    before = indent if first.begins != "middle" else ""
    if first.kind in ("yaml", "settings"):
        comment = "# "
    return f"{before}{comment}{mark}{tail}"


def _indent(pieces: Sequence[Piece], at: int) -> str:
    """What the first line from here on that says something is indented by: comments stand
    anywhere, so that of those alone the line behind them tells."""
    for piece in pieces[at : at + _LOOKED_AT]:
        found = _INDENT.match(piece.text)
        if found:
            return found["indent"]
    outer = _OUTER.match(pieces[at].text)
    return outer["indent"] if outer else ""


def _as_member(layout: Layout, first: int, end: int) -> str:
    """A member of an object, or an element of a list, that says how many are missing."""
    missing = layout.pieces[first:end]
    value = ": null" if missing[0].kind == "member" else ""
    comma = "," if missing[-1].text.rstrip().endswith(",") else ""
    return f'"{_mark(layout, first, end)}"{value}{comma}'


def _mark(layout: Layout, first: int, end: int) -> str:
    counts = _units(layout, first, end)
    if counts:
        return f"{CUT_START}{', '.join(counts)}]"
    missing = layout.pieces[first:end]
    if all(piece.kind in PLAIN_KINDS for piece in missing):
        return GAP
    # Of all together: parts of one line are one.
    lines = line_count("".join([piece.text for piece in missing]))
    return f"{CUT_START}{count_of(lines, 'line')}]" if lines > 1 else GAP


def _units(layout: Layout, first: int, end: int) -> list[str]:
    """How many of what is missing: parts of something that is missing itself are not counted."""
    counts: Counter[str] = Counter()
    for at in range(first, end):
        unit = layout.pieces[at].unit
        if unit and not any(first <= other < at for other in layout.needs[at]):
            counts[unit] += 1
    return [count_of(number, unit) for unit, number in counts.items()]


def plain_mark(count: str) -> str:
    """A mark that says how much is missing, if that is known."""
    return f"{CUT_START}{count}]" if count else GAP


def count_of(number: int, unit: str) -> str:
    """A number of what a mark counts: `3 hunks`."""
    return quantity(number, unit, _PLURALS.get(unit, ""))


def line_count(text: str) -> int:
    """The lines of a text that say something."""
    lines = map(str.strip, text.splitlines())
    return sum(map(bool, lines))
