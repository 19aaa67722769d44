"""OpenAI's Responses API: a flat list of items, where a message holds one item or a few of the
assistant's.

What the assistant thought, said and called in one go is one message; each holds at most one
`message` item. A command for the local shell is a call like others; items nobody here reads are
opaque parts. Normal form, which is what `to_responses` writes: words stand before calls, and
outputs right behind the calls of their message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
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
    SHORT_ID,
    FieldPath,
    Fields,
    address_of,
    as_arguments,
    as_object,
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
from foreword.messages.openai_chat import openai_role

SHAPE = "responses"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_CONTENT = frozenset(
    ("input_text", "output_text", "input_image", "input_file", "input_audio", "refusal")
)
# parts that the Chat Completions API has under the same name: they tell neither from the other
_IN_CHAT_TOO = frozenset(("refusal", "input_audio"))
_ITEMS = frozenset(
    (
        "message reasoning compaction compaction_trigger item_reference mcp_list_tools"
        " mcp_approval_request mcp_approval_response additional_tools configuration_update program"
    ).split()
)
_SHELL = "local_shell_call"
_CUSTOM = "custom_tool_call"
_CALLS_TO_ANSWER = frozenset(("computer_call", "shell_call", "apply_patch_call"))  # by a client
_THOUGHTS = ("summary", "content")  # of a reasoning item


# --- reading --------------------------------------------------------------------------------------


def is_message(value: object) -> bool:
    """Whether this is an item of this API rather than a message of another."""
    if not isinstance(value, Mapping):
        return False
    if "role" not in value or value.get("type") == "additional_tools":  # it has a role, too
        return value.get("type") != "message" and _is_item_type(value.get("type"))
    if value.get("type") == "message" and "model" not in value:
        return True
    content = value.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and str(part.get("type")) in _CONTENT - _IN_CHAT_TOO:
            return True
    return False


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
                items.append({"role": role, "content": said})
            else:
                items += FieldPath(where, name).sequence(said)
    else:
        items += FieldPath(where, "input").sequence(value, "a list of items")
    messages = list[Message]()
    for index, item in enumerate(items):
        message = read_message(item, FieldPath(where, f"input[{index}]"))
        joined = join(messages[-1], message) if messages else None
        if joined:
            messages[-1] = joined
        else:
            messages.append(message)
    return tuple(messages)


def join(last: Message, message: Message) -> Message | None:
    """Two neighbours as one, if the assistant made both in one go."""
    if last.role != "assistant" or message.role != "assistant" or not message.parts:
        return None
    items, more = own_json(last, SHAPE), own_json(message, SHAPE)
    if items is None or more is None:
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
        parts = _read_content(item.get("content"), at / ".content")
        message = Message(role, parts, kind_of(item, at))
        return keep(message, SHAPE, [without_kind(item)])
    if not _is_item_type(kind):
        raise (at / ".type").wrong(f"{kind!r} is no type of an item")
    return keep(Message(_item_role(str(kind)), (read_part(item, at),)), SHAPE, [item])


def _item_role(kind: str) -> Role:
    """Whose an item is: who approves is the user."""
    if kind.endswith("approval_response"):
        return "user"
    return "tool" if kind.endswith("_output") else "assistant"


def _read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (keep(Text(content), SHAPE, content),)
    blocks = at.sequence(content or (), "text or a list of parts")
    return tuple([read_part(block, at / f"[{index}]") for index, block in enumerate(blocks)])


def read_part(item: object, at: FieldPath) -> Part:
    """An item, or a part of a message's content."""
    view = _view(at.mapping(item), at)
    return keep(view, SHAPE, item) if view is not None else opaque(item, SHAPE)


def _view(item: Mapping[str, Any], at: FieldPath) -> Part | None:
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
            return ToolCall(
                id=at.needed_text(item, "call_id"),
                name=at.needed_text(item, "name"),
                arguments=json_text(item.get("input" if kind == _CUSTOM else "arguments")),
            )
        case {"type": "local_shell_call", "action": Mapping() as action}:
            call = at.text(item, "call_id") or at.text(item, "id")
            return ToolCall(call, _SHELL.removesuffix("_call"), json_text(action))
        case {
            "type": "function_call_output" | "custom_tool_call_output" | "local_shell_call_output"
        }:
            text, rest = result_view(
                item.get("output"),
                lambda part, index: read_part(part, at / f".output[{index}]"),
                SHAPE,
            )
            return ToolResult(at.first_text(item, "call_id", "id"), text, rest=rest)
        case {"type": "reasoning"}:
            text = "\n".join(_thoughts(item, at))
            proof = item.get("encrypted_content")
            return Thinking(text, str(proof or ""), redacted=not text, shape=SHAPE)
        case {"type": str(kind)} if kind:
            return None
    raise at.missing_type(item)


def _thoughts(item: Mapping[str, Any], at: FieldPath) -> Iterable[str]:
    for name in _THOUGHTS:
        for index, block in enumerate((at / f".{name}").sequence(item.get(name) or [])):
            place = at / f".{name}[{index}]"
            yield place.text(place.mapping(block), "text")


# --- writing --------------------------------------------------------------------------------------


def to_responses(messages: Iterable[Message]) -> list[Fields]:
    """Items for the `input` of a request."""
    items = list[Fields]()
    for message in mend(messages)[0]:
        items += _items(message)
    custom = {item["call_id"] for item in items if item.get("type") == _CUSTOM}
    for at, item in enumerate(items):
        if item.get("type") == "function_call_output" and item.get("call_id") in custom:
            items[at] = {**item, "type": f"{_CUSTOM}_output"}
    return sendable(items)  # type: ignore[no-any-return]


def without_open_calls(items: Iterable[Fields]) -> list[Fields]:
    """The items with words in place of calls that only this API reads and that have no output: it
    takes none, and nobody but the tool can say what a screen shows."""
    items = list(items)
    answered = {item.get("call_id") for item in items if item.get("type") not in _CALLS_TO_ANSWER}
    closed = list[Fields]()
    for item in items:
        if item.get("type") in _CALLS_TO_ANSWER and item.get("call_id") not in answered:
            item = {"role": "assistant", "content": part_text(opaque(item, SHAPE))}
        closed.append(item)
    return closed


def without_item_ids(message: Message) -> Message:
    """The message without the ids of this API's items: it takes an item with an id only together
    with the reasoning it came with."""
    if own_json(message, SHAPE) is None:
        return message
    parts = list[Part]()
    for part in message.parts:
        raw = own_json(part, SHAPE)
        if isinstance(raw, dict) and "id" in raw and not isinstance(part, Opaque | Thinking):
            part = keep(edit(part), SHAPE, _without_id(raw))
        parts.append(part)
    assert message.block is not None
    bare = edit(message, parts=tuple(parts))
    return keep(bare, SHAPE, [_without_id(item) for item in message.block.raw])


def _without_id(item: Mapping[str, Any]) -> Fields:
    if str(item.get("type")).endswith("_output") and not item.get("call_id"):
        return dict(item)  # its own id is that of its call
    return {name: item[name] for name in item if name != "id"}


def _items(message: Message) -> Iterable[Fields]:
    own = own_json(message, SHAPE) or []
    parts = parts_for_shape(message, SHAPE)
    has_words_first = parts == (ordered := _words_first(parts))
    has_long_ids = not all(SHORT_ID.fullmatch(call) for call in (*message.calls, *message.results))
    if (
        is_as_received(message, SHAPE)
        and has_words_first
        and len(parts) == len(message.parts)
        and not has_long_ids
    ):
        yield from own
        return
    beside: Fields = next((item for item in own if item.get("type") in ("message", None)), {})
    role = openai_role(message)
    for is_content, group in groupby(ordered, key=_is_content):
        if is_content:
            yield {**beside, "role": role, "content": _content(list(group), role)}
            beside = {}
        else:
            yield from map(write_item, group)


def _words_first(parts: list[Part]) -> list[Part]:
    """The parts with words before calls: what is said after a call would be another message."""
    first_call = 0
    while first_call < len(parts) and not isinstance(parts[first_call], ToolCall):
        first_call += 1
    rest = sorted(parts[first_call:], key=lambda part: not _is_content(part))
    return parts[:first_call] + rest


def _is_content(part: Part) -> bool:
    return isinstance(part, Text | Image) or (isinstance(part, Opaque) and part.name in _CONTENT)


def _content(parts: Sequence[Part], role: str) -> str | list[Fields]:
    blocks = list[Fields]()
    for part in parts:
        block = written(part, SHAPE, build)
        if isinstance(block, str):
            block = build(Text(block))
        if role == "assistant" and block["type"] == "input_text":
            block = {**block, "type": "output_text"}
        blocks.append(block)
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return str(blocks[0]["text"])
    return blocks


def write_item(part: Part) -> Fields:
    """One part that is an item of its own."""
    if isinstance(part, ToolCall | ToolResult) and not SHORT_ID.fullmatch(part.id):
        part = edit(part)
    return written(part, SHAPE, build)  # type: ignore[no-any-return]


def build(part: Part) -> Fields:
    """What a part says as an item, or as a part of a message's content."""
    own = own_json(part, SHAPE)
    kind = own.get("type") if isinstance(own, dict) else None
    match part:
        case Text(text) if kind == "refusal":
            return {"type": kind, "refusal": text}
        case Text(text):
            return {"type": kind or "input_text", "text": text}
        case Image():
            return {"type": "input_image", "image_url": address_of(part)}
        case ToolCall(call, name, arguments):
            call_id = id_for(call, SHORT_ID)
            if kind == _SHELL:
                return {"type": kind, "call_id": call_id, "action": as_object(arguments)}
            if kind == _CUSTOM:
                return {"type": kind, "call_id": call_id, "name": name, "input": arguments}
            written_arguments = as_arguments(arguments)
            item = {"type": "function_call", "call_id": call_id, "name": name}
            return {**item, "arguments": written_arguments}
        case ToolResult(call, text):
            output: Any = text
            if part.rest:
                output = [written(inner, SHAPE, build) for inner in result_parts(part, SHAPE)]
            call_id = id_for(call, SHORT_ID)
            return {"type": kind or "function_call_output", "call_id": call_id, "output": output}
        case Thinking(signature=proof):
            said = {name: own[name] for name in _THOUGHTS if own and name in own}
            return {"type": "reasoning", **said, **({"encrypted_content": proof} if proof else {})}
    raise TypeError(f"{type(part).__name__} has no block of its own")


write = to_responses
