"""OpenAI's chat completions: calls beside the content, every result a message of its own.

Normal form, which is what `to_openai` writes: content is text where it is one text, else a list of
parts, null beside calls; the results of a message's calls stand right behind it. The shape has no
word for a result that failed. A picture in a result of another provider follows in a user message,
since tool messages hold only text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.messages.blocks import (
    is_as_received,
    json_text,
    opaque,
    own_json,
    parts_for_shape,
    result_view,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import (
    SHORT_ID,
    FieldPath,
    Fields,
    address_of,
    as_arguments,
    id_for,
    image_from_address,
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
    part_text,
)

SHAPE = "openai"
_SHAPES = (SHAPE, "responses")  # OpenAI's two APIs
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_THOUGHTS = ("reasoning_content", "reasoning")  # how servers that speak this shape call them
# The fields of a message that hold what it says; all others are kept as they are.
_SAID = ("content", *_THOUGHTS, "refusal", "audio", "images", "tool_calls", "function_call")
# What tells this shape from Anthropic's.
_OWN_ROLES = ("system", "developer", "tool", "function")
_OWN_FIELDS = frozenset(
    (
        *(*_SAID[1:], "name", "annotations", "reasoning_details", "thinking_blocks"),
        # of DeepSeek, Mistral and Qwen: the model goes on with this; of fine-tuning
        *("prefix", "partial", "weight"),
    )
)
# vLLM and routers take films and sounds by their address, too, and Mistral documents
_OWN_PARTS = frozenset(
    (
        *("image_url", "input_audio", "file", "refusal", "video_url", "audio_url"),
        *("document_url", "reference"),
    )
)


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a message has a role, a field or a part that only this API has."""
    if value.get("role") in _OWN_ROLES or value.keys() & _OWN_FIELDS:
        return True
    content = value.get("content")
    parts = content if isinstance(content, list) else []
    return any(_is_own_part(part) for part in parts if isinstance(part, Mapping))


def _is_own_part(part: Mapping[str, Any]) -> bool:
    return str(part.get("type")) in _OWN_PARTS or "prompt_cache_breakpoint" in part


def from_openai(value: object, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `messages`) or of a list."""
    if isinstance(value, Mapping):
        value = value.get("messages")
    messages = list[Message]()
    values = FieldPath(where, "messages").sequence(value, "a list of messages")
    for index, one in enumerate(values):
        messages.append(read_message(one, FieldPath(where, f"messages[{index}]")))
    return tuple(messages)


def read_message(value: object, at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    value = at.mapping(value, "a mapping with role and content")
    role = at.role(value, _ROLES)
    if role != "assistant" and "content" not in value:
        raise (at / ".content").wrong("is missing")
    parts = (read_part(value, at),) if role == "tool" else tuple(_read_parts(value, at))
    return keep(Message(role, parts, kind_of(value, at)), SHAPE, without_kind(value))


def _read_parts(value: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """What a message says: its thoughts, its content, what stands beside that, and its calls."""
    for name in _THOUGHTS:
        text = at.text(value, name)
        if text:
            yield keep(Thinking(text, shape=SHAPE), SHAPE, {name: text})
    content = value.get("content")
    if isinstance(content, str):
        yield keep(Text(content), SHAPE, content)
    elif content is not None:
        parts = (at / ".content").sequence(content, "text or a list of parts")
        for index, part in enumerate(parts):
            yield read_part(part, at / f".content[{index}]")
    refusal = at.text(value, "refusal")
    if refusal:
        yield keep(Text(refusal), SHAPE, {"refusal": refusal})
    if value.get("audio"):
        audio = (at / ".audio").mapping(value["audio"], "a mapping with an id")
        yield keep(Opaque("audio", at.text(audio, "transcript")), SHAPE, {"audio": audio})
    for index, image in enumerate((at / ".images").sequence(value.get("images") or ())):
        drawn = _view(image, at / f".images[{index}]")
        if not isinstance(drawn, Image):
            drawn = Opaque("image")
        yield keep(drawn, SHAPE, {"images": [image]})
    calls = (at / ".tool_calls").sequence(value.get("tool_calls") or (), "a list of calls")
    for index, call in enumerate(calls):
        yield read_call(call, at / f".tool_calls[{index}]")
    if not calls and value.get("function_call"):
        legacy = (at / ".function_call").mapping(value["function_call"], "a mapping with a name")
        name = (at / ".function_call").needed_text(legacy, "name")
        # it has no id: a result names the function
        call = ToolCall(name, name, json_text(legacy.get("arguments")))
        yield keep(call, SHAPE, {"function_call": legacy})


def read_part(part: object, at: FieldPath) -> Part:
    """One part of a message's content; a result is its message."""
    view = _view(part, at)
    return keep(view, SHAPE, part) if view is not None else opaque(part, SHAPE)


def _view(part: Any, at: FieldPath) -> Part | None:
    """What a part says; None for one that nobody here reads."""
    match part:
        case str(text) | {"type": "refusal", "refusal": str(text)}:
            return Text(text)
        case {"type": "text"}:
            return Text(at.text(part, "text"))
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            return image_from_address(url)
        case {"role": "tool" | "function" as role}:
            text, rest = result_view(
                part.get("content"),
                lambda inner, index: read_part(inner, at / f".content[{index}]"),
                SHAPE,
            )
            # chat templates and older servers have no ids: there a result names its function
            names = ("name",) if role == "function" else ("tool_call_id", "name")
            return ToolResult(at.first_text(part, *names), text, rest=rest)
        case {"type": str(kind)} if kind:
            return None
    raise at.missing_type(at.mapping(part))


def read_call(call: object, at: FieldPath) -> ToolCall:
    """One of a message's calls."""
    call = at.mapping(call, "a mapping with a function")
    kind, given = ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")
    place = at / f".{kind}"
    named = place.mapping(call.get(kind), "a mapping with a name")
    name = place.needed_text(named, "name")
    view = ToolCall(at.text(call, "id") or name, name, json_text(named.get(given)))
    return keep(view, SHAPE, call)


# --- writing --------------------------------------------------------------------------------------


def to_openai(messages: Iterable[Message]) -> list[Fields]:
    """Messages for the chat API."""
    out = list[Fields]()
    pictures = list[Part]()  # of results, waiting for the last of them
    for message in mend(messages)[0]:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        without_results = _message(message)
        if pictures and (without_results or not results):
            out.append({"role": "user", "content": [build(picture) for picture in pictures]})
            pictures = []
        for result in results:
            out.append(_write(result))
            if not isinstance(out[-1]["content"], list):
                pictures += [each for each in result.rest if _has_address(each)]
        if without_results:
            out.append(without_results)
    if pictures:
        out.append({"role": "user", "content": [build(picture) for picture in pictures]})
    return sendable(out)  # type: ignore[no-any-return]


def _has_address(part: Part) -> bool:
    return isinstance(part, Image) and bool(address_of(part))


def _message(message: Message) -> Fields | None:
    """The message without the results in it; nothing if nothing is left."""
    parts = parts_for_shape(message, SHAPE)
    if parts and len(parts) == len(message.parts) and is_as_received(message, SHAPE):
        has_results = any(isinstance(part, ToolResult) for part in parts)
        if not has_results and all(map(_has_own_id, parts)):
            return own_json(message, SHAPE)  # type: ignore[no-any-return]
    said = list[Any]()
    calls = list[Fields]()
    beside = Fields()
    for part in parts:
        if isinstance(part, ToolResult):
            continue
        block = _write(part)
        if isinstance(part, ToolCall):
            calls.append(block)
        elif isinstance(block, str) or "type" in block:
            said.append(block)
        else:
            for name, value in block.items():
                beside[name] = [*beside.get(name, ()), *value] if name == "images" else value
    own = (own_json(message, SHAPE) or {}) if message.role != "tool" else {}
    more = {name: own[name] for name in own if name not in (*_SAID, "role")}
    if not said and not calls and not beside and not any(more.values()):
        return None
    shaped: Fields = {"role": openai_role(message), "content": _content(said)}
    return {**shaped, **({"tool_calls": calls} if calls else {}), **beside, **more}


def openai_role(message: Message) -> str:
    """Who says a message for both APIs of OpenAI: what a developer said in one of them, a
    developer says in the other."""
    if message.role == "tool":
        return "user"
    block = message.block
    if message.role == "system" and block is not None and block.shape in _SHAPES:
        items = block.raw if isinstance(block.raw, list) else [block.raw]
        if any(item.get("role") == "developer" for item in items):
            return "developer"
    return message.role


def _content(said: Sequence[Any]) -> str | list[Fields] | None:
    parts = [build(Text(each)) if isinstance(each, str) else each for each in said]
    if len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return str(parts[0]["text"])
    return parts or None


def _write(part: Part) -> Any:
    is_legacy = "function_call" in (own_json(part, SHAPE) or ())
    if isinstance(part, ToolCall) and is_legacy:
        return build(part)
    return written(part if _has_own_id(part) else edit(part), SHAPE, build)


def _has_own_id(part: Part) -> bool:
    """Whether a call or a result has an id in its JSON, and one that the API takes; what was called
    as a function of old needs none."""
    own = own_json(part, SHAPE)
    if not isinstance(part, ToolCall | ToolResult) or own is None:
        return True
    if "function_call" in own or own.get("role") == "function":
        return True
    has_id = own.get("id" if isinstance(part, ToolCall) else "tool_call_id")
    return bool(has_id) and SHORT_ID.fullmatch(part.id) is not None


def build(part: Part) -> Any:
    """What a part says as a part of a content, a field beside it, a call, or a message with a
    result."""
    own = own_json(part, SHAPE)
    field = next(iter(own)) if isinstance(own, dict) and "type" not in own else ""
    match part:
        case Text(text):
            return {field: text} if field else {"type": "text", "text": text}
        case Image():
            picture = {"type": "image_url", "image_url": {"url": address_of(part)}}
            return {field: [picture]} if field else picture
        case Thinking(text):
            return {field or _THOUGHTS[0]: text}
        case ToolCall(call, name, arguments) if _is_custom(part):
            custom = {"name": name, "input": arguments}
            return {"id": id_for(call, SHORT_ID), "type": "custom", "custom": custom}
        case ToolCall(call, name, arguments):
            function = {"name": name, "arguments": as_arguments(arguments)}
            return {"id": id_for(call, SHORT_ID), "type": "function", "function": function}
        case ToolResult(call):
            call_id = id_for(call, SHORT_ID)
            return {"role": "tool", "tool_call_id": call_id, "content": part_text(part)}
    raise TypeError(f"{type(part).__name__} has no block of its own")


def _is_custom(part: Part) -> bool:
    """Whether a call is one of a tool that takes text."""
    return (own_json(part, SHAPE) or {}).get("type") == "custom"


write = to_openai
