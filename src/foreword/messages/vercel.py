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

from foreword.messages import blocks, fields
from foreword.messages.call_pairs import NO_RESULT, sendable_messages
from foreword.messages.fields import FieldPath, Fields, address_of, image_from_address, json_or_text
from foreword.messages.message import Message, Role, keep
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.messages.words import words_in

SHAPE = "vercel"
DENIED = "not allowed by the user"
_ROLES: dict[str, Role] = fields.SAME_ROLES | {"data": "user"}
_DYNAMIC = "dynamic-tool"
_START = "step-start"
_STEERING = "steering-message"  # what the user said while the assistant was at it
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
    parts, content = value.get("parts"), value.get("content")
    if isinstance(parts, list) and "role" in value:
        return fields.has_field(parts, "type") if parts else "id" in value
    listed = content if isinstance(content, list) else ()
    return any(isinstance(part, dict) and _is_model_part(part) for part in listed)


def _is_model_part(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content is the SDK's: by its type, or a picture or file in its way."""
    kind = part.get("type")
    if kind in ("image", "file"):
        return "mediaType" in part or isinstance(part.get(kind), str)
    return isinstance(kind, str) and kind in _MODEL_PARTS


# --- reading --------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Step:
    """One step of a turn: what is said and called, with its JSON, and the results."""

    role: Role
    raw: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    is_steering: bool = False

    def ends_before(self, kind: str, part: Part) -> bool:
        """Whether a part begins another step: a boundary does, and words behind results."""
        if not self.parts and not self.is_steering:
            return False
        is_behind_results = bool(self.results) and not isinstance(part, ToolCall)
        return self.is_steering or is_behind_results or kind in (_START, _STEERING)


def read_message(value: Mapping[str, Any], at: FieldPath) -> Sequence[Message]:
    """The messages that one of theirs was made of, each with the slice of it that it is."""
    role = at.role(value, _ROLES)
    name = "parts" if "parts" in value else "content"
    steps = [_Step(role=role)]
    for raw, place in at.items(value, name):
        kind = place.text(place.mapping(raw), "type")
        shown = raw if name == "parts" else _interface_part(raw, place)
        part = _read_part(shown, place)
        result = _read_result(shown, part.id, place) if isinstance(part, ToolCall) else None
        if steps[-1].ends_before(kind, part):
            steps.append(_Step(role=role))
        step = steps[-1]
        step.raw.append(raw)
        if kind == _STEERING:
            step.role, step.is_steering = "user", True
            step.parts += [_read_part(*inner) for inner in place.items(raw, "parts")]
        elif name == "content" and result is not None:
            step.parts.append(result)
        elif kind != _START:
            step.parts.append(part)
            step.results += [result] if result is not None else []
    if len(steps) > 1 and not steps[-1].parts and not steps[-1].is_steering:
        steps[-2].raw += steps.pop().raw  # a step that has only begun
    messages = list[Message]()
    for step in steps:
        said = Message(step.role, tuple(step.parts))
        messages.append(keep(said, SHAPE, {**value, name: step.raw}))
        if step.results:
            raws = [blocks.own_json(result, SHAPE) for result in step.results]
            results = Message("tool", tuple(step.results))
            messages.append(keep(results, SHAPE, {**value, name: raws}))
    return messages


def _view(part: Any, at: FieldPath) -> Part | None:
    """What a part of the interface says, but for the result in the part of a call."""
    kind = at.text(part, "type")
    if kind == "text":
        return Text(at.text(part, "text"))
    if kind == "reasoning":
        return Thinking(at.text(part, "text"), shape=SHAPE)
    if kind == "file":
        media_type, image = at.text(part, "mediaType"), image_from_address(at.text(part, "url"))
        if media_type.partition("/")[0] == "image":
            return Image(image.media_type or media_type, image.data, image.url)
        beside = {name: part[name] for name in part if name not in ("type", "url", "mediaType")}
        return Opaque(media_type or "file", words_in(beside))
    if kind != _DYNAMIC and not (kind.startswith("tool-") and "toolCallId" in part):
        return None
    is_dynamic = kind == _DYNAMIC
    name = at.needed_text(part, "toolName") if is_dynamic else kind.removeprefix("tool-")
    given = part.get("rawInput") if part.get("input") is None else part["input"]
    return ToolCall(at.text(part, "toolCallId") or name, name, blocks.json_text(given))


_read_part = blocks.reader(_view, SHAPE)


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
            renamed |= _interface_output(renamed.pop("output", None), at / ".output")
    elif kind in ("image", "file"):
        data = renamed.pop("data", None) or renamed.pop("image", None)
        if isinstance(data, Mapping):  # since version 7 it says what it is
            data = data.get("url") or data.get("data")
        if isinstance(data, str) and not data.startswith(("http:", "https:", "data:")):
            data = f"data:{part.get('mediaType') or 'image/png'};base64,{data}"
        media_type = part.get("mediaType") or "image/*"
        renamed |= {"type": "file", "mediaType": media_type, "url": data or part.get("url") or ""}
    return renamed


def _interface_output(output: Any, at: FieldPath) -> Fields:
    """The output of a tool, which says what it is, as the interface has it."""
    match output:
        case {"type": "execution-denied"}:
            return {"state": "output-error", "errorText": _denial(output, at)}
        case {"type": "error-text" | "error-json", "value": value}:
            return {"state": "output-error", "errorText": blocks.json_text(value)}
        case {"type": "text" | "json", "value": value}:
            output = value
    return {"state": "output-available", "output": output}


def _denial(value: Mapping[str, Any], at: FieldPath) -> str:
    return ": ".join(filter(None, (DENIED, at.text(value, "reason"))))


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
            text, rest = blocks.result_view(output[name], place, _read_display_part)
            result = ToolResult(call, text, failed=output.get("isError") is True, rest=rest)
        case _ if output is not None or part.get("state") == "output-available":
            result = ToolResult(call, blocks.json_text(output))
        case {"approval": Mapping() as approval} if (
            approval.get("approved") is False or part.get("state") == "output-denied"
        ):
            result = ToolResult(call, _denial(approval, at / ".approval"), failed=True)
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


def _display_view(part: Any, at: FieldPath) -> Part | None:
    """What a part of a tool's output shows."""
    kind = at.text(at.mapping(part), "type")
    media_type = at.text(part, "mediaType") or at.text(part, "mimeType")
    is_picture = kind in ("image", "image-data") or media_type.startswith("image/")
    if kind == "text":
        return Text(at.text(part, "text"))
    if kind in _PICTURES and is_picture and isinstance(part.get("data"), str):
        return Image(media_type or "image/png", part["data"])
    return None


_read_display_part = blocks.reader(_display_view, SHAPE)


# --- writing --------------------------------------------------------------------------------------


def to_vercel(messages: Iterable[Message]) -> list[Fields]:
    """The messages of an interface, as `convertToModelMessages` takes them; one of the assistant's
    has all steps of a turn.

    A call that came without a result goes back in its state. What the system says later is said by
    the user, unless it came from the interface. Who has no id gets one that is made of the content.
    """
    mended = sendable_messages(messages)
    said = [part for message in mended for part in message.parts]
    results = {part.id: part for part in said if isinstance(part, ToolResult)}
    out = list[Fields]()
    last_header: Fields = {}  # the fields of the last message beside its parts
    begun = False
    for message in mended:
        begun = begun or message.role != "system"
        own = blocks.own_fields(message, SHAPE)
        own = own if "parts" in own and message.role != "tool" else {}
        parts = _write_parts(message, own, results)
        header = {name: own[name] for name in own if name != "parts"}
        is_assistants = own.get("role", message.role) == "assistant"
        if not parts and not (own and is_assistants):
            continue
        if is_assistants and out and out[-1]["role"] == "assistant" and header == last_header:
            out[-1]["parts"] += parts
            continue
        is_users = message.role == "tool" or (message.role == "system" and begun)
        role = "user" if is_users else message.role
        out.append({"id": "", "role": role, **own, "parts": parts})
        out[-1]["id"] = out[-1]["id"] or _new_id(out)
        last_header = header
    return fields.sendable(out)  # type: ignore[no-any-return]


def _new_id(out: Sequence[Fields]) -> str:
    """An id for the last message: made of its content, and of its place where another is the
    same."""
    content = blocks.json_text(out[-1]["parts"]).encode("utf-8", "replace")
    name = f"msg-{sha256(content).hexdigest()[:16]}"
    return f"{name}-{len(out)}" if any(other["id"] == name for other in out[:-1]) else name


def _write_parts(
    message: Message, own: Mapping[str, Any], results: Mapping[str, ToolResult]
) -> list[Fields]:
    """The parts of a message, without results: they stand with their calls."""
    parts = list[Fields]()
    for part in blocks.parts_for_shape(message, SHAPE):
        is_blank = isinstance(part, Text) and not part.text.strip() and not own
        is_for_model = isinstance(part, Opaque) and part.name in _MODEL_PARTS
        if isinstance(part, ToolCall):
            parts.append(_write_tool(part, results.get(part.id)))
        elif not (isinstance(part, ToolResult) or is_blank or is_for_model):
            parts.append(blocks.written(part, SHAPE, build))
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
    part: Fields = blocks.written(call, SHAPE, build)
    is_open = result is not None and result.block is None and result.text == NO_RESULT
    if result is None or (is_open and blocks.own_json(call, SHAPE)):
        return part
    answer = blocks.written(result, SHAPE, build)
    if answer == part:
        return part
    call_only = {name: part[name] for name in part if name not in _ANSWER}
    return call_only | {name: answer[name] for name in _ANSWER if name in answer}


def build(part: Part) -> Fields:
    """What a part says as one of the interface's."""
    own = blocks.own_fields(part, SHAPE)
    state = {"state": own["state"]} if "state" in own else {}
    match part:
        case Text(text):
            return {"type": "text", "text": text, **state}
        case Thinking(text):
            return {"type": "reasoning", "text": text, **state}
        case Image(media_type):
            media_type = media_type or "image/*"
            return {"type": "file", "mediaType": media_type, "url": address_of(part)}
        case ToolCall(call, name, arguments):
            answer = {name: own[name] for name in _ANSWER if name in own}
            kind = {"type": own["type"]} if "type" in own else {"type": f"tool-{name}"}
            kind |= {"toolName": name} if "toolName" in own else {}
            field = "rawInput" if own.get("input") is None and "rawInput" in own else "input"
            is_text = isinstance(own.get(field), str)
            value = arguments if is_text else json_or_text(arguments or "{}")
            answer = answer or {"state": "input-available"}
            return {**kind, "toolCallId": call, field: value, **answer}
        case ToolResult(call):
            return {**own, "toolCallId": call, **_answer(part, own.get("output"))}
    raise TypeError(f"{type(part).__name__} has no part of its own")


def _answer(result: ToolResult, output: Any) -> Fields:
    """The fields of a tool's part that say what a result says: as what came, else as MCP has it."""
    name = _parts_field(output)
    if name or result.rest:
        content = blocks.written_result(result, SHAPE, _display_part)
        beside = output if name else {"isError": True} if result.failed else {}
        return {"state": "output-available", "output": {**beside, name or "content": content}}
    if result.failed:
        return {"state": "output-error", "errorText": result.text}
    value = result.text if isinstance(output, str | None) else json_or_text(result.text)
    return {"state": "output-available", "output": value}


def _display_part(part: Part) -> Fields:
    if isinstance(part, Image) and part.data:
        return {"type": "image", "data": part.data, "mimeType": part.media_type}
    return {"type": "text", "text": Message("tool", (part,)).text}


write = to_vercel
