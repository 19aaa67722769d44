"""The pieces of a diff: whole hunks, under the headers of their file and of their commit.

A hunk ends where its own counts say, so that what stands behind it is never taken for part of it,
unless that is a change as well: diffs that models write often count wrong. The first hunk of each
file comes before the second of any, and a very long one (a generated file) behind others.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern
from foreword.text.division import rows_of
from foreword.text.pieces import Layout, LayoutBuilder

_HUNK = lazy_pattern(r"@@+ (?:-\d+(?:,(?P<old>\d+))? )+\+\d+(?:,(?P<new>\d+))? @@+")
_FILE = lazy_pattern(r"diff -(?:-(?:git|cc|combined) |\w)|Index: \S")
_PLAIN_FILE = lazy_pattern(r"--- \S")
# Not the signature below a patch, and not the names of the next file.
_CHANGED_LINE = lazy_pattern(r"\\|\+(?!\+\+ )|-(?!-- |- ?\r?\n)")
_COMMIT = lazy_pattern(r"(?:commit|From) [0-9a-f]{7,40}\b")
# Characters of a hunk that still comes in its turn; one of twice as many a turn later, and so on.
_LONG_HUNK = 2_000
_LAST_RANK = 1_000  # of headers: a file's name alone comes behind all hunks


def layout(text: str) -> Layout:
    """The pieces of a diff, of one commit or of a log with patches."""
    builder = LayoutBuilder()
    rows = rows_of(text)
    commit: list[int] = []
    file: list[int] = []
    turn = 0
    at = 0
    while at < len(rows):
        end = _end_of_part(rows, at)
        part = "".join(rows[at:end])
        if _HUNK.match(rows[at]) and file:
            rank = turn + (len(part) // _LONG_HUNK).bit_length()
            builder.add(part, "code", needs=[*commit, *file], level=2, rank=rank, unit="hunk")
            turn += 1
        elif _begins_file(rows, at):
            file = builder.add(part, "code", needs=commit, level=1, rank=_LAST_RANK, unit="file")
            turn = 0
        else:
            is_commit = _COMMIT.match(rows[at]) is not None
            commit = builder.add(part, "code", rank=_LAST_RANK, unit="commit" if is_commit else "")
            file = []
        at = end
    return builder.layout("outline")


def _begins_file(rows: list[str], at: int) -> bool:
    if _FILE.match(rows[at]):
        return True
    following = rows[at + 1] if at + 1 < len(rows) else ""
    return _PLAIN_FILE.match(rows[at]) is not None and following.startswith("+++ ")


def _end_of_part(rows: list[str], at: int) -> int:
    """The line behind the hunk, the header or the words that begin at a line."""
    hunk = _HUNK.match(rows[at])
    end = _end_of_hunk(rows, at, hunk) if hunk else at + 1
    is_git = _FILE.match(rows[at]) is not None
    while end < len(rows):
        row = rows[end]
        if _HUNK.match(row) or _COMMIT.match(row) or _FILE.match(row):
            break
        if _begins_file(rows, end) and not is_git:
            break
        if hunk and row.strip():  # the words of the next commit, or a signature
            break
        end += 1
    return end


def _end_of_hunk(rows: list[str], at: int, hunk: re.Match[str]) -> int:
    """The line behind a hunk, by the counts in its head; of a merge, which has counts for each
    parent, behind its last line that begins as one of a hunk."""
    is_merge = hunk[0].startswith("@@@")
    old = int(hunk["old"] or 1)
    new = int(hunk["new"] or 1)
    end = at + 1
    while end < len(rows) and (is_merge or old > 0 or new > 0):
        sign = rows[end][:1]
        if sign not in (" ", "+", "-", "\\", "\n", "\r"):
            break
        old -= sign in " -\n\r"
        new -= sign in " +\n\r"
        end += 1
    while end < len(rows) and _CHANGED_LINE.match(rows[end]):
        end += 1
    return end
