"""Ollama's chat: like OpenAI's, but calls may have no ids, and pictures stand beside the content.

A result names its tool, and its call where the server is new enough to have ids; else it answers
the first call of that tool that is still open. Pictures are base64: the API takes no addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages.blocks import (
    is_as_received,
    json_text,
    own_json,
    parts_for_shape,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import FieldPath, Fields, as_object, kind_of, sendable, without_kind
from foreword.messages.message import (
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    keep,
    part_text,
)

SHAPE = "ollama"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
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
    role = at.role(value, _ROLES)
    images = tuple(_read_images(value, at))
    parts: tuple[Part, ...]
    if role == "tool":
        call = at.first_text(value, "tool_call_id", "tool_name")
        result = ToolResult(call, at.text(value, "content"), rest=images)
        parts = (keep(result, SHAPE, without_kind(value)),)
    else:
        parts = tuple(_read_parts(value, images, at))
    return keep(Message(role, parts, kind_of(value, at)), SHAPE, without_kind(value))


def _read_parts(value: Mapping[str, Any], images: Iterable[Image], at: FieldPath) -> Iterator[Part]:
    if value.get("thinking"):
        text = at.text(value, "thinking")
        yield keep(Thinking(text, shape=SHAPE), SHAPE, {"thinking": text})
    content = at.text(value, "content")
    if content:
        yield keep(Text(content), SHAPE, content)
    yield from images
    for index, call in enumerate((at / ".tool_calls").sequence(value.get("tool_calls") or [])):
        yield _read_call(call, at / f".tool_calls[{index}]")


def _read_images(value: Mapping[str, Any], at: FieldPath) -> Iterator[Image]:
    for index, image in enumerate((at / ".images").sequence(value.get("images") or [])):
        if not isinstance(image, str):
            raise (at / f".images[{index}]").wrong("must be base64")
        yield keep(Image("image/png", image), SHAPE, image)


def _read_call(call: object, at: FieldPath) -> ToolCall:
    call = at.mapping(call, "a mapping with a function")
    function = (at / ".function").mapping(call.get("function"), "a mapping with a name")
    name = (at / ".function").needed_text(function, "name")
    arguments = json_text(function.get("arguments", {}))
    return keep(ToolCall(at.text(call, "id") or name, name, arguments), SHAPE, call)


# --- writing --------------------------------------------------------------------------------------


def to_ollama(messages: Iterable[Message]) -> list[Fields]:
    """Messages for Ollama's chat, as its API and its Python package take them."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    for message in mend(messages)[0]:
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        said = list[Part]()
        for part in parts_for_shape(message, SHAPE):
            if isinstance(part, ToolResult):
                result = written(part, SHAPE, build)
                out.append({**result, "tool_name": names.get(part.id, result["tool_name"])})
            else:
                said.append(part)
        if said:
            out.append(_message(message, said))
    return sendable(out)  # type: ignore[no-any-return]


def _message(message: Message, parts: list[Part]) -> Fields:
    own = own_json(message, SHAPE) or {}
    if len(parts) == len(message.parts) and is_as_received(message, SHAPE):
        return own
    texts = list[str]()
    thoughts = list[str]()
    calls = list[Fields]()
    images = list[str]()
    for part in parts:
        match part:
            case ToolCall():
                calls.append(written(part, SHAPE, build))
            case Thinking(text):
                thoughts.append(text)
            case Image(data=data) if data:
                images.append(data)
            case _:
                texts.append(part_text(part))
    role = "user" if message.role == "tool" else message.role
    said: Fields = {"role": role, "content": "\n".join(texts)}
    beside = {"thinking": "\n".join(thoughts), "images": images, "tool_calls": calls}
    said |= {name: value for name, value in beside.items() if value}
    return {**said, **{name: own[name] for name in own if name not in _SAID}}


def build(part: Part) -> Any:
    """What a part says as a call, as a message with a result, or as a text."""
    match part:
        case ToolCall(call, name, arguments):
            return {"id": call, "function": {"name": name, "arguments": as_object(arguments)}}
        case ToolResult(call, text):
            texts = [text, *(part_text(each) for each in part.rest if not _has_data(each))]
            images = [each.data for each in part.rest if isinstance(each, Image) and each.data]
            content = "\n".join(filter(None, texts))
            result = {"role": "tool", "content": content, "tool_name": call, "tool_call_id": call}
            return {**result, **({"images": images} if images else {})}
        case Thinking(text):
            return {"thinking": text}
        case Image(data=data):
            return data
    return part_text(part)


def _has_data(part: Part) -> bool:
    return isinstance(part, Image) and bool(part.data)


write = to_ollama
