"""Parts of the AI SDK's version 4, and of its messages for a model, as its interface has them since
version 5: the same renaming as in the SDK's own guide to migration.

For reading only: one vocabulary is left for `vercel` and `vercel_tools`. What neither of them knows
keeps its name, so that it is carried or refused there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.formats.fields import FieldPath, Fields, unknown_fields

_NAMES = {
    "mimeType": "mediaType",
    "reasoning": "text",
    "providerOptions": "providerMetadata",
}
_TOOL_NAMES = {
    "args": "input",
    "result": "output",
    "providerOptions": "callProviderMetadata",
}
_STATES = {"partial-call": "input-streaming", "call": "input-available"}
_SOURCE_NAMES = {"id": "sourceId"}
_ATTACHMENT = frozenset(("name", "contentType", "url"))
_TAGGED = {"url": "url", "data": "data"}  # where version 7 has the bytes of a file


def current_part(part: Mapping[str, Any], at: FieldPath) -> tuple[Fields, FieldPath]:
    """A part under the names of today, and where its fields stand; two names for one thing must
    say the same."""
    match part.get("type"):
        case "tool-invocation":
            unknown_fields(part, frozenset(("type", "toolInvocation")), at)
            place = at / ".toolInvocation"
            call = place.mapping(part.get("toolInvocation"), "a mapping")
            return _invocation(call, place), place
        case "source":
            unknown_fields(part, frozenset(("type", "source")), at)
            place = at / ".source"
            return _source(place.mapping(part.get("source"), "a mapping"), place), place
        case "tool-call" | "tool-result":
            return _renamed(part, _TOOL_NAMES, at), at
        case "image" | "file":
            return _file(_renamed(part, _NAMES, at), at), at
        case "text" | "reasoning":
            return _renamed(part, _NAMES, at), at
        case _:
            return dict(part), at


def parts_without_list(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    """The parts of a message that has none yet: calls, thoughts, then words, as version 4 puts
    them."""
    parts = list[Fields]()
    invocations = (at / ".toolInvocations").sequence(value.get("toolInvocations") or [])
    for index, invocation in enumerate(invocations):
        place = at / f".toolInvocations[{index}]"
        parts.append(_invocation(place.mapping(invocation), place))
    if at.text(value, "reasoning"):
        parts.append({"type": "reasoning", "text": value["reasoning"]})
    if at.text(value, "content"):
        parts.append({"type": "text", "text": value["content"]})
    return parts


def attached_files(value: Mapping[str, Any], at: FieldPath) -> list[Fields]:
    """The attachments of version 4 as files."""
    files = list[Fields]()
    at = at / ".experimental_attachments"
    attachments = at.sequence(value.get("experimental_attachments") or [])
    for index, attachment in enumerate(attachments):
        place = at / f"[{index}]"
        unknown_fields(place.mapping(attachment), _ATTACHMENT, place)
        file = {"type": "file", "mediaType": place.text(attachment, "contentType")}
        file["url"] = place.text(attachment, "url")
        if attachment.get("name") is not None:
            file["filename"] = place.text(attachment, "name")
        files.append(file)
    return files


def _invocation(call: Mapping[str, Any], at: FieldPath) -> Fields:
    part = _renamed(call, _TOOL_NAMES, at)
    state = at.text(part, "state")
    if state == "result":
        part["state"] = "output-available"
    elif state in _STATES:
        part["state"] = _STATES[state]
    part["type"] = f"tool-{at.text(part, 'toolName')}"
    part.pop("toolName", None)
    part.pop("step", None)  # the how-manieth step: `step-start` says it
    return part


def _source(source: Mapping[str, Any], at: FieldPath) -> Fields:
    kind = at.text(source, "sourceType") or "url"
    part = _renamed(source, _SOURCE_NAMES, at)
    part.pop("sourceType", None)
    return {"type": f"source-{kind}", **part}


def _file(part: Fields, at: FieldPath) -> Fields:
    """A file by its address: what is in the message itself is a data address."""
    kind = part.pop("type")
    data = part.pop("data", None) or part.pop("image", None)
    if isinstance(data, Mapping) and (at / ".data").text(data, "type") in _TAGGED:
        field = _TAGGED[data["type"]]
        unknown_fields(data, frozenset(("type", field)), at / ".data")
        data = (at / ".data").text(data, field)
    if data is not None and not isinstance(data, str):
        raise (at / ".data").unknown_content()
    media_type = at.text(part, "mediaType") or ("image/png" if kind == "image" else "")
    if data and not data.startswith(("http:", "https:", "data:")):
        data = f"data:{media_type};base64,{data}"
    url = at.one_text({"url": part.get("url"), "data": data}, "url", "data")
    if not url and not part.get("providerReference"):
        raise at.wrong("a file has neither data nor an address")
    if kind == "image" and not part.get("mediaType"):
        media_type = "image/*"  # as the SDK calls a picture of a type that nobody said
    return {**part, "type": "file", "mediaType": media_type, "url": url}


def _renamed(part: Mapping[str, Any], names: Mapping[str, str], at: FieldPath) -> Fields:
    renamed = Fields()
    for name, value in part.items():
        new = names.get(name, name)
        if value is None:
            continue
        if new in renamed and renamed[new] != value:
            raise (at / f".{name}").unknown_content()
        renamed[new] = value
    return renamed
