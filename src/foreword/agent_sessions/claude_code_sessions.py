"""Session files of Claude Code: a line for each piece of a message, note or attachment.

Lines are put in order by `parentUuid`: several results that come back at once may stand before the
calls they answer. Subagents (`isSidechain`) have windows of their own and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
)
from foreword.errors import BadSource
from foreword.formats.anthropic import SHAPE
from foreword.formats.claude_branches import in_order, with_mid_turn_words
from foreword.formats.content_fields import words_in
from foreword.formats.detection import read_message
from foreword.text.program_words import without_program_words

AGENT = "claude-code"
_SPOKEN = ("user", "assistant")


def is_session(value: Values) -> bool:
    """Whether a line is one of Claude Code's."""
    is_message = isinstance(value.get("message"), Mapping) and value.get("type") in _SPOKEN
    return is_message or ("sessionId" in value and "projectHash" not in value)


def events(lines: Iterable[Values], skipped: Counter[str]) -> Iterator[AgentEvent]:
    """What happened, in order; one reply that is written in several lines is one call."""
    boundary: Values = {}
    headed = False
    call = ("", ModelCallEvent())  # the newest reply that says what it read, with its id
    for line in with_mid_turn_words(in_order(lines)):
        if line.get("isSidechain"):
            continue
        if not headed and line.get("cwd"):
            headed = True
            yield SessionHead(
                agent=AGENT, session=str(line.get("sessionId", "")), folder=str(line["cwd"])
            )
        newest = _model_call(line)
        if call[0] and newest[0] != call[0] and line.get("type") in _SPOKEN:
            yield call[1]
            call = ("", ModelCallEvent())
        if newest[0]:
            call = newest
        if line.get("subtype") == "compact_boundary":
            boundary = line
        elif line.get("isCompactSummary") and isinstance(line.get("message"), Mapping):
            yield _compaction(line, boundary)
            boundary = {}
        else:
            yield from _line_events(line, skipped)
    if call[0]:
        yield call[1]


def _line_events(line: Values, skipped: Counter[str]) -> Iterator[AgentEvent]:
    time = str(line.get("timestamp", ""))
    attachment = line.get("attachment")
    if isinstance(attachment, Mapping):
        yield AttachmentEvent(source=_source(attachment), text=words_in(attachment))
    if line.get("type") not in _SPOKEN or not isinstance(line.get("message"), Mapping):
        return
    if line.get("isApiErrorMessage"):
        return
    if line.get("isMeta"):
        yield AttachmentEvent(source="notes of the agent", text=words_in(line["message"]))
        return
    try:
        message = read_message(_spoken_fields(line["message"]), usual=SHAPE)
    except BadSource:
        skipped[UNREADABLE] += 1
        return
    yield message_event(message, time)


def _spoken_fields(message: Values) -> dict[str, Any]:
    """A message by its role and content: what else a version adds is no matter here."""
    return {name: message[name] for name in ("role", "content") if name in message}


def _source(attachment: Values) -> str:
    kind = str(attachment.get("type", "attachment"))
    if kind.startswith("hook"):
        return f"hook {attachment.get('hookEvent') or attachment.get('hookName') or ''}".strip()
    return kind.replace("_", " ")


def _model_call(line: Values) -> tuple[str, ModelCallEvent]:
    message = mapping_or_empty(line.get("message"))
    usage = message.get("usage")
    if line.get("type") != "assistant" or not isinstance(usage, Mapping):
        return "", ModelCallEvent()
    call = ModelCallEvent(
        model=str(message.get("model", "")),
        input_tokens=number(usage.get("input_tokens")),
        cache_read_tokens=number(usage.get("cache_read_input_tokens")),
        cache_write_tokens=number(usage.get("cache_creation_input_tokens")),
        output_tokens=number(usage.get("output_tokens")),
        time=str(line.get("timestamp", "")),
    )
    name = str(message.get("id") or "")
    return (name, call) if call.prompt_tokens else ("", call)


def _compaction(line: Values, boundary: Values) -> CompactionEvent:
    about = mapping_or_empty(boundary.get("compactMetadata"))
    return CompactionEvent(
        summary=without_program_words(words_in(line["message"].get("content"))),
        trigger=str(about.get("trigger", "")),
        tokens_before=number(about.get("preTokens")),
        time=str(line.get("timestamp", "")),
    )
