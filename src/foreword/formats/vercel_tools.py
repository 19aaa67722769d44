"""The tools in messages of Vercel's AI SDK: a call and its result are one part there, two here.

A part has a state. Most follow from whether there is a result and whether it failed; the others (a
call that is still written, one that waits for a person or was denied) are carried. What a tool gave
may be any JSON: it is read as text, with the pictures of MCP's results and of the SDK's own
`content`, and is the same JSON again when it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from foreword.formats.fields import (
    LAYOUT,
    FieldPath,
    Fields,
    arguments_of,
    as_object,
    load_sendable,
    opaque,
    pack_extra,
    read_answer,
    replace_unsent,
    to_json,
    unknown_fields,
    unpack_extra,
    write_answer,
)
from foreword.message import NO_RESULT, Image, Opaque, Part, Text, ToolCall, ToolResult

SHAPE = "vercel"
DENIED = "not allowed by the user"
_DYNAMIC = "dynamic-tool"
# what goes with a call as it came: about it, or what the SDK shows nobody but the user
_CARRIED = ("title", "rawInput", "inputEncoding", "approval", "toolMetadata", "preliminary")
_PART = frozenset(
    (
        *("type", "toolName", "toolCallId", "state", "input", "output", "errorText", "isError"),
        *_CARRIED,
    )
)
_APPROVAL = frozenset(
    (
        *("id", "approved", "reason", "requestReason", "isAutomatic", "signature"),
        *("descriptor", "inputSchemaInput"),
    )
)
_MCP_RESULT = frozenset(("content", "isError", "_meta"))
_MCP_PARTS = frozenset(("text", "image", "audio", "resource", "resource_link"))
_PICTURES = frozenset(("image", "media", "image-data", "file-data"))
_PICTURE = frozenset(("type", "data", "mediaType", "mimeType"))
# marks of a result: how the text of its output is to be read, where it is more than a string
_OUTPUT = "output"
_JSON = "json"
_NULL = "null"  # a tool that gives nothing, too: the SDK takes no part without an output
_MCP = "mcp"  # {"content": [...], "isError": ...}
_CONTENT = "content"  # {"type": "content", "value": [...]}
_BESIDE = "beside"  # fields of an output beside its parts
_OUTPUT_DENIED = pack_extra(SHAPE, {_OUTPUT: "denied"})
# mark of a call: where its arguments stood, if not as an object in `input`
_INPUT = "input_is"
_ABSENT = "absent"


# --- reading --------------------------------------------------------------------------------------


def read_tool(part: Mapping[str, Any], at: FieldPath) -> tuple[ToolCall, ToolResult | None]:
    """The call in a tool's part of the interface, and its result where it has one."""
    call = read_call(part, at)
    result = _read_result(part, call.id, at)
    is_denied = result is not None and _OUTPUT_DENIED in result.extra
    if result is not None and not is_denied:
        return call, result
    state = at.text(part, "state") or ("output-denied" if is_denied else "input-available")
    fields = {"state": state, **unpack_extra(call.extra, SHAPE)}
    return replace(call, extra=pack_extra(SHAPE, fields)), result


def read_call(part: Mapping[str, Any], at: FieldPath) -> ToolCall:
    """A call without its state."""
    fields = unknown_fields(part, _PART, at)
    for name in _CARRIED:
        if part.get(name) is not None:
            fields[name] = part[name]
    kind = at.text(part, "type")
    name = at.text(part, "toolName") or kind.removeprefix("tool-")
    if kind == _DYNAMIC:
        fields["type"] = _DYNAMIC
    given = part.get("input")
    if given is None and "input" in part:
        fields["input"] = None
    if given is None and "rawInput" in fields:
        given = fields.pop("rawInput")
        fields[_INPUT] = "raw text" if isinstance(given, str) else "raw"
    elif given is None:
        fields[_INPUT] = _ABSENT
    elif isinstance(given, str):
        fields[_INPUT] = "text"
    return ToolCall(
        id=at.text(part, "toolCallId") or name,
        name=name,
        arguments=arguments_of(given),
        extra=pack_extra(SHAPE, fields),
    )


def _read_result(part: Mapping[str, Any], call: str, at: FieldPath) -> ToolResult | None:
    state = part.get("state")
    denial = _denial(part, at)
    if part.get("errorText") is not None or state == "output-error":
        if part.get("output") is not None:
            raise (at / ".output").unknown_content()
        return ToolResult(call, at.text(part, "errorText"), failed=True)
    output = part.get("output")
    if output is not None:
        return _read_output(output, call, at / ".output", is_failed=bool(part.get("isError")))
    if state == "output-available":
        return ToolResult(call, "", extra=pack_extra(SHAPE, {_OUTPUT: _NULL}))
    if denial:
        return ToolResult(call, denial, failed=True, extra=_OUTPUT_DENIED)
    return None


def read_model_result(part: Mapping[str, Any], at: FieldPath) -> ToolResult:
    """A `tool-result` in a message for a model: its output says what it is."""
    unknown_fields(part, _PART | {"callProviderMetadata"}, at)
    call = at.first_text(part, "toolCallId", "toolName")
    output = part.get("output")
    place = at / ".output"
    is_failed = bool(part.get("isError"))
    match output:
        case {"type": "execution-denied"}:
            reason = place.text(place.mapping(output), "reason")
            return ToolResult(call, _denial_text(reason), failed=True)
        case {"type": "text" | "json" | "error-text" | "error-json" as kind, "value": value}:
            unknown_fields(place.mapping(output), frozenset(("type", "value")), place)
            is_text = isinstance(value, str)
            is_error = kind.startswith("error") or is_failed
            mark = {} if is_text or is_error else {_OUTPUT: _JSON}
            return ToolResult(
                call, arguments_of(value), failed=is_error, extra=pack_extra(SHAPE, mark)
            )
        case None:
            return ToolResult(call, "", failed=is_failed)
        case _:
            return _read_output(output, call, place, is_failed=is_failed)


def _denial(part: Mapping[str, Any], at: FieldPath) -> str:
    """What a person said who did not allow a call; nothing where nobody has decided, or where the
    call is still to be made."""
    if part.get("approval") is None:
        return ""
    place = at / ".approval"
    approval = place.mapping(part["approval"], "a mapping")
    unknown_fields(approval, _APPROVAL, place)
    if approval.get("approved") is False or part.get("state") == "output-denied":
        return _denial_text(place.text(approval, "reason"))
    return ""


def _denial_text(reason: str) -> str:
    return ": ".join(filter(None, (DENIED, reason)))


def _read_output(output: object, call: str, at: FieldPath, *, is_failed: bool) -> ToolResult:
    if isinstance(output, str):
        return ToolResult(call, output, failed=is_failed)
    if not isinstance(output, Mapping) or _parts_field(output) == "":
        mark = pack_extra(SHAPE, {_OUTPUT: _JSON})
        return ToolResult(call, to_json(output), failed=is_failed, extra=mark)
    name = _parts_field(output)

    def read(part: object, index: int) -> Part:
        place = at / f".{name}[{index}]"
        return _read_display_part(place.mapping(part), place)

    text, rest, layout = read_answer(output[name], read)
    beside = {field: value for field, value in output.items() if field != name}
    fields: Fields = {_OUTPUT: _MCP if name == "content" else _CONTENT, _BESIDE: beside, **layout}
    return ToolResult(
        id=call,
        text=text,
        failed=is_failed or output.get("isError") is True,
        rest=rest,
        extra=pack_extra(SHAPE, fields),
    )


def _parts_field(output: Mapping[str, Any]) -> str:
    """The field with the parts of an output, where it has parts: MCP's way or the SDK's."""
    content = output.get("content")
    if isinstance(content, list) and content and output.keys() <= _MCP_RESULT:
        kinds = [part.get("type") if isinstance(part, Mapping) else None for part in content]
        if all(kind in _MCP_PARTS for kind in kinds):
            return "content"
    is_content = output.get("type") == "content" and output.keys() == {"type", "value"}
    return "value" if is_content and isinstance(output["value"], list) else ""


def _read_display_part(part: Mapping[str, Any], at: FieldPath) -> Text | Image | Opaque:
    """A part of what a tool shows."""
    kind = at.text(part, "type")
    media_type = at.text(part, "mediaType") or at.text(part, "mimeType")
    if kind == "text":
        fields = unknown_fields(part, frozenset(("type", "text")), at)
        return Text(at.text(part, "text"), pack_extra(SHAPE, fields))
    is_picture = kind in ("image", "image-data") or media_type.startswith("image/")
    if kind in _PICTURES and is_picture and isinstance(part.get("data"), str):
        fields = {"type": kind, **unknown_fields(part, _PICTURE, at)}
        for name in ("mediaType", "mimeType"):
            if name in part:
                fields[name] = part[name]
        return Image(media_type or "image/png", part["data"], extra=pack_extra(SHAPE, fields))
    return opaque(part, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def write_tool(call: ToolCall, result: ToolResult | None) -> Fields:
    """The part of a call and its result. A call that came without one goes back in the state in
    which it came."""
    fields = unpack_extra(call.extra, SHAPE)
    kind = fields.pop("type", f"tool-{call.name}")
    state = fields.pop("state", "")
    part: Fields = {"type": kind}
    if kind == _DYNAMIC:
        part["toolName"] = call.name
    part["toolCallId"] = call.id
    part |= _write_input(call, fields)
    if result is None or (state and _is_by_state(result)):
        return {**part, "state": state or "input-available", **fields}
    return {**part, **_write_result(result), **fields}


def _is_by_state(result: ToolResult) -> bool:
    """Whether a result is no more than what the state of its call says: that it was denied, or
    never answered."""
    return result.extra == _OUTPUT_DENIED or result == ToolResult(result.id, NO_RESULT)


def _write_input(call: ToolCall, fields: Fields) -> Fields:
    mark = fields.pop(_INPUT, "")
    if mark == _ABSENT:
        return {}
    name = "rawInput" if mark.startswith("raw") else "input"
    if mark.endswith("text"):
        return {name: replace_unsent(call.arguments)}
    if not call.arguments.strip():
        return {name: {}}
    return {name: _value_of(call.arguments)}


def _write_result(result: ToolResult) -> Fields:
    fields = unpack_extra(result.extra, SHAPE)
    mark = fields.get(_OUTPUT)
    if mark in (_MCP, _CONTENT) or result.rest:
        return {"state": "output-available", "output": _write_parts(result, fields)}
    if result.failed:
        return {"state": "output-error", "errorText": replace_unsent(result.text)}
    if mark == _NULL and not result.text:
        return {"state": "output-available", "output": None}
    output = _value_of(result.text) if mark == _JSON else replace_unsent(result.text)
    return {"state": "output-available", "output": output}


def _write_parts(result: ToolResult, fields: Fields) -> Fields:
    """An output with parts: as it came, else as MCP has it."""
    layout = fields.get(LAYOUT)
    content = write_answer(result, layout, SHAPE, _write_display_part)
    if isinstance(content, str):
        content = [_write_display_part(Text(content))] if content or layout else []
    beside = fields.get(_BESIDE)
    if not isinstance(beside, dict):
        beside = {"isError": True} if result.failed else {}
    return {**beside, "value" if fields.get(_OUTPUT) == _CONTENT else "content": content}


def _write_display_part(part: Part) -> Fields:
    match part:
        case Text(text, extra):
            return {"type": "text", "text": replace_unsent(text), **unpack_extra(extra, SHAPE)}
        case Image(data="", url=url):
            return {"type": "text", "text": f"[image {url}]"}
        case Image(media_type, data, extra=extra):
            fields = unpack_extra(extra, SHAPE)
            if "type" in fields:
                return {"data": data, **fields}
            return {"type": "image", "data": data, "mimeType": media_type}
        case Opaque(data):
            return as_object(data)
        case _:
            raise TypeError(type(part).__name__)


def _value_of(text: str) -> Any:
    """The JSON value in a text; the text itself where it has become something else."""
    try:
        return load_sendable(text)
    except (ValueError, RecursionError):
        return replace_unsent(text)
