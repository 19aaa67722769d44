"""pydantic-ai's messages: requests and responses, each with parts of many kinds.

Everything goes through their JSON (`ModelMessagesTypeAdapter`), so files of it are read without the
package. A part of a request is a message of its own; a response is one message. Normal form, which
is what `to_pydantic_ai` writes: neighbouring requests with the same fields are one; fields that are
null or say nothing are left out; a part without a time has the time `NO_TIME`, since theirs always
have one.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from foreword.extras import extra
from foreword.formats import anthropic, openai_responses
from foreword.formats.fields import (
    LAYOUT,
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    opaque,
    pack_extra,
    parts_for_shape,
    read_answer,
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
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    mend,
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
# what theirs has in a field unless somebody sets it
_USUAL: Fields = {
    "timestamp": NO_TIME,
    "state": "complete",
    "outcome": "success",
    "scope": "conversation",
    "force_download": False,
}
_ENVELOPE = frozenset(("parts", "kind", "instructions"))
_OF_REQUEST = "instructions_of_request"  # a system message that requests carry as a field
_PROMPT = frozenset(("part_kind", "content"))
_RETURN = frozenset(("part_kind", "content", "tool_call_id"))
_CALL = frozenset(("part_kind", "tool_name", "args", "tool_call_id"))
_THINKING = frozenset(("part_kind", "content", "signature"))
_BINARY = frozenset(("kind", "media_type", "data"))
_ADDRESS = frozenset(("kind", "media_type", "url"))
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
    found = list[Message]()
    for index, one in enumerate(FieldPath(where, "messages").sequence(value, "a list of messages")):
        found += read_message(one, FieldPath(where, f"messages[{index}]"), before)
    return tuple(found)


@dataclass(slots=True)
class EarlierMessages:
    """What is remembered from one message to the next."""

    names: dict[str, str] = field(default_factory=dict)  # of tools, by the id of a call
    instructions: str = ""  # of the last request that had some: each repeats them


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is one of their requests or responses."""
    return "parts" in value and value.get("kind") in ("request", "response")


def read_message(value: object, at: FieldPath, before: EarlierMessages) -> Sequence[Message]:
    """The messages in one request or response."""
    value = at.mapping(value, "a mapping with kind and parts")
    parts = list[tuple[Mapping[str, Any], FieldPath]]()
    for index, part in enumerate((at / ".parts").sequence(value.get("parts"))):
        place = at / f".parts[{index}]"
        parts.append((place.mapping(part), place))
    fields = _own_fields(value, _ENVELOPE, at)
    instructions = at.text(value, "instructions")
    if value.get("kind") == "response":
        message = Message(
            "assistant",
            tuple(_read_response_part(part, place) for part, place in parts),
            extra=pack_extra(SHAPE, fields),
        )
        before.names |= _tool_names(message)
        return [message]
    if value.get("kind") != "request":
        raise (at / ".kind").wrong(f"{value.get('kind')!r} is not one of request, response")
    messages = list[Message]()
    if instructions:
        fields["instructions"] = instructions
        if instructions != before.instructions:
            extra = pack_extra(SHAPE, {_OF_REQUEST: True})
            messages.append(Message("system", (Text(instructions),), extra=extra))
            before.instructions = instructions
    for part, place in parts:
        messages.append(_read_request_part(part, place, fields, before.names))
    return messages


def _tool_names(message: Message) -> dict[str, str]:
    """The names of the tools that a message calls, by the id of the call."""
    return {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}


def _own_fields(value: Mapping[str, Any], known: frozenset[str], at: FieldPath) -> Fields:
    """The fields besides those known that tell something: not null, and not what theirs are
    unless somebody sets them."""
    fields = unknown_fields(value, known, at)
    return {name: fields[name] for name in fields if _says_something(name, fields[name])}


def _says_something(name: str, value: object) -> bool:
    if value is None or value == _USUAL.get(name):
        return False
    if name == "usage" and isinstance(value, dict):
        return any(value.values())
    return name != "content_file_digests" or bool(value)


def _read_request_part(
    part: Mapping[str, Any], at: FieldPath, request: Fields, names: dict[str, str]
) -> Message:
    kind = part.get("part_kind")
    envelope = {"request": request} if request else {}
    if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        return Message("tool", (_read_return(part, at, names),), extra=pack_extra(SHAPE, envelope))
    if kind not in ("system-prompt", "user-prompt"):
        return Message(
            "user", (opaque(part, SHAPE, "part_kind"),), extra=pack_extra(SHAPE, envelope)
        )
    fields = _own_fields(part, _PROMPT, at)
    if fields:
        envelope["part"] = fields
    return Message(
        "system" if kind == "system-prompt" else "user",
        _read_content(part.get("content"), at / ".content"),
        extra=pack_extra(SHAPE, envelope),
    )


def _read_content(content: object, at: FieldPath) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    parts = at.sequence(content, "text or a list of parts")
    return tuple(_read_content_part(part, at / f"[{index}]") for index, part in enumerate(parts))


def _read_content_part(part: object, at: FieldPath) -> Part:
    if isinstance(part, str):
        return Text(part)
    part = at.mapping(part, "text or a mapping with a kind")
    match part:
        case {"kind": "binary", "media_type": str(kind), "data": str(data)} if (
            data and kind.startswith("image/")
        ):
            data = data.translate(_STANDARD)
            fields = _file_fields(part, _BINARY, data, at)
            return Image(kind, data, extra=pack_extra(SHAPE, fields))
        case {"kind": "image-url", "url": str(url)} if url:
            kind = str(part.get("media_type") or "")
            fields = _file_fields(part, _ADDRESS, url, at)
            return Image(kind, url=url, extra=pack_extra(SHAPE, fields))
        case _:
            return opaque(part, SHAPE, "kind")


def _file_fields(
    part: Mapping[str, Any], known: frozenset[str], source: str, at: FieldPath
) -> Fields:
    """The fields of a file that do not follow from the file itself, as its name usually does;
    `source` is its base64 or its address."""
    fields = _own_fields(part, known, at)
    if "identifier" in fields:
        with suppress(ValueError):  # what is no base64 has no usual name
            is_binary = part["kind"] == "binary"
            data = b64decode(source) if is_binary else _address_bytes(source)
            if fields["identifier"] == _default_identifier(data):
                del fields["identifier"]
    return fields


def _address_bytes(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")


def _default_identifier(data: bytes) -> str:
    """The name that theirs gives a file which has none."""
    return sha1(data, usedforsecurity=False).hexdigest()[:6]


def _read_return(part: Mapping[str, Any], at: FieldPath, names: dict[str, str]) -> ToolResult:
    def read(inner: object, index: int) -> Part:
        return _read_content_part(inner, at / f".content[{index}]")

    call = at.text(part, "tool_call_id")
    content = part.get("content")
    fields = _own_fields(part, _RETURN, at)
    if fields.get("tool_name") == names.get(call):
        fields.pop("tool_name", None)
    if part["part_kind"] != "tool-return":
        fields["part_kind"] = part["part_kind"]
    if not isinstance(content, str) and not _has_files(content):
        fields["content"] = "json"
        text = to_json(content)
        return ToolResult(call, text, failed=_is_failure(part), extra=pack_extra(SHAPE, fields))
    text, rest, layout = read_answer(content, read)
    return ToolResult(
        id=call,
        text=text,
        failed=_is_failure(part),
        rest=rest,
        extra=pack_extra(SHAPE, fields | layout),
    )


def _is_failure(part: Mapping[str, Any]) -> bool:
    return part["part_kind"] == "retry-prompt" or part.get("outcome") not in (None, "success")


def _has_files(content: object) -> bool:
    items = content if isinstance(content, list) else []
    return any(isinstance(item, dict) and str(item.get("kind")) in _FILES for item in items)


def _read_response_part(part: Mapping[str, Any], at: FieldPath) -> Part:
    match part.get("part_kind"):
        case "text":
            return Text(
                at.text(part, "content"),
                pack_extra(SHAPE, _own_fields(part, _PROMPT, at)),
            )
        case "thinking":
            whose = _WHOSE.get(str(part.get("provider_name")), SHAPE)
            fields = _own_fields(part, _THINKING, at)
            if fields.get("provider_name") == _NAMES.get(whose):
                fields.pop("provider_name", None)
            text = at.text(part, "content")
            return Thinking(
                text=text,
                signature=at.text(part, "signature"),
                redacted=not text,
                shape=whose,
                extra=pack_extra(SHAPE, fields),
            )
        case "tool-call":
            fields = _own_fields(part, _CALL, at)
            if not isinstance(part.get("args"), str):
                fields["args"] = "none" if part.get("args") is None else "object"
            return ToolCall(
                id=at.text(part, "tool_call_id"),
                name=at.needed_text(part, "tool_name"),
                arguments=arguments_of(part.get("args")),
                extra=pack_extra(SHAPE, fields),
            )
        case "file":
            return _read_file(part, at)
        case _:
            return opaque(part, SHAPE, "part_kind")


def _read_file(part: Mapping[str, Any], at: FieldPath) -> Part:
    """A picture that a model made; any other file is opaque."""
    image = _read_content_part(part.get("content"), at / ".content")
    if not isinstance(image, Image):
        return opaque(part, SHAPE, "part_kind")
    image_fields = unpack_extra(image.extra, SHAPE)
    fields = _own_fields(part, _PROMPT, at)
    if fields:
        image_fields["file"] = fields
    return replace(image, extra=pack_extra(SHAPE, image_fields))


# --- writing --------------------------------------------------------------------------------------


def to_pydantic_ai(messages: Iterable[Message]) -> list[ModelMessage]:
    """Theirs from messages."""
    return _adapter().validate_python(to_pydantic_ai_json(messages))  # type: ignore[no-any-return]


def to_pydantic_ai_json(messages: Iterable[Message]) -> list[Fields]:
    """The JSON of theirs from messages."""
    out = list[Fields]()
    names = dict[str, str]()  # call id -> the tool's name
    last_request: Fields = {}  # the fields of the last request, without its parts
    mended = mend(messages)[0]
    of_requests = _instructions_of_requests(mended)
    for message in mended:
        names |= _tool_names(message)
        fields = unpack_extra(message.extra, SHAPE)
        if fields.get(_OF_REQUEST) and message.text in of_requests:
            continue
        if message.role == "assistant":
            parts = [_response_part(part) for part in _response_parts(message)]
            if parts or fields:
                out.append({"kind": "response", "timestamp": NO_TIME, **fields, "parts": parts})
            continue
        request = fields.get("request", {})
        parts = list(_request_parts(message, fields.get("part", {}), names))
        if out and out[-1]["kind"] == "request" and last_request == request:
            out[-1]["parts"] += parts
        elif parts:
            out.append({"kind": "request", **request, "parts": parts})
            last_request = request
    return out


def _instructions_of_requests(messages: Iterable[Message]) -> set[str]:
    """The instructions that go along with requests."""
    found = set[str]()
    for message in messages:
        request = unpack_extra(message.extra, SHAPE).get("request")
        if isinstance(request, dict):
            found.add(str(request.get("instructions", "")))
    return found


def _response_parts(message: Message) -> Iterable[Part]:
    """What a response can hold: thinking of any provider, pictures only if they are here."""
    taken = {id(part) for part in parts_for_shape(message, SHAPE)}
    parts = list[Part]()
    for part in message.parts:
        if isinstance(part, Image) and not part.data:
            continue
        if isinstance(part, Thinking) or id(part) in taken:
            parts.append(part)
    return parts


def _request_parts(message: Message, fields: Fields, names: Mapping[str, str]) -> Iterable[Fields]:
    """The parts of a request: results and opaque parts one by one, and what was said."""
    said = list[Part]()
    for part in parts_for_shape(message, SHAPE):
        data = as_object(part.data) if isinstance(part, Opaque) else {}
        if isinstance(part, ToolResult):
            yield _return_part(part, names)
        elif "part_kind" in data:
            yield data
        else:
            said.append(part)
    if not said:
        return
    content: Any
    if message.role == "system":
        content = "\n".join(part.text for part in said if isinstance(part, Text))
    elif len(said) == 1 and isinstance(said[0], Text):
        content = said[0].text
    else:
        content = [_content_part(part) for part in said]
    kind = "system-prompt" if message.role == "system" else "user-prompt"
    yield {"part_kind": kind, "content": content, "timestamp": NO_TIME, **fields}


def _content_part(part: Part) -> Any:
    match part:
        case Text(text):
            return text
        case Image(media_type, data, url, extra):
            fields = unpack_extra(extra, SHAPE)
            if data:
                return {
                    "kind": "binary",
                    "media_type": media_type,
                    "data": data.translate(_URL_SAFE),
                    **fields,
                }
            # In full, since a tool's files are known by a digest of all their fields.
            usual = {
                "force_download": False,
                "vendor_metadata": None,
                "identifier": _default_identifier(_address_bytes(url)),
            }
            return {
                "kind": "image-url",
                "url": url,
                "media_type": media_type or None,
                **usual,
                **fields,
            }
        case Opaque(data):
            return as_object(data)
        case _:
            raise TypeError(f"{type(part).__name__} is never shown")


def _return_part(result: ToolResult, names: Mapping[str, str]) -> Fields:
    fields = unpack_extra(result.extra, SHAPE)
    layout = fields.pop(LAYOUT, None)
    is_json = fields.pop("content", "") == "json"
    content: Any = write_answer(result, layout, SHAPE, _content_part)
    if is_json and isinstance(content, str):
        content = _json_or_text(content)
    outcome = {"outcome": "failed"} if result.failed and "part_kind" not in fields else {}
    return {
        "part_kind": "tool-return",
        "tool_name": names.get(result.id, ""),
        "timestamp": NO_TIME,
        "content": content,
        "tool_call_id": result.id,
        **outcome,
        **fields,
    }


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # somebody has shortened it
        return text


def _response_part(part: Part) -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    match part:
        case Text(text):
            return {"part_kind": "text", "content": text, **fields}
        case Image():
            content = _content_part(part)
            file_fields = content.pop("file", {})
            return {"part_kind": "file", "content": content, **file_fields}
        case Thinking(text, signature, shape=shape):
            proof = {"signature": signature} if signature else {}
            name = {"provider_name": _NAMES[shape]} if shape in _NAMES else {}
            return {"part_kind": "thinking", "content": text, **proof, **name, **fields}
        case ToolCall(call, name, arguments):
            kind = fields.pop("args", "")
            return {
                "part_kind": "tool-call",
                "tool_name": name,
                "args": _call_arguments(arguments, kind),
                "tool_call_id": call,
                **fields,
            }
        case _:
            raise TypeError(f"{type(part).__name__} is never in a reply")


def _call_arguments(arguments: str, kind: str) -> Any:
    """The arguments of a call in the form in which they came: none, an object, or text."""
    if kind == "none":
        return None
    return _json_or_text(arguments) if kind == "object" else arguments


def _adapter() -> Any:
    with extra("models"):
        from pydantic_ai.messages import ModelMessagesTypeAdapter
    return ModelMessagesTypeAdapter
