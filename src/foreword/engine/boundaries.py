"""Messages in which nothing reads as a boundary tag: what `Scale.safe` does to a text, for every
part of a message.

Pure. Only the `<` of a forgery becomes `&lt;`; all else stays byte for byte, the JSON of a call's
arguments as well. A thought that its provider has signed or encrypted stays whole: the provider
refuses one of which a byte has changed.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar

from foreword.formats.fields import resized_layout
from foreword.message import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

AnyPart = TypeVar("AnyPart", Text, Image, Thinking, Opaque, ToolCall, ToolResult)

HARMLESS = "&lt;"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)  # of JSON, quotes and all
_ESCAPED = re.compile(r"\\u003c", re.IGNORECASE)  # how JSON may write a `<`


def escape_boundaries(message: Message, pattern: re.Pattern[str]) -> Message:
    """The message with the `<` of every forged boundary made harmless; the same object where
    there is none."""
    parts = tuple([_part(part, pattern) for part in message.parts])
    extra = _json(message.extra, pattern)
    if extra == message.extra and all(map(is_, parts, message.parts)):
        return message
    return replace(message, parts=parts, extra=extra)


def _part(part: Part, pattern: re.Pattern[str]) -> Part:
    match part:
        case Text():
            return _changed(part, text=_text(part.text, pattern), extra=_json(part.extra, pattern))
        case ToolCall():
            return _changed(
                part,
                id=_text(part.id, pattern),
                name=_text(part.name, pattern),
                arguments=_json(part.arguments, pattern),
                extra=_json(part.extra, pattern),
            )
        case ToolResult():
            return _result(part, pattern)
        case Thinking(signature="", redacted=False):
            return _changed(part, text=_text(part.text, pattern), extra=_json(part.extra, pattern))
        case Thinking():
            return part
        case Image() | Opaque():
            return _beside_words(part, pattern)


def _result(part: ToolResult, pattern: re.Pattern[str]) -> ToolResult:
    """A tool's answer: its words may have stood in several blocks, whose lengths are carried
    along."""
    forged = [found.start() for found in pattern.finditer(part.text)] if "<" in part.text else []
    extra = (
        resized_layout(part.extra, forged, len(HARMLESS) - 1)
        if forged and part.extra
        else part.extra
    )
    rest = tuple([_beside_words(one, pattern) for one in part.rest])
    return _changed(
        part,
        id=_text(part.id, pattern),
        text=_text(part.text, pattern),
        rest=part.rest if rest == part.rest else rest,
        extra=_json(extra, pattern),
    )


def _beside_words(part: Image | Opaque, pattern: re.Pattern[str]) -> Image | Opaque:
    if isinstance(part, Image):
        return _changed(part, extra=_json(part.extra, pattern))
    return _changed(part, data=_json(part.data, pattern), name=_text(part.name, pattern))


def _changed(part: AnyPart, **fields: Any) -> AnyPart:
    """The part with these fields; the same object where nothing is new."""
    new = {name: value for name, value in fields.items() if value != getattr(part, name)}
    return replace(part, **new) if new else part


def _text(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(HARMLESS, text) if "<" in text else text


def _json(text: str, pattern: re.Pattern[str]) -> str:
    """A JSON text whose strings, names as well, are safe once they are read; what is no JSON is
    safe as it stands."""
    if "<" not in text and not _ESCAPED.search(text):
        return text

    def safe(found: re.Match[str]) -> str:
        try:
            value = json.loads(found[0], strict=False)
        except ValueError:
            return found[0]
        # With its closing quote: nothing is joined to a string in JSON, so a `<` at its end is no
        # beginning of a tag.
        harmless = pattern.sub(HARMLESS, f'{value}"')[:-1]
        return found[0] if harmless == value else json.dumps(harmless, ensure_ascii=False)

    return pattern.sub(HARMLESS, _STRING.sub(safe, text))
