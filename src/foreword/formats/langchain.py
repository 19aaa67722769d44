"""Messages that LangChain has dumped: `message_to_dict`, `dumpd`, `model_dump`.

Written as `message_to_dict` does. What a provider's package put into `additional_kwargs` or into
the content once more (a call that is in `tool_calls`, too) is read once; whatever else says
something is refused. The artifact of a result is not for the model and only goes along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.formats import anthropic, openai_chat, openai_responses
from foreword.formats.fields import (
    FieldPath,
    Fields,
    address_of,
    arguments_of,
    as_object,
    image_from_address,
    opaque,
    pack_extra,
    part_for_shape,
    parts_for_shape,
    read_answer,
    replace_unsent,
    unknown_fields,
    unpack_extra,
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
)

SHAPE = "langchain"
_THINKING_SHAPES = (SHAPE, anthropic.SHAPE, openai_responses.SHAPE)
_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_MESSAGE = frozenset(
    (
        *("type", "role", "content", "additional_kwargs", "tool_calls", "invalid_tool_calls"),
        *("tool_call_chunks", "tool_call_id", "status"),
    )
)
_DUMP = frozenset(("lc", "type", "id", "kwargs", "name", "graph"))
_KWARGS = frozenset(("tool_calls", "function_call", "reasoning_content", "refusal"))
_TOOL_CALL = frozenset(("name", "args", "id", "type"))
_INVALID_CALL = _TOOL_CALL | {"error"}
_INVALID = "invalid"  # a call whose arguments LangChain could not read, with its reason
_REASONING = frozenset(("type", "reasoning", "text"))
_FUNCTION = frozenset(("name", "arguments"))
_FILE = frozenset(("type", "source_type", "base64", "data", "url", "mime_type"))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message that LangChain has dumped."""
    if "lc" in value and "kwargs" in value:
        return True
    if "role" in value or not isinstance(value.get("type"), str):
        return False
    kind = _plain_type(value["type"])
    if "data" in value:
        return kind in (*_ROLES, "chat")
    is_result = _ROLES.get(kind) == "tool"
    return kind in _ROLES and "content" in value and (not is_result or "tool_call_id" in value)


def _plain_type(kind: str) -> str:
    """`human` for `HumanMessage` and `HumanMessageChunk`, too."""
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    kind, value, at = _unpack(value, at)
    if kind == "chat":
        kind = at.text(value, "role")
    role = _ROLES.get(kind)
    if role is None:
        raise (at / ".type").none_of(kind, _ROLES)
    kwargs = value.get("additional_kwargs") or {}
    at_kwargs = at / ".additional_kwargs"
    kwargs = at_kwargs.mapping(kwargs, "a mapping")
    fields = unknown_fields(value, _MESSAGE, at)
    more = unknown_fields(kwargs, _KWARGS, at_kwargs)
    extra = pack_extra(SHAPE, fields | ({"additional_kwargs": more} if more else {}))
    if role == "tool":
        return Message(role, (_read_result(value, at, extra),))
    calls = list(_read_calls(value, kwargs, at))
    if value.get("tool_call_chunks") and not calls:  # LangChain dumps both
        raise (at / ".tool_call_chunks").unknown_content()
    parts = list[Part]()
    for name in ("reasoning_content", "refusal"):
        text = at_kwargs.text(kwargs, name)
        if text:
            parts.append(Text(text) if name == "refusal" else Thinking(text, shape=SHAPE))
    parts += _read_content(value.get("content"), at / ".content", {call.id for call in calls})
    return Message(role, (*parts, *calls), extra=extra)


def _unpack(value: Mapping[str, Any], at: FieldPath) -> tuple[str, Mapping[str, Any], FieldPath]:
    """The type of a message, its fields, and where they stand: beside the type, or inside."""
    if "lc" in value:
        path = (at / ".id").sequence(value.get("id"), "the path of a class")
        kind = str(path[-1]) if path else ""
        unknown_fields(value, _DUMP, at)
        at = at / ".kwargs"
        return _plain_type(kind), at.mapping(value.get("kwargs"), "a mapping"), at
    kind = _plain_type(value["type"])
    if "data" not in value:
        return kind, value, at
    unread = unknown_fields(value, frozenset(("type", "data")), at)
    inner = (at / ".data").mapping(value["data"], "a mapping with content")
    return kind, {**unread, **inner}, at / ".data"


def _read_content(content: object, at: FieldPath, calls: set[str]) -> Iterator[Part]:
    """The parts of a message, without the calls that it also lists on their own."""
    if isinstance(content, str):
        if content:
            yield Text(content)
        return
    for index, block in enumerate(at.sequence(content or [], "text or a list of parts")):
        part = _read_block(block, at / f"[{index}]")
        if not (isinstance(part, ToolCall) and part.id in calls):
            yield part


def _read_block(block: object, at: FieldPath) -> Part:
    if isinstance(block, str):
        return Text(block)
    block = at.mapping(block)
    match block.get("type"):
        case "image_url":
            return openai_chat.read_part(block, at)
        case "image" if "source" not in block:
            return _read_image(block, at)
        case "tool_call":
            return _read_call(block, at, _TOOL_CALL)
        case "function_call" | "custom_tool_call" if "call_id" in block:
            return openai_responses.read_call(block, at)  # as `output_version` responses/v1 has it
        case "reasoning" if block.keys() & {"summary", "encrypted_content"}:
            return openai_responses.read_reasoning(block, at)  # it came from there
        case "reasoning":
            text = at.one_text(block, "reasoning", "text")
            extra = pack_extra(SHAPE, unknown_fields(block, _REASONING, at))
            return Thinking(text, shape=SHAPE, extra=extra)
        case "text" | "image" | "thinking" | "redacted_thinking" | "tool_use" | "document":
            return anthropic.read_block(block, at)
        case str(kind) if kind:
            return opaque(block, SHAPE)
        case _:
            raise at.missing_type(block)


def _read_image(block: Mapping[str, Any], at: FieldPath) -> Image:
    extra = pack_extra(SHAPE, unknown_fields(block, _FILE, at))
    data = at.one_text(block, "base64", "data")
    if data:
        return Image(at.text(block, "mime_type") or "image/png", data, extra=extra)
    image = image_from_address(at.text(block, "url"))
    return Image(image.media_type, image.data, image.url, extra)


def _read_calls(
    value: Mapping[str, Any], kwargs: Mapping[str, Any], at: FieldPath
) -> Iterator[ToolCall]:
    """The calls of a message, each once, wherever it is listed."""
    seen = set[str]()
    for name, known in (("tool_calls", _TOOL_CALL), ("invalid_tool_calls", _INVALID_CALL)):
        listed = (at / f".{name}").sequence(value.get(name) or [])
        for index, each in enumerate(listed):
            place = at / f".{name}[{index}]"
            call = _read_call(place.mapping(each, "a mapping with a name"), place, known)
            seen.add(call.id)
            yield call
    at = at / ".additional_kwargs"
    for index, each in enumerate((at / ".tool_calls").sequence(kwargs.get("tool_calls") or [])):
        call = openai_chat.read_call(each, at / f".tool_calls[{index}]")
        if call.id not in seen:
            yield call
    legacy = kwargs.get("function_call")
    if legacy and not seen:
        function = (at / ".function_call").mapping(legacy, "a mapping with a name")
        unknown_fields(function, _FUNCTION, at / ".function_call")
        name = (at / ".function_call").needed_text(function, "name")
        yield ToolCall(name, name, arguments_of(function.get("arguments")))


def _read_call(call: Mapping[str, Any], at: FieldPath, known: frozenset[str]) -> ToolCall:
    fields: Fields = unknown_fields(call, known, at)
    if known is _INVALID_CALL:
        fields[_INVALID] = {"error": at.text(call, "error") or None}
        name = at.text(call, "name")  # it may be what could not be read
    else:
        name = at.needed_text(call, "name")
    return ToolCall(
        id=at.text(call, "id") or name,
        name=name,
        arguments=arguments_of(call.get("args")),
        extra=pack_extra(SHAPE, fields),
    )


def _read_result(value: Mapping[str, Any], at: FieldPath, extra: str) -> ToolResult:
    def read(block: object, index: int) -> Part:
        place = at / f".content[{index}]"
        part = _read_block(block, place)
        if not isinstance(part, Text | Image | Opaque):
            raise place.unknown_content()
        return part

    text, rest, _ = read_answer(value.get("content"), read)
    return ToolResult(
        id=at.first_text(value, "tool_call_id", "name"),
        text=text,
        failed=value.get("status") == "error",
        rest=rest,
        extra=extra,
    )


# --- writing --------------------------------------------------------------------------------------


def to_langchain(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `messages_from_dict` takes them; what the system says later is said by the
    user, since most of the models behind LangChain take it only in front."""
    out = list[Fields]()
    begun = False
    for message in mend(messages)[0]:
        begun = begun or message.role != "system"
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        out += [_write_result(result) for result in results]
        written = _write_message(message, begun=begun)
        if written is not None:
            out.append(written)
    return out


def _write_message(message: Message, *, begun: bool) -> Fields | None:
    """A message without its results; nothing where they were all."""
    blocks = list[Any]()
    calls = list[Fields]()
    for part in _own_parts(message):
        if isinstance(part, ToolCall):
            calls.append(_write_call(part))
        elif not isinstance(part, ToolResult):
            blocks.append(_write_block(part))
    if message.role == "tool" or (message.role != "assistant" and not blocks):
        return None
    data = Fields(content=_plain_content(blocks))
    kind = "system" if message.role == "system" and not begun else "human"
    if message.role == "assistant":
        kind = "ai"
        data["tool_calls"] = [call for call in calls if call["type"] == "tool_call"]
        invalid = [call for call in calls if call["type"] == "invalid_tool_call"]
        if invalid:
            data["invalid_tool_calls"] = invalid
    return {"type": kind, "data": {**data, **unpack_extra(message.extra, SHAPE)}}


def _own_parts(message: Message) -> list[Part]:
    """The parts as LangChain can take them: it hands thinking on to the provider it came from."""
    if message.role != "assistant":
        return parts_for_shape(message, SHAPE)
    parts = list[Part]()
    for part in message.parts:
        is_theirs = isinstance(part, Thinking) and part.shape in _THINKING_SHAPES
        own = part if is_theirs else part_for_shape(part, SHAPE)
        if own is part or (isinstance(part, Opaque) and part.text and own is not None):
            parts.append(own)
    return parts


def _plain_content(blocks: list[Any]) -> str | list[Any]:
    """One text as text, anything else as blocks."""
    if not blocks:
        return ""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return str(blocks[0]["text"])
    return blocks


def _write_block(part: Part) -> Fields:
    match part:
        case Text(text, extra):
            fields = unpack_extra(extra, anthropic.SHAPE) | unpack_extra(extra, SHAPE)
            return {"type": "text", "text": replace_unsent(text), **fields}
        case Image():
            return {"type": "image_url", "image_url": {"url": address_of(part)}}
        case Thinking(shape=openai_responses.SHAPE):
            return openai_responses.write_item(part)
        case Thinking(shape=anthropic.SHAPE):
            return anthropic.write_block(part)
        case Thinking(text, extra=extra):
            return {"type": "reasoning", "reasoning": text, **unpack_extra(extra, SHAPE)}
        case Opaque(data):
            return as_object(data)
        case _:
            raise TypeError(type(part).__name__)


def _write_call(call: ToolCall) -> Fields:
    fields = unpack_extra(call.extra, SHAPE)
    invalid = fields.pop(_INVALID, None)
    named = {"name": call.name, "id": call.id}
    if invalid is not None:
        args = replace_unsent(call.arguments)
        return {**named, "args": args, "type": "invalid_tool_call", **invalid, **fields}
    return {**named, "args": as_object(call.arguments), "type": "tool_call", **fields}


def _write_result(result: ToolResult) -> Fields:
    blocks = list[Any]()
    if result.text or not result.rest:
        blocks.append(_write_block(Text(result.text)))
    for part in result.rest:
        own = part_for_shape(part, SHAPE)
        if own is not None:
            blocks.append(_write_block(own))
    data = Fields(content=_plain_content(blocks), tool_call_id=result.id)
    if result.failed:
        data["status"] = "error"
    return {"type": "tool", "data": {**data, **unpack_extra(result.extra, SHAPE)}}
