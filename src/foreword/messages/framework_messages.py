"""Messages of frameworks that are only read, as those of the APIs of OpenAI and Anthropic.

AutoGen's have a `type` and a `source`; the parts of Haystack's are named by their key; smolagents
has two roles of its own, whose messages are words; AG2's may hold several results. What is said is
read as a message of OpenAI's chat, which has names and thoughts; results of tools as Anthropic's,
which may fail and hold pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foreword.messages.blocks import json_text
from foreword.messages.fields import FieldPath, Fields

Converter = Callable[[Mapping[str, Any], FieldPath], list[Fields]]
_AUTOGEN = {
    "SystemMessage": "system",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
}
_SMOLAGENTS = {"tool-call": "assistant", "tool-response": "user"}


def converter(value: Mapping[str, Any]) -> Converter | None:
    """Return what converts a message of one of these frameworks; None for any other dict."""
    kind, role, content = value.get("type"), value.get("role"), value.get("content")
    if isinstance(kind, str) and kind in _AUTOGEN and role is None:
        return _of_autogen
    if isinstance(role, str) and role in _SMOLAGENTS:
        return _of_smolagents
    if value.get("tool_responses") and role is not None:
        return _of_ag2
    parts = content if isinstance(content, list) and "meta" in value else [None]
    if isinstance(role, str) and all(
        isinstance(part, Mapping) and len(part) == 1 for part in parts
    ):
        return _of_haystack
    return None


def fields_of(value: Any) -> Fields:
    """Return the fields of an object of Haystack or smolagents that a model reads."""
    if hasattr(value, "to_dict"):
        return value.to_dict()  # type: ignore[no-any-return]
    fields = {"role": str(value.role.value), "content": value.content}
    return fields | ({"tool_calls": value.tool_calls} if value.tool_calls else {})


def _of_smolagents(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    return [{**value, "role": _SMOLAGENTS[value["role"]]}]


def _of_ag2(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    """The results, and what a user says with them; a tool's own words only repeat them."""
    messages = [*(at / ".tool_responses").sequence(value["tool_responses"])]
    if value["role"] != "tool":
        messages.append({name: value[name] for name in value if name != "tool_responses"})
    return messages


def _of_autogen(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    role = _AUTOGEN[value["type"]]
    content, thought = value.get("content"), value.get("thought")
    if isinstance(content, str):
        return [_said(role, content, [], thought, value.get("source"))]
    blocks, calls = list[Any](), list[Fields]()
    for index, part in enumerate((at / ".content").sequence(content, "text or a list of parts")):
        place = at / f".content[{index}]"
        if isinstance(part, str):
            blocks.append({"type": "text", "text": part})
        elif role == "tool":
            call = place.needed_text(place.mapping(part, "a result"), "call_id")
            blocks.append(_result(call, part.get("content"), part.get("is_error")))
        elif "arguments" in place.mapping(part, "text or a mapping"):
            calls.append(_call(part.get("id"), part.get("name"), part["arguments"]))
        else:
            blocks.append(_image_url(place.needed_text(part, "data"), "image/png"))
    if role == "tool":
        return [{"role": "user", "content": blocks}]
    if calls and thought:  # what is said with the calls
        blocks, thought = [{"type": "text", "text": thought}], None
    return [_said(role, blocks, calls, thought, value.get("source"))]


def _of_haystack(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    blocks, calls, results = list[Fields](), list[Fields](), list[Fields]()
    thought = None
    for index, part in enumerate(value["content"]):
        place = at / f".content[{index}]"
        match part:
            case {"reasoning": {"reasoning_text": str(text)}}:
                thought = text
            case {"tool_call": Mapping() as call}:
                name = call.get("tool_name")
                calls.append(_call(call.get("id") or name, name, call.get("arguments")))
            case {"tool_call_result": Mapping() as result}:
                origin = (place / ".origin").mapping(result.get("origin"), "a call")
                answer = result.get("result")
                if isinstance(answer, list):
                    answer = [_haystack_block(each, place, for_result=True) for each in answer]
                call_id = origin.get("id") or origin.get("tool_name")
                results.append(_result(call_id, answer, result.get("error")))
            case _:
                blocks.append(_haystack_block(part, place))
    if results:
        return [{"role": "user", "content": results}]
    return [_said(str(value["role"]), blocks, calls, thought, value.get("name"))]


def _haystack_block(part: Any, at: FieldPath, *, for_result: bool = False) -> Fields:
    match at.mapping(part, "a mapping with one key"):
        case {"text": str(text)}:
            return {"type": "text", "text": text}
        case {"image": {"base64_image": str(data), **more}}:
            media_type = more.get("mime_type") or "image/png"
            if for_result:
                source = {"type": "base64", "media_type": media_type, "data": data}
                return {"type": "image", "source": source}
            return _image_url(data, str(media_type))
    return {"type": next(iter(part), ""), **part}


def _said(
    role: str, content: str | Sequence[Any], calls: list[Fields], thought: Any, name: Any
) -> Fields:
    message: Fields = {"role": role, "content": content or None}
    name = None if name == role else name  # what AutoGen calls the one user there is
    beside = {"tool_calls": calls, "reasoning_content": thought, "name": name}
    return message | {field: value for field, value in beside.items() if value}


def _call(call: Any, name: Any, arguments: Any) -> Fields:
    function = {"name": name, "arguments": json_text(arguments)}
    return {"id": call, "type": "function", "function": function}


def _result(call: Any, content: Any, failed: Any) -> Fields:
    error = {"is_error": True} if failed else {}
    return {"type": "tool_result", "tool_use_id": call, "content": content, **error}


def _image_url(data: str, media_type: str) -> Fields:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
