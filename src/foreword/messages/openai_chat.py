"""OpenAI's chat completions: calls beside the content, every result a message of its own.

Normal form, which is what `to_openai` writes: content is text where it is one text, else a list of
parts, null beside calls; the results of a message's calls stand right behind it. The shape has no
word for a result that failed. A picture in a result of another provider follows in a user message,
since tool messages hold only text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import SHORT_ID, FieldPath, Fields, address_of, image_from_address
from foreword.messages.message import Message, Role, edit, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

SHAPE = "openai"
_SHAPES = (SHAPE, "responses")  # OpenAI's two APIs
_ROLES: dict[str, Role] = fields.SAME_ROLES | {"developer": "system", "function": "tool"}
_THOUGHTS = ("reasoning_content", "reasoning")  # how servers that speak this shape call them
# The fields of a message that hold what it says; all others are kept as they are.
_SAID = ("content", *_THOUGHTS, "refusal", "audio", "images", "tool_calls", "function_call")
# What tells this shape from Anthropic's.
_OWN_ROLES = ("system", "developer", "tool", "function")
_OWN_FIELDS = frozenset(_SAID[1:]) | frozenset(
    "name annotations reasoning_details thinking_blocks".split()
    # of DeepSeek, Mistral and Qwen: the model goes on with this; of fine-tuning
    + "prefix partial weight".split()
)
# vLLM and routers take films and sounds by their address, too, and Mistral documents
_OWN_PARTS = frozenset(
    "image_url input_audio file refusal video_url audio_url document_url reference".split()
)


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a message has a role, a field or a part that only this API has."""
    if value.get("role") in _OWN_ROLES or not _OWN_FIELDS.isdisjoint(value):
        return True
    content = value.get("content")
    has_own_parts = not _OWN_PARTS.isdisjoint(fields.part_types(content))
    return has_own_parts or fields.has_field(content, "prompt_cache_breakpoint")


def read_message(value: object, at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    value = at.mapping(value, "a mapping with role and content")
    role = at.role(value, _ROLES)
    if role != "assistant" and "content" not in value:
        raise (at / ".content").wrong("is missing")
    parts = (read_part(value, at),) if role == "tool" else tuple(read_parts(value, at))
    return keep(Message(role, parts, fields.kind_of(value, at)), SHAPE, fields.without_kind(value))


def read_parts(value: Mapping[str, Any], at: FieldPath) -> Iterator[Part]:
    """What a message says: its thoughts, its content, what stands beside that, and its calls."""
    for name in _THOUGHTS:
        text = at.text(value, name)
        if text:
            yield keep(Thinking(text, shape=SHAPE), SHAPE, {name: text})
    yield from blocks.read_content(value.get("content"), at / ".content", read_part)
    refusal = at.text(value, "refusal")
    if refusal:
        yield keep(Text(refusal), SHAPE, {"refusal": refusal})
    if value.get("audio"):
        audio = (at / ".audio").mapping(value["audio"], "a mapping with an id")
        yield keep(Opaque("audio", at.text(audio, "transcript")), SHAPE, {"audio": audio})
    for image, place in at.items(value, "images"):
        drawn = view(image, place)
        drawn = drawn if isinstance(drawn, Image) else Opaque("image")
        yield keep(drawn, SHAPE, {"images": [image]})
    calls = at.items(value, "tool_calls")
    for call, place in calls:
        yield read_call(call, place)
    if not calls and value.get("function_call"):
        place = at / ".function_call"
        legacy = place.mapping(value["function_call"], "a mapping with a name")
        name = place.needed_text(legacy, "name")
        # it has no id: a result names the function
        call = ToolCall(name, name, blocks.json_text(legacy.get("arguments")))
        yield keep(call, SHAPE, {"function_call": legacy})


def view(part: Any, at: FieldPath) -> Part | None:
    """What a part of a message's content says, or a message with a result; None for one that
    nobody here reads."""
    match part:
        case {"type": "refusal", "refusal": str(text)}:
            return Text(text)
        case {"type": "text"}:
            return Text(at.text(part, "text"))
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            return image_from_address(url)
        case {"role": "tool" | "function" as role}:
            text, rest = blocks.result_view(part.get("content"), at / ".content", read_part)
            # chat templates and older servers have no ids: there a result names its function
            names = ("name",) if role == "function" else ("tool_call_id", "name")
            return ToolResult(at.first_text(part, *names), text, rest=rest)
    return None


read_part = blocks.reader(view, SHAPE)


def read_call(call: object, at: FieldPath) -> ToolCall:
    """One of a message's calls."""
    call = at.mapping(call, "a mapping with a function")
    kind, given = ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")
    place = at / f".{kind}"
    named = place.mapping(call.get(kind), "a mapping with a name")
    name = place.needed_text(named, "name")
    view = ToolCall(at.text(call, "id") or name, name, blocks.json_text(named.get(given)))
    return keep(view, SHAPE, call)


# --- writing --------------------------------------------------------------------------------------


def to_openai(messages: Iterable[Message]) -> list[Fields]:
    """Messages for the chat API."""
    out = list[Fields]()
    pictures = list[Part]()  # of results, waiting for the last of them
    for message in [*sendable_messages(messages, SHORT_ID), Message("user", ())]:
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
    return fields.sendable(out)  # type: ignore[no-any-return]


def _has_address(part: Part) -> bool:
    return isinstance(part, Image) and bool(address_of(part))


def _message(message: Message) -> Fields | None:
    """The message without the results in it; nothing if nothing is left."""
    received = blocks.as_received(message, SHAPE)
    if received and message.parts and not message.results and all(map(_has_own_id, message.parts)):
        return received  # type: ignore[no-any-return]
    said = list[Any]()
    calls = list[Fields]()
    beside = Fields()
    for part in blocks.parts_for_shape(message, SHAPE):
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
    if calls:
        beside = {"tool_calls": calls, **beside}
    if message.role != "tool":
        beside |= blocks.own_fields(message, SHAPE, without=(*_SAID, "role"))
    if not said and not any(beside.values()):
        return None
    content = blocks.short_content(said, build) if said else None
    return {"role": openai_role(message), "content": content, **beside}


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


def _write(part: Part) -> Any:
    if "function_call" in (blocks.own_json(part, SHAPE) or ()):
        return build(part)
    if isinstance(part, ToolCall | ToolResult) and not _has_own_id(part):
        return blocks.written(edit(part), SHAPE, build)
    return blocks.written(part, SHAPE, build)


def _has_own_id(part: Part) -> bool:
    """Whether a call or a result has an id in its JSON; what was called as a function of old needs
    none."""
    own = blocks.own_json(part, SHAPE)
    if not isinstance(part, ToolCall | ToolResult) or own is None:
        return True
    if "function_call" in own or own.get("role") == "function":
        return True
    return bool(own.get("id" if isinstance(part, ToolCall) else "tool_call_id"))


def build(part: Part) -> Any:
    """What a part says as a part of a content, a field beside it, a call, or a message with a
    result."""
    own = blocks.own_json(part, SHAPE)
    field = next(iter(own)) if isinstance(own, dict) and "type" not in own else ""
    match part:
        case Text(text):
            return {field: text} if field else {"type": "text", "text": text}
        case Image():
            picture = {"type": "image_url", "image_url": {"url": address_of(part)}}
            return {field: [picture]} if field else picture
        case Thinking(text):
            return {field or _THOUGHTS[0]: text}
        case ToolCall(call, name, arguments) if own and own.get("type") == "custom":
            return {"id": call, "type": "custom", "custom": {"name": name, "input": arguments}}
        case ToolCall(call, name, arguments):
            function = {"name": name, "arguments": fields.as_arguments(arguments)}
            return {"id": call, "type": "function", "function": function}
        case ToolResult(call):
            words = Message("tool", (part,)).text
            return {"role": "tool", "tool_call_id": call, "content": words}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_openai
