"""The JSON that messages and parts came as: sent back, counted, and rewritten string by string.

To its own provider a part goes back as the very block it came as; where its view was edited, the
fields beside the view go along. For any other provider the block is built from the view.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from operator import is_
from typing import Any, TypeVar

from foreword.messages.fields import FieldPath
from foreword.messages.message import Message, edit, keep
from foreword.messages.parts import (
    CACHE_MARKS,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    part_text,
)
from foreword.messages.words import words_in

Json = dict[str, Any]
Builder = Callable[[Part], Any]
Read = TypeVar("Read")
Reader = Callable[[Any, FieldPath], Read]
# Changes a string, or a number in the arguments of a call.
Rewriter = Callable[[Any], Any]


# --- reading --------------------------------------------------------------------------------------


def reader(view: Reader[Part | None], shape: str, key: str = "type") -> Reader[Part]:
    """Return what reads a block: a text, what `view` makes of it, or else an opaque part. Its error
    names a block that has no type under `key`."""

    def read(block: Any, at: FieldPath) -> Part:
        part = Text(block) if isinstance(block, str) else view(block, at)
        if part is None:
            kind = at.mapping(block, f"text or a mapping with a {key}").get(key)
            if not isinstance(kind, str) or not kind:
                raise (at / f".{key}").wrong(f"{kind!r} is no type of a part")
            return opaque(block, shape, key)
        return keep(part, shape, block) if part.block is None else part

    return read


def read_content(content: object, at: FieldPath, read: Reader[Part]) -> tuple[Part, ...]:
    """Return the parts in a content, which is a text or a list of blocks; none for null."""
    if isinstance(content, str):
        return (read(content, at),)
    blocks = at.each(content, "text or a list of parts") if content is not None else ()
    return tuple([read(*block) for block in blocks])


def result_view(
    content: object, at: FieldPath, read: Reader[Part]
) -> tuple[str, tuple[Image | Opaque, ...]]:
    """Return the words of a tool's answer, and the rest of it."""
    if not isinstance(content, list):
        return json_text(content), ()
    texts = list[str]()
    rest = list[Image | Opaque]()
    for part in read_content(content, at, read):
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Image | Opaque):
            rest.append(part)
        elif part.block is not None:
            rest.append(opaque(part.block.raw, part.block.shape))
    return "\n".join(texts), tuple(rest)


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


# --- sending --------------------------------------------------------------------------------------


def own_json(item: Message | Part, shape: str) -> Any:
    """Return the JSON that an item came as in this shape, edited since or not; None without it."""
    block = item.block
    return block.raw if block is not None and block.shape == shape else None


def own_fields(item: Message | Part, shape: str, without: Container[str] = ()) -> Json:
    """Return the fields of the JSON that an item came as in this shape, but for some."""
    raw = own_json(item, shape)
    return {name: raw[name] for name in raw if name not in without} if isinstance(raw, dict) else {}


def as_received(message: Message, shape: str) -> Any:
    """Return the JSON of a message in this shape if it and all its parts are what that says."""
    block = message.block
    if block is None or block.shape != shape or block.is_edited:
        return None
    is_edited = any(part.block is None or part.block.is_edited for part in message.parts)
    return None if is_edited else block.raw


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


def parts_for_shape(
    message: Message, shape: str, thoughts: Container[str] | None = None
) -> list[Part]:
    """Return the parts of a message as a shape can take them.

    In place of what the provider can't take stand its words, or a mark; no marks in the assistant's
    own messages, where a model would learn to write them. Thinking goes to nobody but its own
    provider, or to those that `thoughts` names. A speaker's name is words where the shape has no
    field for it.
    """
    said = list[Part]()
    is_assistants = message.role == "assistant"
    for own in message.parts:
        part = part_for_shape(own, shape)
        if isinstance(own, Thinking) and not (
            is_assistants and own.shape in (thoughts or (shape,))
        ):
            part = None
        is_mark = is_assistants and part is not own and not (isinstance(own, Opaque) and own.text)
        if part is not None and not is_mark:
            said.append(part)
    is_named = message.speaker and "name" not in (own_json(message, shape) or {})
    if not is_named or all(isinstance(part, Text) and not part.text.strip() for part in said):
        return said
    first = said[0]
    if isinstance(first, Text):
        return [Text(f"{message.speaker}: {first.text}"), *said[1:]]
    return [Text(f"{message.speaker}:"), *said]


def part_for_shape(part: Part, shape: str) -> Part | None:
    """Return the part itself, words in its place, or None; thinking is itself."""
    if part.block is not None and part.block.shape == shape:
        return part
    match part:
        case Text("") if part.block is not None:
            return None  # a signature that only its own provider reads
        case Opaque(name=name) if name in CACHE_MARKS:
            return None
        case Opaque() | Image(_, "", ""):
            return Text(part_text(part))
    return part


def result_parts(result: ToolResult, shape: str) -> list[Part]:
    """Return what a tool's answer holds as a shape can take it: its words, then the rest."""
    words = [Text(result.text)] if result.text or not result.rest else []
    rest = [part_for_shape(part, shape) for part in result.rest]
    return [*words, *[part for part in rest if part is not None]]


def written_result(result: ToolResult, shape: str, build: Builder) -> list[Any]:
    """Return the blocks of what a tool's answer holds."""
    return [written(part, shape, build) for part in result_parts(result, shape)]


def short_content(content: Sequence[Any], build: Builder) -> Any:
    """Return one text as a text, any other content as blocks."""
    parts = [build(Text(block)) if isinstance(block, str) else block for block in content]
    if len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"]
    return parts


# --- counting -------------------------------------------------------------------------------------


def data_beside_words(message: Message) -> str:
    """Return all that goes to a provider beside the words and the pictures: documents, thoughts,
    and fields that the view does not show."""
    texts = list[str]()
    for part in _parts_within(message):
        if isinstance(part, Thinking):
            texts += [part.text, part.signature]
        if isinstance(part, Opaque):
            data = json_text(part.block.raw) if part.block is not None else ""
            # a document that is one text is counted once, with the words
            texts.append(data.replace(json_text([part.text])[2:-2], "", 1) if part.text else data)
        else:
            texts.append(json_text(_part_beside(part) or None))
    return "".join(texts)


def _parts_within(message: Message) -> Iterator[Part]:
    """Return the parts of a message, with the opaque parts of results."""
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult):
            yield from [inner for inner in part.rest if isinstance(inner, Opaque)]


def _part_beside(part: Part) -> Json:
    """Return the fields of a part's JSON that its view does not show."""
    if part.block is None or not isinstance(part.block.raw, dict):
        return {}
    from foreword.messages.shapes import shape_named  # which imports every shape

    shape = shape_named(part.block.shape)
    return _difference(part.block.raw, shape.build(part)) if shape is not None else {}


def _difference(raw: Any, built: Any) -> Json:
    more = Json()
    if not isinstance(raw, dict) or not isinstance(built, dict):
        return more
    for name, value in raw.items():
        if name not in built:
            more[name] = value
        elif value != built[name]:  # mostly they are the same
            more[name] = _difference(value, built[name])
    return {name: beside for name, beside in more.items() if beside}


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
    block = part.block
    new_raw = _rewrite_json(block.raw, change) if block is not None else None
    is_same_json = block is None or new_raw is block.raw
    if not changes and is_same_json:
        return part
    rewritten = replace(part, **changes)
    if block is not None and not is_same_json:
        # A string that changes in the view alone spans two of the JSON: then the view is sent.
        object.__setattr__(rewritten, "block", replace(block, raw=new_raw))
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
        for item in (message, *_parts_within(message)):
            if item.block is not None and item.block.shape != shape:
                lost |= dict.fromkeys(_losses(item, item.block.shape, shape))
    return list(lost)


def _losses(item: Message | Part, own: str, shape: str) -> Iterator[str]:
    match item:
        case Thinking():
            yield f"a thought of {item.shape or own} is not sent to {shape}"
        case Opaque(name=name):
            if name not in CACHE_MARKS:
                yield f"{name or 'a part'} of {own} is sent to {shape} as text"
        case _:
            beside = _message_beside(item) if isinstance(item, Message) else _part_beside(item)
            for name, value in beside.items():
                if " " in words_in({name: value}):  # a sentence that the view does not show
                    yield f"{name} of {own} is not sent to {shape}"


def _message_beside(message: Message) -> Json:
    from foreword.messages.shapes import shape_named  # which imports every shape

    shape = shape_named(message.block.shape) if message.block is not None else None
    built = shape.write([Message(message.role, message.parts)]) if shape is not None else []
    return own_fields(message, shape.SHAPE, without=built[0]) if shape and len(built) == 1 else {}
