"""Ollama's chat: like OpenAI's, but calls may have no ids, and pictures stand beside the content.

A result names its tool, and its call where the server is new enough to have ids; else it answers
the first call of that tool that is still open. Pictures are base64: the API takes no addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.formats.fields import (
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    kind_of,
    pack_extra,
    parts_for_shape,
    replace_unsent,
    unknown_fields,
    unpack_extra,
)
from foreword.message import (
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    mend,
    part_text,
)

SHAPE = "ollama"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_MESSAGE = frozenset(
    ("role", "content", "kind", "thinking", "images", "tool_calls", "tool_name", "tool_call_id")
)
_OWN_FIELDS = frozenset(("thinking", "images", "tool_name"))
_CALL = frozenset(("id", "type", "function"))
_FUNCTION = frozenset(("name", "arguments"))


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
    extra = pack_extra(SHAPE, unknown_fields(value, _MESSAGE, at))
    content = at.text(value, "content")
    images = tuple(_read_images(value, at))
    if role == "tool":
        for name in ("thinking", "tool_calls"):
            if value.get(name):
                raise (at / f".{name}").unknown_content()
        call = at.first_text(value, "tool_call_id", "tool_name")
        return Message(role, (ToolResult(call, content, rest=images, extra=extra),))
    parts = list[Part]()
    if value.get("thinking"):
        parts.append(Thinking(at.text(value, "thinking"), shape=SHAPE))
    if content:
        parts.append(Text(content))
    parts += images
    for index, call in enumerate((at / ".tool_calls").sequence(value.get("tool_calls") or [])):
        parts.append(_read_call(call, at / f".tool_calls[{index}]"))
    return Message(role, tuple(parts), kind_of(value, at), extra=extra)


def _read_images(value: Mapping[str, Any], at: FieldPath) -> Iterator[Image]:
    for index, image in enumerate((at / ".images").sequence(value.get("images") or [])):
        if not isinstance(image, str):
            raise (at / f".images[{index}]").wrong("must be base64")
        yield Image("image/png", image)


def _read_call(call: object, at: FieldPath) -> ToolCall:
    call = at.mapping(call, "a mapping with a function")
    function = (at / ".function").mapping(call.get("function"), "a mapping with a name")
    fields = unknown_fields(call, _CALL, at)
    more = unknown_fields(function, _FUNCTION, at / ".function")
    if more:
        fields["function"] = more
    name = (at / ".function").needed_text(function, "name")
    return ToolCall(
        id=at.text(call, "id") or name,
        name=name,
        arguments=arguments_of(function.get("arguments", {})),
        extra=pack_extra(SHAPE, fields),
    )


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
                out.append(_result(part, names))
            else:
                said.append(part)
        if said:
            out.append(_message(message, said))
    return out


def _message(message: Message, parts: Sequence[Part]) -> Fields:
    role = "user" if message.role == "tool" else message.role
    texts = list[str]()
    thoughts = list[str]()
    calls = list[Fields]()
    images = list[str]()
    for part in parts:
        match part:
            case ToolCall():
                calls.append(_call(part))
            case Thinking(text):
                thoughts.append(text)
            case Image(data=data) if data:
                images.append(data)
            case _:
                texts.append(part_text(part))
    written: Fields = {"role": role, "content": replace_unsent("\n".join(texts))}
    for name, value in (("thinking", "\n".join(thoughts)), ("images", images)):
        if value:
            written[name] = value
    if calls:
        written["tool_calls"] = calls
    return {**written, **unpack_extra(message.extra, SHAPE)}


def _call(call: ToolCall) -> Fields:
    fields = unpack_extra(call.extra, SHAPE)
    more = fields.pop("function", {})
    function = {"name": call.name, "arguments": as_object(call.arguments), **more}
    return {"id": call.id, "function": function, **fields}


def _result(result: ToolResult, names: Mapping[str, str]) -> Fields:
    texts = [result.text, *(part_text(part) for part in result.rest if not _has_data(part))]
    images = [part.data for part in result.rest if isinstance(part, Image) and part.data]
    written: Fields = {
        "role": "tool",
        "content": replace_unsent("\n".join(filter(None, texts))),
        "tool_name": names.get(result.id, result.id),
        "tool_call_id": result.id,
    }
    if images:
        written["images"] = images
    return {**written, **unpack_extra(result.extra, SHAPE)}


def _has_data(part: Part) -> bool:
    return isinstance(part, Image) and bool(part.data)
