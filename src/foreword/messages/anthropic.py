"""Anthropic's Messages API: blocks in user and assistant messages, the system prompt beside them.

Normal form, which is what `to_anthropic` writes: neighbours of one role are joined; the results of
a message's calls open the user message behind it; blank texts are left out, since the API refuses
them. Fields on a message, such as those of a response (`id`, `usage`), are kept and not sent: the
API takes none. Thinking goes back only with its signature. An id that the API would refuse is
replaced, in a call and its result alike. What the system says in the middle is written as such
where the API takes it: behind the user, and in front of the assistant or at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, as_object, kind_of, sendable, without_kind
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.pattern import lazy_pattern

SHAPE = "anthropic"
_ID = lazy_pattern("[a-zA-Z0-9_-]{1,64}")
# What only Anthropic's blocks are called, among those that are told by a type.
_PARTS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
)


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a message has a block that only this API has."""
    return not _PARTS.isdisjoint(fields.part_types(value.get("content")))


def read_message(value: object, at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    value = at.mapping(value, "a mapping with role and content")
    role = at.role(value, fields.SPEAKERS)
    kind = kind_of(value, at)
    if role == "system" and kind == "conversation":
        kind = "instruction"  # the system prompt stands beside the messages
    if "content" not in value and role != "assistant":
        raise (at / ".content").wrong("is missing")
    parts = read_content(value.get("content"), at / ".content")
    return keep(Message(role, parts, kind), SHAPE, without_kind(value))


def read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    """The parts of a message."""
    return blocks.read_content(content, at, read_block)


def view(block: Any, at: FieldPath) -> Part | None:
    """What a block says; None for one that nobody here reads."""
    match block:
        case {"type": "text"}:
            return Text(at.text(block, "text"))
        case {"text": str(text), **more} if "type" not in more:
            return keep(Text(text), SHAPE, {"type": "text", **block})
        case {"type": "tool_use"}:
            call, name = at.needed_text(block, "id"), at.needed_text(block, "name")
            return ToolCall(call, name, blocks.json_text(block.get("input", {})))
        case {"type": "tool_result"}:
            call, failed = at.needed_text(block, "tool_use_id"), bool(block.get("is_error"))
            text, rest = blocks.result_view(block.get("content"), at / ".content", read_block)
            return ToolResult(call, text, failed, rest=rest)
        case {"type": "image", "source": {"type": "base64", "data": str(data), **more}} if data:
            return Image(str(more.get("media_type") or ""), data)
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image(url=url)
        case {"type": "image"}:
            return Image()
        case {"type": "thinking"}:
            text, signature = at.text(block, "thinking"), at.text(block, "signature")
            return Thinking(text, signature, shape=SHAPE)
        case {"type": "redacted_thinking"}:
            return Thinking("", at.text(block, "data"), redacted=True, shape=SHAPE)
    return None


read_block = blocks.reader(view, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request; a system message among them is said by the user, unless it
    came in this shape and stands where the API takes it."""
    out = list[Fields]()
    for message in sendable_messages(messages, _ID):
        role, content = _role(message), _content(message)
        own = blocks.own_fields(message, SHAPE) if role == "system" else {}
        if content:
            _add(out, {**own, "role": role, "content": content})
    return out


def to_anthropic_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning become the system
    prompt."""
    messages = list(messages)
    system = list(takewhile(_is_system_prompt, messages))
    prompts = [content for content in map(_content, system) if content]
    request = Fields()
    if len(prompts) == 1:
        request["system"] = prompts[0]
    elif prompts:
        request["system"] = [block for prompt in prompts for block in as_blocks(prompt)]
    request["messages"] = to_anthropic(messages[len(system) :])
    return request


def _is_system_prompt(message: Message) -> bool:
    return message.role == "system" and message.kind != "instruction"


def _role(message: Message) -> Role:
    """Who says a message: the assistant, the system where it came so, or else the user."""
    if message.role == "assistant":
        return "assistant"
    is_instruction = message.role == "system" and message.kind == "instruction"
    return "system" if is_instruction and blocks.own_json(message, SHAPE) is not None else "user"


def _add(out: list[Fields], message: Fields) -> None:
    """Put a message behind the others, or join it to the last one."""
    if message["role"] == "user" and out and out[-1]["role"] == "system":
        _add(out, _as_user(out.pop()))  # the API takes none between two of the user's
    last_role = out[-1]["role"] if out else "assistant"
    if message["role"] == "system" and last_role == "assistant":
        message = _as_user(message)
    if out and message["role"] == last_role:
        out[-1]["content"] = [*as_blocks(out[-1]["content"]), *as_blocks(message["content"])]
    else:
        out.append(message)


def _as_user(message: Fields) -> Fields:
    return {"role": "user", "content": message["content"]}


def as_blocks(content: str | list[Fields]) -> list[Fields]:
    """Content as blocks: a text is short for one block of it."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _content(message: Message) -> str | list[Fields]:
    """The blocks of a message, or its text where it came as a text."""
    parts = [part for part in blocks.parts_for_shape(message, SHAPE) if not _is_refused(part)]
    content = [_write(part) for part in parts]
    if len(content) == 1 and isinstance(content[0], str) and blocks.as_received(message, SHAPE):
        return content[0]
    return [block if isinstance(block, dict) else build(Text(block)) for block in content]


def _is_refused(part: Part) -> bool:
    """Whether the API would refuse the part: a blank text, or a thought without its proof."""
    if isinstance(part, Text):
        return not part.text.strip()
    return isinstance(part, Thinking) and not part.signature


def _write(part: Part) -> Any:
    """One part as a block; a text that came as a text stays one."""
    block = sendable(blocks.written(part, SHAPE, build))
    if isinstance(block, str) or isinstance(part, Opaque):
        return block
    # An SDK writes null for a field that is not set, and the API takes no field that it does not
    # know.
    return {name: value for name, value in block.items() if value is not None}


def build(part: Part) -> Fields:
    """A block that says what a part says."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolCall(call, name, arguments):
            return {"type": "tool_use", "id": call, "name": name, "input": as_object(arguments)}
        case ToolResult(call, text, failed):
            rest = (
                [_write(inner) for inner in blocks.result_parts(part, SHAPE)] if part.rest else ""
            )
            error = {"is_error": True} if failed else {}
            return {"type": "tool_result", "tool_use_id": call, "content": rest or text, **error}
        case Image(media_type, data, url):
            base64 = {"type": "base64", "media_type": media_type, "data": data}
            return {"type": "image", "source": base64 if data else {"type": "url", "url": url}}
        case Thinking(redacted=True, signature=data):
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_anthropic
