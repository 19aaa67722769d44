"""Chat messages that LlamaIndex has dumped: blocks with a `block_type`, calls in them or beside.

A call that stands in a block and in `additional_kwargs` is read once; those of other providers are
written as blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages import openai_chat
from foreword.messages.blocks import (
    is_as_received,
    json_text,
    opaque,
    own_json,
    parts_for_shape,
    result_parts,
    result_view,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import FieldPath, Fields, as_object, image_from_address, sendable
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
_SAID = ("content", "blocks", "additional_kwargs")


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message that LlamaIndex has dumped."""
    return "role" in value and ("blocks" in value or "additional_kwargs" in value)


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    role = _ROLES.get(_plain_role(value))
    if role is None:
        raise (at / ".role").none_of(value.get("role"), _ROLES)
    if "blocks" not in value and "content" not in value:
        raise (at / ".blocks").wrong("is missing")
    place = at / ".additional_kwargs"
    beside = place.mapping(value.get("additional_kwargs") or {}, "a mapping")
    if role == "tool":
        blocks = value.get("blocks") or value.get("content")
        text, rest = result_view(
            blocks, lambda block, index: _read_block(block, at / f".blocks[{index}]"), SHAPE
        )
        call = place.first_text(beside, "tool_call_id", "name")
        failed = beside.get("is_error") is True
        parts: list[Part] = [keep(ToolResult(call, text, failed=failed, rest=rest), SHAPE, value)]
    else:
        parts = list(_read_blocks(value, at))
        ids = {part.id for part in parts if isinstance(part, ToolCall)}
        for index, each in enumerate(
            (place / ".tool_calls").sequence(beside.get("tool_calls") or [])
        ):
            call_beside = openai_chat.read_call(each, place / f".tool_calls[{index}]")
            if call_beside.id not in ids:
                parts.append(call_beside)
    return keep(Message(role, tuple(parts)), SHAPE, value)


def _plain_role(value: Mapping[str, Any]) -> str:
    """`user` for `MessageRole.USER`, too."""
    return str(value.get("role")).rpartition(".")[2].lower()


def _read_blocks(value: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """The parts of a message; older dumps have a text for them, and some have both."""
    blocks = (at / ".blocks").sequence(value.get("blocks") or [])
    content = at.text(value, "content")
    if not blocks and content:
        yield keep(Text(content), SHAPE, content)
    for index, block in enumerate(blocks):
        yield _read_block(block, at / f".blocks[{index}]")


def _read_block(block: object, at: FieldPath) -> Part:
    view = _view(at.mapping(block, "a mapping with a block_type"), at)
    return keep(view, SHAPE, block) if view is not None else opaque(block, SHAPE, "block_type")


def _view(block: Mapping[str, Any], at: FieldPath) -> Part | None:
    """What a block says; None for one that nobody here reads."""
    match block:
        case {"block_type": "text"}:
            return Text(at.text(block, "text"))
        case {"block_type": "image", "image": str(data)} if data:
            return Image(at.text(block, "image_mimetype") or "image/png", data)
        case {"block_type": "image"}:
            image = image_from_address(at.text(block, "url") or at.text(block, "path"))
            media_type = image.media_type or at.text(block, "image_mimetype")
            return Image(media_type, image.data, image.url)
        case {"block_type": "tool_call"}:
            call, name = at.first_text(block, "tool_call_id", "tool_name"), "tool_name"
            return ToolCall(
                call, at.needed_text(block, name), json_text(block.get("tool_kwargs", {}))
            )
        case {"block_type": "thinking"}:
            return Thinking(at.text(block, "content"), shape=SHAPE)
        case {"block_type": str(kind)} if kind:
            return None
    raise at.missing_type(block, "block_type")


# --- writing --------------------------------------------------------------------------------------


def to_llama_index(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `ChatMessage.model_validate` takes them."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        own = own_json(message, SHAPE) or {}
        if own and is_as_received(message, SHAPE):
            out.append({**own, "role": _plain_role(own)})
            continue
        blocks = list[Any]()
        for part in parts_for_shape(message, SHAPE):
            block = written(part, SHAPE, build)
            if isinstance(part, ToolResult):
                out.append(block)
            else:
                blocks.append(block if isinstance(block, dict) else build(part))
        if message.role == "tool" or not (blocks or message.role == "assistant"):
            continue
        beside = own.get("additional_kwargs") or {}
        beside = {name: beside[name] for name in beside if name != "tool_calls"}
        said: Fields = {"role": message.role, "blocks": blocks, "additional_kwargs": beside}
        out.append(said | {name: own[name] for name in own if name not in (*_SAID, "role")})
    return sendable(out)  # type: ignore[no-any-return]


def build(part: Part) -> Fields:
    """What a part says as a block, or as a message with a result."""
    match part:
        case Text(text):
            return {"block_type": "text", "text": text}
        case Image(media_type, data, url):
            source = {"image": data} if data else {"url": url}
            built = {"block_type": "image", "image_mimetype": media_type, **source}
            return own_json(part, SHAPE) or built
        case Thinking(text):
            return {"block_type": "thinking", "content": text}
        case ToolCall(call, name, arguments):
            named = {"tool_call_id": call, "tool_name": name}
            return {"block_type": "tool_call", **named, "tool_kwargs": as_object(arguments)}
        case ToolResult(call, failed=failed):
            blocks = [written(inner, SHAPE, build) for inner in result_parts(part, SHAPE)]
            own = (own_json(part, SHAPE) or {}).get("additional_kwargs") or {}
            error = {"is_error": True} if failed else {}
            beside = {**own, "tool_call_id": call, **error}
            return {"role": "tool", "blocks": blocks, "additional_kwargs": beside}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_llama_index
