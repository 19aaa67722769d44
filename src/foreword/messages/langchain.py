"""Messages that LangChain has dumped: `message_to_dict`, `dumpd`, `model_dump`.

Written as `message_to_dict` does. A call that a provider's package put into `additional_kwargs` or
into the content once more is read once. Blocks are LangChain's own, or in the form of Anthropic's
or OpenAI's API. The artifact of a result is not for the model and only goes along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages import anthropic, blocks, fields, openai_chat, openai_responses
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, address_of, as_object, image_from_address
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Part, Text, Thinking, ToolCall, ToolResult

SHAPE = "langchain"
_ROLES: dict[str, Role] = fields.SAME_ROLES | {"developer": "system", "function": "tool"}
_ROLES |= {"human": "user", "ai": "assistant"}
# It hands thoughts on to the provider that they came from.
_THOUGHTS = (SHAPE, anthropic.SHAPE, openai_responses.SHAPE)
# The fields of a message that hold what it says; all others are kept as they are.
_SAID = ("type", "content", "tool_calls", "invalid_tool_calls", "tool_call_chunks")
_SAID_BESIDE = ("reasoning_content", "refusal", "tool_calls", "function_call")
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
    kind, said, at = _unpack(value, at)
    if kind == "chat":
        kind = at.text(said, "role")
    role = _ROLES.get(kind)
    if role is None:
        raise (at / ".type").none_of(kind, _ROLES)
    if "content" not in said:
        raise (at / ".content").wrong("is missing")
    if role == "tool":
        text, rest = blocks.result_view(said["content"], at / ".content", _read_block)
        call, failed = at.first_text(said, "tool_call_id", "name"), said.get("status") == "error"
        parts: list[Part] = [keep(ToolResult(call, text, failed, rest=rest), SHAPE, said)]
    else:
        parts = list(_read_parts(said, at))
    return keep(Message(role, tuple(parts)), SHAPE, value)


def _unpack(value: Mapping[str, Any], at: FieldPath) -> tuple[str, Mapping[str, Any], FieldPath]:
    """The type of a message, its fields, and where they stand: beside the type, or inside."""
    if "lc" in value:
        path = (at / ".id").sequence(value.get("id"), "the path of a class")
        kind, name = str(path[-1]) if path else "", "kwargs"
    else:
        kind, name = value["type"], "data"
    if name not in value:
        return _plain_type(kind), value, at
    at = at / f".{name}"
    return _plain_type(kind), at.mapping(value[name], "a mapping with content"), at


def _read_parts(said: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """What a message says: its thoughts, its content, and its calls, each once."""
    place = at / ".additional_kwargs"
    beside = place.mapping(said.get("additional_kwargs") or {}, "a mapping")
    listed = [*at.items(said, "tool_calls"), *at.items(said, "invalid_tool_calls")]
    calls = [keep(_call_view(call, where), SHAPE, call) for call, where in listed]
    # a provider's package repeats there the calls that are listed
    names = _SAID_BESIDE[:2] if calls else _SAID_BESIDE
    named = {name: beside[name] for name in names if name in beside}
    for part in openai_chat.read_parts(named, place):
        match part:
            case ToolCall():
                calls.append(part)
            case Thinking(text):
                yield keep(Thinking(text, shape=SHAPE), SHAPE, {"reasoning_content": text})
            case Text(text):
                yield keep(Text(text), SHAPE, {"refusal": text})
    ids = {call.id for call in calls}
    for part in blocks.read_content(said["content"] or None, at / ".content", _read_block):
        if not isinstance(part, ToolCall) or part.id not in ids:
            yield part
    yield from calls


def _call_view(value: object, at: FieldPath) -> ToolCall:
    call = at.mapping(value, "a mapping with a name")
    is_invalid = call.get("type") == _INVALID  # its name may be what could not be read
    name = at.text(call, "name") if is_invalid else at.needed_text(call, "name")
    return ToolCall(at.text(call, "id") or name, name, blocks.json_text(call.get("args")))


def _view(block: Any, at: FieldPath) -> Part | None:
    """What a block says, in LangChain's form or that of a provider's API; None for one that nobody
    here reads."""
    match block:
        case {"type": "image_url"}:
            return openai_chat.view(block, at)
        case {"type": "image"} if "source" not in block:
            data = at.text(block, "base64") or at.text(block, "data")
            media_type = at.text(block, "mime_type") or "image/png"
            return Image(media_type, data) if data else image_from_address(at.text(block, "url"))
        case {"type": "tool_call"}:
            return _call_view(block, at)
        case {"type": "function_call" | "custom_tool_call", "call_id": _}:
            return openai_responses.view(block, at)  # as `output_version` responses/v1 has it
        case {"type": "reasoning", "summary": _} | {"type": "reasoning", "encrypted_content": _}:
            return openai_responses.view(block, at)
        case {"type": "reasoning"}:
            text = at.text(block, "reasoning") or at.text(block, "text")
            return Thinking(text, shape=SHAPE)
        case {"type": "text" | "image" | "thinking" | "redacted_thinking" | "tool_use"}:
            return anthropic.view(block, at)
    return None


_read_block = blocks.reader(_view, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_langchain(messages: Iterable[Message]) -> list[Fields]:
    """The messages as `messages_from_dict` takes them; what the system of another provider says
    later is said by the user, since most of the models behind LangChain take it only in front."""
    out = list[Fields]()
    begun = False
    for message in sendable_messages(messages):
        begun = begun or message.role != "system"
        own = blocks.own_json(message, SHAPE)
        kind, said, _ = _unpack(own, FieldPath("", "")) if own is not None else ("", {}, None)
        if blocks.as_received(message, SHAPE):
            data = {name: said[name] for name in said if name != "type"}
            out.append(own if "data" in own else {"type": kind, "data": data})
            continue
        for part in message.parts:
            if isinstance(part, ToolResult):
                out.append({"type": "tool", "data": blocks.written(part, SHAPE, build)})
        kind = "system" if message.role == "system" and not (begun and own is None) else "human"
        kind = "ai" if message.role == "assistant" else kind
        data = _message_fields(message, said)
        if message.role != "tool" and (data["content"] or kind == "ai"):
            out.append({"type": kind, "data": data})
    return fields.sendable(out)  # type: ignore[no-any-return]


def _message_fields(message: Message, said: Mapping[str, Any]) -> Fields:
    """The fields of a message without its results; those that it came with are in `said`."""
    data = {name: said[name] for name in said if name not in _SAID}
    beside = data.get("additional_kwargs") or {}
    beside = {name: beside[name] for name in beside if name not in _SAID_BESIDE}
    content = list[Any]()
    calls: dict[str, list[Fields]] = {"tool_calls": []}
    for part in blocks.parts_for_shape(message, SHAPE, thoughts=_THOUGHTS):
        if isinstance(part, ToolResult):
            continue
        block = blocks.written(part, SHAPE, build)
        if isinstance(part, ToolCall) and "args" in block:  # and not a block of the content
            name = "invalid_tool_calls" if block.get("type") == _INVALID else "tool_calls"
            calls.setdefault(name, []).append(block)
        elif isinstance(block, str) or "type" in block:
            content.append(block)
        else:
            beside |= block
    if message.role == "assistant":
        data |= calls
    if beside or "additional_kwargs" in data:
        data["additional_kwargs"] = beside
    return {"content": blocks.short_content(content, build) or "", **data}


def build(part: Part) -> Any:
    """What a part says as a block, as a call, or as the fields of a message with a result."""
    own = blocks.own_fields(part, SHAPE)
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
        case ToolCall() if "input" in own:
            return anthropic.build(part)
        case ToolCall() if "call_id" in own:
            return openai_responses.build(part)
        case ToolCall(call, name, arguments):
            kind = _INVALID if own.get("type") == _INVALID else "tool_call"
            args = arguments if kind == _INVALID else as_object(arguments)
            return {"name": name, "id": call, "args": args, "type": kind}
        case ToolResult(call, failed=failed):
            content = blocks.short_content(blocks.written_result(part, SHAPE, build), build)
            kept = {name: own[name] for name in ("type", "status") if name in own}
            kept |= {"status": "error"} if failed else {}
            return {"content": content, "tool_call_id": call, **kept}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_langchain
