"""Gemini's `contents`: parts in turns of the user and the model, the system's beside them.

Read as the API writes it and as its Python package does (`function_call`, null for none); written
as the API does. A call without an id is known by its name, as the API knows it. A result is an
object: its words are those of `output`, `result` or `error` where that is all there is, else its
JSON. Parts nobody here reads (code that the model ran, and what came of it) go along with their
words; a key that is none of the API's is refused. Normal form, which is what `to_gemini` writes:
the results of a turn's calls are the turn behind it, and nothing else is in there.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from foreword.formats.content_fields import words_in
from foreword.formats.fields import (
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    load_sendable,
    pack_extra,
    part_for_shape,
    parts_for_shape,
    replace_unsent,
    to_json,
    unknown_fields,
    unpack_extra,
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
from foreword.pattern import lazy_pattern

SHAPE = "gemini"
_ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "system": "system",
}
_CONTENT = frozenset(("role", "parts"))
# what a part can be; of these it has one
_DATA = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
)
_CALL = frozenset(("id", "name", "args"))
_RESPONSE = frozenset(("id", "name", "response", "parts"))
_BLOB = frozenset(("mimeType", "data"))
_FILE = frozenset(("mimeType", "fileUri"))
_WORDS = ("output", "result", "error")  # under which a tool's answer is one text
_UNDERSCORE = lazy_pattern(r"_([a-z])")


# --- reading --------------------------------------------------------------------------------------


def is_content(value: Mapping[str, Any]) -> bool:
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
        at = FieldPath(where, "systemInstruction")
        system = request.get("systemInstruction")
        if system:
            messages.append(_read_system(system, at))
        value = _contents(request, where)
    if isinstance(value, str | Mapping):
        value = [value]
    contents = FieldPath(where, "contents").sequence(value, "a list of contents")
    for index, content in enumerate(contents):
        messages.append(read_content(content, FieldPath(where, f"contents[{index}]")))
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
    if isinstance(value, str):
        return Message("system", (Text(value),))
    content = at.mapping(value, "text or a mapping with parts")
    said = read_content({**content, "role": "system"}, at)
    role = content.get("role")
    return Message("system", said.parts, extra=pack_extra(SHAPE, {"role": role} if role else {}))


def read_content(value: object, at: FieldPath) -> Message:
    """One turn; `at` is its place in the input."""
    if isinstance(value, str):
        return Message("user", (Text(value),))
    value = at.mapping(value, "text or a mapping with parts")
    role = _ROLES.get(str(value.get("role") or "user"))
    if role is None:
        raise (at / ".role").none_of(value.get("role"), _ROLES)
    fields = unknown_fields(value, _CONTENT, at)
    listed = value.get("parts") or []
    listed = [listed] if isinstance(listed, str) else (at / ".parts").sequence(listed)
    parts = tuple(_read_part(part, at / f".parts[{index}]") for index, part in enumerate(listed))
    if value.get("role") in (None, "function"):
        fields["role"] = value.get("role")
    return Message(role, parts, extra=pack_extra(SHAPE, fields))


def _camel_fields(value: Mapping[str, Any]) -> Fields:
    """The fields that are set, named as the API names them; their Python package has `_`."""
    fields = Fields()
    for name, field in value.items():
        if field is not None:
            fields[_UNDERSCORE.sub(lambda found: found[1].upper(), str(name))] = field
    return fields


def _read_part(value: object, at: FieldPath) -> Part:
    if isinstance(value, str):
        return Text(value)
    part = _camel_fields(at.mapping(value, "text or a mapping"))
    kinds = [name for name in _DATA if name in part]
    if not kinds:
        unread = [name for name in part if name not in ("thought", "thoughtSignature")]
        raise (at / f".{unread[0]}" if unread else at).unknown_content()
    if len(kinds) > 1:
        raise (at / f".{kinds[1]}").wrong(f"a part can't be this and {kinds[0]} at once")
    kind = kinds[0]
    fields = unknown_fields(part, frozenset((kind,)), at)
    return _read_data(kind, part[kind], fields, at / f".{kind}")


def _read_data(kind: str, value: object, fields: Fields, at: FieldPath) -> Part:
    """One part by what it is; `fields` stand beside that."""
    if kind == "text":
        if not isinstance(value, str):
            raise at.wrong("must be text")
        return _read_text(value, fields)
    data = _camel_fields(at.mapping(value, "a mapping"))
    match kind:
        case "functionCall":
            return _read_call(data, fields, at)
        case "functionResponse":
            return _read_response(data, fields, at)
        case "inlineData" | "fileData":
            return _read_file(kind, data, fields, at)
        case _:
            return Opaque(to_json({kind: data, **fields}), SHAPE, kind, words_in(data))


def _read_text(text: str, fields: Fields) -> Part:
    if fields.get("thought") is not True:
        return Text(text, pack_extra(SHAPE, fields))
    del fields["thought"]
    signature = str(fields.pop("thoughtSignature", ""))
    return Thinking(text, signature=signature, shape=SHAPE, extra=pack_extra(SHAPE, fields))


def _read_call(call: Fields, fields: Fields, at: FieldPath) -> ToolCall:
    name = at.needed_text(call, "name")
    more = unknown_fields(call, _CALL, at)
    if more:
        fields["functionCall"] = more
    if not call.get("id"):
        fields["no_id"] = True
    if "args" not in call:
        fields["no_args"] = True
    return ToolCall(
        id=at.text(call, "id") or name,
        name=name,
        arguments=arguments_of(call.get("args", {})),
        extra=pack_extra(SHAPE, fields),
    )


def _read_response(response: Fields, fields: Fields, at: FieldPath) -> ToolResult:
    name = at.needed_text(response, "name")
    more = unknown_fields(response, _RESPONSE, at)
    if more:
        fields["functionResponse"] = more
    if not response.get("id"):
        fields["no_id"] = True
    fields["name"] = name
    answer = response.get("response", {})
    text, field = _answer_text(answer)
    fields["answer"] = field
    rest = list[Image | Opaque]()
    for index, part in enumerate((at / ".parts").sequence(response.get("parts") or [])):
        read = _read_part(part, at / f".parts[{index}]")
        if not isinstance(read, Image | Opaque):
            raise (at / f".parts[{index}]").unknown_content()
        rest.append(read)
    return ToolResult(
        id=at.text(response, "id") or name,
        text=text,
        failed=isinstance(answer, Mapping) and "error" in answer,
        rest=tuple(rest),
        extra=pack_extra(SHAPE, fields),
    )


def _answer_text(answer: object) -> tuple[str, str]:
    """The words of an answer, and the field they stood in; nothing where they are JSON."""
    if isinstance(answer, Mapping) and len(answer) == 1:
        ((name, value),) = answer.items()
        if name in _WORDS and isinstance(value, str):
            return value, name
    return to_json(answer), ""


def _read_file(kind: str, data: Fields, fields: Fields, at: FieldPath) -> Part:
    media_type = at.text(data, "mimeType")
    if media_type.startswith("image/"):
        more = unknown_fields(data, _BLOB if kind == "inlineData" else _FILE, at)
        if more:
            fields[kind] = more
        return Image(
            media_type=media_type,
            data=at.text(data, "data"),
            url=at.text(data, "fileUri"),
            extra=pack_extra(SHAPE, fields),
        )
    words = words_in({name: field for name, field in data.items() if name not in _BLOB})
    if media_type.startswith("text/") and kind == "inlineData":
        words = "\n".join(filter(None, (words, _decode_text(at.text(data, "data")))))
    return Opaque(to_json({kind: data, **fields}), SHAPE, media_type or kind, words)


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
    parts = list[Fields]()
    for message in system:
        parts += [_part(part) for part in parts_for_shape(message, SHAPE)]
    if parts:
        role = unpack_extra(system[0].extra, SHAPE).get("role")
        request["systemInstruction"] = {"parts": parts, **({"role": role} if role else {})}
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
            written_part = _part(part, names)
            if written_part != {"text": ""}:  # a signature may stand in a part without words
                parts.append(written_part)
        if not parts:
            continue
        fields = unpack_extra(message.extra, SHAPE)
        role = "model" if message.role == "assistant" else "user"
        written = {"role": role, **fields, "parts": parts}
        if out and _is_answer(out[-1]) and _is_answer(written):
            out[-1]["parts"] += parts
        else:
            out.append({name: field for name, field in written.items() if field is not None})
    return out


def _is_answer(content: Fields) -> bool:
    return all("functionResponse" in part for part in content["parts"])


def _part(part: Part, names: Mapping[str, str] | None = None) -> Fields:
    if isinstance(part, Opaque):
        return as_object(part.data)
    fields = unpack_extra(part.extra, SHAPE)
    match part:
        case Text(text):
            return {"text": replace_unsent(text), **fields}
        case Thinking(text, signature):
            proof = {"thoughtSignature": signature} if signature else {}
            return {"text": text, "thought": True, **proof, **fields}
        case ToolCall():
            return _call(part, fields)
        case ToolResult():
            return _response(part, fields, names or {})
        case Image(media_type, data, url):
            kind = "inlineData" if data else "fileData"
            source = {"data": data} if data else {"fileUri": url}
            more = fields.pop(kind, {})
            return {kind: {"mimeType": media_type or "image/png", **source, **more}, **fields}


def _call(call: ToolCall, fields: Fields) -> Fields:
    call_id = {} if fields.pop("no_id", False) else {"id": call.id}
    arguments = {"args": as_object(call.arguments)}
    if fields.pop("no_args", False):
        arguments = {}
    more = fields.pop("functionCall", {})
    return {"functionCall": {**call_id, "name": call.name, **arguments, **more}, **fields}


def _response(result: ToolResult, fields: Fields, names: Mapping[str, str]) -> Fields:
    call_id = {} if fields.pop("no_id", False) else {"id": result.id}
    name = names.get(result.id) or fields.get("name", "")
    fields.pop("name", None)
    more = fields.pop("functionResponse", {})
    field = str(fields.pop("answer", "error" if result.failed else "output"))
    texts = [result.text]
    files = list[Fields]()
    for part in result.rest:
        own = part_for_shape(part, SHAPE)
        if isinstance(own, Text):
            texts.append(own.text)  # only files can stand beside the answer
        elif own is not None:
            files.append(_part(own))
    answer = _answer("\n".join(filter(None, texts)), field)
    parts = {"parts": files} if files else {}
    response = {**call_id, "name": name, "response": answer, **parts, **more}
    return {"functionResponse": response, **fields}


def _answer(text: str, field: str) -> Fields:
    if field:
        return {field: replace_unsent(text)}
    try:
        answer = load_sendable(text)
    except (ValueError, RecursionError):  # somebody has shortened it
        answer = None
    return answer if isinstance(answer, dict) else {"output": replace_unsent(text)}
