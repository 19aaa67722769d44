"""OpenAI's chat completions: calls beside the content, every result a message of its own.

Normal form, which is what `to_openai` writes: content is text where it is one text that did not
come as a list, else a list of parts, null beside calls; the results of a message's calls stand
right behind it, words before calls; the old `function_call` is written as a tool call under its
name. The shape has no word for a result that failed. A picture in a result of another provider
follows in a user message, since tool messages hold only text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foreword.formats.fields import (
    LAYOUT,
    LISTED,
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
    listed_mark,
    opaque,
    openai_role,
    pack_extra,
    parts_for_shape,
    read_answer,
    replace_unsent,
    to_json,
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
    Thinking,
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
_THOUGHTS = ("reasoning_content", "reasoning")  # how servers that speak this shape call them
_AUDIO = frozenset(("id", "data", "transcript", "expires_at", "format"))
_BESIDE_CONTENT = ("refusal", "audio", "images", *_THOUGHTS)
_MESSAGE = frozenset(("role", "content", "kind", "tool_calls", "function_call", *_BESIDE_CONTENT))
_TOOL = frozenset(("role", "content", "kind", "tool_call_id"))
_FUNCTION = frozenset(("role", "content", "kind", "name"))
_TEXT = frozenset(("type", "text"))
_REFUSAL = frozenset(("type", "refusal"))
_IMAGE = frozenset(("type", "image_url"))
_INPUT = {"function": "arguments", "custom": "input"}  # by the type of a call
_BESIDE = "beside_content"  # the field of the message in which a text stood
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
    role = at.role(value, _ROLES)
    if role == "tool":
        return Message(role, (_read_result(value, at),), kind_of(value, at))
    said = _read_content(value.get("content"), at / ".content")
    parts = (
        *_read_thoughts(value, at),
        *said,
        *_read_beside_content(value, at),
        *_read_calls(value, at),
    )
    fields = unknown_fields(value, _MESSAGE, at) | listed_mark(value.get("content"), said)
    for name in _BESIDE_CONTENT:
        if name in value and not value[name]:  # many servers write null for none
            fields[name] = value[name]
    if value["role"] == "developer":
        fields["role"] = "developer"
    return Message(role, parts, kind_of(value, at), extra=pack_extra(SHAPE, fields))


def _read_thoughts(value: Mapping[str, Any], at: FieldPath) -> Iterable[Thinking]:
    """What the model thought; a server may tell it twice, under both names."""
    for name in _THOUGHTS:
        text = at.text(value, name)
        if text:
            extra = pack_extra(SHAPE, {"field": name})
            yield Thinking(text, shape=SHAPE, extra=extra)


def _read_beside_content(value: Mapping[str, Any], at: FieldPath) -> Iterable[Part]:
    """What was said outside of the content: a refusal, a sound with its transcript, pictures that
    a model of OpenRouter has drawn."""
    refusal = at.text(value, "refusal")
    if refusal:
        yield Text(refusal, pack_extra(SHAPE, {_BESIDE: "refusal"}))
    audio = value.get("audio")
    if audio:
        audio = (at / ".audio").mapping(audio, "a mapping with an id")
        unknown_fields(audio, _AUDIO, at / ".audio")
        yield Opaque(to_json({"audio": audio}), SHAPE, "audio", at.text(audio, "transcript"))
    for index, each in enumerate((at / ".images").sequence(value.get("images") or [])):
        place = at / f".images[{index}]"
        picture = read_part(each, place)
        if not isinstance(picture, Image):
            raise place.unknown_content()
        fields = {**unpack_extra(picture.extra, SHAPE), _BESIDE: "images"}
        yield replace(picture, extra=pack_extra(SHAPE, fields))


def _read_result(value: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(part: object, index: int) -> Part:
        return read_part(part, at / f".content[{index}]")

    legacy = value["role"] == "function"
    # chat templates and older servers have no ids: there a result names its function
    call = at.first_text(value, *(("name",) if legacy else ("tool_call_id", "name")))
    text, rest, layout = read_answer(value.get("content"), read)
    fields = unknown_fields(value, _FUNCTION if legacy else _TOOL, at) | layout
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
            fields = unknown_fields(part, _TEXT, at)
            return Text(at.text(part, "text"), pack_extra(SHAPE, fields))
        case {"type": "refusal", "refusal": str(refusal)}:
            fields = unknown_fields(part, _REFUSAL, at)
            return Text(refusal, pack_extra(SHAPE, {"type": "refusal", **fields}))
        case {"type": "image_url", "image_url": {"url": str(url), **more}}:
            unknown_fields(part["image_url"], frozenset(("url",)), at / ".image_url")
            fields = unknown_fields(part, _IMAGE, at)
            if more:
                fields["image_url"] = more
            return replace(image_from_address(url), extra=pack_extra(SHAPE, fields))
        case {"type": "image_url", "image_url": str(url)}:  # as Mistral has it
            fields = {"image_url": "text", **unknown_fields(part, _IMAGE, at)}
            return replace(image_from_address(url), extra=pack_extra(SHAPE, fields))
        case {"type": str(kind)} if kind:
            return opaque(part, SHAPE)
        case _:
            raise at.missing_type(part)


def _read_calls(value: Mapping[str, Any], at: FieldPath) -> Iterable[ToolCall]:
    calls = value.get("tool_calls")
    if calls is not None:
        in_list = at / ".tool_calls"
        for index, call in enumerate(in_list.sequence(calls, "a list of calls")):
            yield read_call(call, in_list / f"[{index}]")
    if not calls and value.get("function_call") is not None:
        function = (at / ".function_call").mapping(value["function_call"], "a mapping with a name")
        unknown_fields(function, frozenset(("name", "arguments")), at / ".function_call")
        name = (at / ".function_call").needed_text(function, "name")
        # it has no id: a result names the function
        yield ToolCall(id=name, name=name, arguments=arguments_of(function.get("arguments")))


def read_call(call: object, at: FieldPath) -> ToolCall:
    """One of a message's calls."""
    call = at.mapping(call, "a mapping with a function")
    kind = "custom" if call.get("type") == "custom" else "function"
    named = (at / f".{kind}").mapping(call.get(kind), "a mapping with a name")
    fields = unknown_fields(call, frozenset(("id", "type", kind)), at)
    if kind == "custom":
        fields["type"] = kind
    more = unknown_fields(named, frozenset(("name", _INPUT[kind])), at / f".{kind}")
    if more:
        fields[kind] = more
    name = (at / f".{kind}").needed_text(named, "name")
    return ToolCall(
        id=at.text(call, "id") or name,
        name=name,
        arguments=arguments_of(named.get(_INPUT[kind])),
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
    is_listed = bool(fields.pop(LISTED, False))
    said = list[Part]()
    beside = Fields()
    for part in parts:
        if isinstance(part, Text | Image | Opaque | Thinking):
            field = _beside_content(part)
            drawn = beside.get("images", [])
            beside |= field
            if "images" in field:
                beside["images"] = drawn + field["images"]
            if not field:
                said.append(part)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if not said and not calls and not any(fields.values()) and not beside:
        return None
    role = openai_role(message)
    shaped: Fields = {"role": role, "content": _content(said, is_listed=is_listed)}
    if calls:
        shaped["tool_calls"] = [_call(call) for call in calls]
    return {**shaped, **beside, **fields}


def _beside_content(part: Text | Image | Opaque | Thinking) -> Fields:
    """The field of the message that a part came in; nothing for what is content."""
    match part:
        case Text(text, extra):
            name = unpack_extra(extra, SHAPE).get(_BESIDE)
            return {name: text} if name else {}
        case Image(extra=extra) if _BESIDE in unpack_extra(extra, SHAPE):
            return {"images": [_part(part)]}
        case Opaque(data, name="audio"):
            fields = as_object(data)
            return fields if "audio" in fields else {}
        case Thinking(text, extra=extra):
            return {str(unpack_extra(extra, SHAPE).get("field", _THOUGHTS[0])): text}
        case _:
            return {}


def _content(parts: Sequence[Part], *, is_listed: bool) -> str | list[Fields] | None:
    if not parts:
        return None
    only = parts[0] if len(parts) == 1 and not is_listed else None
    if isinstance(only, Text) and not unpack_extra(only.extra, SHAPE):
        return only.text
    return [_part(part) for part in parts]


def _part(part: Part) -> Fields:
    match part:
        case Text(text, extra):
            fields = unpack_extra(extra, SHAPE)
            if fields.get("type") == "refusal":
                return {**fields, "refusal": text}
            return {"type": "text", "text": text, **fields}
        case Image():
            fields = unpack_extra(part.extra, SHAPE)
            fields.pop(_BESIDE, None)
            more = fields.pop("image_url", {})
            address = address_of(part)
            is_text = more == "text"
            image_url = address if is_text else {"url": address, **more}
            return {"type": "image_url", "image_url": image_url, **fields}
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
