"""Session files of Gemini CLI: a log of records that are written anew as they grow.

A record is told of when the next one begins. A compression puts other records in the place of all;
the first of them holds the summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from foreword.agent_sessions.events import (
    UNREADABLE,
    AgentEvent,
    AttachmentEvent,
    CompactionEvent,
    ModelCallEvent,
    SessionHead,
    Values,
    mapping_or_empty,
    message_event,
    number,
    typed_message,
)
from foreword.errors import BadSource
from foreword.formats import gemini_cli
from foreword.formats.content_fields import words_in

AGENT = "gemini"
SNAPSHOT = "<state_snapshot>"  # opens the summary of a compression


def is_session(value: Values) -> bool:
    """Whether a line or a document is one of Gemini CLI's."""
    return gemini_cli.is_session(value)


def events(lines: Iterable[Values], skipped: Counter[str]) -> Iterator[AgentEvent]:
    """What happened, in order."""
    seen = set[str]()
    held: Values | None = None  # the newest record, which may still grow
    for line in lines:
        if is_session(line):
            name = str(line.get("sessionId", ""))
            yield SessionHead(agent=AGENT, session=name, folder=str(line.get("directory", "")))
        for record in _records(line):
            name = str(record.get("id", ""))
            if held is not None and name == held.get("id"):
                held = record
                continue
            if name in seen:
                continue
            if held is not None:
                yield from _record_events(held, skipped)
            seen.add(name)
            held = record
    if held is not None:
        yield from _record_events(held, skipped)


def _records(line: Values) -> list[Values]:
    """The records that a line writes."""
    if isinstance(line.get("id"), str):
        return [line]
    messages = mapping_or_empty(line.get("$set", line)).get("messages")
    return [one for one in messages if isinstance(one, Mapping)] if messages else []


def _record_events(record: Values, skipped: Counter[str]) -> Iterator[AgentEvent]:
    time = str(record.get("timestamp", ""))
    words = words_in(record.get("content"))
    if record.get("type") == "user" and SNAPSHOT in words:
        yield CompactionEvent(summary=words, time=time)
        return
    try:
        found = list(gemini_cli.read_records([(1, record)], "session", Counter()))
    except (BadSource, KeyError, TypeError):
        skipped[UNREADABLE] += 1
        return
    for one in found:
        if (
            one.message.role == "user"
            and not one.message.results
            and typed_message(one.message) is None
        ):
            yield AttachmentEvent(source="notes of the agent", text=one.message.text)
        else:
            yield message_event(one.message, time)
    call = _model_call(record, time)
    if call is not None:
        yield call


def _model_call(record: Values, time: str) -> ModelCallEvent | None:
    tokens = record.get("tokens")
    if record.get("type") != "gemini" or not isinstance(tokens, Mapping):
        return None
    cached = number(tokens.get("cached"))
    return ModelCallEvent(
        model=str(record.get("model", "")),
        input_tokens=max(0, number(tokens.get("input")) - cached),
        cache_read_tokens=cached,
        output_tokens=number(tokens.get("output")),
        time=time,
    )
