"""pydantic-ai's messages: requests and responses, each with parts of many kinds.

Everything goes through their JSON (`ModelMessagesTypeAdapter`), so files of it are read without the
package. A part of a request is a message of its own, with the slice of the request that it is; a
response is one message. The instructions of requests are a system message where they change. Normal
form, which is what `to_pydantic_ai` writes: neighbouring requests with the same fields are one;
what another provider said has the time `NO_TIME`, since parts of theirs always have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from foreword.extras import extra
from foreword.messages import anthropic, blocks, openai_responses
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, json_or_text
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

SHAPE = "pydantic_ai"
NO_TIME = "1970-01-01T00:00:00Z"
# provider_name -> whose thinking it is
_WHOSE = {"anthropic": anthropic.SHAPE, "openai": openai_responses.SHAPE}
_NAMES = {shape: name for name, shape in _WHOSE.items()}
_ROLES: dict[str, Role] = {"system-prompt": "system", "user-prompt": "user"}
_FILES = frozenset(
    ("binary", "image-url", "audio-url", "video-url", "document-url", "uploaded-file")
)
# theirs is the base64 for addresses
_STANDARD = str.maketrans("-_", "+/")
_URL_SAFE = str.maketrans("+/", "-_")


# --- reading --------------------------------------------------------------------------------------


def from_pydantic_ai(messages: Sequence[ModelMessage]) -> tuple[Message, ...]:
    """Messages from theirs."""
    return from_pydantic_ai_json(_adapter().dump_python(list(messages), mode="json"))


def from_pydantic_ai_json(value: object, where: str = "messages") -> tuple[Message, ...]:
    """Messages from the JSON of theirs."""
    before = EarlierMessages()
    messages = list[Message]()
    for one, at in FieldPath(where, "messages").each(value, "a list of messages"):
        messages += read_message(one, at, before)
    return tuple(messages)


@dataclass(slots=True)
class EarlierMessages:
    """What is remembered from one message to the next."""

    instructions: str = ""  # of the last request that had some: each repeats them


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is one of their requests or responses."""
    return "parts" in value and value.get("kind") in ("request", "response")


def read_message(
    value: object, at: FieldPath, before: EarlierMessages | None = None
) -> Sequence[Message]:
    """The messages in one request or response. Instructions stand behind the system prompts of
    their request, as pydantic-ai sends them."""
    value = at.mapping(value, "a mapping with kind and parts")
    if value.get("kind") == "response":
        said = tuple(
            [_read_part(at.mapping(raw), place) for raw, place in at.items(value, "parts")]
        )
        return [keep(Message("assistant", said), SHAPE, value)]
    if value.get("kind") != "request":
        raise (at / ".kind").none_of(value.get("kind"), ("request", "response"))
    messages = list[Message]()
    for raw, place in at.items(value, "parts"):
        messages.append(keep(_read_request_part(raw, place), SHAPE, {**value, "parts": [raw]}))
    instructions = at.text(value, "instructions")
    before = before or EarlierMessages()
    if instructions and instructions != before.instructions:
        before.instructions = instructions
        prompts = list(takewhile(lambda message: message.role == "system", messages))
        text = keep(Text(instructions), SHAPE, instructions)
        raw = {"kind": "request", "instructions": instructions, "parts": []}
        messages.insert(len(prompts), keep(Message("system", (text,)), SHAPE, raw))
    return messages


def _read_request_part(part: Any, at: FieldPath) -> Message:
    role = _ROLES.get(str(at.mapping(part).get("part_kind")))
    if role is None:
        answer = _read_part(part, at)
        return Message("tool" if isinstance(answer, ToolResult) else "user", (answer,))
    if "content" not in part:
        raise (at / ".content").wrong("is missing")
    return Message(role, blocks.read_content(part["content"], at / ".content", _read_block))


def _block_view(block: Any, at: FieldPath) -> Part:
    """A part of what a user said, or of what a tool gave."""
    match block:
        case {"kind": "binary", "media_type": str(kind), "data": str(data)} if (
            data and kind.startswith("image/")
        ):
            return Image(kind, data.translate(_STANDARD))
        case {"kind": "image-url", "url": str(url)} if url:
            return Image(str(block.get("media_type") or ""), url=url)
    return blocks.opaque(at.mapping(block, "text or a mapping with a kind"), SHAPE, "kind")


def _view(part: Any, at: FieldPath) -> Part | None:
    """What a part of a message says; None for one that nobody here reads."""
    match at.mapping(part, "a mapping with a part_kind"):
        case {"part_kind": "text"}:
            return Text(at.text(part, "content"))
        case {"part_kind": "thinking"}:
            whose = _WHOSE.get(str(part.get("provider_name")), SHAPE)
            text, proof = at.text(part, "content"), at.text(part, "signature")
            return Thinking(text, proof, redacted=not text, shape=whose)
        case {"part_kind": "tool-call"}:
            call, name = at.text(part, "tool_call_id"), at.needed_text(part, "tool_name")
            return ToolCall(call, name, blocks.json_text(part.get("args")))
        case {"part_kind": "file", "content": content}:
            image = _block_view(content, at / ".content")
            return image if isinstance(image, Image) else None
        case {"part_kind": "tool-return"} | {"part_kind": "retry-prompt", "tool_name": str()}:
            given = part.get("content")
            text, rest = blocks.json_text(given), tuple[Image | Opaque, ...]()
            if _has_files(given):
                text, rest = blocks.result_view(given, at / ".content", _read_block)
            is_retry = part["part_kind"] == "retry-prompt"
            failed = is_retry or part.get("outcome") not in (None, "success")
            return ToolResult(at.text(part, "tool_call_id"), text, failed, rest=rest)
    return None


def _has_files(content: object) -> bool:
    items = content if isinstance(content, list) else []
    return any(isinstance(item, dict) and str(item.get("kind")) in _FILES for item in items)


_read_block = blocks.reader(_block_view, SHAPE, "kind")
_read_part = blocks.reader(_view, SHAPE, "part_kind")


# --- writing --------------------------------------------------------------------------------------


def to_pydantic_ai(messages: Iterable[Message]) -> list[ModelMessage]:
    """Theirs from messages."""
    return _adapter().validate_python(to_pydantic_ai_json(messages))  # type: ignore[no-any-return]


def to_pydantic_ai_json(messages: Iterable[Message]) -> list[Fields]:
    """The JSON of theirs from messages."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    mended = sendable_messages(messages)
    carried = {_request(message).get("instructions") for message in mended}
    last_request: Fields = {}  # the fields of the last request, without its parts
    for message in mended:
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        own = blocks.own_fields(message, SHAPE)
        if message.role == "assistant":
            parts = _response_parts(message)
            if parts or own:
                out.append({**(own or {"kind": "response", "timestamp": NO_TIME}), "parts": parts})
            continue
        if message.text in carried and own and not own["parts"]:
            continue  # the instructions of a request, which has them
        request = _request(message)
        parts = list(_request_parts(message, names))
        if out and out[-1]["kind"] == "request" and last_request == request:
            out[-1]["parts"] += parts
        elif parts:
            out.append({"kind": "request", **request, "parts": parts})
            last_request = request
    return out


def _request(message: Message) -> Fields:
    """The fields of the request that a message came in, unless it came as its instructions."""
    own = blocks.own_fields(message, SHAPE)
    if not own or own["kind"] != "request" or not own["parts"]:
        return {}
    return {name: own[name] for name in own if name != "parts"}


def _request_parts(message: Message, names: Mapping[str, str]) -> Iterable[Fields]:
    """The parts of a request: results and opaque parts one by one, and what was said."""
    own_parts = blocks.own_fields(message, SHAPE).get("parts", ())
    if own_parts and blocks.as_received(message, SHAPE):
        yield from own_parts
        return
    said = list[Part]()
    for part in blocks.parts_for_shape(message, SHAPE):
        if isinstance(part, ToolResult):
            named = {"tool_name": names.get(part.id, ""), "timestamp": NO_TIME}
            yield named | blocks.written(part, SHAPE, build)
        elif "part_kind" in blocks.own_fields(part, SHAPE):
            yield blocks.own_json(part, SHAPE)
        else:
            said.append(part)
    if not said:
        return
    content: Any = [_content(part) for part in said]
    if message.role == "system":
        content = "\n".join(part.text for part in said if isinstance(part, Text))
    elif len(said) == 1 and isinstance(said[0], Text):
        content = said[0].text
    kind = "system-prompt" if message.role == "system" else "user-prompt"
    own = next((part for part in own_parts if part["part_kind"] == kind), {"timestamp": NO_TIME})
    yield {"part_kind": kind, **own, "content": content}


def _content(part: Part) -> Any:
    return part.text if isinstance(part, Text) else blocks.written(part, SHAPE, build)


def _response_parts(message: Message) -> list[Fields]:
    """What a response can hold: pictures only if they are here."""
    parts = list[Fields]()
    for part in blocks.parts_for_shape(message, SHAPE, thoughts=(SHAPE, *_NAMES)):
        block = blocks.written(part, SHAPE, build)
        if not isinstance(part, Image) or "part_kind" in block:
            parts.append(block)
        elif part.data:
            parts.append({"part_kind": "file", "content": block})
    return parts


def build(part: Part) -> Fields:
    """What a part says as a part of theirs; a picture as one of a user's."""
    own = blocks.own_fields(part, SHAPE)
    match part:
        case Text(text):
            return {"part_kind": "text", "content": text}
        case Image(media_type, data, url):
            picture = {"kind": "image-url", "url": url, "media_type": media_type or None}
            if data:
                data = data.translate(_URL_SAFE)
                picture = {"kind": "binary", "media_type": media_type, "data": data}
            inside = own.get("content")
            return {"part_kind": "file", "content": {**inside, **picture}} if inside else picture
        case Thinking(text, signature, shape=shape):
            proof = {"signature": signature} if signature else {}
            name = {"provider_name": _NAMES[shape]} if shape in _NAMES else {}
            return {"part_kind": "thinking", "content": text, **proof, **name}
        case ToolCall(call, name, arguments):
            is_text = isinstance(own.get("args", ""), str)
            args = arguments if is_text else json_or_text(arguments or "null")
            return {"part_kind": "tool-call", "tool_name": name, "args": args, "tool_call_id": call}
        case ToolResult(call, text, failed):
            content: Any = text
            if part.rest:
                content = [_content(inner) for inner in blocks.result_parts(part, SHAPE)]
            elif not isinstance(own.get("content", ""), str):
                content = json_or_text(text)
            kind = own.get("part_kind", "tool-return")
            outcome = {"outcome": "failed"} if failed and not own else {}
            return {"part_kind": kind, "content": content, "tool_call_id": call, **outcome}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _adapter() -> Any:
    with extra("models"):
        from pydantic_ai.messages import ModelMessagesTypeAdapter
    return ModelMessagesTypeAdapter


write = to_pydantic_ai_json
