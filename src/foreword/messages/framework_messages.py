"""Messages of frameworks that are only read: AutoGen's, which have a `type` and a `source`;
Haystack's, whose parts are named by their key; smolagents', which have two roles of their own; and
AG2's, which may hold several results. The last two are messages of OpenAI's chat otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foreword.messages import blocks
from foreword.messages.fields import SAME_ROLES, FieldPath, Fields
from foreword.messages.message import Message, Role, edit, keep
from foreword.messages.parts import Image, Part, Text, Thinking, ToolCall, ToolResult

# What a message of a framework is: messages, or dicts in another shape.
Converter = Callable[[Mapping[str, Any], FieldPath], Sequence[Message | Mapping[str, Any]]]
_AUTOGEN: dict[str, Role] = {
    "SystemMessage": "system",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
}
_SMOLAGENTS = {"tool-call": "assistant", "tool-response": "user"}
_SHAPE = "openai"  # of names and thoughts: they come from servers that speak it


def converter(value: Mapping[str, Any]) -> Converter | None:
    """Return what converts a message of one of these frameworks; None for any other dict."""
    kind, role, content = value.get("type"), value.get("role"), value.get("content")
    if isinstance(kind, str) and kind in _AUTOGEN and role is None:
        return _of_autogen
    if not isinstance(role, str):
        return None
    if role in _SMOLAGENTS:
        return lambda value, at: [{**value, "role": _SMOLAGENTS[role]}]
    if value.get("tool_responses"):
        return _of_ag2
    if "meta" not in value or not isinstance(content, list):
        return None
    is_haystacks = all(isinstance(part, Mapping) and len(part) == 1 for part in content)
    return _of_haystack if is_haystacks else None


def fields_of(value: Any) -> Fields:
    """Return the fields of an object of Haystack or smolagents that a model reads."""
    if hasattr(value, "to_dict"):
        return value.to_dict()  # type: ignore[no-any-return]
    fields = {"role": str(value.role.value), "content": value.content}
    return fields | ({"tool_calls": value.tool_calls} if value.tool_calls else {})


def _of_ag2(value: Mapping[str, Any], at: FieldPath) -> list[Mapping[str, Any]]:
    """The results, and what a user says with them; a tool's own words only repeat them."""
    messages = [*(at / ".tool_responses").sequence(value["tool_responses"])]
    if value["role"] != "tool":
        messages.append({name: value[name] for name in value if name != "tool_responses"})
    return messages


def _of_autogen(value: Mapping[str, Any], at: FieldPath) -> list[Message]:
    parts = [*blocks.read_content(value.get("content"), at / ".content", _read_autogen)]
    thought = at.text(value, "thought")
    if thought:  # beside calls it is what was said with them
        has_calls = any(isinstance(part, ToolCall) for part in parts)
        parts.insert(0, Text(thought) if has_calls else _thinking(thought))
    return [_message(_AUTOGEN[value["type"]], parts, name=value.get("source"))]


def _autogen_view(block: Any, at: FieldPath) -> Part | None:
    match at.mapping(block, "text or a mapping"):
        case {"arguments": arguments}:
            call, name = at.needed_text(block, "id"), at.needed_text(block, "name")
            return ToolCall(call, name, blocks.json_text(arguments))
        case {"data": str(data)}:
            return Image("image/png", data)
    text, failed = blocks.json_text(block.get("content")), bool(block.get("is_error"))
    return ToolResult(at.needed_text(block, "call_id"), text, failed)


_read_autogen = blocks.reader(_autogen_view, "autogen")


def _of_haystack(value: Mapping[str, Any], at: FieldPath) -> list[Message]:
    role = at.role(value, SAME_ROLES)
    parts = blocks.read_content(value["content"], at / ".content", _read_haystack)
    return [_message(role, parts, name=value.get("name"))]


def _haystack_view(part: Any, at: FieldPath) -> Part | None:
    match at.mapping(part, "a mapping with one key"):
        case {"text": str(text)}:
            return Text(text)
        case {"reasoning": {"reasoning_text": str(text)}}:
            return _thinking(text)
        case {"image": {"base64_image": str(data), **more}}:
            return Image(str(more.get("mime_type") or "image/png"), data)
        case {"tool_call": Mapping() as call}:
            name, arguments = at.needed_text(call, "tool_name"), call.get("arguments")
            return ToolCall(at.text(call, "id") or name, name, blocks.json_text(arguments))
        case {"tool_call_result": Mapping() as result}:
            origin = (at / ".origin").mapping(result.get("origin"), "a call")
            text, rest = blocks.result_view(result.get("result"), at / ".result", _read_haystack)
            call_id = at.first_text(origin, "id", "tool_name")
            return ToolResult(call_id, text, bool(result.get("error")), rest=rest)
    return blocks.opaque({"type": next(iter(part), ""), **part}, "haystack")


_read_haystack = blocks.reader(_haystack_view, "haystack")


def _thinking(text: str) -> Thinking:
    return keep(Thinking(text, shape=_SHAPE), _SHAPE, {"reasoning_content": text})


def _message(role: Role, parts: Sequence[Part], *, name: Any) -> Message:
    """A message of a framework; AutoGen calls the one user there is by the role."""
    message = Message(role, tuple(parts))
    if not name or name == role:
        return message
    return edit(keep(message, _SHAPE, {"role": role, "name": name}))
