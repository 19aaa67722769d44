"""The pieces of HTML and XML: whole lines, each with the tags around it, opening and closing.

Lines between two tags fall into runs that are whole sentences; a line that is larger than the whole
room falls into what its blocks hold, and that into sentences. A tag over several lines is one line,
and what stands between `<script>` or `<style>` and its end is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.text.division import line_parts, line_units, rows_of
from foreword.text.needs import tag_pairs, tags_around
from foreword.text.pieces import Layout, LayoutBuilder, Over, Piece
from foreword.text.sentences import LONGEST_UNIT

# Tags inside of a sentence; every other one begins or ends something.
_INLINE = "a|abbr|b|bdi|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub"
_BLOCK_TAG = lazy_pattern(
    rf"</?(?!(?:{_INLINE}|sup|time|tt|u|var|wbr)\b)\w[\w:.-]*(?=[\s/>])(?:[^<>=]|=>?)*>",
    re.IGNORECASE,
)
# An arrow in an attribute does not end the tag.
_ONE_TAG = lazy_pattern(r"\s*<(?:[^<>=]|=>?)*>\s*")
_OPEN_TAG = lazy_pattern(r"<[A-Za-z!?/](?:[^<>=]|=>?)*\Z")
# Lines that a tag may go on over, as one with what is done on a click: of a drawing a path may take
# hundreds, which are no tag to keep.
_TAG_LINES = 60


# What opens a part that is read by a program.
_PROGRAM_TAG = lazy_pattern(
    r"<(?P<name>script|style)\b(?P<attributes>[^<>]*)>[ \t]*\r?\n", re.IGNORECASE
)
_LANGUAGE = lazy_pattern(r"""\b(?:lang|type)\s*=\s*["']?(?P<value>[\w./+-]+)""")
# By what the attribute of a script says: one that is not here is a template, and so markup.
_LANGUAGES = {
    "": "javascript",
    "js": "javascript",
    "jsx": "javascript",
    "javascript": "javascript",
    "module": "javascript",
    "babel": "javascript",
    "ts": "typescript",
    "typescript": "typescript",
    "tsx": "tsx",
    "json": "json",
    "importmap": "json",
}


@dataclass(frozen=True, slots=True)
class _Row:
    """A line, with those that a tag on it goes on over; or code, in the language named."""

    text: str
    language: str = ""


def layout(text: str, over: Over) -> Layout:
    """The pieces of a text in a markup language."""
    rows = list(_rows(text))
    # In code there are signs that look like tags.
    pairs = tag_pairs(
        [Piece(text=row.text, kind="closing" if row.language else "html") for row in rows]
    )
    edges = {at for pair in pairs for at in pair}
    builder = LayoutBuilder()
    run = ""
    for at, row in enumerate(rows):
        is_long_tag = "\n" in row.text.rstrip()
        is_plain = at not in edges and not is_long_tag and not row.language
        if is_plain and not over(builder.start + len(run), row.text):
            run += row.text
            continue
        _add_run(builder, run, over)
        run = ""
        if row.language:
            _add_code(builder, row, over)
        else:
            _add_row(builder, row.text, over)
    _add_run(builder, run, over)
    for at, around in tags_around(builder.pieces).items():
        builder.require(at, around)
    return builder.layout()


def _rows(text: str) -> Iterator[_Row]:
    """The lines of a text, and the code that stands between lines with its tags."""
    start = 0
    for first, last, language in _programs(text):
        yield from [_Row(row) for row in _whole_tags(rows_of(text[start:first]))]
        yield _Row(text[first:last], language)
        start = last
    yield from [_Row(row) for row in _whole_tags(rows_of(text[start:]))]


def _programs(text: str) -> Iterator[tuple[int, int, str]]:
    """Where lines of code begin and end between tags, and their language."""
    lowered = text.lower()
    at = 0
    unclosed: set[str] = set()  # so that the rest of the text is searched once
    for tag in _PROGRAM_TAG.finditer(text):
        name = tag["name"].lower()
        if tag.start() < at or name in unclosed:
            continue
        end = lowered.find(f"</{name}", tag.end())
        if end < 0:
            unclosed.add(name)
            continue
        at = end
        last = text.rfind("\n", 0, end) + 1
        language = _language(tag)
        if language and text[tag.end() : last].strip() and not text[last:end].strip():
            yield tag.end(), last, language


def _language(tag: re.Match[str]) -> str:
    """What is written behind a tag; nothing for a template, which is markup."""
    if tag["name"].lower() == "style":
        return "code"
    found = _LANGUAGE.search(tag["attributes"])
    value = found["value"].lower() if found else ""
    return _LANGUAGES.get(re.split(r"[/+-]", value)[-1], "")


def _add_code(builder: LayoutBuilder, row: _Row, over: Over) -> None:
    from foreword.text.layouts import layout_of

    offset = builder.start
    builder.embed(layout_of(row.text, row.language, lambda at, part: over(offset + at, part)))


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
    """The lines, those together that one tag goes on over. Where tags begin on the lines that
    others end on, all lines would be one: there the first tag that goes on begins the next."""
    found: list[str] = []
    waiting: list[str] = []
    for row in rows:
        waiting.append(row)
        joined = "".join(waiting)
        opened = _OPEN_TAG.search(joined)
        if opened is None:
            found.append(joined)
            waiting = []
        elif len(waiting) == _TAG_LINES and opened.start():
            found.append(joined[: opened.start()])
            waiting = [joined[opened.start() :]]
        elif len(waiting) == _TAG_LINES:
            found += waiting
            waiting = []
    return found + waiting


def _blocks(row: str) -> list[str]:
    """A line as what stands between its block tags, each with those that open it."""
    found: list[str] = []
    start = 0
    for tag in _BLOCK_TAG.finditer(row):
        closes = tag[0].startswith("</")
        if not closes and tag.start() > start:
            found.append(row[start : tag.start()])
            start = tag.start()
        if closes or tag[0].endswith("/>"):
            found.append(row[start : tag.end()])
            start = tag.end()
    return [*found, row[start:]] if row[start:] else found
