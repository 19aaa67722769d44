"""Gemini's `contents`: parts in turns of the user and the model, the system's beside them.

Read as the API writes it and as its Python package does (`function_call`, null for none); written
as the API does. A call without an id is known by its name, as the API knows it. A result is an
object: its words are those of `output`, `result` or `error` where that is all there is, else its
JSON. Parts nobody here reads (code that the model ran, and what came of it) go along with their
words. Normal form, which is what `to_gemini` writes: the results of a turn's calls are the turn
behind it, and nothing else is in there.
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
    part_for_shape,
    parts_for_shape,
    written,
)
from foreword.messages.call_pairs import mend
from foreword.messages.fields import FieldPath, Fields, as_object, json_or_text, sendable
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
    keep,
)
from foreword.pattern import lazy_pattern

SHAPE = "gemini"
_ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "system": "system",
}
# Fields that belong to any part; the one beside them says what it is.
_OF_ANY_PART = ("thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution")
_WORDS = ("output", "result", "error")  # under which a tool's answer is one text
_UNDERSCORE = lazy_pattern(r"_([a-z])")
# What a model or a tool gave keeps its own names.
_GIVEN = frozenset(("args", "response"))


# --- reading --------------------------------------------------------------------------------------


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is one of Gemini's turns: parts that have no type."""
    parts = value.get("parts")
    if isinstance(parts, str):
        return True
    if parts is None:  # an answer in which nothing was said, as at the limit of its tokens
        return value.get("role") == "model" and "content" not in value
    if not isinstance(parts, list) or "kind" in value:
        return False
    if not parts:
        return value.get("role") == "model"
    return not any(isinstance(part, Mapping) and "type" in part for part in parts)


def from_gemini(value: object, where: str = "contents") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `contents`), of a response, or of a list."""
    messages = list[Message]()
    if isinstance(value, Mapping):
        request = _camel_fields(value)
        system = request.get("systemInstruction")
        if system:
            messages.append(_read_system(system, FieldPath(where, "systemInstruction")))
        value = _contents(request, where)
    if isinstance(value, str | Mapping):
        value = [value]
    contents = FieldPath(where, "contents").sequence(value, "a list of contents")
    for index, content in enumerate(contents):
        messages.append(read_message(content, FieldPath(where, f"contents[{index}]")))
    return tuple(messages)


def _contents(request: Fields, where: str) -> object:
    """What a request asks, or the one reply of a response."""
    if "candidates" not in request:
        return request.get("contents")
    at = FieldPath(where, "candidates")
    candidates = at.sequence(request["candidates"])
    if len(candidates) != 1:
        raise at.wrong(f"there are {len(candidates)} replies, and one can be read")
    return [(at / "[0]").mapping(candidates[0], "a mapping with content").get("content")]


def _read_system(value: object, at: FieldPath) -> Message:
    said = read_message(value, at)
    return keep(Message("system", said.parts), SHAPE, own_json(said, SHAPE))


def read_message(value: object, at: FieldPath) -> Message:
    """One turn; `at` is its place in the input."""
    if isinstance(value, str):
        value = {"role": "user", "parts": value}
    value = at.mapping(value, "text or a mapping with parts")
    role = _ROLES.get(str(value.get("role") or "user"))
    if role is None:
        raise (at / ".role").none_of(value.get("role"), _ROLES)
    listed = value.get("parts") or []
    listed = [listed] if isinstance(listed, str) else (at / ".parts").sequence(listed)
    parts = [_read_part(part, at / f".parts[{index}]") for index, part in enumerate(listed)]
    return keep(Message(role, tuple(parts)), SHAPE, _camel_fields(value))


def _camel_fields(value: Mapping[str, Any]) -> Fields:
    """The fields that are set, named as the API names them; their Python package has `_`."""
    fields = Fields()
    for name, field in value.items():
        if field is not None:
            fields[_UNDERSCORE.sub(lambda found: found[1].upper(), str(name))] = field
    return fields


def _api_names(value: Any) -> Any:
    """A part under the names of the API, at every depth but in what a model or a tool gave."""
    if isinstance(value, Mapping):
        named = _camel_fields(value)
        return {name: each if name in _GIVEN else _api_names(each) for name, each in named.items()}
    return [_api_names(each) for each in value] if isinstance(value, list) else value


def _read_part(value: object, at: FieldPath) -> Part:
    if isinstance(value, str):
        return keep(Text(value), SHAPE, {"text": value})
    part = _api_names(at.mapping(value, "text or a mapping"))
    kinds = [name for name in part if name not in _OF_ANY_PART]
    if not kinds:
        raise at.wrong("says nothing that is known: no text, call, response or file")
    if len(kinds) > 1 and len({"text", "functionCall", "functionResponse"} & {*kinds}) > 1:
        raise (at / f".{kinds[1]}").wrong(f"a part can't be this and {kinds[0]} at once")
    view = _view(part, at)
    if view is not None:
        return keep(view, SHAPE, part)
    data = part[kinds[0]]
    name = at.text(data, "mimeType") if isinstance(data, Mapping) else ""
    return keep(Opaque(name or kinds[0], _words(data)), SHAPE, part)


def _view(part: Mapping[str, Any], at: FieldPath) -> Part | None:
    """What a part says; None for one that nobody here reads."""
    match part:
        case {"text": str(text), "thought": True}:
            return Thinking(text, str(part.get("thoughtSignature", "")), shape=SHAPE)
        case {"text": str(text)}:
            return Text(text)
        case {"text": _}:
            raise (at / ".text").wrong("must be text")
        case {"functionCall": call}:
            at = at / ".functionCall"
            name = at.needed_text(at.mapping(call, "a mapping"), "name")
            return ToolCall(at.text(call, "id") or name, name, json_text(call.get("args", {})))
        case {"functionResponse": response}:
            at = at / ".functionResponse"
            name = at.needed_text(at.mapping(response, "a mapping"), "name")
            answer = response.get("response", {})
            rest = list[Image | Opaque]()
            for index, each in enumerate((at / ".parts").sequence(response.get("parts") or [])):
                inner = _read_part(each, at / f".parts[{index}]")
                rest.append(inner if isinstance(inner, Image | Opaque) else opaque(each, SHAPE, ""))
            return ToolResult(
                id=at.text(response, "id") or name,
                text=_answer_text(answer),
                failed=isinstance(answer, Mapping) and "error" in answer,
                rest=tuple(rest),
            )
        case {"inlineData": Mapping() as file} | {"fileData": Mapping() as file}:
            kind = at.text(file, "mimeType")
            if kind.startswith("image/"):
                return Image(kind, at.text(file, "data"), at.text(file, "fileUri"))
    return None


def _answer_text(answer: object) -> str:
    """The words of an answer: those of its one field, else its JSON."""
    name = _words_field(answer)
    return str(answer[name]) if isinstance(answer, Mapping) and name else json_text(answer)


def _words_field(answer: object) -> str:
    """The one field of an answer that has all its words, or nothing."""
    if isinstance(answer, Mapping) and len(answer) == 1:
        ((name, value),) = answer.items()
        if name in _WORDS and isinstance(value, str):
            return str(name)
    return ""


def _words(data: Any) -> str:
    """The words in a part that nobody here reads; those of a text file are its own."""
    if not isinstance(data, Mapping):
        return ""
    words = opaque({name: data[name] for name in data if name not in ("data", "mimeType")}, "").text
    if str(data.get("mimeType")).startswith("text/") and isinstance(data.get("data"), str):
        words = "\n".join(filter(None, (words, _decode_text(data["data"]))))
    return words


def _decode_text(data: str) -> str:
    try:
        return b64decode(data).decode("utf-8", "replace")
    except ValueError:  # no base64
        return data


# --- writing --------------------------------------------------------------------------------------


def to_gemini_request(messages: Iterable[Message]) -> Fields:
    """`systemInstruction` and `contents` of a request: system messages at the beginning are the
    system's."""
    messages = list(messages)
    system = list(takewhile(lambda message: message.role == "system", messages))
    request = Fields()
    parts = [written(p, SHAPE, build) for each in system for p in parts_for_shape(each, SHAPE)]
    if parts:
        role = (own_json(system[0], SHAPE) or {}).get("role")
        request["systemInstruction"] = {
            "parts": sendable(parts),
            **({"role": role} if role else {}),
        }
    request["contents"] = to_gemini(messages[len(system) :])
    return request


def to_gemini(messages: Iterable[Message]) -> list[Fields]:
    """The `contents` of a request; a system message among them is said by the user."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    for message in mend(messages)[0]:
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        parts = list[Fields]()
        for part in parts_for_shape(message, SHAPE):
            block = written(part, SHAPE, build)
            if isinstance(part, ToolResult) and not block["functionResponse"].get("name"):
                block["functionResponse"]["name"] = names.get(part.id, "")
            if block != {"text": ""}:  # a signature may stand in a part without words
                parts.append(block)
        if not parts:
            continue
        own = own_json(message, SHAPE) or {}
        role = own.get("role", "user") if message.role == "tool" else "user"
        role = "model" if message.role == "assistant" else role
        beside = {name: own[name] for name in own if name not in ("role", "parts")}
        if out and _is_answer(out[-1]) and all("functionResponse" in part for part in parts):
            out[-1]["parts"] += parts
        elif own and "role" not in own and message.role == "user":
            out.append({**beside, "parts": parts})
        else:
            out.append({"role": role, **beside, "parts": parts})
    return sendable(out)  # type: ignore[no-any-return]


def _is_answer(content: Fields) -> bool:
    return all("functionResponse" in part for part in content["parts"])


def build(part: Part) -> Fields:
    """What a part says, as one of the API's."""
    match part:
        case Text(text):
            return {"text": text}
        case Thinking(text, signature):
            proof = {"thoughtSignature": signature} if signature else {}
            return {"text": text, "thought": True, **proof}
        case ToolCall(call, name, arguments):
            named = {"name": name, "args": as_object(arguments)}
            return {"functionCall": named if _has_no_id(part) else {"id": call, **named}}
        case ToolResult():
            return {"functionResponse": _response(part)}
        case Image(media_type, data, url):
            source = {"data": data} if data else {"fileUri": url}
            file = {"mimeType": media_type or "image/png", **source}
            return {"inlineData" if data else "fileData": file}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _has_no_id(part: ToolCall | ToolResult) -> bool:
    """Whether a call or a response came without an id: the API knows it by its name."""
    own = own_json(part, SHAPE) or {}
    came = own.get("functionCall", own.get("functionResponse"))
    return came is not None and not came.get("id")


def _response(result: ToolResult) -> Fields:
    came = (own_json(result, SHAPE) or {}).get("functionResponse", {})
    texts = [result.text]
    files = list[Fields]()
    for part in result.rest:
        own = part_for_shape(part, SHAPE)
        if isinstance(own, Text):
            texts.append(own.text)  # only files can stand beside the answer
        elif own is not None:
            files.append(written(own, SHAPE, build))
    text = "\n".join(filter(None, texts))
    answer = None if _words_field(came.get("response")) else json_or_text(text)
    if not came or not isinstance(answer, dict):
        name = _words_field(came.get("response")) or ("error" if result.failed else "output")
        answer = {name: text}
    response = {"name": came.get("name", ""), "response": answer}
    response |= {"parts": files} if files else {}
    return response if _has_no_id(result) else {"id": result.id, **response}


write = to_gemini
