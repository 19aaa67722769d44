"""A diff too large for its room: whole hunks, and every file gets its turn.

Pure. What is kept stands where it stood, with its line numbers true; what is missing is marked in
its place. How a diff falls into pieces is told by `layouts.diff`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.section import Measure
from foreword.text import cut
from foreword.text.omission_mark import diff_mark

_FILE = lazy_pattern(
    r"^(?:\+\+\+|---) (?:\"?[abciow]/)?([^\t\r\n\"]+)|^diff --git \"?a/(.+?)\"? \"?b/"
    r"|^(?:rename|copy) (?:from|to) \"?([^\r\n\"]+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class DiffExcerpt:
    """What was kept of a diff, and how many of its files have something in it."""

    text: str
    files: int
    files_shown: int


def excerpt(diff: str, room: int, measure: Measure) -> DiffExcerpt:
    """As much of the diff as there is room for by `measure`, marks included."""
    files = _file_count(diff)
    kept = cut.summary(diff, room, measure, _mark, name="change.diff")
    if kept is None:
        return DiffExcerpt(f"{_mark(diff.count(chr(10)), 0)}\n", files, 0)
    return DiffExcerpt(kept, files, _file_count(kept))


def changed_files(text: str) -> tuple[str, ...]:
    """The paths that a diff names, in its order."""
    names = dict.fromkeys(["".join(name).strip() for name in _FILE.findall(text)])
    names.pop("/dev/null", None)
    return tuple(names)


def _mark(lines: int, _: int) -> str:
    return diff_mark(f"{lines:,} lines of the diff").rstrip()


def _file_count(diff: str) -> int:
    from foreword.text.layouts import diff as diff_layout

    return sum(1 for piece in diff_layout.layout(diff).pieces if piece.unit == "file")
