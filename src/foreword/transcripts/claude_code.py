"""Session files of Claude Code: a line for each piece of a message, note or attachment.

`claude_branches` puts the lines in order and knows which were rewound. Subagents (`isSidechain`)
have windows of their own and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import relabel
from foreword.messages.shapes import read_message
from foreword.transcripts import events
from foreword.transcripts.claude_branches import (
    in_order,
    reply_id,
    uuid_of,
    with_mid_turn_words,
    with_rewound,
)
from foreword.transcripts.plumbing import attachment_note, without_program_words, words_of

AGENT = "claude-code"
_SPOKEN = ("user", "assistant")
_OWN_FIELDS = frozenset(("message", "uuid", "sessionId", "leafUuid", "messageId", "isSidechain"))


def is_session(value: events.Values) -> bool:
    """Return whether a line is one of Claude Code's."""
    is_typed = isinstance(value.get("type"), str) and "role" not in value
    return is_typed and not _OWN_FIELDS.isdisjoint(value) and "projectHash" not in value


def read(lines: Iterable[events.Line], where: str, *, whole: bool) -> Iterator[events.AgentEvent]:
    """Yield what happened, in order; one reply that is written in several lines is one call."""
    boundary: events.Values = {}
    headed = False
    call = ("", events.ModelCallEvent())  # the newest reply that has its usage, with its id
    seen = set[str]()  # the ids of lines
    for (number, line), rewound in with_rewound(list(lines)) if whole else _as_written(lines):
        if line.get("isSidechain"):
            yield events.NoteEvent(kind="sidechain")
            continue
        if not headed and line.get("cwd"):
            headed = True
            session = str(line.get("sessionId", ""))
            yield events.SessionHead(agent=AGENT, session=session, folder=str(line["cwd"]))
        newest = _model_call(line)
        if call[0] and newest[0] != call[0] and line.get("type") in _SPOKEN:
            yield call[1]
            call = ("", events.ModelCallEvent())
        if newest[0]:
            call = newest
        if line.get("subtype") == "compact_boundary":
            boundary = events.mapping_or_empty(line.get("compactMetadata"))
        note = _note_of(line, seen, rewound=rewound)
        if note is not None:
            yield note
            continue
        try:
            event = _message_event(line, FieldPath(where, "message"))
        except BadSource as error:
            yield events.bad_line(error, number)
            continue
        yield _compaction(line, event, boundary) if line.get("isCompactSummary") else event
    if call[0]:
        yield call[1]


def _as_written(lines: Iterable[events.Line]) -> Iterator[tuple[events.Line, bool]]:
    """Yield the lines in the order of the conversation as they come, all branches among them."""
    for value in with_mid_turn_words(in_order(value for _, value in lines)):
        yield (0, value), False


def _note_of(line: events.Values, seen: set[str], *, rewound: bool) -> events.NoteEvent | None:
    """Return the note that a line is, or None for a piece of the conversation."""
    if line.get("type") not in _SPOKEN or "message" not in line:
        attachment = line.get("attachment")
        if isinstance(attachment, Mapping):
            return replace(attachment_note(attachment), kind=str(line.get("type")))
        return events.NoteEvent(kind=str(line.get("type")))
    if line.get("isMeta"):
        text = words_of(events.mapping_or_empty(line["message"]).get("content"))
        return events.NoteEvent(
            kind="meta", source=events.AGENT_NOTES, text=text, is_plumbing=False
        )
    if line.get("isApiErrorMessage"):
        return events.NoteEvent(kind="API error")
    name = uuid_of(line)
    if name and name in seen:
        return events.NoteEvent(kind=events.DUPLICATE)
    seen.add(name)
    return events.NoteEvent(kind=events.REWOUND, mark=name) if rewound else None


def _message_event(line: events.Values, at: FieldPath) -> events.MessageEvent:
    inner = at.mapping(line["message"], "a mapping with role and content")
    message = read_message(inner, at.where, at.path, usual="anthropic")
    return events.MessageEvent(
        message=message,
        time=str(line.get("timestamp", "")),
        reply=reply_id(line) if message.role == "assistant" else "",
        mark=uuid_of(line),
    )


def _compaction(
    line: events.Values, event: events.MessageEvent, boundary: events.Values
) -> events.CompactionEvent:
    return events.CompactionEvent(
        summary=without_program_words(words_of(line["message"].get("content"))),
        trigger=str(boundary.get("trigger", "")),
        tokens_before=events.token_number(boundary.get("preTokens")),
        tokens_after=events.token_number(boundary.get("postTokens")),
        time=event.time,
        message=relabel(event.message, kind="summary"),
        mark=event.mark,
    )


def _model_call(line: events.Values) -> tuple[str, events.ModelCallEvent]:
    message = events.mapping_or_empty(line.get("message"))
    usage = message.get("usage")
    if line.get("type") != "assistant" or not isinstance(usage, Mapping):
        return "", events.ModelCallEvent()
    call = events.ModelCallEvent(
        model=str(message.get("model", "")),
        input_tokens=events.token_number(usage.get("input_tokens")),
        cache_read_tokens=events.token_number(usage.get("cache_read_input_tokens")),
        cache_write_tokens=events.token_number(usage.get("cache_creation_input_tokens")),
        output_tokens=events.token_number(usage.get("output_tokens")),
        time=str(line.get("timestamp", "")),
    )
    name = str(message.get("id") or "")
    return (name, call) if call.prompt_tokens else ("", call)
