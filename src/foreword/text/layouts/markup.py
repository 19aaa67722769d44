"""The pieces of HTML and XML: whole lines, each with the tags around it, opening and closing.

Lines between two tags fall into runs that are whole sentences; a line that is larger than the whole
room falls into its tags and the words between them.
"""

from __future__ import annotations

from foreword.pattern import lazy_pattern
from foreword.text.division import line_units, rows_of
from foreword.text.needs import tag_pairs, tags_around
from foreword.text.pieces import Layout, LayoutBuilder, Over, Piece

_TAG_OR_WORDS = lazy_pattern(r"<[^<>]*>[^<]{0,80}|[^<]+|<")


def layout(text: str, over: Over) -> Layout:
    """The pieces of a text in a markup language."""
    rows = rows_of(text)
    pairs = tag_pairs([Piece(text=row, kind="html") for row in rows])
    edges = {at for pair in pairs for at in pair}
    builder = LayoutBuilder()
    run = ""
    for at, row in enumerate(rows):
        if at not in edges and not over(builder.start + len(run), row):
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
        parts = rows_of(unit) if over(builder.start, unit) else [unit]
        for part in parts:
            builder.add(part, "html", begins="sentence")


def _add_row(builder: LayoutBuilder, row: str, over: Over) -> None:
    if not over(builder.start, row):
        has_several_tags = row.count("<") > 1
        builder.add(row, "html", begins="sentence", divisible=has_several_tags)
        return
    for part in _TAG_OR_WORDS.findall(row):
        builder.add(part, "html", begins="sentence")
