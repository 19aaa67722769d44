"""Open a session of a coding agent, whichever it is, compressed or not, and go through what
happened in it.

Lines are read one by one, so that a session may have any size; only what opencode exports, one
document, is read whole. A file that is no session is `None`.
"""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, cast

from foreword.agent_sessions import (
    claude_code_sessions,
    codex_sessions,
    gemini_sessions,
    opencode_sessions,
)
from foreword.agent_sessions.events import UNREADABLE, AgentEvent, Values

LOOKED_AT = 20  # lines at most, to tell whose file it is: notes come first
LARGEST_DOCUMENT = 256 * 1024 * 1024  # bytes of one JSON document; lines have no such limit
_GZIP = b"\x1f\x8b"
_FORMATS = (
    gemini_sessions,
    codex_sessions,
    claude_code_sessions,
)  # in this order: the first says most surely whose it is
BrokenFile = (OSError, EOFError, ValueError, RecursionError)


@dataclass(slots=True)
class SessionFile:
    """A session that is open: what happened, and how much could not be read."""

    agent: str
    events: Iterator[AgentEvent]
    skipped: Counter[str] = field(default_factory=Counter)


@contextmanager
def open_session(
    path: Path, progress: Callable[[int], None] | None = None
) -> Iterator[SessionFile | None]:
    """The session in a file, or nothing where it is none; `progress` is told how many bytes of
    the file have been read."""
    with path.open("rb") as raw:
        yield read_session(raw, progress)


def read_session(
    raw: BinaryIO, progress: Callable[[int], None] | None = None
) -> SessionFile | None:
    """The session in a file that is open for reading."""
    file = open_decompressed(raw)
    skipped = Counter[str]()
    try:
        opening = list(islice(file, LOOKED_AT))
        lines = _values(_with_progress(chain(opening, file), raw, progress), skipped)
        first = list(_values(opening, Counter()))
        for form in _FORMATS:
            if any(map(form.is_session, first)):
                return SessionFile(form.AGENT, form.events(lines, skipped), skipped)
        return _document_session(b"".join(opening), file, skipped)
    except BrokenFile:
        return None


def open_decompressed(raw: BinaryIO) -> BinaryIO:
    """A file as it is, or what is in it where it is compressed."""
    start = raw.read(2)
    raw.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if start == _GZIP else raw


def _document_session(opening: bytes, file: BinaryIO, skipped: Counter[str]) -> SessionFile | None:
    if not opening.lstrip().startswith(b"{"):
        return None
    value = json.loads(opening + file.read(LARGEST_DOCUMENT))
    if not isinstance(value, dict):
        return None
    for form in (opencode_sessions, gemini_sessions):
        if form.is_session(value):
            return SessionFile(form.AGENT, form.events([value], skipped), skipped)
    return None


def session_of_document(value: Values) -> SessionFile:
    """A session of opencode that is already a value."""
    skipped = Counter[str]()
    return SessionFile(opencode_sessions.AGENT, opencode_sessions.events([value], skipped), skipped)


def _with_progress(
    lines: Iterable[bytes], raw: BinaryIO, progress: Callable[[int], None] | None
) -> Iterator[bytes]:
    """The lines, each told of by how far it is into the file."""
    for line in lines:
        if progress is not None:
            progress(raw.tell())
        yield line


def _values(lines: Iterable[bytes], skipped: Counter[str]) -> Iterator[Values]:
    """The objects in the lines; what is none is counted."""
    try:
        for line in lines:
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                skipped[UNREADABLE] += 1
                continue
            if isinstance(value, dict):
                yield value
    except (OSError, EOFError):  # a compressed file that ends too early
        skipped[UNREADABLE] += 1


def bytes_session(raw: bytes) -> SessionFile | None:
    """The session in bytes that are already read."""
    return read_session(io.BytesIO(raw))
