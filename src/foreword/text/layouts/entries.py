"""The pieces of logs and of tables in text: whole entries, whole rows under their head.

An entry of a log is the line that begins it with those that go on: a trace, the body of a commit.
Only one that is larger than the whole room loses lines of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from foreword.pattern import lazy_pattern
from foreword.text.content_type import (
    CHANGE_HEAD,
    COMMIT_LINE,
    LOG_LINE,
    STAMP_AND_SPACE,
    table_head,
)
from foreword.text.division import line_parts, rows_of
from foreword.text.pieces import Layout, LayoutBuilder, Over

_TITLE = lazy_pattern(r"=+ .+ =+\s*\Z")
_SUBTITLE = lazy_pattern(r"_{3,} .+ _{3,}\s*\Z|---- .+ ----\s*\Z")
_SOURCE_LINE = lazy_pattern(r"\d+ +\|")  # below an error of a compiler
_DEEPER = 2  # spaces behind a time, more than most lines have
_REMARKS = lazy_pattern(r"\ufeff?(?>(?:[ \t]*(?:#|%|//)[^\n]*\n)+)")  # in front of a table's head
_LEAST_STAMPED = 0.3  # of the lines of a log whose lines begin with a time or a level

# Entries of a log beyond which neighbours are joined to runs of some lines: ten thousand pieces
# would take longer to weigh than to read, and all but a few of them go.
_MANY_ENTRIES = 3_000
_RUN_CHARS = 400

Begins = Callable[[str], bool]


def log_layout(text: str, over: Over) -> Layout:
    """The pieces of a log."""
    rows = rows_of(text)
    begins = _entry_beginnings(rows)
    builder = LayoutBuilder()
    titles: list[int] = []
    entries = list(_entries(rows, begins))
    is_long = len(entries) > _MANY_ENTRIES
    if is_long:
        entries = _entry_runs(entries)
    for entry in entries:
        if _TITLE.match(entry[0]):
            titles = builder.add("".join(entry), "heading", level=1)
        else:
            _add_entry(builder, entry, titles, over, unit="" if is_long else "entry")
    return builder.layout("sequence")


def _entry_beginnings(rows: list[str]) -> Begins:
    """What tells whether a line begins an entry."""
    said = [row for row in rows if row.strip()]
    if any(COMMIT_LINE.match(row) for row in said):
        return lambda row: COMMIT_LINE.match(row) is not None
    if any(CHANGE_HEAD.match(row) for row in said):
        return lambda row: CHANGE_HEAD.match(row) is not None
    stamped = [row for row in said if LOG_LINE.match(row)]
    if stamped and len(stamped) >= _LEAST_STAMPED * len(said):
        return _stamped_beginnings(stamped)
    return _begins_by_space


def _stamped_beginnings(stamped: list[str]) -> Begins:
    """What tells whether a line begins an entry where lines have times: not one that has nothing
    else, or is indented behind it, as what a build writes line by line is."""
    usual = Counter(map(_space_behind_stamp, stamped)).most_common(1)[0][0]

    def begins(row: str) -> bool:
        if not LOG_LINE.match(row):
            return False
        return _space_behind_stamp(row) < usual + _DEEPER

    return begins


def _space_behind_stamp(row: str) -> int:
    """How far a line is indented behind its time; one with nothing else is far."""
    found = STAMP_AND_SPACE.match(row)
    if found is None or found["level"]:
        return 1
    return len(found["space"]) if found["rest"].strip() else len(row)


def _begins_by_space(row: str) -> bool:
    """Whether a line begins an entry where none has a time: one at the margin."""
    return bool(row.strip()) and not row[0].isspace() and not _SOURCE_LINE.match(row)


def _entries(rows: list[str], begins: Begins) -> Iterator[list[str]]:
    """The entries; the report of a failed test, with all that stands below its name, is one."""
    entry: list[str] = []
    in_report = False
    for row in rows:
        is_name = _SUBTITLE.match(row) is not None
        is_title = is_name or _TITLE.match(row) is not None
        if in_report and row[0] not in "_= \t" and _ends_short_report(entry):
            in_report = False
        if entry and (is_title or (begins(row) and not in_report)):
            number = _pop_number(entry)
            if entry:
                yield entry
            entry = number
        if is_title:
            in_report = is_name
        entry.append(row)
    if entry:
        yield entry


def _ends_short_report(entry: list[str]) -> bool:
    """Whether the report of a failed test that has dashes around its name ended with the last
    line."""
    return entry[0].startswith("-") and not entry[-1].strip()


def _pop_number(entry: list[str]) -> list[str]:
    """Take the number of what follows, as subtitles have it above each time, from the end of an
    entry."""
    is_alone = len(entry) == 1 or not entry[-2].strip()
    return [entry.pop()] if is_alone and entry[-1].strip().isdecimal() else []


def _entry_runs(entries: list[list[str]]) -> list[list[str]]:
    """The entries of a very long log in runs; titles stay by themselves."""
    runs: list[list[str]] = []
    chars = _RUN_CHARS
    for entry in entries:
        size = sum(map(len, entry))
        is_title = bool(_TITLE.match(entry[0])) or bool(_SUBTITLE.match(entry[0]))
        if is_title or chars + size > _RUN_CHARS:
            runs.append([])
            chars = 0
        runs[-1] += entry
        chars = _RUN_CHARS if is_title else chars + size
    return runs


def _add_entry(
    builder: LayoutBuilder, entry: list[str], titles: list[int], over: Over, unit: str
) -> None:
    text = "".join(entry)
    if not over(builder.start, text):
        builder.add(
            text, "entry", needs=titles, unit=unit, divisible=len(entry) > 1 or len(text) > 120
        )
        return
    head: list[int] = []
    for paragraph in _paragraphs(entry):
        parts = [(paragraph, False)]
        if over(builder.start, paragraph):
            parts = _row_parts(paragraph, over, builder.start)
        for part, torn in parts:
            added = builder.add(
                part,
                "entry",
                needs=[*titles, *head],
                begins="middle" if torn else "sentence",
                unit="" if head else unit,
            )
            head = head or added


def _paragraphs(entry: list[str]) -> list[str]:
    """The first line of an entry, and the rest as blank lines part it."""
    found = [entry[0]]
    is_new = True
    for row in entry[1:]:
        if is_new and row.strip():
            found.append(row)
            is_new = False
        else:
            found[-1] += row
            is_new = is_new or not row.strip()
    return found


def _row_parts(text: str, over: Over, start: int) -> list[tuple[str, bool]]:
    parts: list[tuple[str, bool]] = []
    for row in rows_of(text):
        parts += line_parts(row) if over(start, row) else [(row, False)]
        start += len(row)
    return parts


def table_layout(text: str) -> Layout:
    """The pieces of a table with commas or tabs, or in columns: its head, behind remarks if there
    are any, and rows that need it."""
    builder = LayoutBuilder()
    remarks = _REMARKS.match(text)
    if remarks:
        builder.add(remarks[0], "paragraph")
        text = text[remarks.end() :]
    lines = rows_of(text)
    titles = table_head(lines[:3])
    rows = _quoted_rows(text)
    if titles > 1:
        rows = iter(["".join(lines[:titles]), *lines[titles:]])
    head: list[int] = []
    for row in rows:
        added = builder.add(
            row, "table", needs=head, level=1 if head else 0, unit="row" if head else ""
        )
        head = head or added
    return builder.layout("sequence")


def _quoted_rows(text: str) -> Iterator[str]:
    """The rows of a table: one goes on in the next line while a quote is open."""
    row = ""
    for line in rows_of(text):
        row += line
        if row.count('"') % 2 == 0 and row.strip():
            yield row
            row = ""
    if row:
        yield row
