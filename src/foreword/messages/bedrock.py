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

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, as_object, sendable
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

SHAPE = "bedrock"
_KINDS = frozenset(
    (
        "toolUse toolResult image document video audio reasoningContent cachePoint guardContent"
        " citationsContent searchResult"
    ).split()
)
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
    role = at.role(value, fields.SPEAKERS)
    parts = [_read_block(block, place, role) for block, place in at.items(value, "content")]
    return keep(
        Message(role, tuple(parts), fields.kind_of(value, at)), SHAPE, fields.without_kind(value)
    )


def _read_block(block: object, at: FieldPath, role: Role = "tool") -> Part:
    if isinstance(block, str):
        return keep(Text(block), SHAPE, {"text": block})
    block = at.mapping(block, "a mapping with one key")
    if len(block) != 1:
        raise at.wrong(f"has {len(block)} keys, and a block has one")
    view = None if _is_done_by_server(block, role) else _view(block, at)
    if view is not None:
        return keep(view, SHAPE, block)
    ((kind, data),) = block.items()
    words = blocks.opaque(data, SHAPE, "").text if isinstance(data, Mapping) else ""
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
            return Text(blocks.json_text(value))
        case {"toolUse": data}:
            at = at / ".toolUse"
            data = at.mapping(data)
            call, name = at.needed_text(data, "toolUseId"), at.needed_text(data, "name")
            return ToolCall(call, name, blocks.json_text(data.get("input", {})))
        case {"toolResult": data}:
            at = at / ".toolResult"
            data = at.mapping(data)
            text, rest = blocks.result_view(data.get("content"), at / ".content", _read_block)
            failed = data.get("status") == "error"
            return ToolResult(at.needed_text(data, "toolUseId"), text, failed=failed, rest=rest)
        case {"reasoningContent": {"redactedContent": proof}}:
            return Thinking("", blocks.json_text(proof), redacted=True, shape=SHAPE)
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
    system = [block for message in front for block in _content(message)]
    request: Fields = {"system": sendable(system)} if system else {}
    request["messages"] = to_bedrock(messages[len(front) :])
    return request


def to_bedrock(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request."""
    out = list[Fields]()
    for message in sendable_messages(messages):
        role = "assistant" if message.role == "assistant" else "user"
        content = _content(message)
        if out and out[-1]["role"] == role:
            out[-1]["content"] += content
            continue
        if all(block.keys() == {"cachePoint"} for block in content):
            continue
        beside = blocks.own_fields(message, SHAPE, without=("role", "content"))
        out.append({"role": role, "content": content, **beside})
    for written_message in out:
        if written_message["role"] == "user":  # the API wants results in front
            written_message["content"] = _results_first(written_message["content"])
    return sendable(out)  # type: ignore[no-any-return]


def _results_first(content: list[Fields]) -> list[Fields]:
    """The blocks with results in front, each mark of the cache behind the block that it marks."""
    groups = list[list[Fields]]()
    for block in content:
        if groups and block.keys() == {"cachePoint"}:
            groups[-1].append(block)
        else:
            groups.append([block])
    groups.sort(key=lambda group: "toolResult" not in group[0])
    return [block for group in groups for block in group]


def _content(message: Message) -> list[Fields]:
    parts = blocks.parts_for_shape(message, SHAPE)
    said = [part for part in parts if not isinstance(part, Text) or part.text.strip()]
    return [blocks.written(part, SHAPE, build) for part in said]


def build(part: Part) -> Fields:
    """A block that says what a part says."""
    match part:
        case Text(text):
            return {"text": text}
        case ToolCall(call, name, arguments):
            return {"toolUse": {"toolUseId": call, "name": name, "input": as_object(arguments)}}
        case ToolResult(call, failed=failed):
            content = blocks.written_result(part, SHAPE, build)
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


# fields that hold bytes in Converse, where JSON has base64; and those of a call or a tool's answer
_BYTES = ("bytes", "redactedContent")
_GIVEN = ("input", "json")


def with_bytes(request: Fields) -> Fields:
    """A request as `boto3` takes it: pictures, documents and redacted thoughts as bytes. Base64 it
    would encode once more."""
    changed = Fields()
    for name, value in request.items():
        if name in _BYTES and isinstance(value, str):
            changed[name] = _bytes(value)
        else:
            changed[name] = value if name in _GIVEN else _with_bytes(value)
    return changed


def _with_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    return with_bytes(value) if isinstance(value, dict) else value


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:  # no base64: a text that somebody gave as it is
        return text.encode("utf-8", "replace")


write = to_bedrock
