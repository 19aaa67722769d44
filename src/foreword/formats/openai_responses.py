"""OpenAI's Responses API: a flat list of items, where a message holds one item or a few of the
assistant's.

What the assistant thought, said and called in one go is one message; each holds at most one
`message` item, whose fields (`id`, `status`, `phase`) it carries. A command for the local shell is
a call like others; items nobody here reads are opaque parts. Normal form, which is what
`to_responses` writes: content is text where it is one text that did not come as a list; words stand
before calls, and outputs right behind the calls of their message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from foreword.formats.fields import (
    LAYOUT,
    LISTED,
    SHORT_ID,
    FieldPath,
    Fields,
    address_of,
    arguments_of,
    as_arguments,
    as_object,
    id_for,
    image_from_address,
    kind_of,
    listed_mark,
    opaque,
    openai_role,
    pack_extra,
    parts_for_shape,
    read_answer,
    replace_unsent,
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
    part_text,
)

SHAPE = "openai_responses"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_MESSAGE = frozenset(("role", "content", "kind"))
_TEXT = frozenset(("type", "text"))
_REFUSAL = frozenset(("type", "refusal"))
_IMAGE = frozenset(("type", "image_url"))
_CALL = frozenset(("type", "call_id", "name", "arguments"))
_CUSTOM_CALL = frozenset(("type", "call_id", "name", "input"))
_OUTPUT = frozenset(("type", "call_id", "output"))
_THOUGHTS = ("summary", "content")  # of a reasoning item; they go back as they stood
_REASONING = frozenset(("type", "encrypted_content", *_THOUGHTS))
_CONTENT = frozenset(
    ("input_text", "output_text", "input_image", "input_file", "input_audio", "refusal")
)
_ITEMS = frozenset(
    (
        "message reasoning compaction compaction_trigger item_reference mcp_list_tools"
        " mcp_approval_request mcp_approval_response additional_tools configuration_update program"
    ).split()
)
_ADDITIONAL_TOOLS = "additional_tools"  # an item with a role that is no message
_ITEM_ENDINGS = ("_call", "_output")
_CUSTOM = "custom_tool_call"
_SHELL_CALL = frozenset(("type", "call_id", "action"))
_SHELL = "local_shell_call"
_NO_CALL_ID = "no_call_id"
_CALLS_TO_ANSWER = frozenset(("computer_call", "shell_call", "apply_patch_call"))  # by a client

# parts that the Chat Completions API has under the same name: they tell neither from the other
_IN_CHAT_TOO = frozenset(("refusal", "input_audio"))

# --- reading --------------------------------------------------------------------------------------


def is_item(value: object) -> bool:
    """Whether this is an item of this API rather than a message of another."""
    if not isinstance(value, Mapping):
        return False
    if "role" not in value or value.get("type") == _ADDITIONAL_TOOLS:
        return value.get("type") != "message" and _is_item_type(value.get("type"))
    if value.get("type") == "message" and "model" not in value:
        return True
    content = value.get("content")
    for part in content if isinstance(content, list) else []:
        if isinstance(part, Mapping) and str(part.get("type")) in _CONTENT - _IN_CHAT_TOO:
            return True
    return False


def _is_item_type(kind: object) -> bool:
    """Whether an item has this type: one that is known, or one that is named like a call."""
    return isinstance(kind, str) and (kind in _ITEMS or kind.endswith(_ITEM_ENDINGS))


def from_responses(value: object, where: str = "input") -> tuple[Message, ...]:
    """The messages in a list of items, or in a mapping with `instructions`, `input` and
    `output`."""
    if isinstance(value, Mapping):
        value = _all_items(value, where)
    items = FieldPath(where, "input").sequence(value, "a list of items")
    messages = list[Message]()
    for index, item in enumerate(items):
        message = read_item(item, FieldPath(where, f"input[{index}]"))
        joined = join(messages[-1], message) if messages else None
        if joined:
            messages[-1] = joined
        else:
            messages.append(message)
    return tuple(messages)


def _all_items(value: Mapping[str, Any], where: str) -> list[Any]:
    """What a request or a response holds: instructions, input and output."""
    items = list[Any]()
    instructions = value.get("instructions")
    if isinstance(instructions, str):
        items.append({"role": "system", "content": instructions})
    else:
        items += FieldPath(where, "instructions").sequence(instructions or [])
    said = value.get("input")
    if isinstance(said, str):
        items.append({"role": "user", "content": said})
    else:
        items += FieldPath(where, "input").sequence(said or [])
    items += FieldPath(where, "output").sequence(value.get("output") or [])
    return items


def join(last: Message, message: Message) -> Message | None:
    """Two neighbours as one, if the assistant made both in one go."""
    if last.role != "assistant" or message.role != "assistant" or not message.parts:
        return None
    first = message.parts[0]
    is_item = isinstance(first, ToolCall) or (
        isinstance(first, Opaque) and first.name not in _CONTENT
    )
    if not is_item and not all(isinstance(part, Thinking) for part in last.parts):
        return None
    return replace(last, parts=last.parts + message.parts, extra=last.extra or message.extra)


def read_item(item: object, at: FieldPath) -> Message:
    """One item as a message; `at` is its place in the input."""
    item = at.mapping(item, "a mapping with a type")
    match item.get("type"):
        case "function_call" | "custom_tool_call":
            return Message("assistant", (read_call(item, at),))
        case "local_shell_call" if isinstance(item.get("action"), Mapping):
            return Message("assistant", (_read_command(item, at),))
        case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
            return Message("tool", (_read_output(item, at),))
        case "reasoning":
            return Message("assistant", (read_reasoning(item, at),))
        case "message" | None:
            return _read_message(item, at)
        case other if _is_item_type(other):
            return Message(_item_role(str(other)), (opaque(item, SHAPE),))
        case other:
            raise (at / ".type").wrong(f"{other!r} is no type of an item")


def _item_role(kind: str) -> Role:
    """Whose an item is that goes along as it is: who approves is the user."""
    if kind.endswith("approval_response"):
        return "user"
    return "tool" if kind.endswith("_output") else "assistant"


def _read_message(item: Mapping[str, Any], at: FieldPath) -> Message:
    role = at.role(item, _ROLES)
    content = item.get("content")
    fields = unknown_fields(item, _MESSAGE, at)
    if item["role"] == "developer":
        fields["role"] = "developer"
    if isinstance(content, str):
        parts: tuple[Part, ...] = (Text(content),)
    else:
        blocks = (at / ".content").sequence(content or (), "text or a list of parts")
        parts = tuple(
            _read_part(block, at / f".content[{index}]") for index, block in enumerate(blocks)
        )
    fields |= listed_mark(content, parts)
    return Message(role, parts, kind_of(item, at), extra=pack_extra(SHAPE, fields))


def _read_part(part: object, at: FieldPath) -> Part:
    part = at.mapping(part)
    match part:
        case {"type": "input_text" | "output_text"}:
            fields = unknown_fields(part, _TEXT, at)
            return Text(at.text(part, "text"), pack_extra(SHAPE, fields))
        case {"type": "refusal", "refusal": str(refusal)}:
            fields = unknown_fields(part, _REFUSAL, at)
            return Text(refusal, pack_extra(SHAPE, {"type": "refusal", **fields}))
        case {"type": "input_image", "image_url": str(url)} if url:
            extra = pack_extra(SHAPE, unknown_fields(part, _IMAGE, at))
            return replace(image_from_address(url), extra=extra)
        case {"type": "input_image"}:
            return Image(extra=pack_extra(SHAPE, unknown_fields(part, frozenset(("type",)), at)))
        case {"type": str(kind)} if kind:
            return opaque(part, SHAPE)
        case _:
            raise at.missing_type(part)


def read_call(item: Mapping[str, Any], at: FieldPath) -> ToolCall:
    """A call of a function, or of a tool that takes text."""
    custom = item["type"] == _CUSTOM
    fields = unknown_fields(item, _CUSTOM_CALL if custom else _CALL, at)
    if custom:
        fields["type"] = _CUSTOM
    return ToolCall(
        id=at.needed_text(item, "call_id"),
        name=at.needed_text(item, "name"),
        arguments=arguments_of(item.get("input" if custom else "arguments")),
        extra=pack_extra(SHAPE, fields),
    )


def _read_command(item: Mapping[str, Any], at: FieldPath) -> ToolCall:
    fields = {"type": _SHELL, **unknown_fields(item, _SHELL_CALL, at)}
    return ToolCall(
        id=at.text(item, "call_id") or at.text(item, "id"),
        name=_SHELL.removesuffix("_call"),
        arguments=arguments_of(item["action"]),
        extra=pack_extra(SHAPE, fields),
    )


def _read_output(item: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(part: object, index: int) -> Part:
        return _read_part(part, at / f".output[{index}]")

    text, rest, layout = read_answer(item.get("output"), read)
    fields = unknown_fields(item, _OUTPUT, at) | layout
    if item["type"] != "function_call_output":
        fields["type"] = item["type"]
    call = at.first_text(item, "call_id", "id")
    if item["type"] == f"{_SHELL}_output" and not item.get("call_id"):
        fields[_NO_CALL_ID] = True  # its own id is that of its call
        fields.pop("id", None)
    return ToolResult(call, text, rest=rest, extra=pack_extra(SHAPE, fields))


def read_reasoning(item: Mapping[str, Any], at: FieldPath) -> Thinking:
    """What the model thought, in summary or whole, or only as its proof."""
    texts = list[str]()
    for name in _THOUGHTS:
        texts += _texts(item.get(name), at / f".{name}")
    fields = unknown_fields(item, _REASONING, at)
    for name in _THOUGHTS:
        if name in item:
            fields[name] = item[name]
    encrypted = item.get("encrypted_content")
    if not isinstance(encrypted, str) and "encrypted_content" in item:
        fields["encrypted_content"] = encrypted
    return Thinking(
        text="\n".join(texts),
        signature=str(encrypted or ""),
        redacted=not texts,
        shape=SHAPE,
        extra=pack_extra(SHAPE, fields),
    )


def _texts(blocks: object, at: FieldPath) -> list[str]:
    texts = list[str]()
    for index, block in enumerate(at.sequence(blocks or [])):
        place = at / f"[{index}]"
        block = place.mapping(block)
        unknown_fields(block, _TEXT, place)
        texts.append(place.text(block, "text"))
    return texts


def without_item_ids(message: Message) -> Message:
    """The message without the ids of this API's items: it takes an item with an id only together
    with the reasoning it came with."""
    parts = list[Part]()
    for part in message.parts:
        extra = "" if isinstance(part, Opaque | Thinking) else _without_id(part.extra)
        parts.append(part if isinstance(part, Opaque | Thinking) else replace(part, extra=extra))
    return replace(message, parts=tuple(parts), extra=_without_id(message.extra))


def _without_id(extra: str) -> str:
    fields = unpack_extra(extra, SHAPE)
    if "id" not in fields:
        return extra
    return pack_extra(SHAPE, {name: fields[name] for name in fields if name != "id"})


# --- writing --------------------------------------------------------------------------------------


def to_responses(messages: Iterable[Message]) -> list[Fields]:
    """Items for the `input` of a request."""
    items = list[Fields]()
    for message in mend(messages)[0]:
        items += _items(message)
    custom = {item["call_id"] for item in items if item.get("type") == _CUSTOM}
    for item in items:
        if item.get("type") == "function_call_output" and item.get("call_id") in custom:
            item["type"] = f"{_CUSTOM}_output"
    return items


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


def _items(message: Message) -> Iterable[Fields]:
    fields = unpack_extra(message.extra, SHAPE)
    parts = _words_first(parts_for_shape(message, SHAPE))
    for is_content, group in groupby(parts, key=_is_content):
        if is_content:
            yield _message(message, list(group), fields)
            fields = {}
        else:
            yield from map(write_item, group)
    if fields and not message.parts:
        yield _message(message, [], fields)


def _words_first(parts: list[Part]) -> list[Part]:
    """The parts with words before calls: what is said after a call would be another message."""
    first_call = 0
    while first_call < len(parts) and not isinstance(parts[first_call], ToolCall):
        first_call += 1
    rest = sorted(parts[first_call:], key=lambda part: not _is_content(part))
    return parts[:first_call] + rest


def _is_content(part: Part) -> bool:
    return isinstance(part, Text | Image) or (isinstance(part, Opaque) and part.name in _CONTENT)


def _message(message: Message, parts: Sequence[Part], fields: Fields) -> Fields:
    role = openai_role(message)
    content: Any = [_content(part, role) for part in parts]
    is_listed = fields.pop(LISTED, False)
    if len(parts) == 1 and isinstance(parts[0], Text) and not unpack_extra(parts[0].extra, SHAPE):
        content = content if is_listed else parts[0].text
    return {"role": role, "content": content, **fields}


def _content(part: Part, role: str = "user") -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    if isinstance(part, Image):
        address = {"image_url": address_of(part)} if address_of(part) else {}
        return {"type": "input_image", **address, **fields}
    if isinstance(part, Text) and fields.get("type") == "refusal":
        return {**fields, "refusal": part.text}
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": kind,
        "text": part.text if isinstance(part, Text) else part_text(part),
        **fields,
    }


def write_item(part: Part) -> Fields:
    """One part that is an item of its own."""
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    match part:
        case ToolCall(call, name, arguments):
            return {
                "type": "function_call",
                "call_id": id_for(call, SHORT_ID),
                **_call_input(name, arguments, kind=fields.get("type")),
                **fields,
            }
        case ToolResult(call):
            output = write_answer(part, fields.pop(LAYOUT, None), SHAPE, _content)
            name = "id" if fields.pop(_NO_CALL_ID, False) else "call_id"
            call_id = {name: id_for(call, SHORT_ID)}
            return {"type": "function_call_output", **call_id, "output": output, **fields}
        case Thinking(signature=encrypted):
            proof = {"encrypted_content": encrypted} if encrypted else {}
            return {"type": "reasoning", **proof, **fields}
        case _:
            return _content(part)


def _call_input(name: str, arguments: str, *, kind: object) -> Fields:
    """What a call says: a custom tool takes text, the shell an action, any other JSON."""
    if kind == _SHELL:
        return {"action": as_object(arguments)}
    if kind == _CUSTOM:
        return {"name": name, "input": replace_unsent(arguments)}
    return {"name": name, "arguments": as_arguments(arguments)}
