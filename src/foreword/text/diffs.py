"""A diff too large for its room, cut along its own structure: whole hunks, and every file gets its
turn.

Pure. What is kept stands where it stood, with its line numbers true; what is missing is marked in
its place. The first hunk of each file comes before the second of any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from foreword.pattern import lazy_pattern
from foreword.text.omission_mark import diff_mark

LARGEST_SHARE = (
    4  # one hunk takes at most a quarter of the room: a generated file is no diff to read
)
MARK_CHARS = 64  # of the longest mark: kept free wherever one may have to be written

_FILE = lazy_pattern(r"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.MULTILINE)
_GIT = lazy_pattern(r"^diff --git ", re.MULTILINE)
_HUNK = lazy_pattern(r"^@@ ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What was kept of a diff, and how many of its files have something in it."""

    text: str
    files: int
    files_shown: int


@dataclass(slots=True)
class _File:
    """One file of a diff, and its hunks that are kept, whole or cut, by their place."""

    header: str
    hunks: list[str]
    kept: dict[int, str] = field(default_factory=dict)


def excerpt(diff: str, room_chars: int) -> Excerpt:
    """As much of the diff as there is room for, marks included."""
    files = [_file(part) for part in _split(diff, _GIT if _GIT.search(diff) else _FILE)]
    left = room_chars - MARK_CHARS
    for turn in range(max((len(file.hunks) for file in files), default=0)):
        for file in files:
            if turn < len(file.hunks) and left > MARK_CHARS:
                left -= _keep(file, turn, left, room_chars // LARGEST_SHARE)
    present = [file for file in files if file.kept]
    texts = [_file_text(file) for file in present]
    missing = len(files) - len(present)
    if missing:
        texts.append(diff_mark(f"{missing:,} of {len(files):,} files"))
    return Excerpt("".join(texts), len(files), len(present))


def _split(text: str, at: re.Pattern[str]) -> list[str]:
    """The text in pieces that each begin where the pattern does; what stands in front of the
    first is a piece, too."""
    starts = [found.start() for found in at.finditer(text) if found.start()]
    edges = pairwise([0, *starts, len(text)])
    return [text[start:end] for start, end in edges if start < end]


def _file(part: str) -> _File:
    first = _HUNK.search(part)
    if first is None:
        return _File("", [part])
    return _File(part[: first.start()], _split(part[first.start() :], _HUNK))


def _keep(file: _File, turn: int, left: int, most: int) -> int:
    """Keep a hunk if there is room for it and its header; returns what that costs."""
    framing = 0 if file.kept else len(file.header) + MARK_CHARS
    hunk = file.hunks[turn]
    if len(hunk) > most:
        hunk = _beginning(hunk, most - MARK_CHARS)
    if len(hunk) + framing > left:
        return 0
    file.kept[turn] = hunk
    return len(hunk) + framing


def _beginning(hunk: str, most: int) -> str:
    """The first lines of a hunk that fit, and how many follow."""
    kept: list[str] = []
    used = 0
    for line in _lines(hunk):
        used += len(line)
        if used > most:
            break
        kept.append(line)
    missing = hunk.count("\n") - len(kept)
    return "".join(kept) + diff_mark(f"{max(1, missing):,} more lines of this hunk")


def _lines(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        yield text[at:end]
        at = end


def _file_text(file: _File) -> str:
    text = file.header + "".join([file.kept[turn] for turn in sorted(file.kept)])
    missing = len(file.hunks) - len(file.kept)
    if not missing:
        return text
    ending = "" if text.endswith("\n") else "\n"
    mark = diff_mark(f"{missing:,} of {len(file.hunks):,} hunks of this file")
    return text + ending + mark
