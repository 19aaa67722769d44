"""What `opencode export` writes: messages with their parts, each call beside its result.

For reading. Parts that only tell how a step went (`step-start`, `step-finish`, `snapshot`, `patch`)
say nothing; a part of a kind that is not known here is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foreword.formats.content_fields import words_in
from foreword.formats.fields import (
    FieldPath,
    arguments_of,
    image_from_address,
    opaque,
    unknown_fields,
)
from foreword.formats.steps import Steps
from foreword.message import Image, Message, Opaque, Role, Text, Thinking, ToolCall, ToolResult

SHAPE = "opencode"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_SILENT = frozenset(("step-finish", "snapshot", "patch", "retry", "compaction", "agent"))
_STEP = frozenset(
    (
        *("type", "reason", "snapshot", "tokens", "cost", "hash", "files", "attempt", "error"),
        *("time", "auto", "name", "source", "overflow"),
    )
)
_EVERY_PART = frozenset(("type", "synthetic", "time", "metadata"))
_PART = {
    "step-start": frozenset(("snapshot",)),
    "text": frozenset(("text",)),
    "reasoning": frozenset(("text",)),
    "file": frozenset(("mime", "filename", "url", "source")),
    "tool": frozenset(("tool", "state")),
    "subtask": frozenset(("prompt", "description", "agent", "command")),
}
_STATE = frozenset(
    ("status", "input", "output", "title", "metadata", "time", "attachments", "error", "raw")
)
_INTERRUPTED = "(the call was interrupted)"


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message of an export: `info` about it, and `parts` that it says."""
    info = value.get("info")
    return isinstance(info, Mapping) and "role" in info and "parts" in value


def read_message(value: Mapping[str, Any], at: FieldPath) -> Sequence[Message]:
    """The messages that one of theirs was made of."""
    unknown_fields(value, frozenset(("info", "parts")), at)
    info = (at / ".info").mapping(value["info"])
    role = (at / ".info").role(info, _ROLES)
    is_summary = role == "assistant" and info.get("summary") is True
    steps = Steps(role, kind="summary" if is_summary else "conversation")
    for index, part in enumerate((at / ".parts").sequence(value["parts"])):
        place = at / f".parts[{index}]"
        _read_part(place.mapping(part), place, steps)
    return steps.messages()


def _read_part(part: Mapping[str, Any], at: FieldPath, steps: Steps) -> None:
    kind = at.text(part, "type")
    if part.get("ignored"):  # a text that was never sent to the model
        return
    known = _STEP if kind in _SILENT else _PART.get(kind, frozenset()) | _EVERY_PART
    unknown_fields(part, known, at)
    if kind in _SILENT:
        return
    match kind:
        case "step-start":
            steps.next_step()
        case "text":
            steps.add(Text(at.text(part, "text")))
        case "reasoning":
            steps.add(Thinking(at.text(part, "text"), shape=SHAPE))
        case "file":
            steps.add(_read_file(part, at))
        case "tool":
            _read_tool(part, at, steps)
        case "subtask":
            steps.add(opaque(part, SHAPE))
        case _:
            raise at.unknown_content()


def _read_file(part: Mapping[str, Any], at: FieldPath) -> Image | Opaque:
    media_type = at.text(part, "mime")
    image = image_from_address(at.text(part, "url"))
    if media_type.startswith("image/"):
        return Image(media_type, image.data, image.url)
    file = opaque(part, SHAPE)
    name = at.text(part, "filename") or image.url
    source = words_in(part.get("source"))
    return Opaque(file.data, SHAPE, media_type or "file", "\n".join(filter(None, (name, source))))


def _read_tool(part: Mapping[str, Any], at: FieldPath, steps: Steps) -> None:
    state = (at / ".state").mapping(part.get("state"), "a mapping with a status")
    unknown_fields(state, _STATE, at / ".state")
    call = ToolCall(
        id=at.text(part, "callID"),
        name=at.text(part, "tool"),
        arguments=arguments_of(state.get("input", {})),
    )
    steps.add_call(call, _read_result(call.id, state, at / ".state"))


def _read_result(call: str, state: Mapping[str, Any], at: FieldPath) -> ToolResult | None:
    match state.get("status"):
        case "completed":
            files = list[Image | Opaque]()
            attachments = (at / ".attachments").sequence(state.get("attachments") or [])
            for index, file in enumerate(attachments):
                place = at / f".attachments[{index}]"
                files.append(_read_file(place.mapping(file), place))
            return ToolResult(call, at.text(state, "output"), rest=tuple(files))
        case "error":
            return ToolResult(call, at.text(state, "error") or _INTERRUPTED, failed=True)
        case "pending" | "running":
            return None
        case status:
            raise (at / ".status").wrong(f"{status!r} is no status of a call")
