"""Messages of Vercel's AI SDK: those of its interface (`parts`), and those for a model.

A message of the interface holds a whole turn, with the results of its calls; here it becomes the
steps it was made of, and is put together again when it is written. Messages for a model and those
of version 4 are read under the names that the interface has since version 5 (`vercel_versions`),
and written so. Version 4 repeats the words of the parts in `content` and the calls in
`toolInvocations`: a repetition is left out, anything else there is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from typing import Any

from foreword.formats.content_fields import words_in
from foreword.formats.fields import (
    FieldPath,
    Fields,
    address_of,
    as_object,
    image_from_address,
    opaque,
    pack_extra,
    parts_for_shape,
    replace_unsent,
    to_json,
    unknown_fields,
    unpack_extra,
)
from foreword.formats.steps import Steps
from foreword.formats.vercel_tools import SHAPE, read_call, read_model_result, read_tool, write_tool
from foreword.formats.vercel_versions import attached_files, current_part, parts_without_list
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

_MODEL = "vercel_model"  # what stands only in messages for a model
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "data": "user",
}
_MESSAGE = frozenset(
    ("role", "parts", "content", "toolInvocations", "reasoning", "experimental_attachments")
)
_MODEL_PARTS = frozenset(
    ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")
)
_TEXT = frozenset(("type", "text", "state"))
_REASONING = frozenset(("type", "text", "state", "details"))
_DETAIL = frozenset(("type", "text", "signature", "data"))
_FILE = frozenset(("type", "url", "mediaType", "filename", "providerReference"))
_NOT_WORDS = frozenset(("type", "url", "mediaType"))
_STEERING = frozenset(("type", "id", "parts"))
# What is carried with a message, beside its own fields.
_BEGINS = "begins"  # it is the first of those that one message was read as
_STEPS = "steps"  # how many `step-start` stand in front of it
_STEPS_BEHIND = "steps_behind"  # and behind it
_STEERS = "steers"  # what the user said among the parts of the assistant's message: its id
# The state of its texts and thoughts. With each of them it would count as sent, and it never is.
_STATE = "state"
_DONE = "done"


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message of the SDK: parts with a type, or calls and results as content."""
    parts = value.get("parts")
    if isinstance(parts, list) and "role" in value:
        is_empty = not parts and "id" in value
        return is_empty or any(isinstance(part, Mapping) and "type" in part for part in parts)
    if "toolInvocations" in value or "experimental_attachments" in value:
        return isinstance(value.get("content"), str)
    content = value.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and _is_model_part(part):
            return True
    return False


def _is_model_part(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content is the SDK's: by its type, or a picture or file in its way."""
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _MODEL_PARTS:
        return True
    return kind in ("image", "file") and ("mediaType" in part or isinstance(part.get(kind), str))


# --- reading --------------------------------------------------------------------------------------


def read_message(value: Mapping[str, Any], at: FieldPath) -> Sequence[Message]:
    """The messages that one of theirs was made of."""
    role = at.role(value, _ROLES)
    fields = unknown_fields(value, _MESSAGE, at)
    parts = _numbered_parts(value, at)
    marks = {"id": fields.pop("id", None)}
    if any(part.get("state") == _DONE for part, _ in parts):
        marks[_STATE] = _DONE
    messages = _read_steps(parts, role, marks)
    first = {_BEGINS: True, **fields, **unpack_extra(messages[0].extra, SHAPE)}
    messages[0] = replace(messages[0], extra=pack_extra(SHAPE, first))
    if "parts" in value:
        _check_repetition(value, messages, at)
    return messages


def _numbered_parts(value: Mapping[str, Any], at: FieldPath) -> list[tuple[Fields, FieldPath]]:
    """The parts under today's names, each with its place."""
    parts = list[tuple[Fields, FieldPath]]()
    name = "parts" if "parts" in value else "content"
    if value.get(name) is None or (name == "content" and isinstance(value[name], str)):
        parts += [(part, at) for part in parts_without_list(value, at)]
    else:
        for index, part in enumerate((at / f".{name}").sequence(value[name])):
            place = at / f".{name}[{index}]"
            parts.append(current_part(place.mapping(part), place))
    parts += [(part, at / ".experimental_attachments") for part in attached_files(value, at)]
    return parts


def _boundary(numbered: tuple[Fields, FieldPath]) -> str:
    kind = numbered[0].get("type")
    return kind if kind in ("step-start", "steering-message") else ""


def _read_steps(
    parts: Sequence[tuple[Fields, FieldPath]], role: Role, marks: Fields
) -> list[Message]:
    """The messages of a turn, each with what is needed to put it together again."""
    messages = list[Message]()
    starts = 0
    for boundary, group in groupby(parts, key=_boundary):
        steps = Steps(role)
        for part, at in group:
            if boundary == "step-start":
                unknown_fields(part, frozenset(("type",)), at)
                starts += 1
            elif boundary:
                messages.append(_read_steering(part, at, marks))
            else:
                _read_part(part, at, steps, usual_state=marks.get(_STATE, ""))
        for read in () if boundary else steps.messages():
            own = {**marks, _STEPS: starts} if starts else marks
            messages.append(replace(read, extra=pack_extra(SHAPE, own)))
            starts = 0
    if not messages:
        messages.append(Message(role, (), extra=pack_extra(SHAPE, marks)))
    if starts:
        last = len(messages) - 1
        while last and messages[last].role == "tool" != role:  # it is written with its calls
            last -= 1
        fields = {**unpack_extra(messages[last].extra, SHAPE), _STEPS_BEHIND: starts}
        messages[last] = replace(messages[last], extra=pack_extra(SHAPE, fields))
    return messages


def _read_steering(part: Fields, at: FieldPath, marks: Fields) -> Message:
    """What the user said while the assistant was at it: a message of the user's own."""
    unknown_fields(part, _STEERING, at)
    said = list[Part]()
    for index, each in enumerate((at / ".parts").sequence(part.get("parts"))):
        place = at / f".parts[{index}]"
        current, place = current_part(place.mapping(each), place)
        said.append(_read_content(current, place.text(current, "type"), place, usual_state=""))
    fields = {"id": marks["id"], _STEERS: at.text(part, "id")}
    return Message("user", tuple(said), extra=pack_extra(SHAPE, fields))


def _check_repetition(value: Mapping[str, Any], messages: Sequence[Message], at: FieldPath) -> None:
    """An error where something besides the parts says more than they do."""
    texts = list[str]()
    thoughts = list[str]()
    calls = set[str]()
    for message in messages:
        calls.update(message.calls)
        texts += [part.text for part in message.parts if isinstance(part, Text)]
        thoughts += [part.text for part in message.parts if isinstance(part, Thinking)]
    content = value.get("content") or ""
    if content and content not in ("".join(texts), "\n".join(texts), *texts[-1:]):
        raise (at / ".content").unknown_content()
    if value.get("reasoning") and value["reasoning"] not in ("".join(thoughts), *thoughts):
        raise (at / ".reasoning").unknown_content()
    invocations = (at / ".toolInvocations").sequence(value.get("toolInvocations") or [])
    for index, invocation in enumerate(invocations):
        place = at / f".toolInvocations[{index}]"
        if place.mapping(invocation).get("toolCallId") not in calls:
            raise place.unknown_content()


def _read_part(part: Fields, at: FieldPath, steps: Steps, *, usual_state: str) -> None:
    kind = at.text(part, "type")
    if kind == "tool-call":
        steps.add_call(read_call(part, at), None)
    elif kind == "tool-result":
        steps.add(read_model_result(part, at))
    elif kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part):
        steps.add_call(*read_tool(part, at))
    else:
        steps.add(_read_content(part, kind, at, usual_state=usual_state))


def _read_content(part: Fields, kind: str, at: FieldPath, *, usual_state: str) -> Part:
    match kind:
        case "text":
            fields = unknown_fields(part, _TEXT, at) | _own_state(part, usual_state, at)
            return Text(at.text(part, "text"), pack_extra(SHAPE, fields))
        case "reasoning":
            text = at.text(part, "text")
            _check_details(part, text, at)
            fields = unknown_fields(part, _REASONING, at) | _own_state(part, usual_state, at)
            if part.get("details"):
                fields["details"] = part["details"]
            return Thinking(text, shape=SHAPE, extra=pack_extra(SHAPE, fields))
        case "file":
            return _read_file(part, at)
        case "":
            raise at.missing_type(part)
        case _ if kind in _MODEL_PARTS:
            return opaque(part, _MODEL)
        case _:
            return opaque(part, SHAPE)


def _own_state(part: Fields, usual: str, at: FieldPath) -> Fields:
    """The state of a part, where it is not that of its message."""
    state = at.text(part, "state")
    return {} if state == usual else {_STATE: state}


def _check_details(part: Mapping[str, Any], text: str, at: FieldPath) -> None:
    """An error where the pieces of a thought say more than the thought does."""
    at = at / ".details"
    pieces = list[str]()
    for index, detail in enumerate(at.sequence(part.get("details") or [])):
        place = at / f"[{index}]"
        piece = place.mapping(detail)
        unknown_fields(piece, _DETAIL, place)
        pieces.append(place.text(piece, "text"))
    if "".join(pieces) not in ("", text):
        raise at.unknown_content()


def _read_file(part: Fields, at: FieldPath) -> Part:
    media_type = at.text(part, "mediaType")
    url = at.text(part, "url")
    if media_type.partition("/")[0] != "image":
        words = words_in({name: part[name] for name in part if name not in _NOT_WORDS})
        return Opaque(to_json(part), SHAPE, media_type or "file", words)
    fields = unknown_fields(part, _FILE, at)
    for name in ("filename", "providerReference"):
        if part.get(name) is not None:
            fields[name] = part[name]
    image = image_from_address(url)
    if image.media_type and image.media_type != media_type:
        fields["mediaType"] = media_type
    return Image(
        media_type=image.media_type or media_type,
        data=image.data,
        url=image.url,
        extra=pack_extra(SHAPE, fields),
    )


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
    is_own = False  # whether the last one came from the interface
    begun = False
    for message in mended:
        fields = unpack_extra(message.extra, SHAPE)
        begun = begun or message.role != "system"
        was_own, is_own = is_own, bool(fields)
        parts = _write_parts(message, results, fields)
        steering = fields.pop(_STEERS, None)
        begins = fields.pop(_BEGINS, False)
        is_of_last = bool(out) and fields.get("id") in (None, out[-1]["id"]) and is_own == was_own
        goes_on = is_of_last and not begins and out[-1]["role"] == "assistant"
        if message.role == "tool" and not parts:
            is_own = was_own
        elif steering is not None and goes_on:
            part = {"type": "steering-message", "id": steering, "parts": parts}
            out[-1]["parts"].append(part)
        elif message.role == "assistant" and goes_on:
            out[-1]["parts"] += parts
        elif parts or (begins and message.role == "assistant"):
            role = _role(message, is_own=is_own, begun=begun)
            out.append({"id": "", "role": role, **fields, "parts": parts})
            out[-1]["id"] = out[-1]["id"] or _new_id(out)
    return out


def _role(message: Message, *, is_own: bool, begun: bool) -> str:
    if message.role == "assistant":
        return "assistant"
    is_system = message.role == "system" and (is_own or not begun)
    return "system" if is_system else "user"


def _new_id(out: Sequence[Fields]) -> str:
    """An id for the last message: made of its content, and of its place where another is the
    same."""
    digest = sha256(to_json(out[-1]["parts"]).encode("utf-8", "replace")).hexdigest()[:16]
    others = {message["id"] for message in out[:-1]}
    return f"msg-{digest}" if f"msg-{digest}" not in others else f"msg-{digest}-{len(out)}"


def _write_parts(
    message: Message, results: Mapping[str, ToolResult], fields: Fields
) -> list[Fields]:
    """The parts of a message, without results: they stand with their calls. Marks of the message
    are taken out of its fields."""
    state = fields.pop(_STATE, "")
    starts = fields.pop(_STEPS, 0 if fields or message.role != "assistant" else 1)
    behind = fields.pop(_STEPS_BEHIND, 0)
    parts = list[Fields]()
    for part in parts_for_shape(message, SHAPE):
        is_blank = isinstance(part, Text) and not part.text.strip()
        if isinstance(part, ToolCall):
            parts.append(write_tool(part, results.get(part.id)))
        elif not isinstance(part, ToolResult) and (fields or not is_blank):
            parts.append(_write_content(part, state))
    if not parts and not fields:
        return []
    boundary = {"type": "step-start"}
    return [*[boundary] * starts, *parts, *[boundary] * behind]


def _write_content(part: Part, usual_state: str) -> Fields:
    match part:
        case Text(text, extra=extra):
            return {"type": "text", "text": replace_unsent(text), **_states(extra, usual_state)}
        case Thinking(text, extra=extra):
            return {
                "type": "reasoning",
                "text": replace_unsent(text),
                **_states(extra, usual_state),
            }
        case Image():
            fields = unpack_extra(part.extra, SHAPE)
            media_type = part.media_type or "image/*"
            return {"type": "file", "mediaType": media_type, "url": address_of(part), **fields}
        case Opaque(data):
            return as_object(data)
        case _:
            raise TypeError(type(part).__name__)


def _states(extra: str, usual: str) -> Fields:
    """The fields of a part, its state among them where it has one."""
    fields = unpack_extra(extra, SHAPE)
    state = fields.pop(_STATE, usual)
    return {**fields, "state": state} if state else fields
