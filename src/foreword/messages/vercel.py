"""Messages of Vercel's AI SDK: those of its interface (`parts`), and those for a model (`content`).

A message of the interface holds a whole turn, and a part of a tool holds a call and its result.
Read are the steps of the turn, each with the slice of the message that it is; a part of a tool is
in the slice of its call and in that of its result. Normal form, which is what `to_vercel` writes:
messages of the interface, with the slices of one message joined again, and what another provider's
assistant did in one turn as one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import takewhile
from typing import Any

from foreword.messages.blocks import (
    json_text,
    opaque,
    own_json,
    parts_for_shape,
    result_parts,
    result_view,
    written,
)
from foreword.messages.call_pairs import NO_RESULT, mend
from foreword.messages.fields import (
    FieldPath,
    Fields,
    address_of,
    image_from_address,
    json_or_text,
    sendable,
)
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
from foreword.messages.words import words_in

SHAPE = "vercel"
DENIED = "not allowed by the user"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "data": "user",
}
_START = "step-start"
_STEERING = "steering-message"  # what the user said while the assistant was at it
_DYNAMIC = "dynamic-tool"
# Parts that stand only in messages for a model.
_MODEL_PARTS = frozenset(
    ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")
)
_ANSWER = ("state", "output", "errorText")  # the fields of a tool's part that hold its result
_MCP_RESULT = frozenset(("content", "isError", "_meta"))
_MCP_PARTS = ("text", "image", "audio", "resource", "resource_link")
_PICTURES = frozenset(("image", "media", "image-data", "file-data"))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message of the SDK: parts with a type, or calls and results as content."""
    parts = value.get("parts")
    if isinstance(parts, list) and "role" in value:
        is_empty = not parts and "id" in value
        return is_empty or any(isinstance(part, Mapping) and "type" in part for part in parts)
    content = value.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and _is_model_part(part):
            return True
    return False


def _is_model_part(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content is the SDK's: by its type, or a picture or file in its way."""
    kind = part.get("type")
    if kind in ("image", "file"):
        return "mediaType" in part or isinstance(part.get(kind), str)
    return isinstance(kind, str) and kind in _MODEL_PARTS


# --- reading --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Step:
    """One step of a turn: what is said and called, and the results; each with its JSON."""

    raw: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    answers: list[ToolResult] = field(default_factory=list)
    answers_raw: list[Any] = field(default_factory=list)
    is_steering: bool = False

    def ends_before(self, kind: str, part: Part) -> bool:
        """Whether a part begins another step: a boundary does, and words behind results."""
        if not self.parts and not self.is_steering:
            return False
        if kind in (_START, _STEERING) or self.is_steering:
            return True
        return bool(self.answers) and not isinstance(part, ToolCall)


def read_message(value: Mapping[str, Any], at: FieldPath) -> Sequence[Message]:
    """The messages that one of theirs was made of, each with the slice of it that it is."""
    role = at.role(value, _ROLES)
    name = "parts" if "parts" in value else "content"
    steps = [_Step()]
    for index, raw in enumerate((at / f".{name}").sequence(value.get(name))):
        place = at / f".{name}[{index}]"
        kind = place.text(place.mapping(raw), "type")
        part, answer = _read_part(raw if name == "parts" else _interface_part(raw, place), place)
        if name == "content" and kind == "tool-result" and answer is not None:
            part, answer = answer, None
        if steps[-1].ends_before(kind, part):
            steps.append(_Step())
        step = steps[-1]
        step.raw.append(raw)
        if kind == _STEERING:
            step.is_steering = True
            for at_inner, inner in enumerate((place / ".parts").sequence(raw.get("parts"))):
                step.parts.append(_read_part(inner, place / f".parts[{at_inner}]")[0])
        elif kind != _START:
            step.parts.append(part)
        if answer is not None:
            step.answers.append(answer)
            step.answers_raw.append(raw)
    if len(steps) > 1 and not steps[-1].parts and not steps[-1].is_steering:
        steps[-2].raw += steps.pop().raw  # a step that has only begun
    messages = list[Message]()
    for step in steps:
        said_by: Role = "user" if step.is_steering else role
        said = Message(said_by, tuple(step.parts))
        messages.append(keep(said, SHAPE, {**value, name: step.raw}))
        if step.answers:
            answers = Message("tool", tuple(step.answers))
            messages.append(keep(answers, SHAPE, {**value, name: step.answers_raw}))
    return messages


def _read_part(part: object, at: FieldPath) -> tuple[Part, ToolResult | None]:
    """What a part of the interface says, and the result in the part of a call."""
    part = at.mapping(part)
    match part:
        case {"type": "text"}:
            return keep(Text(at.text(part, "text")), SHAPE, part), None
        case {"type": "reasoning"}:
            return keep(Thinking(at.text(part, "text"), shape=SHAPE), SHAPE, part), None
        case {"type": "file"}:
            return keep(_read_file(part, at), SHAPE, part), None
        case {"type": "dynamic-tool"}:
            name = at.needed_text(part, "toolName")
        case {"type": str(kind), "toolCallId": _} if kind.startswith("tool-"):
            name = kind.removeprefix("tool-")
        case {"type": str(kind)} if kind:
            return opaque(part, SHAPE), None
        case _:
            raise at.missing_type(part)
    given = part.get("rawInput") if part.get("input") is None else part["input"]
    call = ToolCall(at.text(part, "toolCallId") or name, name, json_text(given))
    return keep(call, SHAPE, part), _read_result(part, call.id, at)


def _interface_part(part: Mapping[str, Any], at: FieldPath) -> Fields:
    """A part of a message for a model as the interface has it."""
    kind = part.get("type")
    renamed = dict(part)
    is_tool = kind in ("tool-call", "tool-result")
    if "providerOptions" in part:
        name = "callProviderMetadata" if is_tool else "providerMetadata"
        renamed[name] = renamed.pop("providerOptions")
    if is_tool:
        at.needed_text(part, "toolCallId")
        renamed["type"] = f"tool-{at.needed_text(part, 'toolName')}"
        del renamed["toolName"]
        if kind == "tool-result":
            renamed |= _interface_answer(renamed.pop("output", None), at / ".output")
    elif kind in ("image", "file"):
        data = renamed.pop("data", None) or renamed.pop("image", None)
        if isinstance(data, Mapping):  # since version 7 it says what it is
            data = data.get("url") or data.get("data")
        if isinstance(data, str) and not data.startswith(("http:", "https:", "data:")):
            data = f"data:{part.get('mediaType') or 'image/png'};base64,{data}"
        media_type = part.get("mediaType") or "image/*"
        renamed |= {"type": "file", "mediaType": media_type, "url": data or part.get("url") or ""}
    return renamed


def _interface_answer(output: Any, at: FieldPath) -> Fields:
    """The output of a tool, which says what it is, as the interface has it."""
    match output:
        case {"type": "execution-denied"}:
            return {"state": "output-error", "errorText": _denial(at.text(output, "reason"))}
        case {"type": "error-text" | "error-json", "value": value}:
            return {"state": "output-error", "errorText": json_text(value)}
        case {"type": "text" | "json", "value": value}:
            return {"state": "output-available", "output": value}
    return {"state": "output-available", "output": output}


def _denial(reason: str) -> str:
    return ": ".join(filter(None, (DENIED, reason)))


def _read_file(part: Mapping[str, Any], at: FieldPath) -> Part:
    media_type, url = at.text(part, "mediaType"), at.text(part, "url")
    if media_type.partition("/")[0] == "image":
        image = image_from_address(url)
        return Image(image.media_type or media_type, image.data, image.url)
    beside = {name: part[name] for name in part if name not in ("type", "url", "mediaType")}
    return Opaque(media_type or "file", words_in(beside))


def _read_result(part: Mapping[str, Any], call: str, at: FieldPath) -> ToolResult | None:
    """What a tool gave, or a person who did not allow the call; None where it is still open."""
    output: Any = part.get("output")
    match part:
        case {"errorText": str(text)}:
            result = ToolResult(call, text, failed=True)
        case {"state": "output-error"}:
            result = ToolResult(call, "", failed=True)
        case _ if name := _parts_field(output):
            place = at / f".output.{name}"
            text, rest = result_view(
                output[name],
                lambda inner, index: _read_display_part(inner, place / f"[{index}]"),
                SHAPE,
            )
            result = ToolResult(call, text, failed=output.get("isError") is True, rest=rest)
        case _ if output is not None or part.get("state") == "output-available":
            result = ToolResult(call, json_text(output))
        case {"approval": Mapping() as approval} if (
            approval.get("approved") is False or part.get("state") == "output-denied"
        ):
            reason = (at / ".approval").text(approval, "reason")
            result = ToolResult(call, _denial(reason), failed=True)
        case _:
            return None
    return keep(result, SHAPE, part)


def _parts_field(output: Any) -> str:
    """The field with the parts of an output, where it has parts: MCP's way or the SDK's."""
    match output:
        case {"type": "content", "value": list(), **more} if not more:
            return "value"
        case {"content": [_, *_] as content} if output.keys() <= _MCP_RESULT:
            kinds = [part.get("type") if isinstance(part, Mapping) else None for part in content]
            return "content" if all(kind in _MCP_PARTS for kind in kinds) else ""
    return ""


def _read_display_part(part: object, at: FieldPath) -> Part:
    """A part of what a tool shows."""
    part = at.mapping(part)
    kind = at.text(part, "type")
    media_type = at.text(part, "mediaType") or at.text(part, "mimeType")
    is_picture = kind in ("image", "image-data") or media_type.startswith("image/")
    if kind == "text":
        return keep(Text(at.text(part, "text")), SHAPE, part)
    if kind in _PICTURES and is_picture and isinstance(part.get("data"), str):
        return keep(Image(media_type or "image/png", part["data"]), SHAPE, part)
    return opaque(part, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_vercel(messages: Iterable[Message]) -> list[Fields]:
    """The messages of an interface, as `convertToModelMessages` takes them; one of the assistant's
    has all steps of a turn.

    A call that came without a result goes back in its state. What the system says later is said by
    the user, unless it came from the interface. Who has no id gets one that is made of the content.
    """
    mended = mend(messages)[0]
    results = dict[str, ToolResult]()
    for message in mended:
        results |= {part.id: part for part in message.parts if isinstance(part, ToolResult)}
    out = list[Fields]()
    last_header: Fields = {}  # the fields of the last message beside its parts
    begun = False
    for message in mended:
        begun = begun or message.role != "system"
        own = own_json(message, SHAPE) or {}
        own = own if "parts" in own and message.role != "tool" else {}
        parts = _write_parts(message, own, results)
        header = {name: own[name] for name in own if name != "parts"}
        is_assistants = own.get("role", message.role) == "assistant"
        if not parts and not (own and is_assistants):
            continue
        if is_assistants and out and out[-1]["role"] == "assistant" and header == last_header:
            out[-1]["parts"] += parts
            continue
        out.append({**(own or {"id": "", "role": _role(message, begun=begun)}), "parts": parts})
        out[-1]["id"] = out[-1].get("id") or _new_id(out)
        last_header = header
    return sendable(out)  # type: ignore[no-any-return]


def _role(message: Message, *, begun: bool) -> str:
    if message.role == "assistant":
        return "assistant"
    return "system" if message.role == "system" and not begun else "user"


def _new_id(out: Sequence[Fields]) -> str:
    """An id for the last message: made of its content, and of its place where another is the
    same."""
    content = json_text(out[-1]["parts"]).encode("utf-8", "replace")
    name = f"msg-{sha256(content).hexdigest()[:16]}"
    return f"{name}-{len(out)}" if any(other["id"] == name for other in out[:-1]) else name


def _write_parts(
    message: Message, own: Mapping[str, Any], results: Mapping[str, ToolResult]
) -> list[Fields]:
    """The parts of a message, without results: they stand with their calls."""
    parts = list[Fields]()
    for part in parts_for_shape(message, SHAPE):
        is_blank = isinstance(part, Text) and not part.text.strip() and not own
        is_for_model = isinstance(part, Opaque) and part.name in _MODEL_PARTS
        if isinstance(part, ToolCall):
            parts.append(_write_tool(part, results.get(part.id)))
        elif not (isinstance(part, ToolResult) or is_blank or is_for_model):
            parts.append(written(part, SHAPE, build))
    if not own:
        begins = message.role == "assistant" and parts
        return [{"type": _START}, *parts] if begins else parts
    starts = list(takewhile(_is_start, own["parts"]))
    rest = own["parts"][len(starts) :]
    if rest and rest[0].get("type") == _STEERING:
        parts = [{**rest[0], "parts": parts}]
    return [*starts, *parts, *takewhile(_is_start, reversed(rest))]


def _is_start(part: Mapping[str, Any]) -> bool:
    return part.get("type") == _START


def _write_tool(call: ToolCall, result: ToolResult | None) -> Fields:
    """The part of a call and its result. A call that came without one goes back in its state."""
    part: Fields = written(call, SHAPE, build)
    is_open = result is not None and result.block is None and result.text == NO_RESULT
    if result is None or (is_open and own_json(call, SHAPE)):
        return part
    answer = written(result, SHAPE, build)
    if answer == part:
        return part
    call_only = {name: part[name] for name in part if name not in _ANSWER}
    return call_only | {name: answer[name] for name in _ANSWER if name in answer}


def build(part: Part) -> Fields:
    """What a part says as one of the interface's."""
    own = own_json(part, SHAPE) or {}
    state = {"state": own["state"]} if "state" in own else {}
    match part:
        case Text(text):
            return {"type": "text", "text": text, **state}
        case Thinking(text):
            return {"type": "reasoning", "text": text, **state}
        case Image():
            return {
                "type": "file",
                "mediaType": part.media_type or "image/*",
                "url": address_of(part),
            }
        case ToolCall(call, name, arguments):
            answer = {name: own[name] for name in _ANSWER if name in own}
            kind = {"type": f"tool-{name}"}
            if own.get("type") == _DYNAMIC:
                kind = {"type": _DYNAMIC, "toolName": name}
            is_raw = own.get("input") is None and "rawInput" in own
            given = own.get("rawInput" if is_raw else "input", {})
            value = arguments if isinstance(given, str) else json_or_text(arguments or "{}")
            answer = answer or {"state": "input-available"}
            return {**kind, "toolCallId": call, "rawInput" if is_raw else "input": value, **answer}
        case ToolResult(call):
            return {**own, "toolCallId": call, **_answer(part, own.get("output"))}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _answer(result: ToolResult, output: Any) -> Fields:
    """The fields of a tool's part that say what a result says: as what came, else as MCP has it."""
    name = _parts_field(output)
    if name or result.rest:
        content = [written(part, SHAPE, _display_part) for part in result_parts(result, SHAPE)]
        beside = output if name else {"isError": True} if result.failed else {}
        return {"state": "output-available", "output": {**beside, name or "content": content}}
    if result.failed:
        return {"state": "output-error", "errorText": result.text}
    value = result.text if isinstance(output, str | None) else json_or_text(result.text)
    return {"state": "output-available", "output": value}


def _display_part(part: Part) -> Fields:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data) if data:
            return {"type": "image", "data": data, "mimeType": media_type}
    return {"type": "text", "text": f"[image {part.url}]" if isinstance(part, Image) else ""}


write = to_vercel
