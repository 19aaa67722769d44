"""The pieces of HTML and XML: whole lines, each with the tags around it, opening and closing.

Lines between two tags fall into runs that are whole sentences; a line that is larger than the whole
room falls into what its blocks hold, and that into sentences. A tag over several lines is one line.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern
from foreword.text.division import line_parts, line_units, rows_of
from foreword.text.needs import tag_pairs, tags_around
from foreword.text.pieces import Layout, LayoutBuilder, Over, Piece
from foreword.text.sentences import LONGEST_UNIT

# Tags inside of a sentence; every other one begins or ends something.
_INLINE = "a|abbr|b|bdi|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub"
_BLOCK_TAG = lazy_pattern(rf"</?(?!(?:{_INLINE}|sup|time|tt|u|var|wbr)\b)\w[^<>]*>", re.IGNORECASE)
_ONE_TAG = lazy_pattern(r"\s*<[^<>]*>\s*")
_OPEN_TAG = lazy_pattern(r"<[A-Za-z!?/][^<>]*\Z")
# Lines that a tag may go on over: of a drawing a path may take hundreds, which are no tag to keep.
_TAG_LINES = 24


def layout(text: str, over: Over) -> Layout:
    """The pieces of a text in a markup language."""
    rows = _whole_tags(rows_of(text))
    pairs = tag_pairs([Piece(text=row, kind="html") for row in rows])
    edges = {at for pair in pairs for at in pair}
    builder = LayoutBuilder()
    run = ""
    for at, row in enumerate(rows):
        is_long_tag = "\n" in row.rstrip()
        if at not in edges and not is_long_tag and not over(builder.start + len(run), row):
            run += row
            continue
        _add_run(builder, run, over)
        run = ""
        _add_row(builder, row, over)
    _add_run(builder, run, over)
    for at, around in tags_around(builder.pieces).items():
        builder.require(at, around)
    return builder.layout()


def _add_run(builder: LayoutBuilder, run: str, over: Over) -> None:
    """Add lines without a tag that opens or closes in another one."""
    if not run:
        return
    for unit in line_units(run):
        parts = [(unit, False)]
        if over(builder.start, unit):
            has_tags = "<" in unit
            rows = [(row, False) for row in _whole_tags(rows_of(unit))]
            parts = rows if has_tags else line_parts(unit)
        for part, torn in parts:
            builder.add(part, "html", begins="middle" if torn else "sentence")


def _add_row(builder: LayoutBuilder, row: str, over: Over) -> None:
    if not over(builder.start, row):
        has_several_tags = row.count("<") > 1
        builder.add(row, "html", begins="sentence", divisible=has_several_tags)
        return
    for block in _blocks(row):
        parts = [(block, False)]
        is_one_tag = _ONE_TAG.fullmatch(block) is not None
        if over(builder.start, block) and (not is_one_tag or len(block) > LONGEST_UNIT):
            parts = line_parts(block)
        added: list[int] = []
        for part, torn in parts:
            added += builder.add(part, "html", begins="middle" if torn else "sentence")
        if is_one_tag:  # of one without an end, as a path in a drawing, both ends come along
            for at in added:
                builder.require(at, (added[0], added[-1]))


def _whole_tags(rows: list[str]) -> list[str]:
    """The lines, those together that one tag goes on over."""
    found: list[str] = []
    waiting: list[str] = []
    for row in rows:
        waiting.append(row)
        if _OPEN_TAG.search("".join(waiting)) and len(waiting) < _TAG_LINES:
            continue
        found += ["".join(waiting)] if len(waiting) < _TAG_LINES else waiting
        waiting = []
    return found + waiting


def _blocks(row: str) -> list[str]:
    """A line as what stands between its block tags, each with those that open it."""
    found: list[str] = []
    start = 0
    for tag in _BLOCK_TAG.finditer(row):
        if not tag[0].startswith("</") and tag.start() > start:
            found.append(row[start : tag.start()])
            start = tag.start()
        elif tag[0].startswith("</"):
            found.append(row[start : tag.end()])
            start = tag.end()
    return [*found, row[start:]] if row[start:] else found
