"""Read a recorded conversation from a file, whichever of the known kinds it is.

A JSON document is read whole or not at all. A `.jsonl` file is read line by line, so its size does
not matter; its lines are messages, items, or those of the coding agents Claude Code, Codex CLI and
Gemini CLI. Those of Claude Code are a tree (`claude_branches`), those of Gemini CLI a log that is
replayed (`gemini_cli`). What is left out is counted. Who may import a file again asks for marks: a
piece is known by its line's id, or by all that was said up to it.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, tee
from typing import Any, BinaryIO

from foreword.errors import BadSource
from foreword.formats import anthropic, detection, gemini, gemini_cli, openai_responses, pydantic_ai
from foreword.formats.claude_branches import Line, reply_id, uuid_of, with_rewound
from foreword.formats.content_fields import field_says_something
from foreword.formats.fields import FieldPath, add_to_extra, unpack_extra
from foreword.formats.record import to_record
from foreword.json_object import without_repeats
from foreword.message import Message, Opaque, Part

TRUNCATED = "truncated line"
REWOUND = "rewound"
REWOUND_SINCE = "rewound since"  # after they were imported
THERE = "there"  # messages that were imported before
SHAPE = "transcript"  # under which a message carries the marks of its pieces
_HINT = (
    "known are: a list of messages, a request with messages, input or contents, a session of a"
    " coding agent, or one JSON object on each line"
)
_LINES = (".jsonl", ".ndjson")
_RECORDED = frozenset(("method", "path", "url", "headers", "body", "query", "timestamp"))
_PROMPTS = ("system", "instructions", "developer")  # beside the messages of a request
# Where there are messages, each of these would be a second conversation.
_GZIP = b"\x1f\x8b"  # how a file begins that gzip has packed
_NOT_BESIDE = ("input", "output", "contents", "prompt", "choices", "completion")
_CLAUDE_NOTES = frozenset(("message", "uuid", "sessionId", "leafUuid", "messageId", "isSidechain"))
_ITEM = "item"


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """What one line says: a message, or a piece of one."""

    message: Message
    reply: str = ""  # the name of the reply it is a piece of; nothing where it is whole
    mark: str = ""  # what tells it from all others, at first only where the line has a name


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
    """The conversation in a file, given as its bytes or open for reading; `where` names it in
    errors.

    With `known`, the marks of what was imported before, only what is new is read, and carries its
    own marks.
    """
    file = io.BytesIO(data) if isinstance(data, bytes) else data
    opening = _read_opening(file)
    if not where.lower().endswith(_LINES) and _is_document(_non_blank(opening)):
        document = _parse_json(b"".join(opening) + file.read(), where)
        messages = _document_messages(document, where)
        return _transcript(map(TranscriptLine, messages), Counter(), known)
    skipped = Counter[str]()
    read_lines = _lines(chain(opening, file), where, skipped)
    if _is_gemini_session(_non_blank(opening)):
        return _transcript(_gemini_pieces(read_lines, where, skipped), skipped, known)
    lines = with_rewound(read_lines)
    return _transcript(_read_pieces(lines, where, skipped, known or ()), skipped, known)


def marks_of(message: Message) -> list[str]:
    """The marks of the pieces that an imported message was made of."""
    marks = unpack_extra(message.extra, SHAPE).get("marks")
    return marks if isinstance(marks, list) else []


def _transcript(
    pieces: Iterable[TranscriptLine], skipped: Counter[str], known: Collection[str] | None
) -> Transcript:
    if known is None:
        messages = map(_join_pieces, _group_pieces(_mark_instructions(pieces)))
        return Transcript(messages, skipped)
    marked = _mark_instructions(_with_marks(pieces))
    return Transcript(_new_messages(_group_pieces(marked), known, skipped), skipped)


def _mark_instructions(pieces: Iterable[TranscriptLine]) -> Iterator[TranscriptLine]:
    """Yield the pieces, system messages after the first other message marked as instructions."""
    at_messages, at_pieces = tee(pieces)
    messages = detection.mark_instructions(piece.message for piece in at_messages)
    for piece, message in zip(at_pieces, messages, strict=True):
        yield piece if message is piece.message else replace(piece, message=message)


def _read_opening(file: BinaryIO) -> list[bytes]:
    """The first lines of a file, up to the second that is not blank."""
    opening = list[bytes]()
    while len(_non_blank(opening)) < 2:
        line = file.readline()
        if not line:
            break
        opening.append(line)
    return opening


def _non_blank(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if line.strip()]


def _is_document(opening: list[bytes]) -> bool:
    """Whether the first lines belong to one document, and are not objects of their own."""
    try:
        first = _parse_json(opening[0], "") if opening else None
    except BadSource:
        return True
    if not isinstance(first, Mapping):
        return True
    return len(opening) == 1 and not first.keys() & {"role", "type", "kind"}


def _is_gemini_session(opening: list[bytes]) -> bool:
    try:
        first = _parse_json(opening[0], "") if opening else None
    except BadSource:
        return False
    return isinstance(first, Mapping) and gemini_cli.is_session(first)


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


# --- documents ------------------------------------------------------------------------------------


def _document_messages(value: Any, where: str) -> tuple[Message, ...]:
    if isinstance(value, list):
        return _list_messages(value, where)
    if not isinstance(value, Mapping):
        raise BadSource(where, "no messages in it", hint=_HINT)
    if "body" in value and value.keys() <= _RECORDED:
        return _document_messages(value["body"], where)
    for read in (_read_prompt, _read_session, _read_messages, _read_response):
        messages = read(value, where)
        if messages is not None:
            return tuple(messages)
    if "role" in value or any(each.is_message(value) for each in detection.FORMATS):
        return tuple(detection.read_any(value, FieldPath(where, "message")))
    raise BadSource(where, "no messages in it", hint=_HINT)


def _read_prompt(value: Mapping[str, Any], where: str) -> Sequence[Message] | None:
    """The messages of a request or a response in Gemini's shape or that of the Responses API."""
    if value.keys() & {"contents", "candidates"}:
        return gemini.from_gemini(value, where)
    if value.keys() & {"input", "output"} and "messages" not in value:
        return openai_responses.from_responses(value, where)
    return None


def _read_session(value: Mapping[str, Any], where: str) -> Sequence[Message] | None:
    """The messages of a session that Gemini CLI keeps in one document."""
    if not gemini_cli.is_session(value):
        return None
    pieces = _gemini_pieces([(1, value)], where, Counter())
    return [_join_pieces(group) for group in _group_pieces(pieces)]


def _read_messages(value: Mapping[str, Any], where: str) -> Sequence[Message] | None:
    """The messages of a request; what the system says may stand beside them."""
    if "messages" not in value:
        return None
    for name in _NOT_BESIDE:
        if value.get(name):
            raise FieldPath(where, name).unknown_content()
    prompts = list[Message]()
    for name in _PROMPTS:
        if value.get(name):
            parts = anthropic.read_content(value[name], FieldPath(where, name))
            prompts.append(Message("system", parts))
    usual = anthropic.SHAPE if "system" in value else ""
    return [*prompts, *_list_messages(value["messages"], where, usual)]


def _read_response(value: Mapping[str, Any], where: str) -> Sequence[Message] | None:
    """The message of a response in the shape of the chat API, or of one that speaks like it."""
    message = value.get("message")
    path = "message"
    choices = value.get("choices")
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        path = "choices[0].message"
    if not isinstance(message, Mapping) or "role" in value:
        return None
    return detection.read_any(message, FieldPath(where, path))


def _list_messages(values: Any, where: str, usual: str = "") -> tuple[Message, ...]:
    values = FieldPath(where, "messages").sequence(values, "a list of messages")
    if values and isinstance(values[0], Mapping) and pydantic_ai.is_message(values[0]):
        return pydantic_ai.from_pydantic_ai_json(values, where)
    if any(map(openai_responses.is_item, values)):
        return openai_responses.from_responses(values, where)
    return detection.read_messages(values, where, usual)


def _gemini_pieces(
    lines: Iterable[Line], where: str, skipped: Counter[str]
) -> Iterator[TranscriptLine]:
    """What was said in a session of Gemini CLI."""
    records = gemini_cli.replay(lines, skipped)
    for one in gemini_cli.read_records(records, where, skipped):
        reply = one.id if one.message.role == "assistant" else ""
        mark = f"{one.id} {one.piece}".strip()
        yield TranscriptLine(one.message, reply=reply, mark=mark)


# --- lines ----------------------------------------------------------------------------------------


def _lines(raw: Iterable[bytes], where: str, skipped: Counter[str]) -> Iterator[Line]:
    """Each line's object with its number; a last line that its writer could not finish is
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


def _read_pieces(
    lines: Iterable[tuple[Line, bool]], where: str, skipped: Counter[str], known: Collection[str]
) -> Iterator[TranscriptLine]:
    seen = set[str]()  # the names of lines
    before = pydantic_ai.EarlierMessages()
    for (number, value), rewound in lines:
        note = _skip_reason(value, seen)
        if rewound and not note:
            note = REWOUND_SINCE if uuid_of(value) in known else REWOUND
        if note:
            skipped[note] += 1
            continue
        try:
            pieces = list(_read_line(value, FieldPath(where, "message"), before))
        except BadSource as error:
            raise BadSource(where, error.problem, line=number, hint=error.command_hint) from None
        yield from pieces


def _skip_reason(value: Mapping[str, Any], seen: set[str]) -> str:
    """What kind of note this line is, if it is no part of the conversation."""
    kind = value.get("type")
    if not isinstance(kind, str):
        if "instructions" in value and "role" not in value:
            return "session_meta"
        return str(value.get("record_type", ""))
    if "payload" in value:
        return "" if kind == "response_item" else kind
    if "role" in value:
        return ""
    if value.keys() & _CLAUDE_NOTES:
        return _claude_skip_reason(value, kind, seen)
    if any(each.is_message(value) for each in detection.FORMATS):
        return ""
    if any(field_says_something(name, value[name]) for name in value if name != "type"):
        return ""  # no note, and nothing that is known here: it is refused by name
    return kind


def _claude_skip_reason(value: Mapping[str, Any], kind: str, seen: set[str]) -> str:
    if value.get("isSidechain"):
        return "sidechain"
    if kind not in ("user", "assistant") or "message" not in value:
        return kind
    if value.get("isMeta"):
        return "meta"
    if value.get("isApiErrorMessage"):
        return "API error"
    name = uuid_of(value)
    if name in seen:
        return "duplicate"
    if name:
        seen.add(name)
    return ""


def _read_line(
    value: Mapping[str, Any], at: FieldPath, before: pydantic_ai.EarlierMessages
) -> Iterable[TranscriptLine]:
    if "payload" in value:
        return [TranscriptLine(openai_responses.read_item(value["payload"], at), _ITEM)]
    if "message" in value and "role" not in value:
        inner = at.mapping(value["message"], "a mapping with role and content")
        message = detection.read_message(inner, at.where, at.path, usual=anthropic.SHAPE)
        if value.get("isCompactSummary"):
            message = replace(message, kind="summary")
        reply = reply_id(value) if message.role == "assistant" else ""
        return [TranscriptLine(message, reply=reply, mark=uuid_of(value))]
    if pydantic_ai.is_message(value):
        return map(TranscriptLine, pydantic_ai.read_message(value, at, before))
    if openai_responses.is_item(value):
        return [TranscriptLine(openai_responses.read_item(value, at), _ITEM)]
    return map(TranscriptLine, detection.read_any(value, at))


# --- pieces ---------------------------------------------------------------------------------------


def _group_pieces(pieces: Iterable[TranscriptLine]) -> Iterator[list[TranscriptLine]]:
    """The pieces of one message after another."""
    group = list[TranscriptLine]()
    message = Message("user", ())  # the pieces of the group as one
    for piece in pieces:
        if group and _is_more(message, group[-1].reply, piece):
            message = _join_pieces([TranscriptLine(message), piece])
        else:
            if group:
                yield group
            group = []
            message = piece.message
        group.append(piece)
    if group:
        yield group


def _is_more(last: Message, reply: str, piece: TranscriptLine) -> bool:
    """Whether a piece belongs to the message in front of it."""
    if not piece.reply or reply != piece.reply:
        return False
    return piece.reply != _ITEM or openai_responses.join(last, piece.message) is not None


def _join_pieces(pieces: Sequence[TranscriptLine]) -> Message:
    parts = list[Part]()
    extra = ""
    for piece in pieces:
        parts += piece.message.parts
        extra = extra or piece.message.extra
    return replace(pieces[0].message, parts=tuple(parts), extra=extra)


# --- marks ----------------------------------------------------------------------------------------


def _with_marks(pieces: Iterable[TranscriptLine]) -> Iterator[TranscriptLine]:
    """The pieces, each with a mark; where lines have no names, the same words in another place
    have another one."""
    said = blake2b(digest_size=12)
    for piece in pieces:
        if piece.mark:
            yield piece
            continue
        said.update(_shapeless_record(piece.message).encode())
        yield replace(piece, mark=said.hexdigest())


def _shapeless_record(message: Message) -> str:
    """Return the record of the message without `kind` and `extra`.

    Both depend on the shape that the file as a whole is read in, and that may be recognized only
    once the file has grown.
    """
    parts = tuple(
        part if isinstance(part, Opaque) else replace(part, extra="") for part in message.parts
    )
    return to_record(Message(message.role, parts))


def _new_messages(
    messages: Iterable[list[TranscriptLine]], known: Collection[str], skipped: Counter[str]
) -> Iterator[Message]:
    """What was not imported before; of a reply that has grown since, the rest."""
    for pieces in messages:
        new = [piece for piece in pieces if piece.mark not in known]
        if not new:
            skipped[THERE] += 1
            continue
        message = _join_pieces(new)
        marks = [piece.mark for piece in new]
        yield replace(message, extra=add_to_extra(message.extra, SHAPE, {"marks": marks}))
