"""The JSON that messages and parts came as: sent back, counted, and rewritten string by string.

To its own provider a part goes back as the very block it came as; where its view was edited, the
fields beside the view go along. For any other provider the block is built from the view.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from operator import is_
from typing import Any

from foreword.messages.message import (
    CACHE_MARKS,
    Block,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    edit,
    keep,
    part_text,
)
from foreword.messages.words import words_in

Json = dict[str, Any]
Builder = Callable[[Part], Any]
# Changes a string, or a number in the arguments of a call.
Rewriter = Callable[[Any], Any]


# --- sending --------------------------------------------------------------------------------------


def own_json(item: Message | Part, shape: str) -> Any:
    """Return the JSON that an item came as in this shape, edited since or not; None without it."""
    block = item.block
    return block.raw if block is not None and block.shape == shape else None


def is_as_received(message: Message, shape: str) -> bool:
    """Return whether a message and all its parts are what its JSON in this shape says."""
    block = message.block
    if block is None or block.shape != shape or block.is_edited:
        return False
    return all(part.block is not None and not part.block.is_edited for part in message.parts)


def written(part: Part, shape: str, build: Builder) -> Any:
    """Return the block of a part for a shape: its own, or one that is built from the view."""
    raw = own_json(part, shape)
    if raw is None:
        return build(part)
    assert part.block is not None
    if not part.block.is_edited:
        return raw
    built = build(part)
    return {**raw, **built} if isinstance(raw, dict) and isinstance(built, dict) else built


def parts_for_shape(message: Message, shape: str) -> list[Part]:
    """Return the parts of a message as a shape can take them.

    In place of what the provider can't take stand its words, or a mark; no marks in the assistant's
    own messages, where a model would learn to write them. Thinking goes to nobody but its own
    provider. A speaker's name is words where the shape has no field for it.
    """
    said = list[Part]()
    for own in message.parts:
        part = part_for_shape(own, shape)
        if message.role == "assistant":
            has_words = isinstance(own, Opaque) and own.text
            if part is not None and (part is own or has_words):
                said.append(part)
        elif part is not None and not isinstance(part, Thinking):
            said.append(part)
    if message.speaker and "name" not in (own_json(message, shape) or {}):
        return _with_speaker(said, message.speaker)
    return said


def _with_speaker(parts: list[Part], speaker: str) -> list[Part]:
    """Return the parts with the name of who says them in front, as in the text of a message."""
    if all(isinstance(part, Text) and not part.text.strip() for part in parts):
        return parts
    first = parts[0]
    if isinstance(first, Text):
        return [Text(f"{speaker}: {first.text}"), *parts[1:]]
    return [Text(f"{speaker}:"), *parts]


def part_for_shape(part: Part, shape: str) -> Part | None:
    """Return the part itself, words in its place, or None."""
    is_own = part.block is not None and part.block.shape == shape
    match part:
        case Text("") if part.block is not None and not is_own:
            return None  # a signature that only its own provider reads
        case Thinking():
            return part if part.shape == shape else None
        case Opaque(name=name) if name in CACHE_MARKS:
            return part if is_own else None
        case Opaque():
            return part if is_own else Text(part_text(part))
        case Image(_, "", ""):
            return part if is_own else Text(part_text(part))
        case _:
            return part


def result_view(
    content: object, view: Callable[[Any, int], Part | None], shape: str
) -> tuple[str, tuple[Image | Opaque, ...]]:
    """Return the words of a tool's answer, and the rest of it."""
    if not isinstance(content, list):
        return json_text(content), ()
    texts = list[str]()
    rest = list[Image | Opaque]()
    for index, block in enumerate(content):
        part = view(block, index)
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Image | Opaque):
            rest.append(part)
        else:
            rest.append(opaque(block, shape))
    return "\n".join(texts), tuple(rest)


def result_parts(result: ToolResult, shape: str) -> list[Part]:
    """Return what a tool's answer holds as a shape can take it: its words, then the rest."""
    parts: list[Part] = [Text(result.text)] if result.text or not result.rest else []
    return [*parts, *[part_for_shape(part, shape) or part for part in result.rest]]


def opaque(block: Any, shape: str, key: str = "type") -> Opaque:
    """Return a block that is carried as it is, with the words in it."""
    if not isinstance(block, dict):
        return keep(Opaque("", words_in(block)), shape, block)
    words = words_in({name: block[name] for name in block if name != key})
    return keep(Opaque(str(block.get(key, "")), words), shape, block)


def json_text(value: object) -> str:
    """Return a value as text: a text as it is, nothing for null, anything else as JSON in the
    author's order of keys."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def joined(messages: Sequence[Message]) -> Message:
    """Return the pieces of one message as one, with the JSON of all of them."""
    first = messages[0]
    if len(messages) == 1:
        return first
    whole = edit(first, parts=tuple([part for message in messages for part in message.parts]))
    blocks = [message.block for message in messages if message.block is not None]
    if len(blocks) < len(messages) or len({block.shape for block in blocks}) > 1:
        return whole
    raws = [block.raw for block in blocks]
    if all(isinstance(raw, list) for raw in raws):
        return keep(whole, blocks[0].shape, [item for raw in raws for item in raw])
    if all(isinstance(raw, dict) and isinstance(raw.get("content"), list) for raw in raws):
        content = [block for raw in raws for block in raw["content"]]
        return keep(whole, blocks[0].shape, {**raws[0], "content": content})
    return whole


# --- counting -------------------------------------------------------------------------------------


def data_beside_words(message: Message) -> str:
    """Return all that goes to a provider beside the words and the pictures: documents, thoughts,
    and fields that the view does not show."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Opaque():
                texts.append(_data_beside_text(part))
            case Thinking(text=text, signature=signature):
                texts += [text, signature, _fields_beside(part)]
            case ToolResult(rest=rest):
                texts.append(_fields_beside(part))
                texts += [_data_beside_text(one) for one in rest if isinstance(one, Opaque)]
            case _:
                texts.append(_fields_beside(part))
    return "".join(texts)


def _data_beside_text(part: Opaque) -> str:
    """Return the data of a part; a document that is one text is counted once, with the words."""
    data = json_text(part.block.raw) if part.block is not None else ""
    if not part.text:
        return data
    return data.replace(json_text([part.text])[2:-2], "", 1)


def _fields_beside(part: Part) -> str:
    """Return the fields of a part's JSON that its view does not show, as JSON."""
    beside = _part_beside(part)
    return json_text(beside) if beside else ""


def _part_beside(part: Part) -> Json:
    if part.block is None or not isinstance(part.block.raw, dict):
        return {}
    from foreword.messages.shapes import builder  # which imports every shape

    build = builder(part.block.shape)
    return _difference(part.block.raw, build(part)) if build is not None else {}


def _difference(raw: Any, built: Any) -> Json:
    more = Json()
    if not isinstance(raw, dict) or not isinstance(built, dict):
        return more
    for name, value in raw.items():
        beside = _difference(value, built[name]) if name in built else value
        if beside:
            more[name] = beside
    return more


# --- rewriting ------------------------------------------------------------------------------------


def rewrite(message: Message, text: Rewriter, arguments: Rewriter) -> Message:
    """Return a message with every string of its view and of its JSON changed by a function: those
    of calls by `arguments`. The same object where nothing changes; a thought that is bound stays
    as it is."""
    parts = tuple([_rewrite_part(part, text, arguments) for part in message.parts])
    raw = message.block.raw if message.block is not None else None
    new_raw = _rewrite_json(raw, text)
    if new_raw is raw and all(map(is_, parts, message.parts)):
        return message
    rewritten = edit(message, parts=parts, tokens=None)
    if message.block is not None:
        # Its parts are written one by one: the JSON of calls and thoughts follows other rules.
        block = replace(message.block, raw=new_raw, is_edited=True)
        object.__setattr__(rewritten, "block", block)
    return rewritten


def _rewrite_part(part: Part, text: Rewriter, arguments: Rewriter) -> Part:
    if isinstance(part, Thinking) and part.is_bound:
        return part
    change = arguments if isinstance(part, ToolCall) else text
    changes = dict[str, Any]()
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name == "rest":
            new: Any = tuple([_rewrite_part(each, text, arguments) for each in value])
            is_same = all(map(is_, new, value))
        elif isinstance(value, str):
            new = change(value) if field.name == "arguments" else text(value)
            is_same = new == value
        else:
            continue
        if not is_same:
            changes[field.name] = new
    raw = part.block.raw if part.block is not None else None
    new_raw = _rewrite_json(raw, change)
    if not changes and new_raw is raw:
        return part
    rewritten = replace(part, **changes)
    if part.block is not None and new_raw is not raw:
        # A string that changes in the view alone spans two of the JSON: then the view is sent.
        block = Block(part.block.shape, new_raw, is_edited=part.block.is_edited)
        object.__setattr__(rewritten, "block", block)
    return rewritten


def _rewrite_json(value: Any, change: Rewriter) -> Any:
    """Return a JSON value with its strings and numbers changed; the same object where none is."""
    if isinstance(value, dict):
        new: Any = {change(name): _rewrite_json(member, change) for name, member in value.items()}
        if all(map(is_, new.values(), value.values())) and new.keys() == value.keys():
            return value
        return new
    if isinstance(value, list):
        new = [_rewrite_json(member, change) for member in value]
        return value if all(map(is_, new, value)) else new
    if value is None or isinstance(value, bool):
        return value
    new = change(value)
    return value if new == value else new


# --- what another provider does not get -----------------------------------------------------------


def losses(messages: Iterable[Message], shape: str) -> list[str]:
    """Return what messages of other shapes hold that is not sent in this one, one line each."""
    lost = dict[str, None]()  # each once, in order
    for message in messages:
        for item in (message, *message.parts):
            for each in (item, *(item.rest if isinstance(item, ToolResult) else ())):
                if each.block is not None and each.block.shape != shape:
                    lost |= dict.fromkeys(_losses(each, shape))
    return list(lost)


def _losses(item: Message | Part, shape: str) -> Iterator[str]:
    assert item.block is not None
    own = item.block.shape
    match item:
        case Thinking():
            yield f"a thought of {item.shape or own} is not sent to {shape}"
        case Opaque(name=name):
            if name not in CACHE_MARKS:
                yield f"{name or 'a part'} of {own} is sent to {shape} as text"
        case _:
            for name in _names_with_words(item):
                yield f"{name} of {own} is not sent to {shape}"


def _names_with_words(item: Message | Part) -> list[str]:
    """Return the fields of an item's JSON that hold a sentence which the view does not show."""
    beside = _message_beside(item) if isinstance(item, Message) else _part_beside(item)
    names = list[str]()
    for name, value in beside.items():
        if " " in words_in({name: value}):
            names.append(name)
    return names


def _message_beside(message: Message) -> Json:
    from foreword.messages.shapes import TABLE  # which imports every shape

    assert message.block is not None
    raw = message.block.raw
    shapes = [each for each in TABLE if message.block.shape == each.SHAPE]
    if not isinstance(raw, dict) or not shapes:
        return {}
    built = shapes[0].write([Message(message.role, message.parts)])
    if len(built) != 1:
        return {}
    return {name: raw[name] for name in raw if name not in built[0]}
