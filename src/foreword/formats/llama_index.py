"""Chat messages that LlamaIndex has dumped: blocks with a `block_type`, calls in them or beside.

Written with calls in blocks. A call that stands in a block and in `additional_kwargs` is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.formats import openai_chat
from foreword.formats.fields import (
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    image_from_address,
    opaque,
    pack_extra,
    part_for_shape,
    parts_for_shape,
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

SHAPE = "llama_index"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MESSAGE = frozenset(("role", "content", "blocks", "additional_kwargs"))
_KWARGS = frozenset(("tool_calls", "tool_call_id", "is_error"))
_TEXT = frozenset(("block_type", "text"))
_IMAGE = frozenset(("block_type", "image", "url", "path", "image_mimetype"))
_CALL = frozenset(("block_type", "tool_call_id", "tool_name", "tool_kwargs"))
_THINKING = frozenset(("block_type", "content"))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message that LlamaIndex has dumped."""
    return "role" in value and ("blocks" in value or "additional_kwargs" in value)


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    name = str(value.get("role")).rpartition(".")[2].lower()  # a dump may have `MessageRole.USER`
    role = _ROLES.get(name)
    if role is None:
        raise (at / ".role").none_of(value.get("role"), _ROLES)
    at_kwargs = at / ".additional_kwargs"
    kwargs = at_kwargs.mapping(value.get("additional_kwargs") or {}, "a mapping")
    fields = unknown_fields(value, _MESSAGE, at)
    more = unknown_fields(kwargs, _KWARGS, at_kwargs)
    extra = pack_extra(SHAPE, fields | ({"additional_kwargs": more} if more else {}))
    parts = list(_read_blocks(value, at))
    if role == "tool":
        return Message(role, (_result(parts, kwargs, at_kwargs, extra, at),))
    ids = {part.id for part in parts if isinstance(part, ToolCall)}
    for index, call in enumerate((at_kwargs / ".tool_calls").sequence(_calls(kwargs))):
        read = openai_chat.read_call(call, at_kwargs / f".tool_calls[{index}]")
        if read.id not in ids:
            parts.append(read)
    return Message(role, tuple(parts), extra=extra)


def _calls(kwargs: Mapping[str, Any]) -> object:
    return kwargs.get("tool_calls") or []


def _read_blocks(value: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """The parts of a message; older dumps have a text for them, and some have both."""
    blocks = (at / ".blocks").sequence(value.get("blocks") or [])
    content = at.text(value, "content")
    texts = list[str]()
    for index, block in enumerate(blocks):
        place = at / f".blocks[{index}]"
        part = _read_block(place.mapping(block, "a mapping with a block_type"), place)
        if isinstance(part, Text):
            texts.append(part.text)
        yield part
    if not blocks and content:
        yield Text(content)
    elif content and content not in ("\n".join(texts), "".join(texts)):
        raise (at / ".content").unknown_content()


def _read_block(block: Mapping[str, Any], at: FieldPath) -> Part:
    match block.get("block_type"):
        case "text":
            return Text(at.text(block, "text"), pack_extra(SHAPE, unknown_fields(block, _TEXT, at)))
        case "image":
            return _read_image(block, at)
        case "tool_call":
            return ToolCall(
                id=at.first_text(block, "tool_call_id", "tool_name"),
                name=at.needed_text(block, "tool_name"),
                arguments=arguments_of(block.get("tool_kwargs", {})),
                extra=pack_extra(SHAPE, unknown_fields(block, _CALL, at)),
            )
        case "thinking":
            extra = pack_extra(SHAPE, unknown_fields(block, _THINKING, at))
            return Thinking(at.text(block, "content"), shape=SHAPE, extra=extra)
        case str(kind) if kind:
            return opaque(block, SHAPE, "block_type")
        case _:
            raise at.missing_type(block, "block_type")


def _read_image(block: Mapping[str, Any], at: FieldPath) -> Image:
    extra = pack_extra(SHAPE, unknown_fields(block, _IMAGE, at))
    media_type = at.text(block, "image_mimetype")
    data = at.text(block, "image")
    if data:
        return Image(media_type or "image/png", data, extra=extra)
    image = image_from_address(at.text(block, "url") or at.text(block, "path"))
    return Image(image.media_type or media_type, image.data, image.url, extra)


def _result(
    parts: list[Part], kwargs: Mapping[str, Any], at_kwargs: FieldPath, extra: str, at: FieldPath
) -> ToolResult:
    texts = list[str]()
    rest = list[Image | Opaque]()
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Image | Opaque):
            rest.append(part)
        else:
            raise (at / ".blocks").wrong("a result can't hold a call or a thought")
    call = at_kwargs.first_text(kwargs, "tool_call_id", "name")
    return ToolResult(
        id=call,
        text="\n".join(texts),
        failed=kwargs.get("is_error") is True,
        rest=tuple(rest),
        extra=extra,
    )


# --- writing --------------------------------------------------------------------------------------


def to_llama_index(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `ChatMessage.model_validate` takes them."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        parts = list[Part]()
        for part in parts_for_shape(message, SHAPE):
            if isinstance(part, ToolResult):
                out.append(_write_result(part))
            else:
                parts.append(part)
        if message.role != "tool" and (parts or message.role == "assistant"):
            blocks = [_write_block(part) for part in parts]
            fields = unpack_extra(message.extra, SHAPE)
            out.append({"role": message.role, "blocks": blocks, "additional_kwargs": {}, **fields})
    return out


def _write_block(part: Part) -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    match part:
        case Text(text):
            return {"block_type": "text", "text": replace_unsent(text), **fields}
        case Image(media_type, data, url):
            source = {"image": data} if data else {"url": url}
            return {"block_type": "image", "image_mimetype": media_type, **source, **fields}
        case Thinking(text):
            return {"block_type": "thinking", "content": text, **fields}
        case ToolCall(id, name, arguments):
            call = {"tool_call_id": id, "tool_name": name, "tool_kwargs": as_object(arguments)}
            return {"block_type": "tool_call", **call, **fields}
        case _:
            raise TypeError(type(part).__name__)


def _write_result(result: ToolResult) -> Fields:
    blocks = [_write_block(Text(result.text))] if result.text or not result.rest else []
    blocks += [_write_block(part_for_shape(part, SHAPE) or part) for part in result.rest]
    fields = unpack_extra(result.extra, SHAPE)
    kwargs = {"tool_call_id": result.id, **fields.pop("additional_kwargs", {})}
    if result.failed:
        kwargs["is_error"] = True
    return {"role": "tool", "blocks": blocks, "additional_kwargs": kwargs, **fields}
