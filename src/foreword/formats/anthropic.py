"""Anthropic's Messages API: blocks in user and assistant messages, the system prompt beside them.

Normal form, which is what `to_anthropic` writes: content is a list of blocks, or the text that it
came as; neighbours of one role are joined; the results of a message's calls open the user message
behind it; blank texts are left out, since the API refuses them; a result of one text is that text.
The API reads each of these as the form it came in. Fields on a message, such as those of a response
(`id`, `usage`), are kept and not sent: the API takes none. Thinking goes back only with its
signature. An id that the API would refuse is replaced, in a call and its result alike. What the
system says in the middle is written as such where the API takes it: behind the user, and in front
of the assistant or at the end.
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
    Kind,
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
CAME_AS_TEXT = "content_is_text"
_INSTRUCTION = ("clear_at", "output_config")
_TEXT = frozenset(("type", "text"))
_IMAGE = frozenset(("type", "source"))
_SOURCE = frozenset(("type", "media_type", "data", "url", "file_id"))
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
            parts = read_content(value["system"], FieldPath(where, "system"))
            messages.append(Message("system", parts))
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
    fields = unknown_fields(value, _MESSAGE, at)
    kind = kind_of(value, at)
    if role == "system" and kind == "conversation":
        kind = "instruction"  # the system prompt stands beside the messages
    if isinstance(value.get("content"), str):
        fields[CAME_AS_TEXT] = True
    return Message(
        role=role,
        parts=read_content(value.get("content"), at / ".content"),
        kind=kind,
        extra=pack_extra(SHAPE, _role_mark(kind) | fields),
    )


def _role_mark(kind: Kind) -> Fields:
    """What tells an instruction that came as one from those of other providers: not every model
    of this one takes the role."""
    return {"role": "system"} if kind == "instruction" else {}


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
            return _read_text(block, at)
        case "tool_use":
            return ToolCall(
                id=at.needed_text(block, "id"),
                name=at.needed_text(block, "name"),
                arguments=arguments_of(block.get("input", {})),
                extra=pack_extra(SHAPE, unknown_fields(block, _CALL, at)),
            )
        case "tool_result":
            return _read_result(block, at)
        case "image":
            return _read_image(block, at)
        case "thinking" | "redacted_thinking":
            return _read_thinking(block, at)
        case None if isinstance(block.get("text"), str):
            return _read_text(block, at)
        case str(kind) if kind:
            return opaque(block, SHAPE)
        case _:
            raise at.missing_type(block)


def _read_text(block: Mapping[str, Any], at: FieldPath) -> Text:
    return Text(at.text(block, "text"), pack_extra(SHAPE, unknown_fields(block, _TEXT, at)))


def _read_result(block: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(part: object, index: int) -> Part:
        return _answer_part(part, at / f".content[{index}]")

    text, rest, layout = read_answer(block.get("content"), read)
    fields = unknown_fields(block, _RESULT, at) | layout
    if block.get("is_error") is False:
        fields["is_error"] = False
    return ToolResult(
        id=at.needed_text(block, "tool_use_id"),
        text=text,
        failed=bool(block.get("is_error")),
        rest=rest,
        extra=pack_extra(SHAPE, fields),
    )


def _answer_part(block: object, at: FieldPath) -> Part:
    part = read_block(block, at)
    return part if isinstance(part, Text | Image | Opaque) else opaque(at.mapping(block), SHAPE)


def _read_image(block: Mapping[str, Any], at: FieldPath) -> Part:
    source = (at / ".source").mapping(block.get("source"), "a mapping with the picture")
    unknown_fields(source, _SOURCE, at / ".source")
    fields = unknown_fields(block, _IMAGE, at)
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
            extra=pack_extra(SHAPE, unknown_fields(block, _REDACTED, at)),
        )
    return Thinking(
        text=at.text(block, "thinking"),
        signature=at.text(block, "signature"),
        shape=SHAPE,
        extra=pack_extra(SHAPE, unknown_fields(block, _THINKING, at)),
    )


# --- writing --------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request; a system message among them is said by the user, unless it
    came in this shape and stands where the API takes it."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        blocks = _blocks(message)
        if blocks:
            content = _content(message, blocks)
            _add(out, {"role": _role(message), "content": content, **_message_fields(message)})
    if out and out[0]["role"] == "system":
        out[0] = _as_user(out[0])
    return out


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


def _content(message: Message, blocks: list[Fields]) -> str | list[Fields]:
    """The blocks of a message, or their one text where it came as a text."""
    came_as_text = unpack_extra(message.extra, SHAPE).get(CAME_AS_TEXT)
    is_text = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
    return str(blocks[0]["text"]) if came_as_text and is_text else blocks


def _as_user(message: Fields) -> Fields:
    return {"role": "user", "content": message["content"]}


def _role(message: Message) -> Role:
    """Who says a message: the assistant, the system where it came so, or else the user."""
    if message.role == "assistant":
        return "assistant"
    is_instruction = message.role == "system" and message.kind == "instruction"
    if is_instruction and unpack_extra(message.extra, SHAPE).get("role") == "system":
        return "system"
    return "user"


def _message_fields(message: Message) -> Fields:
    """What the API takes beside role and content: of an instruction, how long it holds."""
    if _role(message) != "system":
        return {}
    fields = unpack_extra(message.extra, SHAPE)
    return {name: fields[name] for name in _INSTRUCTION if name in fields}


def to_anthropic_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning become the system
    prompt."""
    messages = list(messages)
    system = list(takewhile(_is_system_prompt, messages))
    blocks = list[Fields]()
    for message in system:
        blocks += _blocks(message)
    request: Fields = {"system": blocks} if blocks else {}
    request["messages"] = to_anthropic(messages[len(system) :])
    return request


def _is_system_prompt(message: Message) -> bool:
    return message.role == "system" and message.kind != "instruction"


def _blocks(message: Message) -> list[Fields]:
    return [write_block(part) for part in parts_for_shape(message, SHAPE) if not _is_refused(part)]


def _is_refused(part: Part) -> bool:
    """Whether the API would refuse the part: a blank text, or a thought without its proof."""
    if isinstance(part, Text):
        return not part.text.strip()
    return isinstance(part, Thinking) and not part.signature


def write_block(part: Part) -> Fields:
    """One part as a block."""
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
            content = write_answer(part, fields.pop(LAYOUT, None), SHAPE, write_block)
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
