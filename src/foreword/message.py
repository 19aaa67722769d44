"""One provider-neutral message, read from and written to the shapes of Anthropic and OpenAI.

A message is a role and parts: text, tool calls, tool results. It knows nothing of budgets or tags. Input that is
not a message is a `BadSource` with the path to the wrong value.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from foreword.errors import BadSource

Role = Literal["system", "user", "assistant", "tool"]
ROLES = ("system", "user", "assistant", "tool")
NO_RESULT = "(no result was recorded)"
DATA_ADDRESS = re.compile(r"^data:([^;,]+);base64,(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: str  # JSON, as the model wrote it


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool answered."""

    id: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part we carry but do not read, such as an image or a thinking block."""

    data: str  # JSON

    @property
    def is_shown(self) -> bool:
        """Whether it may be shown to any provider: a thinking block goes back only to the one it came from."""
        return "thinking" not in str(json.loads(self.data).get("type", ""))


Part = Text | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """A role and its parts."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All of it as one text, tool calls and results included."""
        return "\n".join(_spoken(part) for part in self.parts)

    content = text

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls it makes."""
        return tuple(part.id for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[str, ...]:
        """The ids of the tool calls it answers."""
        return tuple(part.id for part in self.parts if isinstance(part, ToolResult))

    def with_mark(self, mark: str) -> Message:
        """The same message with one more line of text at its end."""
        return replace(self, parts=(*self.parts, Text(mark)))


def _spoken(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name}({arguments})]"
        case ToolResult(text=text):
            return text
        case Opaque(data):
            return data


# --- reading ---------------------------------------------------------------------------------------------------


def read_messages(values: object, where: str) -> tuple[Message, ...]:
    """Messages from Anthropic- or OpenAI-shaped dicts; `where` names the source in errors."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise BadSource(where, "messages: must be a list of messages")
    return tuple(read_message(value, where, f"messages[{index}]") for index, value in enumerate(values))


def read_message(value: object, where: str = "message", path: str = "message") -> Message:
    """One message from an Anthropic- or OpenAI-shaped dict (or a `Message`, as it is)."""
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise BadSource(where, f"{path}: must be a mapping with role and content")
    role: Any = "system" if value.get("role") == "developer" else value.get("role")
    if role not in ROLES:
        raise BadSource(where, f"{path}.role: {role!r} is not one of {', '.join(ROLES)}")
    parts = [*_read_content(value, role, where, path), *_read_openai_calls(value, where, path)]
    return Message(role, tuple(parts))


def _read_content(value: Mapping[str, Any], role: str, where: str, path: str) -> Iterable[Part]:
    content = value.get("content")
    if role == "tool":
        return [ToolResult(str(value.get("tool_call_id", "")), _plain(content))]
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        raise BadSource(where, f"{path}.content: must be text or a list of parts")
    return [_read_part(part, where, f"{path}.content[{index}]") for index, part in enumerate(content)]


def _read_part(part: object, where: str, path: str) -> Part:
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, Mapping):
        raise BadSource(where, f"{path}: must be a mapping with a type")
    match part.get("type"):
        case "text":
            return Text(str(part.get("text", "")))
        case "tool_use":
            return ToolCall(str(part.get("id", "")), str(part.get("name", "")), _json(part.get("input", {})))
        case "tool_result":
            return ToolResult(str(part.get("tool_use_id", "")), _plain(part.get("content")), bool(part.get("is_error")))
        case _:
            return Opaque(_json(part))


def _read_openai_calls(value: Mapping[str, Any], where: str, path: str) -> Iterable[ToolCall]:
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadSource(where, f"{path}.tool_calls: must be a list of calls")
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise BadSource(where, f"{path}.tool_calls[{index}].function: must be a mapping with a name")
        arguments = function.get("arguments", "{}")
        yield ToolCall(
            str(call.get("id", "")),
            str(function.get("name", "")),
            arguments if isinstance(arguments, str) else _json(arguments),
        )


def _plain(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(part["text"]) if isinstance(part, Mapping) and "text" in part else _json(part) for part in content
        )
    return _json(content)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- writing ---------------------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Anthropic's shape: tool results travel in user messages, neighbours of one role are joined."""
    out: list[dict[str, Any]] = []
    for message in mend(messages)[0]:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [_anthropic_part(part) for part in message.parts if not isinstance(part, Text) or part.text.strip()]
        if not blocks:
            continue
        if out and out[-1]["role"] == role:
            out[-1]["content"].extend(blocks)
        else:
            out.append({"role": role, "content": blocks})
    return out


def _anthropic_part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolCall(id, name, arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": _arguments(arguments)}
        case ToolResult(id, text, failed):
            result: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": text}
            return result | ({"is_error": True} if failed else {})
        case Opaque(data):
            return _image_for_anthropic(json.loads(data))


def _image_for_anthropic(block: dict[str, Any]) -> dict[str, Any]:
    """An image as Anthropic wants it; any other block as it is."""
    if block.get("type") != "image_url":
        return block
    address = str((block.get("image_url") or {}).get("url", ""))
    found = DATA_ADDRESS.match(address)
    if found is None:
        return {"type": "image", "source": {"type": "url", "url": address}}
    return {"type": "image", "source": {"type": "base64", "media_type": found[1], "data": found[2]}}


def _image_for_openai(block: dict[str, Any]) -> dict[str, Any]:
    """An image as OpenAI wants it; any other block as it is."""
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict):
        return block
    address = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    return {"type": "image_url", "image_url": {"url": address}}


def _arguments(arguments: str) -> object:
    try:
        value = json.loads(arguments)
    except ValueError:
        return {"arguments": arguments}
    return value if isinstance(value, dict) else {"arguments": value}


def to_openai(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """OpenAI chat's shape: every tool result is a message of its own."""
    return [shaped for message in mend(messages)[0] for shaped in _openai_messages(message)]


def _openai_messages(message: Message) -> Iterable[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.id, "content": part.text}
    said = [part for part in message.parts if isinstance(part, Text) or (isinstance(part, Opaque) and part.is_shown)]
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if not said and not calls:
        return
    role = "user" if message.role == "tool" else message.role
    shaped: dict[str, Any] = {"role": role, "content": _openai_content(said)}
    if calls:
        shaped["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    yield shaped


def _openai_content(parts: Sequence[Text | Opaque]) -> str | list[dict[str, Any]] | None:
    if not parts:
        return None
    if all(isinstance(part, Text) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, Text))
    return [
        _image_for_openai(json.loads(part.data)) if isinstance(part, Opaque) else {"type": "text", "text": part.text}
        for part in parts
    ]


def together(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group messages so that a tool call and its results are never parted."""
    starts = list[int]()  # where each group begins
    home = dict[str, int]()  # call id -> the message that makes it
    for at, message in enumerate(messages):
        starts.append(at)
        first = min((home[call] for call in message.results if call in home), default=at)
        while starts[-1] > first:
            starts.pop()
        home |= dict.fromkeys(message.calls, at)
    return [tuple(messages[start:end]) for start, end in pairwise([*starts, len(messages)])]


def mend(messages: Iterable[Message]) -> tuple[list[Message], list[str]]:
    """The messages as providers accept them, and what had to be done: every call has its result right behind it.

    A result that nobody asked for becomes plain text; a call that was never answered gets a result that says so,
    unless it is the last word: then its result is still to come. An id may be used again in a later turn.
    """
    messages = list(messages)
    answers, ids = _answers(messages), set[str]()
    used = {id(result) for result in answers.values()}
    mended, done = list[Message](), list[str]()
    for at, message in enumerate(messages):
        parts, results = list[Part](), list[Message]()
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                part = replace(part, id=_fresh(part.id, ids))
                answer = answers.get((at, place))
                if answer is None and at < len(messages) - 1:
                    done.append(f"call {part.id!r} was never answered")
                    answer = ToolResult(part.id, NO_RESULT)
                results += [Message("tool", (replace(answer, id=part.id),))] if answer else []
            parts += _unasked(part, used, done)
        if parts or not message.parts:
            mended.append(replace(message, parts=tuple(parts)))
        mended += results
    return mended, done


def _fresh(call: str, ids: set[str]) -> str:
    """An id nobody has used before: providers want each call to have its own."""
    fresh, times = call or "call", 1
    while fresh in ids:
        times += 1
        fresh = f"{call or 'call'}_{times}"
    ids.add(fresh)
    return fresh


def _answers(messages: Sequence[Message]) -> dict[tuple[int, int], ToolResult]:
    """For each call, by its message and its place there, the first result behind it that no earlier call took."""
    waiting, answers = dict[str, deque[tuple[int, int]]](), dict[tuple[int, int], ToolResult]()
    for at, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                waiting.setdefault(part.id, deque()).append((at, place))
            elif isinstance(part, ToolResult) and waiting.get(part.id):
                answers[waiting[part.id].popleft()] = part
    return answers


def _unasked(part: Part, used: set[int], done: list[str]) -> tuple[Part, ...]:
    """What is left of a part once results stand behind their calls."""
    if not isinstance(part, ToolResult):
        return (part,)
    if id(part) in used:
        return ()
    done.append(f"result {part.id!r} answers no call that is there; it is shown as text")
    return (Text(part.text),)
