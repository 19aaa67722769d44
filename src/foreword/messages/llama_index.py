"""Chat messages that LlamaIndex has dumped: blocks with a `block_type`, calls in them or beside.

A call that stands in a block and in `additional_kwargs` is read once; those of other providers are
written as blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foreword.messages import blocks, fields, openai_chat
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, as_object, image_from_address, sendable
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Part, Text, Thinking, ToolCall, ToolResult

SHAPE = "llama_index"
_ROLES: dict[str, Role] = fields.SAME_ROLES | {"developer": "system", "function": "tool"}
_ROLES |= {"model": "assistant", "chatbot": "assistant"}


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message that LlamaIndex has dumped."""
    return "role" in value and ("blocks" in value or "additional_kwargs" in value)


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    role = at.role({"role": _plain_role(value)}, _ROLES)
    if "blocks" not in value and "content" not in value:
        raise (at / ".blocks").wrong("is missing")
    place = at / ".additional_kwargs"
    beside = place.mapping(value.get("additional_kwargs") or {}, "a mapping")
    # older dumps have a text in place of blocks, and some have both
    content = value.get("blocks") or at.text(value, "content") or None
    if role == "tool":
        text, rest = blocks.result_view(content, at / ".blocks", _read_block)
        call = place.first_text(beside, "tool_call_id", "name")
        result = ToolResult(call, text, failed=beside.get("is_error") is True, rest=rest)
        return keep(Message(role, (keep(result, SHAPE, value),)), SHAPE, value)
    parts = [*blocks.read_content(content, at / ".blocks", _read_block)]
    ids = {part.id for part in parts if isinstance(part, ToolCall)}
    for each, place_of_call in place.items(beside, "tool_calls"):
        call_beside = openai_chat.read_call(each, place_of_call)
        if call_beside.id not in ids:
            parts.append(call_beside)
    return keep(Message(role, tuple(parts)), SHAPE, value)


def _plain_role(value: Mapping[str, Any]) -> str:
    """`user` for `MessageRole.USER`, too."""
    return str(value.get("role")).rpartition(".")[2].lower()


def _view(block: Any, at: FieldPath) -> Part | None:
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
            name, given = at.needed_text(block, "tool_name"), block.get("tool_kwargs", {})
            return ToolCall(at.text(block, "tool_call_id") or name, name, blocks.json_text(given))
        case {"block_type": "thinking"}:
            return Thinking(at.text(block, "content"), shape=SHAPE)
    return None


_read_block = blocks.reader(_view, SHAPE, "block_type")


# --- writing --------------------------------------------------------------------------------------


def to_llama_index(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `ChatMessage.model_validate` takes them."""
    out = list[Fields]()
    for message in sendable_messages(messages):
        received = blocks.as_received(message, SHAPE)
        if received:
            out.append({**received, "role": _plain_role(received)})
            continue
        content = list[Any]()
        for part in blocks.parts_for_shape(message, SHAPE):
            block = blocks.written(part, SHAPE, build)
            if isinstance(part, ToolResult):
                out.append(block)
            else:
                content.append(block if isinstance(block, dict) else build(part))
        if message.role == "tool" or not (content or message.role == "assistant"):
            continue
        own = blocks.own_fields(message, SHAPE, without=("role", "content", "blocks"))
        beside = own.pop("additional_kwargs", None) or {}
        beside = {name: beside[name] for name in beside if name != "tool_calls"}
        out.append({"role": message.role, "blocks": content, "additional_kwargs": beside, **own})
    return sendable(out)  # type: ignore[no-any-return]


def build(part: Part) -> Fields:
    """What a part says as a block, or as a message with a result."""
    match part:
        case Text(text):
            return {"block_type": "text", "text": text}
        case Image(media_type, data, url):
            source = {"image": data} if data else {"url": url}
            built = {"block_type": "image", "image_mimetype": media_type, **source}
            return blocks.own_json(part, SHAPE) or built
        case Thinking(text):
            return {"block_type": "thinking", "content": text}
        case ToolCall(call, name, arguments):
            named = {"tool_call_id": call, "tool_name": name}
            return {"block_type": "tool_call", **named, "tool_kwargs": as_object(arguments)}
        case ToolResult(call, failed=failed):
            beside = blocks.own_fields(part, SHAPE).get("additional_kwargs") or {}
            beside = {**beside, "tool_call_id": call, **({"is_error": True} if failed else {})}
            content = blocks.written_result(part, SHAPE, build)
            return {"role": "tool", "blocks": content, "additional_kwargs": beside}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_llama_index
