"""A message as the store keeps it: the JSON that it came as, and what it is.

A message of our own, or one that was edited, is kept in a shape of our own: its parts by their
fields, each with the JSON that it came as.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, replace
from typing import Any

from foreword.errors import BadSource
from foreword.messages.blocks import Json, as_received
from foreword.messages.message import KINDS, ROLES, Message, relabel
from foreword.messages.parts import Block, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.pattern import lazy_pattern

SHAPE = "foreword"
_TYPES: dict[str, type[Part]] = {
    "text": Text,
    "image": Image,
    "thinking": Thinking,
    "opaque": Opaque,
    "call": ToolCall,
    "result": ToolResult,
}
_NAMES = {part: name for name, part in _TYPES.items()}
# of each type of part: its fields with their defaults
_FIELDS: dict[type[Part], list[tuple[str, Any]]] = {}
for _type in _NAMES:
    _FIELDS[_type] = [(field.name, field.default) for field in fields(_type) if field.init]
# Half characters are no UTF-8; in JSON they may be escaped, inside of strings as everywhere else.
_LABELS = ("tokens", "marks")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_HALVES = lazy_pattern("[\ud800-\udfff]")


def to_record(message: Message) -> str:
    """The message as JSON that any database takes."""
    block = message.block
    raw = as_received(message, block.shape) if block is not None else None
    record = Json(role=message.role)
    if block is not None and raw is not None:
        record["shape"] = block.shape
    if message.kind != "conversation":
        record["kind"] = message.kind
    if message.tokens is not None:
        record["tokens"] = message.tokens
    if message.marks:
        record["marks"] = message.marks
    record["raw"] = _own_json(message) if raw is None else raw
    written = _ENCODER.encode(record)
    if written.isascii():
        return written
    return _HALVES.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def from_record(text: str) -> Message:
    """The message in a record; ValueError for a record that is damaged."""
    try:
        record = json.loads(text)
        raw = record["raw"]
        shape = record.get("shape", SHAPE)
        role, kind = record["role"], record.get("kind", "conversation")
        if shape == SHAPE:
            message = _own_message(raw, role, kind)
        else:
            from foreword.messages.shapes import read_again  # which imports every shape

            message = read_again(raw, shape=shape, role=role)
        labels = {name: record[name] for name in _LABELS if name in record}
        if message.kind != kind or labels:
            marks = tuple(labels.get("marks", ()))
            message = relabel(message, kind=kind, tokens=labels.get("tokens"), marks=marks)
        return message
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, BadSource) as error:
        raise ValueError(f"not the record of a message: {type(error).__name__}: {error}") from None


def checked_message(message: Message) -> Message:
    """The message, its parts as a tuple; TypeError or ValueError where its record would not give it
    back."""
    if message.role not in ROLES or message.kind not in KINDS:
        raise ValueError(f"role {message.role!r}, kind {message.kind!r}")
    if not isinstance(message.tokens, int | None):
        raise TypeError(f"tokens {message.tokens!r}")
    parts = tuple(message.parts)
    for part in parts:
        _check_part(part)
    return message if parts is message.parts else replace(message, parts=parts)


def _check_part(part: Part) -> None:
    if type(part) not in _FIELDS:
        raise TypeError(f"a part is a {type(part).__name__}")
    for name, default in _FIELDS[type(part)]:
        value = getattr(part, name)
        if not isinstance(value, str if default is MISSING else type(default)):
            raise TypeError(f"{name} is {value!r}")
    for inner in part.rest if isinstance(part, ToolResult) else ():
        _check_part(inner)


# --- our own shape --------------------------------------------------------------------------------


def _own_json(message: Message) -> Json:
    own = Json(parts=[_part_json(part) for part in message.parts])
    return own | ({"block": _block_json(message.block)} if message.block is not None else {})


def _part_json(part: Part) -> Json:
    written = Json(type=_NAMES[type(part)])
    for name, default in _FIELDS[type(part)]:
        value = getattr(part, name)
        if value != default:
            written[name] = [_part_json(each) for each in value] if name == "rest" else value
    if part.block is not None:
        written["block"] = _block_json(part.block)
    return written


def _block_json(block: Block) -> Json:
    return Json(shape=block.shape, raw=block.raw, is_edited=block.is_edited)


def _own_message(raw: Any, role: Any, kind: Any) -> Message:
    if role not in ROLES:
        raise ValueError(f"role {role!r}")
    message = Message(role, tuple([_own_part(part) for part in raw["parts"]]), kind)
    if "block" in raw:
        object.__setattr__(message, "block", Block(**raw["block"]))
    return message


def _own_part(raw: Any) -> Part:
    kind = _TYPES[raw["type"]]
    values = Json()
    for name, default in _FIELDS[kind]:
        value = raw[name] if default is MISSING else raw.get(name, default)
        if name == "rest":
            value = tuple([_own_part(each) for each in value])
        values[name] = value
    part = kind(**values)
    _check_part(part)
    if "block" in raw:
        object.__setattr__(part, "block", Block(**raw["block"]))
    return part
