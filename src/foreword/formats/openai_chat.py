"""OpenAI's chat completions: calls beside the content, every result a message of its own.

Normal form, which is what `to_openai` writes: content is text where it is one text, else a list of
parts, null beside calls; the results of a message's calls stand right behind it, words before
calls; the old `function_call` is written as a tool call under its name. The shape has no word for a
result that failed. A picture in a result of another provider follows in a user message, since tool
messages hold only text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foreword.formats.fields import (
    LAYOUT,
    SHORT_ID,
    FieldPath,
    Fields,
    address_of,
    arguments_of,
    as_arguments,
    as_object,
    id_for,
    image_from_address,
    kind_of,
    opaque,
    pack_extra,
    parts_for_shape,
    read_answer,
    replace_unsent,
    unknown_fields,
    unpack_extra,
    write_answer,
)
from foreword.message import (
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    mend,
    part_text,
)

SHAPE = "openai"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MESSAGE = frozenset(("role", "content", "kind", "tool_calls", "function_call"))
_TOOL = frozenset(("role", "content", "kind", "tool_call_id"))
_FUNCTION = frozenset(("role", "content", "kind", "name"))
_TEXT = frozenset(("type", "text"))
_IMAGE = frozenset(("type", "image_url"))
_CALL = frozenset(("id", "type", "function", "custom"))
_NAMED = frozenset(("name", "arguments", "input"))
_IN_PLACE = "pictures_in_place"  # the server this came from takes pictures in a result


# --- reading --------------------------------------------------------------------------------------


def from_openai(value: object, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `messages`) or of a list."""
    if isinstance(value, Mapping):
        value = value.get("messages")
    messages = list[Message]()
    values = FieldPath(where, "messages").sequence(value, "a list of messages")
    for index, one in enumerate(values):
        messages.append(read_message(one, FieldPath(where, f"messages[{index}]")))
    return tuple(messages)


def read_message(value: object, at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    value = at.mapping(value, "a mapping with role and content")
    role = _ROLES.get(str(value.get("role")))
    if role is None:
        raise (at / ".role").none_of(value.get("role"), _ROLES)
    if role == "tool":
        return Message(role, (_read_result(value, at),), kind_of(value, at))
    parts = (*_read_content(value.get("content"), at / ".content"), *_read_calls(value, at))
    fields = unknown_fields(value, _MESSAGE)
    if value["role"] == "developer":
        fields["role"] = "developer"
    return Message(role, parts, kind_of(value, at), pack_extra(SHAPE, fields))


def _read_result(value: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(part: object, index: int) -> Part:
        return read_part(part, at / f".content[{index}]")

    legacy = value["role"] == "function"
    call = at.text(value, "name" if legacy else "tool_call_id")
    text, rest, layout = read_answer(value.get("content"), read)
    fields = unknown_fields(value, _FUNCTION if legacy else _TOOL) | layout
    if rest:
        fields[_IN_PLACE] = True
    return ToolResult(call, text, rest=rest, extra=pack_extra(SHAPE, fields))


def _read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if content is None:
        return ()
    parts = at.sequence(content, "text or a list of parts")
    return tuple(read_part(part, at / f"[{index}]") for index, part in enumerate(parts))


def read_part(part: object, at: FieldPath) -> Part:
    """One part of a message's content."""
    if isinstance(part, str):
        return Text(part)
    part = at.mapping(part)
    match part:
        case {"type": "text"}:
            return Text(at.text(part, "text"), pack_extra(SHAPE, unknown_fields(part, _TEXT)))
        case {"type": "image_url", "image_url": {"url": str(url), **more}}:
            fields = unknown_fields(part, _IMAGE)
            if more:
                fields["image_url"] = more
            return replace(image_from_address(url), extra=pack_extra(SHAPE, fields))
        case _:
            return opaque(part, SHAPE)


def _read_calls(value: Mapping[str, Any], at: FieldPath) -> Iterable[ToolCall]:
    calls = value.get("tool_calls")
    if calls is not None:
        at = at / ".tool_calls"
        for index, call in enumerate(at.sequence(calls, "a list of calls")):
            yield _read_call(call, at / f"[{index}]")
    elif value.get("function_call") is not None:
        function = (at / ".function_call").mapping(value["function_call"], "a mapping with a name")
        name = str(function.get("name", ""))
        # it has no id: a result names the function
        yield ToolCall(id=name, name=name, arguments=arguments_of(function.get("arguments")))


def _read_call(call: object, at: FieldPath) -> ToolCall:
    call = at.mapping(call, "a mapping with a function")
    kind = "custom" if call.get("type") == "custom" else "function"
    named = (at / f".{kind}").mapping(call.get(kind), "a mapping with a name")
    fields = unknown_fields(call, _CALL)
    if kind == "custom":
        fields["type"] = kind
    more = unknown_fields(named, _NAMED)
    if more:
        fields[kind] = more
    return ToolCall(
        id=at.text(call, "id"),
        name=str(named.get("name", "")),
        arguments=arguments_of(named.get("input" if kind == "custom" else "arguments")),
        extra=pack_extra(SHAPE, fields),
    )


# --- writing --------------------------------------------------------------------------------------


def to_openai(messages: Iterable[Message]) -> list[Fields]:
    """Messages for the chat API."""
    out = list[Fields]()
    pictures = list[Image]()  # of results, waiting for the last of them
    for message in mend(messages)[0]:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        without_results = _message_without_results(message)
        if pictures and (without_results or not results):
            out.append(_picture_message(pictures))
            pictures = []
        for result in results:
            result_message, result_pictures = _result(result)
            out.append(result_message)
            pictures += result_pictures
        if without_results:
            out.append(without_results)
    if pictures:
        out.append(_picture_message(pictures))
    return out


def _message_without_results(message: Message) -> Fields | None:
    """The message without the results in it; nothing if nothing is left."""
    parts = parts_for_shape(message, SHAPE)
    fields = unpack_extra(message.extra, SHAPE)
    said = [part for part in parts if isinstance(part, Text | Image | Opaque)]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if not said and not calls and not any(fields.values()):
        return None
    role = "user" if message.role == "tool" else message.role
    shaped: Fields = {"role": role, "content": _content(said)}
    if calls:
        shaped["tool_calls"] = [_call(call) for call in calls]
    return {**shaped, **fields}


def _content(parts: Sequence[Part]) -> str | list[Fields] | None:
    if not parts:
        return None
    if len(parts) == 1 and isinstance(parts[0], Text) and not unpack_extra(parts[0].extra, SHAPE):
        return parts[0].text
    return [_part(part) for part in parts]


def _part(part: Part) -> Fields:
    match part:
        case Text(text, extra):
            return {"type": "text", "text": text, **unpack_extra(extra, SHAPE)}
        case Image():
            fields = unpack_extra(part.extra, SHAPE)
            return {
                "type": "image_url",
                "image_url": {"url": address_of(part), **fields.pop("image_url", {})},
                **fields,
            }
        case Opaque(data):
            return as_object(data)
        case _:
            return {"type": "text", "text": part_text(part)}


def _call(call: ToolCall) -> Fields:
    fields = unpack_extra(call.extra, SHAPE)
    kind = fields.pop("type", "function")
    named = {"name": call.name, **_call_input(call.arguments, kind)}
    return {
        "id": id_for(call.id, SHORT_ID),
        "type": kind,
        kind: named | fields.pop(kind, {}),
        **fields,
    }


def _call_input(arguments: str, kind: str) -> Fields:
    """What a call says: a custom tool takes text, any other JSON."""
    if kind == "custom":
        return {"input": replace_unsent(arguments)}
    return {"arguments": as_arguments(arguments)}


def _result(result: ToolResult) -> tuple[Fields, list[Image]]:
    """A result, and its pictures if the API would refuse them where they are."""
    fields = unpack_extra(result.extra, SHAPE)
    layout = fields.pop(LAYOUT, None)
    in_place = fields.pop(_IN_PLACE, False)
    content: Any
    if in_place or not result.rest:
        content = write_answer(result, layout, SHAPE, _part)
    else:
        content = part_text(result)
    pictures = list[Image]()
    if not in_place:
        images = [part for part in result.rest if isinstance(part, Image)]
        pictures = [image for image in images if address_of(image)]
    message = {
        "role": "tool",
        "tool_call_id": id_for(result.id, SHORT_ID),
        "content": content,
        **fields,
    }
    return message, pictures


def _picture_message(pictures: Sequence[Image]) -> Fields:
    return {"role": "user", "content": [_part(picture) for picture in pictures]}
