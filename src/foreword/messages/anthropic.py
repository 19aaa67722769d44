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
from foreword.messages.fields import (
    FieldPath,
    Fields,
    as_object,
    id_for,
    kind_of,
    sendable,
    without_kind,
)
from foreword.messages.message import (
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    edit,
    keep,
)
from foreword.pattern import lazy_pattern

SHAPE = "anthropic"
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_ID = lazy_pattern("[a-zA-Z0-9_-]{1,64}")
# What the API takes on an instruction beside role and content.
_INSTRUCTION = ("clear_at", "output_config")
# What only Anthropic's blocks are called, among those that are told by a type.
_PARTS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
)


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a message has a block that only this API has."""
    content = value.get("content")
    if not isinstance(content, list):
        return False
    return any(isinstance(block, Mapping) and str(block.get("type")) in _PARTS for block in content)


def from_anthropic(value: object, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `messages` and perhaps `system`) or of a list."""
    messages = list[Message]()
    if isinstance(value, Mapping):
        if value.get("system"):
            system = {"role": "system", "content": value["system"]}
            parts = read_content(value["system"], FieldPath(where, "system"))
            messages.append(keep(Message("system", parts), SHAPE, system))
        value = value.get("messages")
    values = FieldPath(where, "messages").sequence(value, "a list of messages")
    for index, one in enumerate(values):
        messages.append(read_message(one, FieldPath(where, f"messages[{index}]")))
    return tuple(messages)


def read_message(value: object, at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    value = at.mapping(value, "a mapping with role and content")
    role = value.get("role")
    if role not in _ROLES:
        raise (at / ".role").none_of(role, _ROLES)
    kind = kind_of(value, at)
    if role == "system" and kind == "conversation":
        kind = "instruction"  # the system prompt stands beside the messages
    if "content" not in value and role != "assistant":
        raise (at / ".content").wrong("is missing")
    parts = read_content(value.get("content"), at / ".content")
    return keep(Message(role, parts, kind), SHAPE, without_kind(value))


def read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    """The parts of a message."""
    if isinstance(content, str):
        return (keep(Text(content), SHAPE, content),)
    if content is None:
        return ()
    blocks = at.sequence(content, "text or a list of parts")
    return tuple([read_block(block, at / f"[{index}]") for index, block in enumerate(blocks)])


def read_block(block: object, at: FieldPath) -> Part:
    """One block as a part."""
    part = _view(block, at)
    if part is None:
        return opaque(block, SHAPE)
    is_typed = isinstance(block, str) or "type" in at.mapping(block)
    return keep(part, SHAPE, block) if is_typed else part


def _view(block: Any, at: FieldPath) -> Part | None:
    """What a block says; None for one that nobody here reads."""
    match block:
        case str(text):
            return Text(text)
        case {"type": "text"}:
            return Text(at.text(block, "text"))
        case {"text": str(text), **more} if "type" not in more:
            return Text(text)
        case {"type": "tool_use"}:
            return ToolCall(
                id=at.needed_text(block, "id"),
                name=at.needed_text(block, "name"),
                arguments=json_text(block.get("input", {})),
            )
        case {"type": "tool_result"}:
            text, rest = _result_view(block.get("content"), at / ".content")
            return ToolResult(
                id=at.needed_text(block, "tool_use_id"),
                text=text,
                failed=bool(block.get("is_error")),
                rest=rest,
            )
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
        case {"type": str(kind)} if kind:
            return None
    raise at.missing_type(at.mapping(block))


def _result_view(content: object, at: FieldPath) -> tuple[str, tuple[Any, ...]]:
    return result_view(content, lambda block, index: read_block(block, at / f"[{index}]"), SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request; a system message among them is said by the user, unless it
    came in this shape and stands where the API takes it."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        content = _content(message)
        if content:
            _add(out, {"role": _role(message), "content": content, **_instruction_fields(message)})
    if out and out[0]["role"] == "system":
        out[0] = _as_user(out[0])
    return out


def to_anthropic_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning become the system
    prompt."""
    messages = list(messages)
    system = list(takewhile(_is_system_prompt, messages))
    request = Fields()
    if len(system) == 1 and _content(system[0]):
        request["system"] = _content(system[0])
    elif system:
        blocks = list[Fields]()
        for message in system:
            blocks += as_blocks(_content(message))
        request |= {"system": blocks} if blocks else {}
    request["messages"] = to_anthropic(messages[len(system) :])
    return request


def _is_system_prompt(message: Message) -> bool:
    return message.role == "system" and message.kind != "instruction"


def _add(out: list[Fields], message: Fields) -> None:
    """Put a message behind the others, or join it to the last one."""
    if message["role"] == "user" and out and out[-1]["role"] == "system":
        instruction = _as_user(out.pop())  # the API takes none between two of the user's
        _add(out, instruction)
    last_role = out[-1]["role"] if out else ""
    if message["role"] == "system" and last_role == "assistant":
        message = _as_user(message)
    if message["role"] == last_role:
        out[-1]["content"] = [*as_blocks(out[-1]["content"]), *as_blocks(message["content"])]
    else:
        out.append(message)


def as_blocks(content: str | list[Fields]) -> list[Fields]:
    """Content as blocks: a text is short for one block of it."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _as_user(message: Fields) -> Fields:
    return {"role": "user", "content": message["content"]}


def _role(message: Message) -> Role:
    """Who says a message: the assistant, the system where it came so, or else the user."""
    if message.role == "assistant":
        return "assistant"
    is_instruction = message.role == "system" and message.kind == "instruction"
    return "system" if is_instruction and own_json(message, SHAPE) is not None else "user"


def _instruction_fields(message: Message) -> Fields:
    if _role(message) != "system":
        return {}
    fields = own_json(message, SHAPE)
    return {name: fields[name] for name in _INSTRUCTION if name in fields}


def _content(message: Message) -> str | list[Fields]:
    """The blocks of a message, or its text where it came as a text."""
    blocks = [
        write_block(part) for part in parts_for_shape(message, SHAPE) if not _is_refused(part)
    ]
    if len(blocks) == 1 and isinstance(blocks[0], str) and is_as_received(message, SHAPE):
        return blocks[0]
    return [block if isinstance(block, dict) else build(Text(block)) for block in blocks]


def _is_refused(part: Part) -> bool:
    """Whether the API would refuse the part: a blank text, or a thought without its proof."""
    if isinstance(part, Text):
        return not part.text.strip()
    return isinstance(part, Thinking) and not part.signature


def write_block(part: Part) -> Any:
    """One part as a block; a text that came as a text stays one."""
    if isinstance(part, ToolCall | ToolResult) and not _ID.fullmatch(part.id):
        part = edit(part)
    block = sendable(written(part, SHAPE, build))
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
            return {
                "type": "tool_use",
                "id": id_for(call, _ID),
                "name": name,
                "input": as_object(arguments),
            }
        case ToolResult(call, text, failed):
            content: Any = text
            if part.rest:
                content = [write_block(inner) for inner in result_parts(part, SHAPE)]
            error = {"is_error": True} if failed else {}
            call_id = id_for(call, _ID)
            return {"type": "tool_result", "tool_use_id": call_id, "content": content, **error}
        case Image(media_type, data, url):
            base64 = {"type": "base64", "media_type": media_type, "data": data}
            return {"type": "image", "source": base64 if data else {"type": "url", "url": url}}
        case Thinking(redacted=True, signature=data):
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_anthropic
