"""Messages of Amazon Bedrock's Converse: blocks named by their key, as `{"toolUse": {...}}`.

A block of a kind that nobody here reads goes along with its words. A `cachePoint` is a mark of the
block in front of it: clients move it at every call. Pictures are in base64, as in JSON; `boto3`
wants their bytes (`with_bytes`). Normal form, which is what `to_bedrock_request` writes: neighbours
of one role are joined, and results come before anything else that is said with them.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from foreword.formats.content_fields import words_in
from foreword.formats.fields import (
    LAYOUT,
    FieldPath,
    Fields,
    add_to_extra,
    arguments_of,
    as_object,
    kind_of,
    load_sendable,
    pack_extra,
    parts_for_shape,
    read_answer,
    replace_unsent,
    to_json,
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
)

SHAPE = "bedrock"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_MESSAGE = frozenset(("role", "content", "kind"))
_KINDS = frozenset(
    (
        "toolUse toolResult image document video audio reasoningContent cachePoint guardContent"
        " citationsContent searchResult"
    ).split()
)
_CALL = frozenset(("toolUseId", "name", "input"))
_REASONING = frozenset(("reasoningText", "redactedContent"))
_RESULT = frozenset(("toolUseId", "content", "status"))
_CACHE_POINT = "cachePoint"
_JSON = "json"  # a text of a result that came as an object
_SERVER_TOOL = "server_tool_use"


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
    fields = unknown_fields(value, _MESSAGE, at)
    parts = list[Part]()
    for index, block in enumerate((at / ".content").sequence(value.get("content"))):
        if parts and _is_cache_point(block) and not isinstance(parts[-1], Opaque):
            parts[-1] = _with_mark(parts[-1], block[_CACHE_POINT])
        elif role == "assistant" and _is_done_by_server(block):
            parts.append(Opaque(to_json(block), SHAPE, *_name_and_words(block)))
        else:
            parts.append(_read_block(block, at / f".content[{index}]"))
    return Message(role, tuple(parts), kind_of(value, at), extra=pack_extra(SHAPE, fields))


def _is_cache_point(block: object) -> bool:
    return isinstance(block, Mapping) and block.keys() == {_CACHE_POINT}


def _with_mark(part: Text | Image | Thinking | ToolCall | ToolResult, point: Any) -> Part:
    fields = {**unpack_extra(part.extra, SHAPE), _CACHE_POINT: point}
    return replace(part, extra=add_to_extra(part.extra, SHAPE, fields))


def _is_done_by_server(block: object) -> bool:
    """Whether this is a call that the provider answers itself, or its answer: they stand in one
    message, and nobody else has to answer."""
    if not isinstance(block, Mapping):
        return False
    call = block.get("toolUse")
    return "toolResult" in block or (isinstance(call, Mapping) and call.get("type") == _SERVER_TOOL)


def _name_and_words(block: Mapping[str, Any]) -> tuple[str, str]:
    ((kind, data),) = block.items()
    return str(kind), words_in(data)


def _read_block(value: object, at: FieldPath) -> Part:
    if isinstance(value, str):
        return Text(value)
    block = at.mapping(value, "a mapping with one key")
    if len(block) != 1:
        raise at.wrong(f"has {len(block)} keys, and a block has one")
    ((kind, data),) = block.items()
    place = at / f".{kind}"
    match kind:
        case "text":
            return Text(at.text(block, "text"))
        case "toolUse":
            return _read_call(place.mapping(data), place)
        case "toolResult":
            return _read_result(place.mapping(data), place)
        case "reasoningContent":
            return _read_reasoning(place.mapping(data), place)
        case "image":
            return _read_image(block, place.mapping(data), place)
        case _ if kind in _KINDS:
            return Opaque(to_json(block), SHAPE, str(kind), words_in(data))
        case _:
            raise place.unknown_content()


def _read_call(data: Mapping[str, Any], at: FieldPath) -> ToolCall:
    return ToolCall(
        id=at.needed_text(data, "toolUseId"),
        name=at.needed_text(data, "name"),
        arguments=arguments_of(data.get("input", {})),
        extra=pack_extra(SHAPE, unknown_fields(data, _CALL, at)),
    )


def _read_result(data: Mapping[str, Any], at: FieldPath) -> ToolResult:
    def read(block: object, index: int) -> Part:
        place = at / f".content[{index}]"
        if isinstance(block, Mapping) and block.keys() == {"json"}:
            return Text(to_json(block["json"]), pack_extra(SHAPE, {_JSON: True}))
        part = _read_block(block, place)
        if not isinstance(part, Text | Image | Opaque):
            raise place.unknown_content()
        return part

    text, rest, layout = read_answer(data.get("content"), read)
    fields: Fields = unknown_fields(data, _RESULT, at) | layout
    if data.get("content") == []:
        fields[LAYOUT] = []  # or a text would be written that says nothing
    if data.get("status") == "success":
        fields["status"] = "success"
    return ToolResult(
        id=at.needed_text(data, "toolUseId"),
        text=text,
        failed=data.get("status") == "error",
        rest=rest,
        extra=pack_extra(SHAPE, fields),
    )


def _read_reasoning(data: Mapping[str, Any], at: FieldPath) -> Thinking:
    unknown_fields(data, _REASONING, at)
    if "redactedContent" in data:
        signature = arguments_of(data["redactedContent"])
        return Thinking("", signature=signature, redacted=True, shape=SHAPE)
    text = (at / ".reasoningText").mapping(data.get("reasoningText"), "a mapping with text")
    unknown_fields(text, frozenset(("text", "signature")), at / ".reasoningText")
    return Thinking(at.text(text, "text"), signature=at.text(text, "signature"), shape=SHAPE)


def _read_image(block: Mapping[str, Any], data: Mapping[str, Any], at: FieldPath) -> Part:
    source = (at / ".source").mapping(data.get("source"), "a mapping with bytes")
    if isinstance(source.get("bytes"), str):
        unknown_fields(data, frozenset(("format", "source")), at)
        unknown_fields(source, frozenset(("bytes",)), at / ".source")
        return Image(f"image/{data.get('format', 'png')}", source["bytes"])
    return Opaque(to_json(block), SHAPE, "image", words_in(data))


# --- writing --------------------------------------------------------------------------------------


def to_bedrock_request(messages: Iterable[Message]) -> Fields:
    """`system` and `messages` of a request: system messages at the beginning are the system's,
    those among the others are said by the user."""
    messages = list(messages)
    front = list(takewhile(lambda message: message.role == "system", messages))
    system = list[Fields]()
    for message in front:
        system += _blocks(message)
    request = Fields()
    if system:
        request["system"] = system
    request["messages"] = to_bedrock(messages[len(front) :])
    return request


def to_bedrock(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a request."""
    out = list[Fields]()
    for message in mend(messages)[0]:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks:
            continue
        fields = unpack_extra(message.extra, SHAPE)
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks
        else:
            out.append({"role": role, "content": blocks, **fields})
    for written in out:
        if written["role"] == "user":  # the API wants them in front
            written["content"].sort(key=lambda block: "toolResult" not in block)
    return out


def _blocks(message: Message) -> list[Fields]:
    blocks = list[Fields]()
    for part in parts_for_shape(message, SHAPE):
        if isinstance(part, Text) and not part.text.strip():
            continue
        blocks.append(_block(part))
        point = None if isinstance(part, Opaque) else unpack_extra(part.extra, SHAPE)
        if point and _CACHE_POINT in point:
            blocks.append({_CACHE_POINT: point[_CACHE_POINT]})
    return blocks


def _block(part: Part) -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    fields.pop(_CACHE_POINT, None)  # a block of its own behind this one
    match part:
        case Text(text) if fields.get(_JSON):
            return {"json": _json_value(text)}
        case Text(text):
            return {"text": replace_unsent(text)}
        case ToolCall():
            call = {"toolUseId": part.id, "name": part.name, "input": as_object(part.arguments)}
            return {"toolUse": {**call, **fields}}
        case ToolResult():
            return {"toolResult": _result(part, fields)}
        case Thinking(redacted=True):
            return {"reasoningContent": {"redactedContent": part.signature}}
        case Thinking():
            proof = {"signature": part.signature} if part.signature else {}
            return {"reasoningContent": {"reasoningText": {"text": part.text, **proof}}}
        case Image(data="", url=url):
            return {"text": f"[image {url}]"}  # Converse takes no address
        case Image():
            kind = part.media_type.removeprefix("image/") or "png"
            return {"image": {"format": kind, "source": {"bytes": part.data}}}


def _json_value(text: str) -> Any:
    """The value of a text that came as JSON, also where it is no object."""
    try:
        return load_sendable(text)
    except (ValueError, RecursionError):
        return as_object(text)


def _result(result: ToolResult, fields: Fields) -> Fields:
    content = write_answer(result, fields.pop(LAYOUT, None), SHAPE, _block)
    blocks = [{"text": replace_unsent(content)}] if isinstance(content, str) else content
    status = {"status": "error"} if result.failed else {}
    return {"toolUseId": result.id, "content": blocks, **status, **fields}


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
