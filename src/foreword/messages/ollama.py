"""Ollama's chat: like OpenAI's, but calls may have no ids, and pictures stand beside the content.

A result names its tool, and its call where the server is new enough to have ids; else it answers
the first call of that tool that is still open. Pictures are base64: the API takes no addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields
from foreword.messages.message import Message, keep
from foreword.messages.parts import Image, Part, Text, Thinking, ToolCall, ToolResult, part_text

SHAPE = "ollama"
_OWN_FIELDS = frozenset(("thinking", "images", "tool_name"))
# The fields of a message that hold what it says; all others are kept as they are.
_SAID = ("role", "content", "thinking", "images", "tool_calls")


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is one of Ollama's: a field of its own, or a call whose arguments are an
    object."""
    if "role" not in value or isinstance(value.get("content"), list):
        return False
    images = value.get("images")
    if isinstance(images, list) and any(isinstance(image, Mapping) for image in images):
        return False  # those of OpenRouter, with a type and an address
    if value.keys() & _OWN_FIELDS:
        return True
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("arguments"), Mapping):
            return True
    return False


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    role, raw = at.role(value, fields.SAME_ROLES), fields.without_kind(value)
    parts = tuple(_read_parts(value, at))
    if role == "tool":
        call = at.first_text(value, "tool_call_id", "tool_name")
        images = tuple([part for part in parts if isinstance(part, Image)])
        parts = (keep(ToolResult(call, at.text(value, "content"), rest=images), SHAPE, raw),)
    return keep(Message(role, parts, fields.kind_of(value, at)), SHAPE, raw)


def _read_parts(value: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    thought, content = at.text(value, "thinking"), at.text(value, "content")
    if thought:
        yield keep(Thinking(thought, shape=SHAPE), SHAPE, {"thinking": thought})
    if content:
        yield keep(Text(content), SHAPE, content)
    for image, place in at.items(value, "images"):
        if not isinstance(image, str):
            raise place.wrong("must be base64")
        yield keep(Image("image/png", image), SHAPE, image)
    for call, place in at.items(value, "tool_calls"):
        yield _read_call(call, place)


def _read_call(call: object, at: FieldPath) -> ToolCall:
    call = at.mapping(call, "a mapping with a function")
    place = at / ".function"
    function = place.mapping(call.get("function"), "a mapping with a name")
    name, arguments = place.needed_text(function, "name"), function.get("arguments", {})
    view = ToolCall(at.text(call, "id") or name, name, blocks.json_text(arguments))
    return keep(view, SHAPE, call)


# --- writing --------------------------------------------------------------------------------------


def to_ollama(messages: Iterable[Message]) -> list[Fields]:
    """Messages for Ollama's chat, as its API and its Python package take them."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    for message in sendable_messages(messages):
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        said = list[Part]()
        for part in blocks.parts_for_shape(message, SHAPE):
            if isinstance(part, ToolResult):
                result = blocks.written(part, SHAPE, build)
                out.append({**result, "tool_name": names.get(part.id, result["tool_name"])})
            else:
                said.append(part)
        if said:
            out.append(blocks.as_received(message, SHAPE) or _message(message, said))
    return fields.sendable(out)  # type: ignore[no-any-return]


def _message(message: Message, parts: list[Part]) -> Fields:
    texts = list[str]()
    beside: dict[str, list[Any]] = {"thinking": [], "images": [], "tool_calls": []}
    for part in parts:
        match part:
            case ToolCall():
                beside["tool_calls"].append(blocks.written(part, SHAPE, build))
            case Thinking(text):
                beside["thinking"].append(text)
            case Image(data=data) if data:
                beside["images"].append(data)
            case _:
                texts.append(part_text(part))
    role = "user" if message.role == "tool" else message.role
    said: Fields = {"role": role, "content": "\n".join(texts)}
    said |= {name: value for name, value in beside.items() if value}
    if beside["thinking"]:
        said["thinking"] = "\n".join(beside["thinking"])
    return said | blocks.own_fields(message, SHAPE, without=_SAID)


def build(part: Part) -> Any:
    """What a part says as a call, as a message with a result, or as a text."""
    match part:
        case ToolCall(call, name, arguments):
            function = {"name": name, "arguments": fields.as_object(arguments)}
            return {"id": call, "function": function}
        case ToolResult(call, text):
            rest = [each for each in part.rest if not isinstance(each, Image) or not each.data]
            content = "\n".join(filter(None, [text, *map(part_text, rest)]))
            images = [each.data for each in part.rest if isinstance(each, Image) and each.data]
            result = {"role": "tool", "content": content, "tool_name": call, "tool_call_id": call}
            return {**result, **({"images": images} if images else {})}
        case Thinking(text):
            return {"thinking": text}
        case Image(data=data):
            return data
    return part_text(part)


write = to_ollama
