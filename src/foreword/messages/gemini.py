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
from contextlib import suppress
from itertools import takewhile
from typing import Any

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import sendable_messages
from foreword.messages.fields import FieldPath, Fields, as_object, json_or_text, sendable
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.pattern import lazy_pattern

SHAPE = "gemini"
_ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "tool"}
_ROLES |= {"system": "system"}
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
    if not parts:  # an answer in which nothing was said, as at the limit of its tokens
        return value.get("role") == "model" and "content" not in value
    is_list = isinstance(parts, list) and "kind" not in value
    return isinstance(parts, str) or (is_list and not fields.has_field(parts, "type"))


def from_gemini(value: object, where: str = "contents") -> tuple[Message, ...]:
    """The messages of a request (a mapping with `contents`), of a response, or of a list."""
    messages = list[Message]()
    if isinstance(value, Mapping):
        request = _camel_fields(value)
        if request.get("systemInstruction"):
            said = read_message(request["systemInstruction"], FieldPath(where, "systemInstruction"))
            raw = blocks.own_json(said, SHAPE)
            messages.append(keep(Message("system", said.parts), SHAPE, raw))
        value = request.get("contents")
        if "candidates" in request:
            reply, at = FieldPath(where, "response").only(request, "candidates")
            value = [at.mapping(reply, "a mapping with content").get("content")]
    if isinstance(value, str | Mapping):
        value = [value]
    contents = FieldPath(where, "contents").each(value, "a list of contents")
    return (*messages, *[read_message(*each) for each in contents])


def read_message(value: object, at: FieldPath) -> Message:
    """One turn; `at` is its place in the input."""
    value = {"parts": value} if isinstance(value, str) else value
    value = _camel_fields(at.mapping(value, "text or a mapping with parts"))
    role = at.role({"role": value.get("role") or "user"}, _ROLES)
    listed = [value["parts"]] if isinstance(value.get("parts"), str) else None
    items = at.items({"parts": listed} if listed else value, "parts")
    return keep(Message(role, tuple([_read_part(*item) for item in items])), SHAPE, value)


def _camel_fields(value: Mapping[str, Any]) -> Fields:
    """The fields that are set, named as the API names them; their Python package has `_`."""
    return {
        _UNDERSCORE.sub(lambda found: found[1].upper(), str(name)): field
        for name, field in value.items()
        if field is not None
    }


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
    if view is None:
        data = part[kinds[0]]
        name = at.text(data, "mimeType") if isinstance(data, Mapping) else ""
        view = Opaque(name or kinds[0], _words(data))
    return keep(view, SHAPE, part)


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
            arguments = blocks.json_text(call.get("args", {}))
            return ToolCall(at.text(call, "id") or name, name, arguments)
        case {"functionResponse": response}:
            at = at / ".functionResponse"
            name = at.needed_text(at.mapping(response, "a mapping"), "name")
            answer = response.get("response", {})
            files = response.get("parts") or None
            rest = blocks.result_view(files, at / ".parts", _read_part)[1]
            words = _words_field(answer)
            text = answer[words] if words else blocks.json_text(answer)
            failed = isinstance(answer, Mapping) and "error" in answer
            return ToolResult(at.text(response, "id") or name, text, failed=failed, rest=rest)
        case {"inlineData": Mapping() as file} | {"fileData": Mapping() as file}:
            kind = at.text(file, "mimeType")
            if kind.startswith("image/"):
                return Image(kind, at.text(file, "data"), at.text(file, "fileUri"))
    return None


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
    beside = {name: data[name] for name in data if name not in ("data", "mimeType")}
    words, text = blocks.opaque(beside, "").text, data.get("data")
    if str(data.get("mimeType")).startswith("text/") and isinstance(text, str):
        with suppress(ValueError):  # no base64: the text itself
            text = b64decode(text).decode("utf-8", "replace")
        return "\n".join(filter(None, (words, text)))
    return words


# --- writing --------------------------------------------------------------------------------------


def to_gemini_request(messages: Iterable[Message]) -> Fields:
    """`systemInstruction` and `contents` of a request: system messages at the beginning are the
    system's."""
    messages = list(messages)
    system = list(takewhile(lambda message: message.role == "system", messages))
    request = Fields()
    said = [part for message in system for part in blocks.parts_for_shape(message, SHAPE)]
    parts = [blocks.written(part, SHAPE, build) for part in said]
    if parts:
        role = blocks.own_fields(system[0], SHAPE).get("role")
        named = {"role": role} if role else {}
        request["systemInstruction"] = sendable({"parts": parts, **named})
    request["contents"] = to_gemini(messages[len(system) :])
    return request


def to_gemini(messages: Iterable[Message]) -> list[Fields]:
    """The `contents` of a request; a system message among them is said by the user."""
    out = list[Fields]()
    names = dict[str, str]()  # of tools, by the id of a call
    for message in sendable_messages(messages):
        names |= {part.id: part.name for part in message.parts if isinstance(part, ToolCall)}
        parts = list[Fields]()
        for part in blocks.parts_for_shape(message, SHAPE):
            block = blocks.written(part, SHAPE, build)
            if isinstance(part, ToolResult):
                block["functionResponse"].setdefault("name", names.get(part.id, ""))
            if block != {"text": ""}:  # a signature may stand in a part without words
                parts.append(block)
        own = blocks.own_fields(message, SHAPE, without=("parts",))
        role = own.get("role", "user") if message.role == "tool" else "user"
        role = "model" if message.role == "assistant" else role
        if not parts:
            continue
        if out and _is_answer(out[-1]["parts"]) and _is_answer(parts):
            out[-1]["parts"] += parts
            continue
        is_bare = blocks.own_json(message, SHAPE) is not None and "role" not in own
        named = {} if is_bare and message.role == "user" else {"role": role}
        out.append({**own, **named, "parts": parts})
    return sendable(out)  # type: ignore[no-any-return]


def _is_answer(parts: list[Fields]) -> bool:
    return all("functionResponse" in part for part in parts)


def build(part: Part) -> Fields:
    """What a part says, as one of the API's."""
    own = blocks.own_fields(part, SHAPE)
    match part:
        case Text(text):
            return {"text": text}
        case Thinking(text, signature):
            proof = {"thoughtSignature": signature} if signature else {}
            return {"text": text, "thought": True, **proof}
        case ToolCall(call, name, arguments):
            named = {"name": name, "args": as_object(arguments)}
            return {"functionCall": {**_id(own.get("functionCall"), call), **named}}
        case ToolResult(call):
            came = own.get("functionResponse")
            return {"functionResponse": {**_id(came, call), **_response(part, came or {})}}
        case Image(media_type, data, url):
            source = {"data": data} if data else {"fileUri": url}
            file = {"mimeType": media_type or "image/png", **source}
            return {"inlineData" if data else "fileData": file}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _id(came: Fields | None, call: str) -> Fields:
    """The id of a call or a response, unless it came without one: the API knows it by its name."""
    return {} if came is not None and not came.get("id") else {"id": call}


def _response(result: ToolResult, came: Fields) -> Fields:
    texts = list[str]()
    files = list[Fields]()
    for part in blocks.result_parts(result, SHAPE):
        if isinstance(part, Text):
            texts.append(part.text)  # only files can stand beside the answer
        else:
            files.append(blocks.written(part, SHAPE, build))
    text, words = "\n".join(texts), _words_field(came.get("response"))
    answer = json_or_text(text) if came and not words else None
    if not isinstance(answer, dict):
        answer = {words or ("error" if result.failed else "output"): text}
    name = {"name": came["name"]} if came else {}
    return {**name, "response": answer, **({"parts": files} if files else {})}


write = to_gemini
