"""Read a recorded conversation from a file, to import it: a session of a coding agent, or messages
in any known shape.

All of a file is read or nothing: the first line that can't be read is an error that names it. A
JSON document is read whole; a `.jsonl` file line by line, so its size does not matter. What is left
out is counted. A caller that may import a file again passes the marks of what it has: a piece is
known by the id of its line, or by all that was said up to it.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, BinaryIO

from foreword.errors import BadSource
from foreword.json_object import without_repeats
from foreword.messages import gemini, openai_responses, pydantic_ai, shapes
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message
from foreword.transcripts.codex import ITEM
from foreword.transcripts.events import (
    REWOUND,
    AgentEvent,
    BadLineEvent,
    CompactionEvent,
    Line,
    MessageEvent,
    NoteEvent,
    bad_line,
)
from foreword.transcripts.import_marks import join_pieces, new_messages, with_marks
from foreword.transcripts.reader import DOCUMENTS, LOOKED_AT, READERS, agent_of

TRUNCATED = "truncated line"
REWOUND_SINCE = "rewound since"  # after they were imported
_HINT = (
    "known are: a list of messages, a request with messages, input or contents, a session of a"
    " coding agent, or one JSON object on each line"
)
_LINES = (".jsonl", ".ndjson")
_RECORDED = frozenset(("method", "path", "url", "headers", "body", "query", "timestamp"))
_PROMPTS = ("system", "instructions", "developer")  # beside the messages of a request
# Where there are messages, each of these would be a second conversation.
_NOT_BESIDE = ("input", "output", "contents", "prompt", "choices", "completion")
_GZIP = b"\x1f\x8b"  # how a file begins that gzip has packed


@dataclass(slots=True)
class Transcript:
    """The messages in a file, and how many of what was left out: complete once the messages have
    been read."""

    messages: Iterator[Message]
    skipped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Message]:
        return self.messages


def read_transcript(
    data: bytes | BinaryIO, where: str, known: Collection[str] | None = None
) -> Transcript:
    """Return the conversation in a file, given as its bytes or open for reading; `where` names it
    in errors.

    With `known`, the marks of what was imported before, only what is new is read, and carries its
    own marks.
    """
    file = io.BytesIO(data) if isinstance(data, bytes) else data
    opening = _read_opening(file)
    skipped = Counter[str]()
    if not where.lower().endswith(_LINES) and _is_document(opening):
        document = _parse_json(b"".join(opening) + file.read(), where)
        session = {"messages": document} if isinstance(document, list) else document
        agent = agent_of([session], DOCUMENTS) if isinstance(session, Mapping) else ""
        lines: Iterable[Line] = [(1, session)]
        messages = [] if agent else _document_messages(document, where)
        plain: Iterable[AgentEvent] = [MessageEvent(message=message) for message in messages]
    else:
        agent = agent_of(list(_openings(opening)))
        lines = _lines(chain(opening, file), where, skipped)
        plain = _plain_events(lines, where)
    events = READERS[agent].read(lines, where, whole=True) if agent else plain
    pieces = _mark_instructions(_pieces(events, known or (), skipped))
    if known is None:
        return Transcript(map(join_pieces, _group_pieces(pieces)), skipped)
    groups = _group_pieces(with_marks(pieces))
    return Transcript(new_messages(groups, known, skipped), skipped)


def _pieces(
    events: Iterable[AgentEvent], known: Collection[str], skipped: Counter[str]
) -> Iterator[MessageEvent]:
    """Yield the messages as they were recorded; other lines are counted, a bad one is an error."""
    for event in events:
        if isinstance(event, MessageEvent):
            yield event
        elif isinstance(event, CompactionEvent) and event.message is not None:
            yield MessageEvent(message=event.message, mark=event.mark)
        elif isinstance(event, BadLineEvent):
            raise event.error
        elif isinstance(event, NoteEvent | CompactionEvent) and event.kind:
            is_known = event.kind == REWOUND and event.mark in known
            skipped[REWOUND_SINCE if is_known else event.kind] += 1


def _mark_instructions(pieces: Iterable[MessageEvent]) -> Iterator[MessageEvent]:
    """Yield the pieces, system messages after the first other message marked as instructions."""
    has_begun = False
    for piece in pieces:
        (message,) = shapes.mark_instructions([piece.message], begun=has_begun)
        has_begun = has_begun or message.role != "system"
        yield piece if message is piece.message else replace(piece, message=message)


# --- files ----------------------------------------------------------------------------------------


def _read_opening(file: BinaryIO) -> list[bytes]:
    """Return the first lines of a file, enough to recognize it."""
    opening = list[bytes]()
    for line in file:
        opening.append(line)
        if len(opening) == LOOKED_AT:
            break
    return opening


def _openings(opening: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in the first lines, leniently: bad lines are errors when they are read."""
    for line in opening:
        try:
            value = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping):
            yield value


def _is_document(opening: Sequence[bytes]) -> bool:
    """Return whether the first lines belong to one document, and are not objects of their own."""
    lines = [line for line in opening if line.strip()]
    try:
        first = _parse_json(lines[0], "") if lines else None
    except BadSource:
        return True
    if not isinstance(first, Mapping):
        return True
    return len(lines) == 1 and first.keys().isdisjoint(("role", "type", "kind"))


def _parse_json(raw: bytes, where: str, line: int = 0) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=without_repeats)
    except UnicodeDecodeError:
        is_packed = raw.startswith(_GZIP)
        hint = "unpack it first: gunzip" if is_packed else "save it as UTF-8"
        raise BadSource(where, "not UTF-8", line=line, hint=hint) from None
    except json.JSONDecodeError as error:
        place = {"line": line} if line else {"line": error.lineno, "column": error.colno}
        raise BadSource(where, f"not JSON: {error.msg}", hint=_HINT, **place) from None
    except RecursionError:
        raise BadSource(where, "not usable JSON: nested too deeply", line=line) from None
    except ValueError as error:  # a number of thousands of digits, or a key that is there twice
        raise BadSource(where, f"not usable JSON: {error}", line=line) from None


def _lines(raw: Iterable[bytes], where: str, skipped: Counter[str]) -> Iterator[Line]:
    """Yield each line's object with its number; a last line that its writer has not finished is
    counted and left out."""
    for number, line in enumerate(raw, 1):
        if not line.strip():
            continue
        try:
            value = _parse_json(line, where, number)
        except BadSource:
            if line.endswith(b"\n"):
                raise
            skipped[TRUNCATED] += 1
            return
        if not isinstance(value, Mapping):
            raise BadSource(where, "must be a JSON object", line=number, hint=_HINT)
        yield number, value


# --- messages of no coding agent ------------------------------------------------------------------


def _plain_events(lines: Iterable[Line], where: str) -> Iterator[AgentEvent]:
    at = FieldPath(where, "message")
    earlier = pydantic_ai.EarlierMessages()
    for number, value in lines:
        reply = ITEM if openai_responses.is_message(value) else ""
        try:
            messages = shapes.read_any(value, at, earlier=earlier)
        except BadSource as error:
            yield bad_line(error, number)
            continue
        for message in messages:
            yield MessageEvent(message=message, reply=reply)


def _document_messages(value: Any, where: str) -> Sequence[Message]:
    if isinstance(value, list):
        return _list_messages(value, where)
    if not isinstance(value, Mapping):
        raise BadSource(where, "no messages in it", hint=_HINT)
    if "body" in value and value.keys() <= _RECORDED:
        return _document_messages(value["body"], where)
    if value.keys() & {"contents", "candidates"}:
        return gemini.from_gemini(value, where)
    if "messages" in value:
        return _request_messages(value, where)
    if value.keys() & {"input", "output"}:
        return openai_responses.from_responses(value, where)
    value = value if shapes.is_message(value) else value.get("message")
    if isinstance(value, Mapping):
        return shapes.read_any(value, FieldPath(where, "message"))
    raise BadSource(where, "no messages in it", hint=_HINT)


def _request_messages(value: Mapping[str, Any], where: str) -> Sequence[Message]:
    """Return the messages of a request; what the system says may stand beside them."""
    for name in _NOT_BESIDE:
        if value.get(name):
            raise FieldPath(where, name).wrong("a second conversation beside the messages")
    prompts = list[Message]()
    for name in _PROMPTS:
        if value.get(name):
            prompt = {"role": "system", "content": value[name]}
            prompts += shapes.read_any(prompt, FieldPath(where, name), usual="anthropic")
    usual = "anthropic" if "system" in value else ""
    return [*prompts, *_list_messages(value["messages"], where, usual)]


def _list_messages(values: Any, where: str, usual: str = "") -> Sequence[Message]:
    values = FieldPath(where, "messages").sequence(values, "a list of messages")
    if any(map(openai_responses.is_message, values)):
        return openai_responses.from_responses(values, where)
    return shapes.read_messages(values, where, usual)


# --- pieces ---------------------------------------------------------------------------------------


def _group_pieces(pieces: Iterable[MessageEvent]) -> Iterator[list[MessageEvent]]:
    """Yield the pieces of one message after another."""
    group = list[MessageEvent]()
    message = Message("user", ())  # the pieces of the group as one
    for piece in pieces:
        if group and _is_more(message, group[-1].reply, piece):
            message = join_pieces([MessageEvent(message=message), piece])
        else:
            if group:
                yield group
            group = []
            message = piece.message
        group.append(piece)
    if group:
        yield group


def _is_more(last: Message, reply: str, piece: MessageEvent) -> bool:
    """Return whether a piece belongs to the message before it."""
    if not piece.reply or reply != piece.reply:
        return False
    return piece.reply != ITEM or openai_responses.join(last, piece.message) is not None
