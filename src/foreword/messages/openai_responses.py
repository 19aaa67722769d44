"""OpenAI's Responses API: a flat list of items, where a message holds one item or a few of the
assistant's.

What the assistant thought, said and called in one go is one message; each holds at most one
`message` item. A command for the local shell is a call like others; items nobody here reads are
opaque parts. Normal form, which is what `to_responses` writes: words stand before calls, and
outputs right behind the calls of their message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import SHORT_ID, FieldPath, Fields, address_of, image_from_address
from foreword.messages.message import Message, Role, edit, keep
from foreword.messages.openai_chat import openai_role
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

SHAPE = "responses"
_ROLES: dict[str, Role] = fields.SPEAKERS | {"developer": "system"}
_CONTENT = frozenset(
    ("input_text", "output_text", "input_image", "input_file", "input_audio", "refusal")
)
# but for parts that the Chat Completions API has under the same name
_OWN_CONTENT = _CONTENT - {"refusal", "input_audio"}
_ITEMS = frozenset(
    (
        "message reasoning compaction compaction_trigger item_reference mcp_list_tools"
        " mcp_approval_request mcp_approval_response additional_tools configuration_update program"
    ).split()
)
_SHELL = "local_shell_call"
_CUSTOM = "custom_tool_call"
_CALLS_TO_ANSWER = frozenset(("computer_call", "shell_call", "apply_patch_call"))  # by a client
_OUTPUTS = ("function_call_output", f"{_CUSTOM}_output", f"{_SHELL}_output")
_THOUGHTS = ("summary", "content")  # of a reasoning item


# --- reading --------------------------------------------------------------------------------------


def is_message(value: object) -> bool:
    """Whether this is an item of this API rather than a message of another."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    if "role" not in value or kind == "additional_tools":  # it has a role, too
        return kind != "message" and _is_item_type(kind)
    if kind == "message" and "model" not in value:
        return True
    return not _OWN_CONTENT.isdisjoint(fields.part_types(value.get("content")))


def _is_item_type(kind: object) -> bool:
    """Whether an item has this type: one that is known, or one that is named like a call."""
    return isinstance(kind, str) and (kind in _ITEMS or kind.endswith(("_call", "_output")))


def from_responses(value: object, where: str = "input") -> tuple[Message, ...]:
    """The messages in a list of items, or in a mapping with `instructions`, `input` and
    `output`."""
    items = list[Any]()
    if isinstance(value, Mapping):
        for name, role in (("instructions", "system"), ("input", "user"), ("output", "assistant")):
            said = value.get(name) or []
            if isinstance(said, str):
                said = [{"role": role, "content": said}]
            items += FieldPath(where, name).sequence(said)
    else:
        items += FieldPath(where, "input").sequence(value, "a list of items")
    messages = list[Message]()
    for index, item in enumerate(items):
        message = read_message(item, FieldPath(where, f"input[{index}]"))
        joined = join(messages[-1], message) if messages else None
        if joined:
            messages.pop()
        messages.append(joined or message)
    return tuple(messages)


def join(last: Message, message: Message) -> Message | None:
    """Two neighbours as one, if the assistant made both in one go."""
    items, more = blocks.own_json(last, SHAPE), blocks.own_json(message, SHAPE)
    is_assistants = last.role == message.role == "assistant"
    if not is_assistants or not message.parts or items is None or more is None:
        return None
    first = message.parts[0]
    is_item = isinstance(first, ToolCall | Opaque) and not _is_content(first)
    if not is_item and not all(isinstance(part, Thinking) for part in last.parts):
        return None
    return keep(Message(last.role, last.parts + message.parts), SHAPE, items + more)


def read_message(item: object, at: FieldPath) -> Message:
    """One item as a message; `at` is its place in the input."""
    item = at.mapping(item, "a mapping with a type")
    kind = item.get("type")
    if kind in ("message", None):
        role = at.role(item, _ROLES)
        if "content" not in item and role != "assistant":
            raise (at / ".content").wrong("is missing")
        parts = blocks.read_content(item.get("content"), at / ".content", read_part)
        message = Message(role, parts, fields.kind_of(item, at))
        return keep(message, SHAPE, [fields.without_kind(item)])
    if not _is_item_type(kind):
        raise (at / ".type").wrong(f"{kind!r} is no type of an item")
    role = "tool" if str(kind).endswith("_output") else "assistant"
    role = "user" if str(kind).endswith("approval_response") else role
    return keep(Message(role, (read_part(item, at),)), SHAPE, [item])


def view(item: Any, at: FieldPath) -> Part | None:
    """What an item or a part says; None for one that nobody here reads."""
    match item:
        case {"type": "input_text" | "output_text"}:
            return Text(at.text(item, "text"))
        case {"type": "refusal", "refusal": str(text)}:
            return Text(text)
        case {"type": "input_image", "image_url": str(url)} if url:
            return image_from_address(url)
        case {"type": "input_image"}:
            return Image()
        case {"type": "function_call" | "custom_tool_call" as kind}:
            call, name = at.needed_text(item, "call_id"), at.needed_text(item, "name")
            given = item.get("input" if kind == _CUSTOM else "arguments")
            return ToolCall(call, name, blocks.json_text(given))
        case {"type": "local_shell_call", "action": Mapping() as action}:
            call = at.text(item, "call_id") or at.text(item, "id")
            return ToolCall(call, _SHELL.removesuffix("_call"), blocks.json_text(action))
        case {"type": str(kind)} if kind in _OUTPUTS:
            text, rest = blocks.result_view(item.get("output"), at / ".output", read_part)
            return ToolResult(at.first_text(item, "call_id", "id"), text, rest=rest)
        case {"type": "reasoning"}:
            thoughts = [each for name in _THOUGHTS for each in at.items(item, name)]
            texts = [place.text(place.mapping(block), "text") for block, place in thoughts]
            text, proof = "\n".join(texts), str(item.get("encrypted_content") or "")
            return Thinking(text, proof, redacted=not text, shape=SHAPE)
    return None


read_part = blocks.reader(view, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_responses(messages: Iterable[Message]) -> list[Fields]:
    """Items for the `input` of a request."""
    items = list[Fields]()
    for message in sendable_messages(messages, SHORT_ID):
        items += _items(message)
    custom = {item["call_id"] for item in items if item.get("type") == _CUSTOM}
    for at, item in enumerate(items):
        if item.get("type") == "function_call_output" and item.get("call_id") in custom:
            items[at] = {**item, "type": f"{_CUSTOM}_output"}
    return fields.sendable(items)  # type: ignore[no-any-return]


def without_open_calls(items: Iterable[Fields]) -> list[Fields]:
    """The items with words in place of calls that only this API reads and that have no output: it
    takes none, and nobody but the tool can say what a screen shows."""
    items = list(items)
    answered = {item.get("call_id") for item in items if item.get("type") not in _CALLS_TO_ANSWER}
    closed = list[Fields]()
    for item in items:
        if item.get("type") in _CALLS_TO_ANSWER and item.get("call_id") not in answered:
            words = Message("assistant", (blocks.opaque(item, SHAPE),)).text
            item = {"role": "assistant", "content": words}
        closed.append(item)
    return closed


def without_item_ids(message: Message) -> Message:
    """The message without the ids of this API's items: it takes an item with an id only together
    with the reasoning it came with."""
    items = blocks.own_json(message, SHAPE)
    if items is None:
        return message
    parts = list[Part]()
    for part in message.parts:
        raw = blocks.own_json(part, SHAPE)
        if isinstance(raw, dict) and "id" in raw and not isinstance(part, Opaque | Thinking):
            part = keep(edit(part), SHAPE, _without_id(raw))
        parts.append(part)
    bare = edit(message, parts=tuple(parts))
    return keep(bare, SHAPE, [_without_id(item) for item in items])


def _without_id(item: Mapping[str, Any]) -> Fields:
    if str(item.get("type")).endswith("_output") and not item.get("call_id"):
        return dict(item)  # its own id is that of its call
    return {name: item[name] for name in item if name != "id"}


def _items(message: Message) -> Iterable[Fields]:
    parts = blocks.parts_for_shape(message, SHAPE)
    ordered = _words_first(parts)
    received = blocks.as_received(message, SHAPE)
    if received is not None and ordered == list(message.parts):
        yield from received
        return
    own = blocks.own_json(message, SHAPE) or []
    beside: Fields = next((item for item in own if item.get("type") in ("message", None)), {})
    role = openai_role(message)
    for is_content, group in groupby(ordered, key=_is_content):
        if is_content:
            yield {**beside, "role": role, "content": _content(group, role)}
            beside = {}
        else:
            yield from [blocks.written(part, SHAPE, build) for part in group]


def _words_first(parts: list[Part]) -> list[Part]:
    """The parts with words before calls: what is said after a call would be another message."""
    calls = [at for at, part in enumerate(parts) if isinstance(part, ToolCall)]
    first_call = calls[0] if calls else len(parts)
    rest = sorted(parts[first_call:], key=lambda part: not _is_content(part))
    return parts[:first_call] + rest


def _is_content(part: Part) -> bool:
    return isinstance(part, Text | Image) or (isinstance(part, Opaque) and part.name in _CONTENT)


def _content(parts: Iterable[Part], role: str) -> str | list[Fields]:
    content = list[Fields]()
    for part in parts:
        block = blocks.written(part, SHAPE, build)
        block = build(Text(block)) if isinstance(block, str) else block
        if role == "assistant" and block["type"] == "input_text":
            block = {**block, "type": "output_text"}
        content.append(block)
    return blocks.short_content(content, build)  # type: ignore[no-any-return]


def build(part: Part) -> Fields:
    """What a part says as an item, or as a part of a message's content."""
    own = blocks.own_fields(part, SHAPE)
    kind = own.get("type")
    match part:
        case Text(text) if kind == "refusal":
            return {"type": kind, "refusal": text}
        case Text(text):
            return {"type": kind or "input_text", "text": text}
        case Image():
            return {"type": "input_image", "image_url": address_of(part)}
        case ToolCall(call, name, arguments):
            if kind == _SHELL:
                return {"type": kind, "call_id": call, "action": fields.as_object(arguments)}
            if kind == _CUSTOM:
                return {"type": kind, "call_id": call, "name": name, "input": arguments}
            item = {"type": "function_call", "call_id": call, "name": name}
            return {**item, "arguments": fields.as_arguments(arguments)}
        case ToolResult(call, text):
            output = blocks.written_result(part, SHAPE, build) if part.rest else text
            return {"type": kind or "function_call_output", "call_id": call, "output": output}
        case Thinking(signature=proof):
            said = {name: own[name] for name in _THOUGHTS if name in own}
            return {"type": "reasoning", **said, **({"encrypted_content": proof} if proof else {})}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_responses
