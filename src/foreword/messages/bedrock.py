"""Messages of Amazon Bedrock's Converse: blocks named by their key, as `{"toolUse": {...}}`.

A block of a kind that nobody here reads goes along with its words. Pictures are in base64, as in
JSON; `boto3` wants their bytes (`with_bytes`). Normal form, which is what `to_bedrock_request`
writes: neighbours of one role are joined, and results come before anything else that is said with
them.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from foreword.messages.blocks import (
    json_text,
    opaque,
    own_json,
    parts_for_shape,
    result_parts,
    result_view,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import FieldPath, Fields, as_object, kind_of, sendable, without_kind
from foreword.messages.message import (
    CACHE_MARKS,
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

SHAPE = "bedrock"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_KINDS = frozenset(
    (
        "toolUse toolResult image document video audio reasoningContent cachePoint guardContent"
        " citationsContent searchResult"
    ).split()
)
# What the API takes beside role and content is not known to end; these are ours.
_SAID = ("role", "content")
_SERVER_TOOL = "server_tool_use"


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is one of Converse's messages: a block is named by its key."""
    content = value.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and "type" not in block and block.keys() & _KINDS:
            return True
    return False


def read_message(value: Mapping[str, Any], at: FieldPath) -> Message:
    """One message; `at` is its place in the input."""
    role = at.role(value, _ROLES)
    parts = list[Part]()
    for index, block in enumerate((at / ".content").sequence(value.get("content"))):
        parts.append(_read_block(block, role, at / f".content[{index}]"))
    return keep(Message(role, tuple(parts), kind_of(value, at)), SHAPE, without_kind(value))


def _read_block(block: object, role: Role, at: FieldPath) -> Part:
    if isinstance(block, str):
        return keep(Text(block), SHAPE, {"text": block})
    block = at.mapping(block, "a mapping with one key")
    if len(block) != 1:
        raise at.wrong(f"has {len(block)} keys, and a block has one")
    view = None if _is_done_by_server(block, role) else _view(block, at)
    if view is not None:
        return keep(view, SHAPE, block)
    ((kind, data),) = block.items()
    words = opaque(data, SHAPE, "").text if isinstance(data, Mapping) else ""
    return keep(Opaque(str(kind), words), SHAPE, block)


def _is_done_by_server(block: Mapping[str, Any], role: Role) -> bool:
    """Whether this is a call that the provider answers itself, or its answer: they stand in one
    message, and nobody else has to answer."""
    call = block.get("toolUse")
    is_server_call = isinstance(call, Mapping) and call.get("type") == _SERVER_TOOL
    return role == "assistant" and ("toolResult" in block or is_server_call)


def _view(block: Mapping[str, Any], at: FieldPath) -> Part | None:
    """What a block says; None for one that nobody here reads."""
    match block:
        case {"text": _}:
            return Text(at.text(block, "text"))
        case {"json": value}:  # in a result
            return Text(json_text(value))
        case {"toolUse": data}:
            at = at / ".toolUse"
            data = at.mapping(data)
            call, name = at.needed_text(data, "toolUseId"), at.needed_text(data, "name")
            return ToolCall(call, name, json_text(data.get("input", {})))
        case {"toolResult": data}:
            at = at / ".toolResult"
            data = at.mapping(data)
            text, rest = result_view(
                data.get("content"),
                lambda inner, index: _read_block(inner, "tool", at / f".content[{index}]"),
                SHAPE,
            )
            failed = data.get("status") == "error"
            return ToolResult(at.needed_text(data, "toolUseId"), text, failed=failed, rest=rest)
        case {"reasoningContent": {"redactedContent": proof}}:
            return Thinking("", json_text(proof), redacted=True, shape=SHAPE)
        case {"reasoningContent": {"reasoningText": Mapping() as thought}}:
            text, proof = at.text(thought, "text"), at.text(thought, "signature")
            return Thinking(text, proof, shape=SHAPE)
        case {"image": {"source": {"bytes": str(data)}, **more}}:
            return Image(f"image/{more.get('format', 'png')}", data)
    return None


# --- writing --------------------------------------------------------------------------------------


def to_bedrock_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning are the system's,
    those among the others are said by the user."""
    messages = list(messages)
    front = list(takewhile(lambda message: message.role == "system", messages))
    system = [block for message in front for block in _blocks(message)]
    request: Fields = {"system": sendable(system)} if system else {}
    request["messages"] = to_bedrock(messages[len(front) :])
    return request


def to_bedrock(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks
            continue
        if all(block.keys() <= CACHE_MARKS for block in blocks):
            continue
        own = own_json(message, SHAPE) or {}
        beside = {name: own[name] for name in own if name not in _SAID}
        out.append({"role": role, "content": blocks, **beside})
    for written_message in out:
        if written_message["role"] == "user":  # the API wants results in front
            written_message["content"] = _results_first(written_message["content"])
    return sendable(out)  # type: ignore[no-any-return]


def _results_first(blocks: list[Fields]) -> list[Fields]:
    """The blocks with results in front, each mark of the cache behind the block that it marks."""
    groups = list[list[Fields]]()
    for block in blocks:
        if groups and block.keys() <= CACHE_MARKS:
            groups[-1].append(block)
        else:
            groups.append([block])
    groups.sort(key=lambda group: "toolResult" not in group[0])
    return [block for group in groups for block in group]


def _blocks(message: Message) -> list[Fields]:
    blocks = list[Fields]()
    for part in parts_for_shape(message, SHAPE):
        if not (isinstance(part, Text) and not part.text.strip()):
            blocks.append(written(part, SHAPE, build))
    return blocks


def build(part: Part) -> Fields:
    """A block that says what a part says."""
    match part:
        case Text(text):
            return {"text": text}
        case ToolCall(call, name, arguments):
            return {"toolUse": {"toolUseId": call, "name": name, "input": as_object(arguments)}}
        case ToolResult(call, failed=failed):
            content = [written(inner, SHAPE, build) for inner in result_parts(part, SHAPE)]
            status = {"status": "error"} if failed else {}
            return {"toolResult": {"toolUseId": call, "content": content, **status}}
        case Thinking(redacted=True, signature=proof):
            return {"reasoningContent": {"redactedContent": proof}}
        case Thinking(text, signature):
            signed = {"signature": signature} if signature else {}
            return {"reasoningContent": {"reasoningText": {"text": text, **signed}}}
        case Image(data="", url=url):
            return {"text": f"[image {url}]"}  # Converse takes no address
        case Image(media_type, data):
            kind = media_type.removeprefix("image/") or "png"
            return {"image": {"format": kind, "source": {"bytes": data}}}
    raise TypeError(f"{type(part).__name__} has no block of its own")


# what holds bytes in Converse, where JSON has base64
_MEDIA = ("image", "document", "video", "audio")


def with_bytes(request: Fields) -> Fields:
    """A request as `boto3` takes it: pictures, documents and redacted thoughts as bytes. Base64 it
    would encode once more."""
    messages = list[Fields]()
    for message in request["messages"]:
        messages.append({**message, "content": [_block_with_bytes(b) for b in message["content"]]})
    return {**request, "messages": messages}


def _block_with_bytes(block: Fields) -> Fields:
    ((kind, data),) = block.items()
    if kind == "toolResult":
        content = [_block_with_bytes(each) for each in data["content"]]
        return {kind: {**data, "content": content}}
    if kind == "reasoningContent" and isinstance(data.get("redactedContent"), str):
        return {kind: {**data, "redactedContent": _bytes(data["redactedContent"])}}
    source = data.get("source") if kind in _MEDIA else None
    if isinstance(source, dict) and isinstance(source.get("bytes"), str):
        return {kind: {**data, "source": {**source, "bytes": _bytes(source["bytes"])}}}
    return block


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:  # no base64: a text that somebody gave as it is
        return text.encode("utf-8", "replace")


write = to_bedrock
