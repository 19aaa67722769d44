"""Make a message safe: nothing in any of its parts reads as a boundary tag.

The same that `Scale.safe` does to a text, for messages as a provider gets them.

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

from foreword.message import (
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    data_beside_words,
)
from foreword.pattern import lazy_pattern
from foreword.text.boundary_pattern import HARMLESS, BoundaryPattern

AnyPart = TypeVar("AnyPart", bound=Part)

_STRING = lazy_pattern(r'"(?>(?:[^"\\]|\\.)*)"', re.DOTALL)  # of JSON, quotes and all
_ESCAPED = lazy_pattern(r"\\u003c", re.IGNORECASE)  # how JSON may write a `<`


def escape_boundaries(message: Message, pattern: BoundaryPattern) -> Message:
    """The message with the `<` of every forged boundary made harmless; the same object where
    there is none."""
    parts = tuple([_escape_part(part, pattern) for part in message.parts])
    extra = _escape_json(message.extra, pattern)
    if extra == message.extra and all(map(is_, parts, message.parts)):
        return message
    return replace(message, parts=parts, extra=extra)


def data_to_send(message: Message, pattern: BoundaryPattern) -> str:
    """What goes along besides the words of a message, nothing in it a boundary tag; most messages
    have none."""
    if not data_beside_words(message):
        return ""
    return data_beside_words(escape_boundaries(message, pattern))


def _escape_part(part: Part, pattern: BoundaryPattern) -> Part:
    match part:
        case Text():
            return _with_fields(
                part, text=_escape_text(part.text, pattern), extra=_escape_json(part.extra, pattern)
            )
        case ToolCall():
            return _with_fields(
                part,
                id=_escape_text(part.id, pattern),
                name=_escape_text(part.name, pattern),
                arguments=_escape_json(part.arguments, pattern),
                extra=_escape_json(part.extra, pattern),
            )
        case ToolResult():
            return _escape_result(part, pattern)
        case Thinking(signature="", redacted=False):
            return _with_fields(
                part, text=_escape_text(part.text, pattern), extra=_escape_json(part.extra, pattern)
            )
        case Thinking():
            return part
        case Image() | Opaque():
            return _escape_attachment(part, pattern)


def _escape_result(part: ToolResult, pattern: BoundaryPattern) -> ToolResult:
    """A tool's answer: its words may have stood in several blocks, whose lengths are carried
    along."""
    forged: list[int] = []
    if "<" in part.text:
        forged = [found.start() for found in pattern.finditer(part.text)]
    extra = part.extra
    if forged and extra:
        from foreword.formats.fields import resized_layout  # the package brings every format

        extra = resized_layout(extra, forged, len(HARMLESS) - 1)
    rest = tuple([_escape_attachment(each, pattern) for each in part.rest])
    return _with_fields(
        part,
        id=_escape_text(part.id, pattern),
        text=_escape_text(part.text, pattern),
        rest=part.rest if rest == part.rest else rest,
        extra=_escape_json(extra, pattern),
    )


def _escape_attachment(part: Image | Opaque, pattern: BoundaryPattern) -> Image | Opaque:
    if isinstance(part, Image):
        return _with_fields(part, extra=_escape_json(part.extra, pattern))
    return _with_fields(
        part,
        data=_escape_json(part.data, pattern),
        name=_escape_text(part.name, pattern),
        text=_escape_text(part.text, pattern),
    )


def _with_fields(part: AnyPart, **fields: Any) -> AnyPart:
    """The part with these fields; the same object where nothing is new."""
    new = {name: value for name, value in fields.items() if value != getattr(part, name)}
    return replace(part, **new) if new else part


def _escape_text(text: str, pattern: BoundaryPattern) -> str:
    return pattern.escape(text) if "<" in text else text


def _escape_json(text: str, pattern: BoundaryPattern) -> str:
    """A JSON text whose strings, names as well, are safe once they are read; what is no JSON is
    safe as it stands."""
    if "<" not in text and not _ESCAPED.search(text):
        return text

    def escape_string(found: re.Match[str]) -> str:
        try:
            value = json.loads(found[0], strict=False)
        except ValueError:
            return found[0]
        # With its closing quote: nothing is joined to a string in JSON, so a `<` at its end is no
        # beginning of a tag.
        harmless = pattern.escape(f'{value}"')[:-1]
        return found[0] if harmless == value else json.dumps(harmless, ensure_ascii=False)

    return pattern.escape(_STRING.sub(escape_string, text))
