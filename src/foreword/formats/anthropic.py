"""Anthropic's Messages API: blocks in user and assistant messages, the system prompt beside them.

Normal form, which is what `to_anthropic` writes: content is a list of blocks; neighbours of one
role are joined; the results of a message's calls open the user message behind it; blank texts are
left out, since the API refuses them; a result of one text is that text. Fields on a message, such
as those of a response (`id`, `usage`), are kept and not sent: the API takes none. Thinking goes
back only with its signature. An id that the API would refuse is replaced, in a call and its result
alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from foreword.formats.fields import (
    LAYOUT,
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    id_for,
    kind_of,
    opaque,
    pack_extra,
    parts_for_shape,
    read_answer,
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
)
from foreword.pattern import lazy_pattern

SHAPE = "anthropic"
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_ID = lazy_pattern("[a-zA-Z0-9_-]{1,64}")
_MESSAGE = frozenset(("role", "content", "kind"))
_TEXT = frozenset(("type", "text"))
_IMAGE = frozenset(("type", "source"))
_THINKING = frozenset(("type", "thinking", "signature"))
_REDACTED = frozenset(("type", "data"))
_CALL = frozenset(("type", "id", "name", "input"))
_RESULT = frozenset(("type", "tool_use_id", "content", "is_error"))


# --- reading --------------------------------------------------------------------------------------


def from_anthropic(value: object, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `messages` and perhaps `system`) or of a list."""
    messages = list[Message]()
    if isinstance(value, Mapping):
        if value.get("system"):
            system = {"role": "system", "content": value["system"]}
            messages.append(read_message(system, FieldPath(where, "system")))
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
    parts = read_content(value.get("content"), at / ".content")
    return Message(
        role, parts, kind_of(value, at), pack_extra(SHAPE, unknown_fields(value, _MESSAGE))
    )


def read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    """The parts of a message."""
    if isinstance(content, str):
        return (Text(content),)
    if content is None:
        return ()
    blocks = at.sequence(content, "text or a list of parts")
    return tuple(read_block(block, at / f"[{index}]") for index, block in enumerate(blocks))


def read_block(block: object, at: FieldPath) -> Part:
    """One block as a part."""
    if isinstance(block, str):
        return Text(block)
    block = at.mapping(block)
    match block.get("type"):
        case "text":
            return Text(at.text(block, "text"), pack_extra(SHAPE, unknown_fields(block, _TEXT)))
        case "tool_use":
            return ToolCall(
                id=at.text(block, "id"),
                name=at.text(block, "name"),
                arguments=arguments_of(block.get("input", {})),
                extra=pack_extra(SHAPE, unknown_fields(block, _CALL)),
            )
        case "tool_result":
            return _read_result(block, at)
        case "image":
            return _read_image(block)
        case "thinking" | "redacted_thinking":
            return _read_thinking(block, at)
        case None if isinstance(block.get("text"), str):
            return Text(block["text"], pack_extra(SHAPE, unknown_fields(block, _TEXT)))
        case _:
            return opaque(block, SHAPE)


def _read_result(block: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(part: object, index: int) -> Part:
        return _answer_part(part, at / f".content[{index}]")

    text, rest, layout = read_answer(block.get("content"), read)
    fields = unknown_fields(block, _RESULT) | layout
    return ToolResult(
        id=at.text(block, "tool_use_id"),
        text=text,
        failed=bool(block.get("is_error")),
        rest=rest,
        extra=pack_extra(SHAPE, fields),
    )


def _answer_part(block: object, at: FieldPath) -> Part:
    part = read_block(block, at)
    return part if isinstance(part, Text | Image | Opaque) else opaque(at.mapping(block), SHAPE)


def _read_image(block: Mapping[str, Any]) -> Part:
    source = block.get("source")
    fields = unknown_fields(block, _IMAGE)
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data), **more} if (
            data and not more
        ):
            return Image(media_type, data, extra=pack_extra(SHAPE, fields))
        case {"type": "url", "url": str(url), **more} if url and not more:
            return Image(url=url, extra=pack_extra(SHAPE, fields))
        case _:
            return Image(extra=pack_extra(SHAPE, {"source": source, **fields}))


def _read_thinking(block: Mapping[str, Any], at: FieldPath) -> Thinking:
    if block["type"] == "redacted_thinking":
        return Thinking(
            text="",
            signature=at.text(block, "data"),
            redacted=True,
            shape=SHAPE,
            extra=pack_extra(SHAPE, unknown_fields(block, _REDACTED)),
        )
    return Thinking(
        text=at.text(block, "thinking"),
        signature=at.text(block, "signature"),
        shape=SHAPE,
        extra=pack_extra(SHAPE, unknown_fields(block, _THINKING)),
    )


# --- writing --------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request; a system message among them is said by the user."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks:
            continue
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks
        else:
            out.append({"role": role, "content": blocks})
    return out


def to_anthropic_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning become the system
    prompt."""
    messages = list(messages)
    system = list(takewhile(lambda message: message.role == "system", messages))
    blocks = list[Fields]()
    for message in system:
        blocks += _blocks(message)
    request: Fields = {"system": blocks} if blocks else {}
    request["messages"] = to_anthropic(messages[len(system) :])
    return request


def _blocks(message: Message) -> list[Fields]:
    return [_block(part) for part in parts_for_shape(message, SHAPE) if not _is_refused(part)]


def _is_refused(part: Part) -> bool:
    """Whether the API would refuse the part: a blank text, or a thought without its proof."""
    if isinstance(part, Text):
        return not part.text.strip()
    return isinstance(part, Thinking) and not part.signature


def _block(part: Part) -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    match part:
        case Text(text):
            return {"type": "text", "text": text, **fields}
        case ToolCall(call, name, arguments):
            return {
                "type": "tool_use",
                "id": id_for(call, _ID),
                "name": name,
                "input": as_object(arguments),
                **fields,
            }
        case ToolResult(call, _, failed):
            content = write_answer(part, fields.pop(LAYOUT, None), SHAPE, _block)
            error = {"is_error": True} if failed else {}
            return {
                "type": "tool_result",
                "tool_use_id": id_for(call, _ID),
                "content": content,
                **error,
                **fields,
            }
        case Image(media_type, data, url):
            base64 = {"type": "base64", "media_type": media_type, "data": data}
            return {
                "type": "image",
                "source": base64 if data else {"type": "url", "url": url},
                **fields,
            }
        case Thinking(redacted=True, signature=data):
            return {"type": "redacted_thinking", "data": data, **fields}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature, **fields}
