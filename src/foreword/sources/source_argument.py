"""What a user names as a source: found from here or from the root, and read whatever it is.

A regular file, or a pipe that a shell makes (`--source <(jq . notes.json)`). It may lie anywhere,
since the user named it and no project did. What the bytes mean is for `items` and `json_state`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from foreword import regular_file
from foreword.errors import BadSource
from foreword.sources import files

# Of a text on one line: "notes of may" may be a folder that was misspelled, a sentence is none.
LEAST_WORDS = 4


def locate(where: str, root: Path, hint: str) -> Path:
    """The path of what was named: as seen from here, else from the root."""
    try:
        for path in (Path(where).expanduser(), root / where):
            if where and path.exists():
                # the pipe of a shell has no real path
                return path if path.is_fifo() else path.resolve()
    except (OSError, ValueError, RuntimeError) as problem:
        raise BadSource(where, f"can't be looked up: {problem}", hint=hint) from problem
    raise BadSource(where, "there is no such file or folder", hint=hint)


def may_be_text(source: str) -> bool:
    """Whether a source has several lines, or words enough for a sentence."""
    return "\n" in source.strip() or len(source.split()) >= LEAST_WORDS


def is_text(source: str, root: Path) -> bool:
    """Whether a source may be a text and names no file."""
    if not may_be_text(source):
        return False
    try:
        locate(source, root, "")
    except BadSource:
        return True
    return False


def read_stdin() -> bytes:
    """What `-` stands for."""
    try:
        return regular_file.read_stream(sys.stdin.buffer, files.LARGEST_BYTES)
    except regular_file.Unusable as unusable:
        raise BadSource("standard input", unusable.reason) from None


def read(path: Path, where: str) -> bytes:
    """The bytes of what was found; a pipe that nobody writes to does not hold us up."""
    if not path.is_fifo():
        return files.read(path.parent, path.name, must=True).raw
    try:
        return regular_file.read_argument(path, files.LARGEST_BYTES)
    except regular_file.Unusable as unusable:
        raise BadSource(where, unusable.reason) from None
