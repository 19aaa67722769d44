"""Open a session of a coding agent, whichever it is, compressed or not, and go through what was
said in it and by whom.

Lines are read one by one, so that a session may have any size; only what opencode exports, one
document, is read whole. What can't be read is counted. A file that is no session is `None`.
"""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, cast

from foreword.messages.message import Message
from foreword.transcripts import claude_code, codex, gemini_cli, opencode
from foreword.transcripts.events import (
    AgentEvent,
    BadLineEvent,
    CompactionEvent,
    Line,
    MessageEvent,
    NoteEvent,
    SessionReader,
    Values,
)
from foreword.transcripts.plumbing import attributed

UNREADABLE = "lines that could not be read"
LOOKED_AT = 20  # lines at most, to recognize whose file it is: notes come first
LARGEST_DOCUMENT = 256 * 1024 * 1024  # bytes of one JSON document; lines have no such limit
_GZIP = b"\x1f\x8b"
# In this order: the first says most surely whose a line is.
READERS: dict[str, SessionReader] = {
    gemini_cli.AGENT: gemini_cli,
    codex.AGENT: codex,
    claude_code.AGENT: claude_code,
    opencode.AGENT: opencode,
}
DOCUMENTS = (opencode.AGENT, gemini_cli.AGENT)  # whose session may be one JSON document
BrokenFile = (OSError, EOFError, ValueError, RecursionError)


@dataclass(slots=True)
class SessionFile:
    """A session that is open: what was said, and how much could not be read."""

    agent: str
    events: Iterator[AgentEvent]
    skipped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was said since one compaction, up to the next one or to the end of the session."""

    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the agent's program put beside it

    def add(self, event: AgentEvent) -> None:
        """Add an event, where it is something that was said."""
        if isinstance(event, MessageEvent):
            self.messages.append(event.message)
        elif isinstance(event, NoteEvent):
            self.notes.append(event.text)


def agent_of(values: Sequence[Values], agents: Iterable[str] = READERS) -> str:
    """Return whose session these first lines or this document are, or nothing."""
    for agent in agents:
        if any(map(READERS[agent].is_session, values)):
            return agent
    return ""


@contextmanager
def open_session(
    path: Path, progress: Callable[[int], None] | None = None
) -> Iterator[SessionFile | None]:
    """Yield the session in a file, or None where it is none; `progress` is called with the number
    of bytes of the file that have been read."""
    with path.open("rb") as raw:
        yield read_session(raw, progress)


def read_session(
    raw: BinaryIO, progress: Callable[[int], None] | None = None, agent: str = ""
) -> SessionFile | None:
    """Return the session in a file that is open for reading, or None where it is none; the end of
    a file may not say whose it is, so `agent` does."""
    file = open_decompressed(raw)
    skipped = Counter[str]()
    try:
        opening = list(islice(file, LOOKED_AT))
        agent = agent_of([value for _, value in _lines(opening, Counter())]) or agent
        if agent:
            lines = _lines(_with_progress(chain(opening, file), raw, progress), skipped)
            return _session(agent, lines, skipped)
        if not opening or not opening[0].lstrip().startswith(b"{"):
            return None
        value = json.loads(b"".join(opening) + file.read(LARGEST_DOCUMENT))
        agent = agent_of([value], DOCUMENTS)
        return _session(agent, [(0, value)], skipped) if agent else None
    except BrokenFile:
        return None


def session_of_document(value: Values) -> SessionFile:
    """Return a session of opencode that is already a value."""
    return _session(opencode.AGENT, [(0, value)], Counter())


def bytes_session(raw: bytes, agent: str) -> SessionFile | None:
    """Return the session in bytes that are already read, or None."""
    return read_session(io.BytesIO(raw), agent=agent)


def open_decompressed(raw: BinaryIO) -> BinaryIO:
    """Return a file as it is, or what is in it where it is compressed."""
    start = raw.read(2)
    raw.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if start == _GZIP else raw


def _session(agent: str, lines: Iterable[Line], skipped: Counter[str]) -> SessionFile:
    events = READERS[agent].read(lines, "session", whole=False)
    return SessionFile(agent, _said(events, skipped), skipped)


def _said(events: Iterable[AgentEvent], skipped: Counter[str]) -> Iterator[AgentEvent]:
    """Yield what was said and by whom; lines that could not be read are counted, and what no model
    ever read is left out."""
    for event in events:
        if isinstance(event, MessageEvent):
            yield from attributed(event)
        elif isinstance(event, BadLineEvent):
            skipped[UNREADABLE] += 1
        elif not isinstance(event, NoteEvent) or not event.is_plumbing:
            yield event


def stretches(
    events: Iterable[AgentEvent],
) -> Iterator[tuple[Stretch, CompactionEvent | None]]:
    """Yield what was said before each compaction, with the compaction, and at last what was said
    since the last one, with None. A summary is the first message after its compaction."""
    stretch = Stretch()
    for event in events:
        if isinstance(event, CompactionEvent):
            yield stretch, event
            stretch = Stretch()
        else:
            stretch.add(event)
    yield stretch, None


def _with_progress(
    lines: Iterable[bytes], raw: BinaryIO, progress: Callable[[int], None] | None
) -> Iterator[bytes]:
    """Yield the lines, reporting after each how far it is into the file."""
    for line in lines:
        if progress is not None:
            progress(raw.tell())
        yield line


def _lines(lines: Iterable[bytes], skipped: Counter[str]) -> Iterator[Line]:
    """Yield the objects in the lines; what is none is counted."""
    try:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                skipped[UNREADABLE] += 1
                continue
            if isinstance(value, dict):
                yield number, value
    except (OSError, EOFError):  # a compressed file that ends too early
        skipped[UNREADABLE] += 1
