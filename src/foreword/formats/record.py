"""A message as the store keeps it: one JSON object of a fixed shape.

Free-form data is only inside strings, so a database may reorder keys. NUL and lone surrogates,
which PostgreSQL's jsonb refuses, are written as U+FDD0 (a character that Unicode keeps for such
use) and four hex digits. What equals its default is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from json.encoder import encode_basestring
from typing import Any

from foreword.message import (
    KINDS,
    ROLES,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foreword.pattern import lazy_pattern

_TYPES: dict[str, type[Part]] = {
    "text": Text,
    "image": Image,
    "thinking": Thinking,
    "opaque": Opaque,
    "call": ToolCall,
    "result": ToolResult,
}
_NAMES = {part: name for name, part in _TYPES.items()}
# of each type of part: its fields with their defaults, and the names a record of it may have
_FIELDS: dict[type[Part], list[tuple[str, Any]]] = {}
_KNOWN: dict[type[Part], set[str]] = {}
for _type in _NAMES:
    _FIELDS[_type] = [(field.name, field.default) for field in fields(_type)]
    _KNOWN[_type] = {"type", *(field.name for field in fields(_type))}
_MARK = "\ufdd0"
_UNSAFE = lazy_pattern("[\x00\ud800-\udfff\ufdd0]")
_MARKED = lazy_pattern("\ufdd0([0-9a-f]{4})")


def to_record(message: Message) -> str:
    """The message as compact JSON that any database takes."""
    kind = f',"kind":{_string_json(message.kind)}' if message.kind != "conversation" else ""
    extra = f',"extra":{_string_json(message.extra)}' if message.extra else ""
    tokens = f',"tokens":{message.tokens}' if message.tokens is not None else ""
    return f'{{"role":"{message.role}","parts":{_parts_json(message.parts)}{kind}{extra}{tokens}}}'


def checked_message(message: Message) -> Message:
    """The message, its parts as a tuple; TypeError or ValueError where its record would not give it
    back."""
    _check_head(message.role, message.kind, message.tokens, message.extra)
    parts = tuple(message.parts)
    for part in parts:
        _check_part(part)
    return message if parts is message.parts else replace(message, parts=parts)


def from_record(text: str) -> Message:
    """The message in a record; ValueError for a record that is damaged."""
    try:
        return _message(json.loads(text))
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"not the record of a message: {type(error).__name__}: {error}") from None


def _parts_json(parts: Iterable[Part]) -> str:
    return "[" + ",".join(map(_part_json, parts)) + "]"


def _part_json(part: Part) -> str:
    kind = type(part)
    fields = [f'{{"type":"{_NAMES[kind]}"']
    for name, default in _FIELDS[kind]:
        value = getattr(part, name)
        if value != default:
            fields.append(f'"{name}":{_value_json(value)}')
    return ",".join(fields) + "}"


def _value_json(value: str | bool | tuple[Part, ...]) -> str:
    if isinstance(value, str):
        return _string_json(value)
    if isinstance(value, tuple):
        return _parts_json(value)
    return "true" if value else "false"


def _message(record: dict[str, Any]) -> Message:
    role = record["role"]
    kind = record.get("kind", "conversation")
    tokens = record.get("tokens")
    extra = record.get("extra", "")
    _check_head(role, kind, tokens, extra)
    parts = tuple(_part(part) for part in record["parts"])
    return Message(role, parts, kind=kind, extra=_restore_text(extra), tokens=tokens)


def _part(record: dict[str, Any]) -> Part:
    kind = _TYPES[record["type"]]
    if not record.keys() <= _KNOWN[kind]:
        raise ValueError(f"unknown fields {sorted(record.keys() - _KNOWN[kind])}")
    values = dict[str, Any]()
    for name, default in _FIELDS[kind]:
        value = record[name] if default is MISSING else record.get(name, default)
        if name == "rest":
            value = tuple(_part(part) for part in value)
        else:
            _check_field(name, default, value)
        values[name] = _restore_text(value) if isinstance(value, str) else value
    return kind(**values)


def _check_head(role: object, kind: object, tokens: object, extra: object) -> None:
    if role not in ROLES or kind not in KINDS or not isinstance(tokens, int | None):
        raise ValueError(f"role {role!r}, kind {kind!r}, tokens {tokens!r}")
    if not isinstance(extra, str):
        raise TypeError("extra is not text")


def _check_part(part: Part) -> None:
    if type(part) not in _FIELDS:
        raise TypeError(f"a part is a {type(part).__name__}")
    for name, default in _FIELDS[type(part)]:
        value = getattr(part, name)
        if name != "rest":
            _check_field(name, default, value)
            continue
        if not isinstance(value, tuple):
            raise TypeError(f"{name} is {value!r}")
        for inner in value:
            _check_part(inner)


def _check_field(name: str, default: object, value: object) -> None:
    if not isinstance(value, str if default is MISSING else type(default)):
        raise TypeError(f"{name} is {value!r}")


# --- characters that a database refuses -----------------------------------------------------------


def _string_json(text: str) -> str:
    if not text.isascii() or "\x00" in text:
        text = _UNSAFE.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)
    return encode_basestring(text)


def _restore_text(text: str) -> str:
    if _MARK not in text:
        return text
    return _MARKED.sub(lambda found: chr(int(found[1], 16)), text)
