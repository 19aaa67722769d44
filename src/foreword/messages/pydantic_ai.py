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
from typing import TYPE_CHECKING, Any

from foreword.extras import extra
from foreword.messages import anthropic, openai_responses
from foreword.messages.blocks import (
    is_as_received,
    json_text,
    opaque,
    own_json,
    part_for_shape,
    parts_for_shape,
    result_parts,
    result_view,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import FieldPath, Fields, json_or_text
from foreword.messages.message import (
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    keep,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

SHAPE = "pydantic_ai"
NO_TIME = "1970-01-01T00:00:00Z"
# provider_name -> whose thinking it is
_WHOSE = {"anthropic": anthropic.SHAPE, "openai": openai_responses.SHAPE}
_NAMES = {shape: name for name, shape in _WHOSE.items()}
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
    values = FieldPath(where, "messages").sequence(value, "a list of messages")
    for index, one in enumerate(values):
        messages += read_message(one, FieldPath(where, f"messages[{index}]"), before)
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
    listed = (at / ".parts").sequence(value.get("parts"))
    parts = [(part, at / f".parts[{index}]") for index, part in enumerate(listed)]
    if value.get("kind") == "response":
        said = tuple([_read_response_part(part, place) for part, place in parts])
        return [keep(Message("assistant", said), SHAPE, value)]
    if value.get("kind") != "request":
        raise (at / ".kind").none_of(value.get("kind"), ("request", "response"))
    messages = list[Message]()
    for part, place in parts:
        messages.append(keep(_read_request_part(part, place), SHAPE, {**value, "parts": [part]}))
    instructions = at.text(value, "instructions")
    before = before or EarlierMessages()
    if instructions and instructions != before.instructions:
        before.instructions = instructions
        prompts = 0
        while prompts < len(messages) and messages[prompts].role == "system":
            prompts += 1
        text = keep(Text(instructions), SHAPE, instructions)
        raw = {"kind": "request", "instructions": instructions, "parts": []}
        messages.insert(prompts, keep(Message("system", (text,)), SHAPE, raw))
    return messages


def _read_request_part(part: object, at: FieldPath) -> Message:
    match at.mapping(part, "a mapping with a part_kind"):
        case {"part_kind": "tool-return"} | {"part_kind": "retry-prompt", "tool_name": str()}:
            return Message("tool", (_read_return(part, at),))
        case {"part_kind": "system-prompt" | "user-prompt" as kind, "content": str(text)}:
            content = (keep(Text(text), SHAPE, text),)
            return Message("system" if kind == "system-prompt" else "user", content)
        case {"part_kind": "system-prompt" | "user-prompt" as kind, "content": content}:
            blocks = (at / ".content").sequence(content, "text or a list of parts")
            said = list[Part]()
            for index, block in enumerate(blocks):
                said.append(_read_block(block, at / f".content[{index}]"))
            return Message("system" if kind == "system-prompt" else "user", tuple(said))
        case {"part_kind": str(kind)} if kind not in ("system-prompt", "user-prompt"):
            return Message("user", (opaque(part, SHAPE, "part_kind"),))
        case {"part_kind": str()}:
            raise (at / ".content").wrong("is missing")
    raise at.missing_type(at.mapping(part), "part_kind")


def _read_block(block: Any, at: FieldPath) -> Part:
    """A part of what a user said, or of what a tool gave."""
    match block:
        case str(text):
            return keep(Text(text), SHAPE, block)
        case {"kind": "binary", "media_type": str(kind), "data": str(data)} if (
            data and kind.startswith("image/")
        ):
            return keep(Image(kind, data.translate(_STANDARD)), SHAPE, block)
        case {"kind": "image-url", "url": str(url)} if url:
            return keep(Image(str(block.get("media_type") or ""), url=url), SHAPE, block)
    return opaque(at.mapping(block, "text or a mapping with a kind"), SHAPE, "kind")


def _read_return(part: Any, at: FieldPath) -> ToolResult:
    content = part.get("content")
    text, rest = json_text(content), tuple[Image | Opaque, ...]()
    if _has_files(content):
        text, rest = result_view(
            content, lambda block, index: _read_block(block, at / f".content[{index}]"), SHAPE
        )
    is_retry = part["part_kind"] == "retry-prompt"
    failed = is_retry or part.get("outcome") not in (None, "success")
    call = at.text(part, "tool_call_id")
    return keep(ToolResult(call, text, failed=failed, rest=rest), SHAPE, part)


def _has_files(content: object) -> bool:
    items = content if isinstance(content, list) else []
    return any(isinstance(item, dict) and str(item.get("kind")) in _FILES for item in items)


def _read_response_part(part: object, at: FieldPath) -> Part:
    view = _response_view(at.mapping(part, "a mapping with a part_kind"), at)
    return keep(view, SHAPE, part) if view is not None else opaque(part, SHAPE, "part_kind")


def _response_view(part: Mapping[str, Any], at: FieldPath) -> Part | None:
    """What a part of a response says; None for one that nobody here reads."""
    match part.get("part_kind"):
        case "text":
            return Text(at.text(part, "content"))
        case "thinking":
            whose = _WHOSE.get(str(part.get("provider_name")), SHAPE)
            text, proof = at.text(part, "content"), at.text(part, "signature")
            return Thinking(text, proof, redacted=not text, shape=whose)
        case "tool-call":
            call, name = at.text(part, "tool_call_id"), at.needed_text(part, "tool_name")
            return ToolCall(call, name, json_text(part.get("args")))
        case "file":
            image = _read_block(part.get("content"), at / ".content")
            return image if isinstance(image, Image) else None
        case str(kind) if kind:
            return None
    raise at.missing_type(part, "part_kind")


# --- writing --------------------------------------------------------------------------------------


def to_pydantic_ai(messages: Iterable[Message]) -> list[ModelMessage]:
    """Theirs from messages."""
    return _adapter().validate_python(to_pydantic_ai_json(messages))  # type: ignore[no-any-return]


def to_pydantic_ai_json(messages: Iterable[Message]) -> list[Fields]:
    """The JSON of theirs from messages."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    mended = mend(messages)[0]
    carried = {_request(message).get("instructions") for message in mended}
    last_request: Fields = {}  # the fields of the last request, without its parts
    for message in mended:
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        if message.role == "assistant":
            own = own_json(message, SHAPE)
            parts = _response_parts(message)
            if parts or own:
                response = own or {"kind": "response", "timestamp": NO_TIME}
                out.append({**response, "parts": parts})
            continue
        if message.text in carried and _is_instructions(message):
            continue
        request = _request(message)
        parts = list(_request_parts(message, names))
        if out and out[-1]["kind"] == "request" and last_request == request:
            out[-1]["parts"] += parts
        elif parts:
            out.append({"kind": "request", **request, "parts": parts})
            last_request = request
    return out


def _is_instructions(message: Message) -> bool:
    """Whether this came as the instructions of a request, and not as one of its parts."""
    own = own_json(message, SHAPE)
    return own is not None and not own["parts"]


def _request(message: Message) -> Fields:
    """The fields of the request that a message came in."""
    own = own_json(message, SHAPE)
    if own is None or own["kind"] != "request" or _is_instructions(message):
        return {}
    return {name: own[name] for name in own if name != "parts"}


def _request_parts(message: Message, names: Mapping[str, str]) -> Iterable[Fields]:
    """The parts of a request: results and opaque parts one by one, and what was said."""
    own = own_json(message, SHAPE) or {}
    if own.get("parts") and is_as_received(message, SHAPE):
        yield from own["parts"]
        return
    said = list[Part]()
    for part in parts_for_shape(message, SHAPE):
        raw = own_json(part, SHAPE)
        if isinstance(part, ToolResult):
            named = {"tool_name": names.get(part.id, ""), "timestamp": NO_TIME}
            yield named | written(part, SHAPE, build)
        elif isinstance(raw, dict) and "part_kind" in raw:
            yield raw
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
    beside: Fields = {"timestamp": NO_TIME}
    for part in own.get("parts", ()):
        beside |= part if part["part_kind"] == kind else {}
    yield {"part_kind": kind, **beside, "content": content}


def _content(part: Part) -> Any:
    return part.text if isinstance(part, Text) else written(part, SHAPE, build)


def _response_parts(message: Message) -> list[Fields]:
    """What a response can hold: thinking of any provider, pictures only if they are here."""
    parts = list[Fields]()
    for part in message.parts:
        own = part if isinstance(part, Thinking) else part_for_shape(part, SHAPE)
        is_kept = own is part or (isinstance(part, Opaque) and part.text)
        if own is None or not is_kept:
            continue
        if isinstance(own, Image) and own_json(own, SHAPE) is None:
            if own.data:
                parts.append({"part_kind": "file", "content": build(own)})
        else:
            parts.append(written(own, SHAPE, build))
    return parts


def build(part: Part) -> Fields:
    """What a part says as a part of theirs; a picture as one of a user's."""
    own = own_json(part, SHAPE)
    own = own if isinstance(own, dict) else {}
    match part:
        case Text(text):
            return {"part_kind": "text", "content": text}
        case Image() if "content" in own:
            return {"part_kind": "file", "content": {**own["content"], **_image(part)}}
        case Image():
            return _image(part)
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
                content = [_content(inner) for inner in result_parts(part, SHAPE)]
            elif not isinstance(own.get("content", ""), str):
                content = json_or_text(text)
            kind = own.get("part_kind", "tool-return")
            outcome = {"outcome": "failed"} if failed and not own else {}
            return {"part_kind": kind, "content": content, "tool_call_id": call, **outcome}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _image(image: Image) -> Fields:
    if not image.data:
        return {"kind": "image-url", "url": image.url, "media_type": image.media_type or None}
    data = image.data.translate(_URL_SAFE)
    return {"kind": "binary", "media_type": image.media_type, "data": data}


def _adapter() -> Any:
    with extra("models"):
        from pydantic_ai.messages import ModelMessagesTypeAdapter
    return ModelMessagesTypeAdapter


write = to_pydantic_ai_json
