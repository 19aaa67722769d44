"""Messages that LangChain has dumped: `message_to_dict`, `dumpd`, `model_dump`.

Written as `message_to_dict` does. A call that a provider's package put into `additional_kwargs` or
into the content once more is read once. Blocks are LangChain's own, or in the form of Anthropic's
or OpenAI's API. The artifact of a result is not for the model and only goes along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages import anthropic, openai_chat, openai_responses
from foreword.messages.blocks import (
    is_as_received,
    json_text,
    opaque,
    own_json,
    part_for_shape,
    parts_for_shape,
    result_parts,
    result_view,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import (
    FieldPath,
    Fields,
    address_of,
    as_object,
    image_from_address,
    sendable,
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
    keep,
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
# The fields of a message that hold what it says; all others are kept as they are.
_SAID = ("type", "content", "tool_calls", "invalid_tool_calls", "tool_call_chunks")
_SAID_BESIDE = ("tool_calls", "function_call", "reasoning_content", "refusal")
_INVALID = "invalid_tool_call"  # one whose arguments LangChain could not read, with its reason


# --- reading --------------------------------------------------------------------------------------


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
    kind, fields, at = _unpack(value, at)
    if kind == "chat":
        kind = at.text(fields, "role")
    role = _ROLES.get(kind)
    if role is None:
        raise (at / ".type").none_of(kind, _ROLES)
    if "content" not in fields:
        raise (at / ".content").wrong("is missing")
    parts = (_read_result(fields, at),) if role == "tool" else tuple(_read_parts(fields, at))
    return keep(Message(role, parts), SHAPE, value)


def _unpack(value: Mapping[str, Any], at: FieldPath) -> tuple[str, Mapping[str, Any], FieldPath]:
    """The type of a message, its fields, and where they stand: beside the type, or inside."""
    if "lc" in value:
        path = (at / ".id").sequence(value.get("id"), "the path of a class")
        at = at / ".kwargs"
        kind = _plain_type(str(path[-1]) if path else "")
        return kind, at.mapping(value.get("kwargs"), "a mapping"), at
    kind = _plain_type(value["type"])
    if "data" not in value:
        return kind, value, at
    at = at / ".data"
    return kind, at.mapping(value["data"], "a mapping with content"), at


def _read_parts(fields: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """What a message says: its thoughts, its content, and its calls, each once."""
    place = at / ".additional_kwargs"
    beside = place.mapping(fields.get("additional_kwargs") or {}, "a mapping")
    calls = list(_read_calls(fields, beside, at))
    thought, refusal = place.text(beside, "reasoning_content"), place.text(beside, "refusal")
    if thought:
        yield keep(Thinking(thought, shape=SHAPE), SHAPE, {"reasoning_content": thought})
    if refusal:
        yield keep(Text(refusal), SHAPE, {"refusal": refusal})
    content = fields["content"]
    if isinstance(content, str):
        if content:
            yield keep(Text(content), SHAPE, content)
    else:
        ids = {call.id for call in calls}
        blocks = (at / ".content").sequence(content or (), "text or a list of parts")
        for index, block in enumerate(blocks):
            part = _read_block(block, at / f".content[{index}]")
            if not (isinstance(part, ToolCall) and part.id in ids):
                yield part
    yield from calls


def _read_calls(
    fields: Mapping[str, Any], beside: Mapping[str, Any], at: FieldPath
) -> Iterator[ToolCall]:
    """The calls of a message, each once, wherever it is listed."""
    ids = set[str]()
    for name in ("tool_calls", "invalid_tool_calls"):
        for index, each in enumerate((at / f".{name}").sequence(fields.get(name) or [])):
            place = at / f".{name}[{index}]"
            call = _call_view(place.mapping(each, "a mapping with a name"), place)
            ids.add(call.id)
            yield keep(call, SHAPE, each)
    at = at / ".additional_kwargs"
    for index, each in enumerate((at / ".tool_calls").sequence(beside.get("tool_calls") or [])):
        call = openai_chat.read_call(each, at / f".tool_calls[{index}]")
        if call.id not in ids:
            yield call
    legacy = beside.get("function_call")
    if legacy and not ids:
        at = at / ".function_call"
        name = at.needed_text(at.mapping(legacy, "a mapping with a name"), "name")
        call = ToolCall(name, name, json_text(legacy.get("arguments")))
        yield keep(call, openai_chat.SHAPE, {"function_call": legacy})


def _call_view(call: Mapping[str, Any], at: FieldPath) -> ToolCall:
    is_invalid = call.get("type") == _INVALID  # its name may be what could not be read
    name = at.text(call, "name") if is_invalid else at.needed_text(call, "name")
    return ToolCall(at.text(call, "id") or name, name, json_text(call.get("args")))


def _read_block(block: object, at: FieldPath) -> Part:
    if isinstance(block, str):
        return keep(Text(block), SHAPE, block)
    return keep(_view(at.mapping(block), at), SHAPE, block)


def _view(block: Mapping[str, Any], at: FieldPath) -> Part:
    """What a block says, in LangChain's form or that of a provider's API."""
    match block:
        case {"type": "image_url"}:
            return openai_chat.read_part(block, at)
        case {"type": "image"} if "source" not in block:
            return _read_image(block, at)
        case {"type": "tool_call"}:
            return _call_view(block, at)
        case {"type": "function_call" | "custom_tool_call", "call_id": _}:
            return openai_responses.read_part(block, at)  # as `output_version` responses/v1 has it
        case {"type": "reasoning", "summary": _} | {"type": "reasoning", "encrypted_content": _}:
            return openai_responses.read_part(block, at)
        case {"type": "reasoning"}:
            text = at.text(block, "reasoning") or at.text(block, "text")
            return Thinking(text, shape=SHAPE)
        case {
            "type": "text" | "image" | "thinking" | "redacted_thinking" | "tool_use" | "document"
        }:
            return anthropic.read_block(block, at)
        case {"type": str(kind)} if kind:
            return opaque(block, SHAPE)
    raise at.missing_type(block)


def _read_image(block: Mapping[str, Any], at: FieldPath) -> Image:
    data = at.text(block, "base64") or at.text(block, "data")
    if data:
        return Image(at.text(block, "mime_type") or "image/png", data)
    return image_from_address(at.text(block, "url"))


def _read_result(fields: Mapping[str, Any], at: FieldPath) -> ToolResult:
    text, rest = result_view(
        fields["content"],
        lambda block, index: _read_block(block, at / f".content[{index}]"),
        SHAPE,
    )
    call = at.first_text(fields, "tool_call_id", "name")
    failed = fields.get("status") == "error"
    return keep(ToolResult(call, text, failed=failed, rest=rest), SHAPE, fields)


# --- writing --------------------------------------------------------------------------------------


def to_langchain(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `messages_from_dict` takes them; what the system of another provider says
    later is said by the user, since most of the models behind LangChain take it only in front."""
    out = list[Fields]()
    begun = False
    for message in mend(messages)[0]:
        begun = begun or message.role != "system"
        own = own_json(message, SHAPE)
        if own is not None and is_as_received(message, SHAPE):
            kind, fields, _ = _unpack(own, FieldPath("", ""))
            data = {name: fields[name] for name in fields if name != "type"}
            out.append(own if "data" in own else {"type": kind, "data": data})
            continue
        for part in message.parts:
            if isinstance(part, ToolResult):
                out.append({"type": "tool", "data": written(part, SHAPE, build)})
        kind = "system" if message.role == "system" and not (begun and own is None) else "human"
        kind = "ai" if message.role == "assistant" else kind
        data = _message_fields(message)
        is_said = data.get("content") or kind == "ai"
        if is_said and message.role != "tool":
            out.append({"type": kind, "data": data})
    return sendable(out)  # type: ignore[no-any-return]


def _message_fields(message: Message) -> Fields:
    """The fields of a message without its results."""
    own = own_json(message, SHAPE)
    fields = _unpack(own, FieldPath("", ""))[1] if own is not None else {}
    data = {name: fields[name] for name in fields if name not in _SAID}
    beside = data.get("additional_kwargs") or {}
    beside = {name: beside[name] for name in beside if name not in _SAID_BESIDE}
    blocks = list[Any]()
    calls = dict[str, list[Fields]]()
    for part in _own_parts(message):
        if isinstance(part, ToolResult):
            continue
        is_listed = "args" in (own_json(part, SHAPE) or ())  # and not a block of the content
        is_call = isinstance(part, ToolCall)
        block = build(part) if is_call and not is_listed else written(part, SHAPE, build)
        if is_call:
            is_invalid = block.get("type") == _INVALID
            calls.setdefault("invalid_tool_calls" if is_invalid else "tool_calls", []).append(block)
        elif isinstance(block, str) or "type" in block:
            blocks.append(block)
        else:
            beside |= block
    if message.role == "assistant":
        data |= {"tool_calls": [], **calls}
    if beside or "additional_kwargs" in data:
        data["additional_kwargs"] = beside
    return {"content": _content(blocks), **data}


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


def _content(blocks: list[Any]) -> str | list[Any]:
    """One text as text, anything else as blocks."""
    if len(blocks) == 1 and isinstance(blocks[0], dict) and blocks[0].keys() == {"type", "text"}:
        return str(blocks[0]["text"])
    return blocks[0] if len(blocks) == 1 and isinstance(blocks[0], str) else blocks or ""


def build(part: Part) -> Any:
    """What a part says as a block, as a call, or as the fields of a message with a result."""
    own = own_json(part, SHAPE)
    own = own if isinstance(own, dict) else {}
    match part:
        case Text(text):
            return {"refusal": text} if "refusal" in own else {"type": "text", "text": text}
        case Image():
            return own or {"type": "image_url", "image_url": {"url": address_of(part)}}
        case Thinking(shape=openai_responses.SHAPE):
            return openai_responses.build(part)
        case Thinking(shape=anthropic.SHAPE):
            return anthropic.build(part)
        case Thinking(text) if "reasoning_content" in own:
            return {"reasoning_content": text}
        case Thinking(text):
            return {"type": "reasoning", "reasoning": text}
        case ToolCall(call, name, arguments) if own.get("type") == _INVALID:
            return {"name": name, "id": call, "args": arguments, "type": _INVALID}
        case ToolCall(call, name, arguments):
            return {"name": name, "id": call, "args": as_object(arguments), "type": "tool_call"}
        case ToolResult(call, failed=failed):
            blocks = [written(inner, SHAPE, build) for inner in result_parts(part, SHAPE)]
            told = {name: own[name] for name in ("type", "status") if name in own}
            told |= {"status": "error"} if failed else {}
            return {"content": _content(blocks), "tool_call_id": call, **told}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_langchain
