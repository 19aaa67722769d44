"""Session files of Gemini CLI: a log that is replayed, not a list of messages.

Each line adds a message, writes one anew under its id (a reply whose calls have come back), sets
fields (`$set`, with `messages` all of them) or takes back (`$rewindTo`: that message and all behind
it). What stands at the end is the conversation. A call's result is in the reply, and most often
once more in the user's message behind it: it is read once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foreword.formats import gemini
from foreword.formats.fields import FieldPath, arguments_of
from foreword.message import Message, Part, Text, Thinking, ToolCall

_SAID = ("user", "gemini")  # other types are notes of the program: info, warning, error
REPLACED = "replaced"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMessage:
    """One message of a session, with the id of its record and what part of it this is."""

    message: Message
    id: str
    piece: str = ""


def is_session(value: Mapping[str, Any]) -> bool:
    """Whether a file begins like a session of Gemini CLI."""
    return "sessionId" in value and "projectHash" in value


def replay(
    lines: Iterable[tuple[int, Mapping[str, Any]]], skipped: Counter[str]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records that stand at the end, each with the number of the line that wrote it last."""
    records = dict[str, tuple[int, Mapping[str, Any]]]()
    for number, line in lines:
        changed = line.get("$set", line)
        if "$rewindTo" in line:
            _count(skipped, "rewound", _rewind(records, str(line["$rewindTo"])))
        elif isinstance(line.get("id"), str):
            records[line["id"]] = (number, line)
        elif isinstance(changed, Mapping) and isinstance(changed.get("messages"), list):
            before = set(records)
            records = {}
            for record in changed["messages"]:
                if isinstance(record, Mapping):
                    records[str(record.get("id"))] = (number, record)
            _count(skipped, REPLACED, len(before - set(records)))
    yield from records.values()


def _count(skipped: Counter[str], reason: str, number: int) -> None:
    if number:
        skipped[reason] += number


def _rewind(records: dict[str, tuple[int, Mapping[str, Any]]], target: str) -> int:
    """Take back a message and all behind it, or all where there is none of that id; returns how
    many."""
    ids = list(records)
    first = ids.index(target) if target in records else 0
    for name in ids[first:]:
        del records[name]
    return len(ids) - first


def read_records(
    records: Iterable[tuple[int, Mapping[str, Any]]], where: str, skipped: Counter[str]
) -> Iterator[RecordedMessage]:
    """What was said in these records, in order."""
    records = list(records)
    answered = _answered_ids(record for _, record in records)
    for number, record in records:
        kind = str(record.get("type"))
        if kind not in _SAID:
            skipped[kind] += 1
            continue
        yield from _read_record(record, FieldPath(where, f"line {number}"), answered)


def _answered_ids(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids of the calls that a message of the user answers."""
    ids = set[str]()
    for record in records:
        content = record.get("content")
        for part in content if isinstance(content, list) else ():
            response = part.get("functionResponse") if isinstance(part, Mapping) else None
            if isinstance(response, Mapping):
                ids.add(str(response.get("id")))
    return ids


def _read_record(
    record: Mapping[str, Any], at: FieldPath, answered: set[str]
) -> Iterator[RecordedMessage]:
    name = str(record.get("id") or "")
    parts = _read_parts(record.get("content"), at / ".content")
    if record["type"] == "user":
        yield RecordedMessage(message=Message("user", parts), id=name)
        return
    thoughts = _read_thoughts(record.get("thoughts"), at / ".thoughts")
    said = (*thoughts, *parts)
    if any(not isinstance(part, Text) or part.text for part in said):
        yield RecordedMessage(message=Message("assistant", said), id=name)
    calls = list[Part]()
    results = list[Part]()
    for index, call in enumerate((at / ".toolCalls").sequence(record.get("toolCalls") or [])):
        place = at / f".toolCalls[{index}]"
        read = _read_call(place.mapping(call), place)
        calls.append(read)
        if read.id not in answered:
            results += _read_parts(call.get("result") or [], place / ".result")
    if calls:
        message = Message("assistant", tuple(calls))
        yield RecordedMessage(message=message, id=name, piece="calls")
    if results:
        message = Message("tool", tuple(results))
        yield RecordedMessage(message=message, id=name, piece="results")


def _read_parts(content: object, at: FieldPath) -> tuple[Part, ...]:
    """What the API calls a list of parts: a text, one part, or many."""
    if isinstance(content, str):
        return (Text(content),)
    parts = [content] if isinstance(content, Mapping) else content or []
    return gemini.read_content({"role": "user", "parts": parts}, at).parts


def _read_call(call: Mapping[str, Any], at: FieldPath) -> ToolCall:
    return ToolCall(
        id=at.text(call, "id"),
        name=at.text(call, "name"),
        arguments=arguments_of(call.get("args", {})),
    )


def _read_thoughts(thoughts: object, at: FieldPath) -> Iterator[Thinking]:
    for index, thought in enumerate(at.sequence(thoughts or [])):
        place = at / f"[{index}]"
        thought = place.mapping(thought, "a mapping with a subject")
        lines = (place.text(thought, "subject"), place.text(thought, "description"))
        yield Thinking("\n".join(filter(None, lines)), shape=gemini.SHAPE)
