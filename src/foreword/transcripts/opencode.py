"""Sessions of opencode: what `opencode export` writes, and the same from its database.

A message has parts, each call beside its result; a turn of several steps is several messages. A
compaction is a message of the assistant that is marked as a summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.transcripts import events
from foreword.transcripts.plumbing import words_of

AGENT = "opencode"
SHAPE = "opencode"
# Parts that only say how a step went.
_SILENT = frozenset(("step-finish", "snapshot", "patch", "retry", "compaction", "agent"))
_INTERRUPTED = "(the call was interrupted)"
_DATA = ";base64,"


def is_session(value: events.Values) -> bool:
    """Return whether a document is an export of opencode, or one message of it."""
    messages = value.get("messages")
    if isinstance(messages, list):
        return "info" in value or any(map(_is_message, messages))
    return _is_message(value)


def _is_message(value: object) -> bool:
    value = events.mapping_or_empty(value)
    return "parts" in value and "role" in events.mapping_or_empty(value.get("info"))


def read(lines: Iterable[events.Line], where: str, *, whole: bool) -> Iterator[events.AgentEvent]:
    """Yield what happened, in order."""
    for number, document in lines:
        if _is_message(document):
            yield from _message_events(document, number, FieldPath(where, "message"))
            continue
        info = events.mapping_or_empty(document.get("info"))
        folder = str(info.get("directory", ""))
        yield events.SessionHead(agent=AGENT, session=str(info.get("id", "")), folder=folder)
        messages = document.get("messages")
        for index, value in enumerate(messages if isinstance(messages, list) else [document]):
            yield from _message_events(value, 0, FieldPath(where, f"messages[{index}]"))


def _message_events(value: object, number: int, at: FieldPath) -> Iterator[events.AgentEvent]:
    try:
        value = at.mapping(value)
        info = (at / ".info").mapping(value.get("info"))
        messages = _read_message(value, info, at)
    except BadSource as error:
        yield events.bad_line(error, number)
        return
    time = str(events.mapping_or_empty(info.get("time")).get("created", ""))
    for message in messages:
        if message.kind == "summary":
            yield events.CompactionEvent(summary=message.text, time=time, message=message)
        else:
            yield events.MessageEvent(message=message, time=time)
    call = _model_call(info, time)
    if call.prompt_tokens:
        yield call


def _read_message(value: events.Values, info: events.Values, at: FieldPath) -> Sequence[Message]:
    role = (at / ".info").role(info, {"user": "user", "assistant": "assistant"})
    is_summary = role == "assistant" and info.get("summary") is True
    said = Message(role, (), "summary" if is_summary else "conversation")
    steps: list[tuple[list[Part], list[Part]]] = [([], [])]  # what was said, then the results
    for index, listed in enumerate((at / ".parts").sequence(value.get("parts"))):
        place = at / f".parts[{index}]"
        part = place.mapping(listed)
        kind = place.text(part, "type")
        if part.get("ignored") or kind in _SILENT:  # ignored: never sent to the model
            continue
        if kind == "step-start" or (steps[-1][1] and kind != "tool"):
            steps.append(([], []))
        if kind == "tool":
            call, results = _read_tool(part, place)
            steps[-1][0].append(call)
            steps[-1][1].extend(results)
        elif kind != "step-start":
            steps[-1][0].append(_read_part(part, kind, place))
    messages = list[Message]()
    for parts, results in steps:
        if parts:
            messages.append(replace(said, parts=tuple(parts)))
        if results:
            messages.append(Message("tool", tuple(results)))
    return messages or [said]


def _read_part(part: events.Values, kind: str, at: FieldPath) -> Part:
    if kind == "text":
        return Text(at.text(part, "text"))
    if kind == "reasoning":
        return Thinking(at.text(part, "text"), shape=SHAPE)
    if kind == "file":
        return _read_file(part, at)
    return keep(Opaque(kind, words_of(part)), SHAPE, part)


def _read_file(part: events.Values, at: FieldPath) -> Image | Opaque:
    media_type = at.text(part, "mime")
    url = at.text(part, "url")
    head, is_data, data = url.partition(_DATA)
    has_data = is_data and head.startswith("data:") and "," not in head
    if media_type.startswith("image/"):
        return Image(media_type, data) if has_data else Image(media_type, url=url)
    name = at.text(part, "filename") or ("" if has_data else url)
    text = "\n".join(filter(None, (name, words_of(part.get("source")))))
    return keep(Opaque(media_type or "file", text), SHAPE, part)


def _read_tool(part: events.Values, at: FieldPath) -> tuple[ToolCall, list[Part]]:
    """Return a call, and its result where there is one yet."""
    at_state = at / ".state"
    state = at_state.mapping(part.get("state"), "a mapping with a status")
    arguments = state.get("input", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    call = ToolCall(id=at.text(part, "callID"), name=at.text(part, "tool"), arguments=arguments)
    match state.get("status"):
        case "completed":
            files = list[Image | Opaque]()
            attached = at_state / ".attachments"
            for index, file in enumerate(attached.sequence(state.get("attachments") or [])):
                place = attached / f"[{index}]"
                files.append(_read_file(place.mapping(file), place))
            output = at_state.text(state, "output")
            return call, [ToolResult(call.id, output, rest=tuple(files))]
        case "error":
            error = at_state.text(state, "error") or _INTERRUPTED
            return call, [ToolResult(call.id, error, failed=True)]
        case "pending" | "running":
            return call, []
        case status:
            raise (at_state / ".status").wrong(f"{status!r} is no status of a call")


def _model_call(info: events.Values, time: str) -> events.ModelCallEvent:
    tokens = events.mapping_or_empty(info.get("tokens"))
    cache = events.mapping_or_empty(tokens.get("cache"))
    return events.ModelCallEvent(
        model=str(info.get("modelID", "")),
        input_tokens=events.token_number(tokens.get("input")),
        cache_read_tokens=events.token_number(cache.get("read")),
        cache_write_tokens=events.token_number(cache.get("write")),
        output_tokens=events.token_number(tokens.get("output")),
        time=time,
    )
