"""Session files of Gemini CLI: a log that is replayed, not a list of messages.

Each line adds a message, writes one anew under its id (a reply whose calls have come back), sets
fields (`$set`, with `messages` all of them) or takes back (`$rewindTo`: that message and all after
it). What stands at the end is the conversation; a compression replaces it by a summary. A call's
result is in the reply, and most often once more in the user's message after it: it is read once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message
from foreword.messages.parts import Part, Text, Thinking, ToolCall
from foreword.messages.shapes import read_any
from foreword.transcripts import events
from foreword.transcripts.plumbing import words_of

AGENT = "gemini"
SNAPSHOT = "<state_snapshot>"  # begins the summary of a compression
REPLACED = "replaced"
_SAID = ("user", "gemini")  # other types are notes of the program: info, warning, error
_TOKENS = ("input", "cached", "output")
Records = dict[
    str, events.Line
]  # by their ids, each with the number of the line that wrote it last


def is_session(value: events.Values) -> bool:
    """Return whether a line or a document is one of Gemini CLI's."""
    return "sessionId" in value and "projectHash" in value


def read(lines: Iterable[events.Line], where: str, *, whole: bool) -> Iterator[events.AgentEvent]:
    """Yield what happened, in order. What was said before a compression stands no longer, so
    without `whole` every record is yielded once, as it was written last."""
    written = Records()
    standing = dict[str, None]()  # the ids of the records that are the conversation
    for number, line in lines:
        if is_session(line):
            session = str(line.get("sessionId", ""))
            folder = str(line.get("directory", ""))
            yield events.SessionHead(agent=AGENT, session=session, folder=folder)
        before = list(standing)
        reason = REPLACED
        listed = events.mapping_or_empty(line.get("$set", line)).get("messages")
        if "$rewindTo" in line:
            target = str(line["$rewindTo"])
            reason = events.REWOUND
            standing = dict.fromkeys(before[: before.index(target)] if target in standing else ())
        elif isinstance(line.get("id"), str):
            written[line["id"]] = (number, line)
            standing[line["id"]] = None
        elif isinstance(listed, list):
            new = [record for record in listed if isinstance(record, Mapping)]
            written |= {str(record.get("id")): (number, record) for record in new}
            standing = dict.fromkeys(str(record.get("id")) for record in new)
        for name in before:
            if name not in standing:
                yield events.NoteEvent(kind=reason)
    records = [written[name] for name in (standing if whole else written)]
    answered = _answered_ids(record for _, record in records)
    for number, record in records:
        yield from _record_events(record, number, where, answered)


def _answered_ids(records: Iterable[events.Values]) -> set[str]:
    """Return the ids of the calls that a message of the user answers."""
    ids = set[str]()
    for record in records:
        content = record.get("content")
        for part in content if isinstance(content, list) else ():
            response = part.get("functionResponse") if isinstance(part, Mapping) else None
            if isinstance(response, Mapping):
                ids.add(str(response.get("id")))
    return ids


def _record_events(
    record: events.Values, number: int, where: str, answered: set[str]
) -> Iterator[events.AgentEvent]:
    kind = str(record.get("type"))
    time = str(record.get("timestamp", ""))
    if kind not in _SAID:
        yield events.NoteEvent(kind=kind)
        return
    name = str(record.get("id") or "")
    try:
        messages = list(_messages(record, FieldPath(where, f"line {number}"), answered))
    except BadSource as error:
        yield events.bad_line(error, 0)
        return
    summary = words_of(record.get("content"))
    is_summary = kind == "user" and SNAPSHOT in summary
    for piece, message in messages:
        mark = f"{name} {piece}".strip()
        if is_summary:
            yield events.CompactionEvent(summary=summary, time=time, message=message, mark=mark)
            continue
        reply = name if message.role == "assistant" else ""
        yield events.MessageEvent(message=message, time=time, reply=reply, mark=mark)
    tokens = record.get("tokens")
    if kind == "gemini" and isinstance(tokens, Mapping):
        model = str(record.get("model", ""))
        yield events.call_of_totals(tokens, _TOKENS, model=model, time=time)


def _messages(
    record: events.Values, at: FieldPath, answered: set[str]
) -> Iterator[tuple[str, Message]]:
    """Yield the messages of a record, each with the name of the piece that it is."""
    parts = _parts(record.get("content"), at / ".content")
    if record["type"] == "user":
        yield "", Message("user", parts)
        return
    said = (*_thoughts(record.get("thoughts"), at / ".thoughts"), *parts)
    if any(not isinstance(part, Text) or part.text for part in said):
        yield "", Message("assistant", said)
    calls = list[Part]()
    results = list[Part]()
    for index, value in enumerate((at / ".toolCalls").sequence(record.get("toolCalls") or [])):
        place = at / f".toolCalls[{index}]"
        value = place.mapping(value)
        name = place.text(value, "id")
        arguments = json.dumps(value.get("args", {}), ensure_ascii=False)
        calls.append(ToolCall(id=name, name=place.text(value, "name"), arguments=arguments))
        if name not in answered:
            results += _parts(value.get("result") or [], place / ".result")
    if calls:
        yield "calls", Message("assistant", tuple(calls))
    if results:
        yield "results", Message("tool", tuple(results))


def _parts(content: object, at: FieldPath) -> tuple[Part, ...]:
    """Return what the API calls a list of parts: a text, one part, or many."""
    if isinstance(content, str):
        return (Text(content),)
    parts = [content] if isinstance(content, Mapping) else content or []
    (message,) = read_any({"role": "user", "parts": parts}, at)
    return message.parts


def _thoughts(thoughts: object, at: FieldPath) -> Iterator[Thinking]:
    for index, thought in enumerate(at.sequence(thoughts or [])):
        place = at / f"[{index}]"
        value: Mapping[str, Any] = place.mapping(thought, "a mapping with a subject")
        lines = (place.text(value, "subject"), place.text(value, "description"))
        yield Thinking("\n".join(filter(None, lines)), shape="gemini")
