"""Sessions of opencode: what `opencode export` writes, and the same out of its database.

A compaction is a message of the assistant that is marked as a summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from foreword.agent_sessions.events import (
    UNREADABLE,
    AgentEvent,
    CompactionEvent,
    ModelCallEvent,
    SessionHead,
    Values,
    mapping_or_empty,
    message_event,
    number,
)
from foreword.errors import BadSource
from foreword.formats import opencode
from foreword.formats.fields import FieldPath

AGENT = "opencode"


def is_session(value: Values) -> bool:
    """Whether a document is an export of opencode."""
    info = value.get("info")
    return isinstance(info, Mapping) and isinstance(value.get("messages"), list)


def events(documents: Iterable[Values], skipped: Counter[str]) -> Iterator[AgentEvent]:
    """What happened, in order."""
    for document in documents:
        info = mapping_or_empty(document.get("info"))
        yield SessionHead(
            agent=AGENT, session=str(info.get("id", "")), folder=str(info.get("directory", ""))
        )
        for message in document.get("messages") or ():
            if isinstance(message, Mapping) and opencode.is_message(message):
                yield from _message_events(message, skipped)


def _message_events(value: Values, skipped: Counter[str]) -> Iterator[AgentEvent]:
    info = value["info"]
    time = str(mapping_or_empty(info.get("time")).get("created", ""))
    try:
        messages = opencode.read_message(value, FieldPath(where="session", path="message"))
    except BadSource:
        skipped[UNREADABLE] += 1
        return
    for message in messages:
        if message.kind == "summary":
            yield CompactionEvent(summary=message.text, time=time)
        else:
            yield message_event(message, time)
    call = _model_call(info, time)
    if call.prompt_tokens:
        yield call


def _model_call(info: Values, time: str) -> ModelCallEvent:
    tokens = mapping_or_empty(info.get("tokens"))
    cache = mapping_or_empty(tokens.get("cache"))
    return ModelCallEvent(
        model=str(info.get("modelID", "")),
        input_tokens=number(tokens.get("input")),
        cache_read_tokens=number(cache.get("read")),
        cache_write_tokens=number(cache.get("write")),
        output_tokens=number(tokens.get("output")),
        time=time,
    )
