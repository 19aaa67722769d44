"""Read a recorded conversation from a file, whichever of the known kinds it is.

A JSON document is read whole or not at all. A `.jsonl` file is read line by line, so its size does not matter; its
lines are messages, items, or those of the coding agents Claude Code and Codex CLI. What is left out is counted.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, BinaryIO

from foreword.errors import BadSource
from foreword.message import Message
from foreword.shapes import anthropic, openai_responses, pydantic_ai, reading
from foreword.shapes.foreign import At

TRUNCATED = "truncated line"
_HINT = "known are: a list of messages, a request with messages or input, or one JSON object on each line"
_LINES = (".jsonl", ".ndjson")
_CLAUDE_NOTES = frozenset(("message", "uuid", "sessionId", "leafUuid", "messageId", "isSidechain"))
_ITEMS = frozenset(("message", "reasoning", "compaction", "item_reference"))
_ITEM = "item"

Line = tuple[int, Mapping[str, Any]]
Piece = tuple[str, Message]  # with the name of the reply it is a piece of; nothing where it is whole


@dataclass(slots=True)
class Transcript:
    """The messages in a file, and how many of what was left out: complete once the messages have been read."""

    messages: Iterator[Message]
    skipped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Message]:
        return self.messages


def read_transcript(data: bytes | BinaryIO, where: str) -> Transcript:
    """The conversation in a file, given as its bytes or open for reading; `where` names it in errors."""
    file = io.BytesIO(data) if isinstance(data, bytes) else data
    opening = list[bytes]()
    while len(_filled(opening)) < 2 and (line := file.readline()):
        opening.append(line)
    if not where.lower().endswith(_LINES) and _is_document(_filled(opening)):
        return Transcript(iter(_document(_parsed(b"".join(opening) + file.read(), where), where)))
    skipped = Counter[str]()
    pieces = _pieces(_lines(chain(opening, file), where, skipped), where, skipped)
    return Transcript(_joined(pieces), skipped)


def _filled(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if line.strip()]


def _is_document(opening: list[bytes]) -> bool:
    """Whether the first lines belong to one document, and are not objects of their own."""
    try:
        first = _parsed(opening[0], "") if opening else None
    except BadSource:
        return True
    if not isinstance(first, Mapping):
        return True
    return len(opening) == 1 and not first.keys() & {"role", "type", "kind"}


def _parsed(raw: bytes, where: str, line: int = 0) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadSource(where, "not UTF-8", line=line, hint="save it as UTF-8") from None
    except json.JSONDecodeError as error:
        place = {"line": line} if line else {"line": error.lineno, "column": error.colno}
        raise BadSource(where, f"not JSON: {error.msg}", hint=_HINT, **place) from None
    except RecursionError:
        raise BadSource(where, "not usable JSON: nested too deeply", line=line) from None
    except ValueError as error:  # a number of thousands of digits
        raise BadSource(where, f"not usable JSON: {error}", line=line) from None


# --- documents -------------------------------------------------------------------------------------------------


def _document(value: Any, where: str) -> tuple[Message, ...]:
    if isinstance(value, list):
        return _listed(value, where)
    if isinstance(value, Mapping) and "messages" in value:
        system = anthropic.from_anthropic({"system": value.get("system"), "messages": []}, where)
        return (*system, *_listed(value["messages"], where))
    if isinstance(value, Mapping) and value.keys() & {"input", "output"}:
        return openai_responses.from_responses(value, where)
    if isinstance(value, Mapping) and "role" in value:
        return (reading.read_message(value, where),)
    raise BadSource(where, "no messages in it", hint=_HINT)


def _listed(values: Any, where: str) -> tuple[Message, ...]:
    values = At(where, "messages").sequence(values, "a list of messages")
    if values and _is_pydantic_ai(values[0]):
        return pydantic_ai.from_pydantic_ai_json(values, where)
    if any(map(openai_responses.is_item, values)):
        return openai_responses.from_responses(values, where)
    return reading.read_messages(values, where)


def _is_pydantic_ai(value: object) -> bool:
    return isinstance(value, Mapping) and "parts" in value and value.get("kind") in ("request", "response")


# --- lines -----------------------------------------------------------------------------------------------------


def _lines(raw: Iterable[bytes], where: str, skipped: Counter[str]) -> Iterator[Line]:
    """Each line's object with its number; a last line that its writer could not finish is counted and left out."""
    for number, line in enumerate(raw, 1):
        if not line.strip():
            continue
        try:
            value = _parsed(line, where, number)
        except BadSource:
            if line.endswith(b"\n"):
                raise
            skipped[TRUNCATED] += 1
            return
        if not isinstance(value, Mapping):
            raise BadSource(where, "must be a JSON object", line=number, hint=_HINT)
        yield number, value


def _pieces(lines: Iterable[Line], where: str, skipped: Counter[str]) -> Iterator[Piece]:
    seen, names = set[str](), dict[str, str]()
    for number, value in lines:
        if note := _note(value, seen):
            skipped[note] += 1
            continue
        try:
            pieces = list(_read_line(value, At(where, "message"), names))
        except BadSource as error:
            raise BadSource(where, error.problem, line=number, hint=error.hint) from None
        yield from pieces


def _note(value: Mapping[str, Any], seen: set[str]) -> str:
    """What kind of note this line is, if it is no part of the conversation."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return "session_meta" if "instructions" in value and "role" not in value else str(value.get("record_type", ""))
    if "payload" in value:
        return "" if kind == "response_item" else kind
    if "role" in value or kind in _ITEMS or kind.endswith(("_call", "_call_output")):
        return ""
    if value.keys() & _CLAUDE_NOTES:
        return _claude_note(value, kind, seen)
    return kind


def _claude_note(value: Mapping[str, Any], kind: str, seen: set[str]) -> str:
    if value.get("isSidechain"):
        return "sidechain"
    if kind not in ("user", "assistant") or "message" not in value:
        return kind
    if value.get("isMeta"):
        return "meta"
    name = str(value.get("uuid") or "")
    if name in seen:
        return "duplicate"
    seen |= {name} - {""}
    return ""


def _read_line(value: Mapping[str, Any], at: At, names: dict[str, str]) -> Iterable[Piece]:
    if "payload" in value:
        return [(_ITEM, openai_responses.read_item(value["payload"], at))]
    if "message" in value and "role" not in value:
        inner = at.mapping(value["message"], "a mapping with role and content")
        message = reading.read_message(inner, at.where, at.path)
        if value.get("isCompactSummary"):
            message = replace(message, kind="summary")
        return [(str(inner.get("id") or "") if message.role == "assistant" else "", message)]
    if _is_pydantic_ai(value):
        return [("", message) for message in pydantic_ai.read_message(value, at, names)]
    if openai_responses.is_item(value):
        return [(_ITEM, openai_responses.read_item(value, at))]
    return [("", reading.read_message(value, at.where, at.path))]


def _joined(pieces: Iterable[Piece]) -> Iterator[Message]:
    """The messages, those that were written in pieces whole again."""
    last: Piece | None = None
    for piece in pieces:
        whole = _whole(last, piece) if last else None
        if last and not whole:
            yield last[1]
        last = (piece[0], whole or piece[1])
    if last:
        yield last[1]


def _whole(last: Piece, piece: Piece) -> Message | None:
    if not piece[0] or last[0] != piece[0]:
        return None
    if piece[0] == _ITEM:
        return openai_responses.join(last[1], piece[1])
    return replace(last[1], parts=last[1].parts + piece[1].parts)
