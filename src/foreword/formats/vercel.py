"""Messages of Vercel's AI SDK: those of its interface (`parts`), and those for a model.

For reading. A tool of the interface is a call and its result in one part; the message becomes the
steps it was made of. Older versions repeat the words of the parts in `content` and the calls in
`toolInvocations`: a repetition is left out, anything else there is refused.
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
    pack_extra,
    to_json,
    unknown_fields,
)
from foreword.formats.steps import Steps
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
)

SHAPE = "vercel"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "data": "user",
}
_MESSAGE = frozenset(("role", "parts", "content", "toolInvocations", "reasoning"))
_MODEL_PARTS = frozenset(("tool-call", "tool-result", "tool-approval-request"))
_TEXT = frozenset(("type", "text", "state"))
_REASONING = frozenset(("type", "text", "reasoning", "state", "details"))
_DETAIL = frozenset(("type", "text", "signature", "data"))
_FILE = frozenset(("type", "image", "data", "url", "mediaType", "mimeType"))
_OUTPUT = frozenset(("type", "value"))
_APPROVAL = frozenset(("id", "approved", "reason"))
DENIED = "not allowed by the user"
_TOOL = frozenset(
    (
        *("type", "toolName", "toolCallId", "state", "step", "title", "preliminary"),
        *("input", "args", "rawInput", "output", "result", "errorText", "isError", "approval"),
    )
)


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether this is a message of the SDK: parts with a type, or calls and results as content."""
    parts = value.get("parts")
    if isinstance(parts, list) and "role" in value:
        return any(isinstance(part, Mapping) and "type" in part for part in parts)
    content = value.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and _is_model_part(part):
            return True
    return False


def _is_model_part(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content is the SDK's: by its type, or a picture or file in its way."""
    kind = part.get("type")
    if kind in _MODEL_PARTS:
        return True
    return kind in ("image", "file") and ("mediaType" in part or isinstance(part.get(kind), str))


def read_message(value: Mapping[str, Any], at: FieldPath) -> Sequence[Message]:
    """The messages that one of theirs was made of."""
    role = at.role(value, _ROLES)
    name = "parts" if "parts" in value else "content"
    parts = (at / f".{name}").sequence(value[name])
    steps = Steps(role, extra=pack_extra(SHAPE, unknown_fields(value, _MESSAGE, at)))
    for index, part in enumerate(parts):
        place = at / f".{name}[{index}]"
        _read_part(place.mapping(part), place, steps)
    messages = steps.messages()
    if name == "parts":
        _check_repetition(value, messages, at)
    return messages


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


def _read_part(part: Mapping[str, Any], at: FieldPath, steps: Steps) -> None:
    kind = at.text(part, "type")
    if kind == "step-start":
        unknown_fields(part, frozenset(("type",)), at)
        steps.next_step()
    elif kind == "tool-invocation":
        unknown_fields(part, frozenset(("type", "toolInvocation")), at)
        call = (at / ".toolInvocation").mapping(part.get("toolInvocation"), "a mapping")
        _read_tool(call, at.text(call, "toolName"), at / ".toolInvocation", steps)
    elif kind == "tool-call":
        steps.add_call(_read_call(part, at.text(part, "toolName"), at), None)
    elif kind == "tool-result":
        steps.add(_read_result(part, at))
    elif kind == "dynamic-tool":
        _read_tool(part, at.text(part, "toolName"), at, steps)
    elif kind.startswith("tool-") and "toolCallId" in part:
        _read_tool(part, kind.removeprefix("tool-"), at, steps)
    else:
        steps.add(_read_content(part, kind, at))


def _read_content(part: Mapping[str, Any], kind: str, at: FieldPath) -> Part:
    match kind:
        case "text":
            return Text(at.text(part, "text"), pack_extra(SHAPE, unknown_fields(part, _TEXT, at)))
        case "reasoning":
            text = at.one_text(part, "text", "reasoning")
            _check_details(part, text, at)
            fields = unknown_fields(part, _REASONING, at)
            return Thinking(text, shape=SHAPE, extra=pack_extra(SHAPE, fields))
        case "image" | "file":
            return _read_file(part, kind, at)
        case "":
            raise at.missing_type(part)
        case _:
            return opaque(part, SHAPE)


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


def _read_file(part: Mapping[str, Any], kind: str, at: FieldPath) -> Part:
    media_type = at.text(part, "mediaType") or at.text(part, "mimeType")
    source = at.one_text(part, "image", "data", "url")
    if kind == "file" and not media_type.startswith("image/"):
        words = words_in({name: part[name] for name in part if name not in _FILE})
        return Opaque(to_json(part), SHAPE, media_type or kind, words)
    extra = pack_extra(SHAPE, unknown_fields(part, _FILE, at))
    if source.startswith(("http:", "https:", "data:")):
        image = image_from_address(source)
        return Image(image.media_type or media_type, image.data, image.url, extra)
    return Image(media_type or "image/png", source, extra=extra)


def _read_tool(part: Mapping[str, Any], name: str, at: FieldPath, steps: Steps) -> None:
    """A call of the interface, and its result where it has one."""
    call = _read_call(part, name, at)
    has_result = any(part.get(field) is not None for field in ("output", "result", "errorText"))
    if has_result:
        steps.add_call(call, _read_result(part, at))
    else:
        steps.add_call(call, _read_denial(part, call, at))


def _read_denial(part: Mapping[str, Any], call: ToolCall, at: FieldPath) -> ToolResult | None:
    """What a person said who did not allow a call; nothing where nobody has decided, or where the
    call is still to be made."""
    if part.get("approval") is None:
        return None
    place = at / ".approval"
    approval = place.mapping(part["approval"], "a mapping")
    unknown_fields(approval, _APPROVAL, place)
    reason = place.text(approval, "reason")
    if approval.get("approved") is False or part.get("state") == "output-denied":
        return ToolResult(call.id, ": ".join(filter(None, (DENIED, reason))), failed=True)
    if reason:
        raise (place / ".reason").unknown_content()
    return None


def _read_call(part: Mapping[str, Any], name: str, at: FieldPath) -> ToolCall:
    fields = unknown_fields(part, _TOOL, at)
    arguments: object = {}
    for field in ("rawInput", "args", "input"):
        arguments = part.get(field, arguments)
    return ToolCall(
        id=at.text(part, "toolCallId") or name,
        name=name,
        arguments=arguments_of(arguments),
        extra=pack_extra(SHAPE, fields),
    )


def _read_result(part: Mapping[str, Any], at: FieldPath) -> ToolResult:
    unknown_fields(part, _TOOL, at)
    error = at.text(part, "errorText")
    output = part.get("output", part.get("result"))
    text, rest, failed = _read_output(output, at / ".output")
    return ToolResult(
        id=at.text(part, "toolCallId") or at.text(part, "toolName"),
        text="\n".join(filter(None, (text, error))),
        failed=bool(error or failed or part.get("isError")),
        rest=rest,
    )


def _read_output(output: object, at: FieldPath) -> tuple[str, tuple[Image | Opaque, ...], bool]:
    """The words of a tool's output, the rest of it, and whether it failed."""
    match output:
        case {"type": "text" | "json" | "error-text" | "error-json" as kind, "value": value}:
            unknown_fields(at.mapping(output), _OUTPUT, at)
            return arguments_of(value), (), kind.startswith("error")
        case {"type": "content", "value": list(values)}:
            unknown_fields(at.mapping(output), _OUTPUT, at)
            texts = list[str]()
            rest = list[Image | Opaque]()
            for index, value in enumerate(values):
                place = at / f".value[{index}]"
                read = _read_display_part(place.mapping(value), place)
                if isinstance(read, Text):
                    texts.append(read.text)
                else:
                    rest.append(read)
            return "\n".join(texts), tuple(rest), False
        case _:
            return arguments_of(output), (), False


def _read_display_part(part: Mapping[str, Any], at: FieldPath) -> Text | Image | Opaque:
    """A part of what a tool shows."""
    kind = at.text(part, "type")
    is_image = at.text(part, "mediaType").startswith("image/")
    if kind == "text":
        unknown_fields(part, _TEXT, at)
        return Text(at.text(part, "text"))
    if kind in ("media", "file-data", "image-data") and (is_image or kind == "image-data"):
        unknown_fields(part, _FILE, at)
        return Image(at.text(part, "mediaType") or "image/png", at.text(part, "data"))
    return opaque(part, SHAPE)
