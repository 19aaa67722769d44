"""Read a message whose provider nobody named.

What only one provider writes decides; a message that could be either's is taken for the provider of
its neighbours, which matters only to the fields that nobody here reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.formats import anthropic, openai_chat, openai_responses
from foreword.formats.fields import FieldPath
from foreword.message import Message, Text

_PLAIN = ("system", "user", "assistant")
_OPENAI_ROLES = ("system", "developer", "tool", "function")
_OPENAI_FIELDS = frozenset(
    ("tool_calls", "function_call", "name", "refusal", "audio", "annotations")
)
_OPENAI_PARTS = frozenset(("image_url", "input_audio", "file", "refusal"))
_ANTHROPIC_PARTS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
)


def read_messages(values: object, where: str) -> tuple[Message, ...]:
    """Messages from dicts in the shape of Anthropic or OpenAI; `where` names the source in
    errors."""
    values = FieldPath(where, "messages").sequence(values, "a list of messages")
    usual = next(filter(None, map(shape_of, values)), anthropic.SHAPE)  # of the first that tells
    messages = list[Message]()
    for index, value in enumerate(values):
        messages.append(read_message(value, where, path=f"messages[{index}]", usual=usual))
    return tuple(messages)


def read_message(
    value: object, where: str = "message", path: str = "message", usual: str = anthropic.SHAPE
) -> Message:
    """One message from a dict in the shape of Anthropic or OpenAI (or a `Message`, as it is)."""
    if isinstance(value, Message):
        return value
    if type(value) is dict and len(value) == 2:
        # the commonest message by far, read without looking further
        role = value.get("role")
        content = value.get("content")
        if type(content) is str and role in _PLAIN:
            return Message(role, (Text(content),))
    at = FieldPath(where, path)
    if openai_responses.is_item(value):
        return openai_responses.read_item(value, at)
    shape = shape_of(value) or usual
    if shape == openai_chat.SHAPE:
        return openai_chat.read_message(value, at)
    return anthropic.read_message(value, at)


def shape_of(value: object) -> str:
    """The shape of a message, or nothing where it could be either's."""
    if not isinstance(value, Mapping):
        return ""
    kinds = _part_types(value.get("content"))
    if kinds & _ANTHROPIC_PARTS:
        return anthropic.SHAPE
    if value.get("role") in _OPENAI_ROLES or value.keys() & _OPENAI_FIELDS:
        return openai_chat.SHAPE
    return openai_chat.SHAPE if kinds & _OPENAI_PARTS else ""


def _part_types(content: Any) -> set[str]:
    parts = content if isinstance(content, list) else ()
    return {str(part.get("type")) for part in parts if isinstance(part, Mapping)}
