"""Messages in which no secret of the workflow is repeated: known values are hidden in every part
that is words.

The ids of calls stay, so that each call keeps its result, and so does JSON. A thought that its
provider has signed or encrypted stays whole, since the provider refuses one of which a byte has
changed; so does the address of a picture, which would lead nowhere. What is kept in the store is
never changed.
"""

from __future__ import annotations

import json
import operator
from dataclasses import replace

from foreword.message import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import HIDDEN


def without_secrets(message: Message, secrets: KnownValues) -> Message:
    """The message with the known values hidden; the same object where there are none in it."""
    if not secrets:
        return message
    parts = tuple(_part(part, secrets) for part in message.parts)
    extra = _fields(message.extra, secrets)
    is_same = all(map(operator.is_, parts, message.parts))
    if is_same and extra == message.extra:
        return message
    return replace(message, parts=parts, extra=extra, tokens=None)


def _part(part: Part, secrets: KnownValues) -> Part:
    """The part without secrets; the same object where there are none in it."""
    new: Part
    match part:
        case Text():
            new = replace(
                part, text=secrets.hide_known_values(part.text), extra=_fields(part.extra, secrets)
            )
        case ToolCall():
            arguments = _arguments(part.arguments, secrets)
            new = replace(part, arguments=arguments, extra=_fields(part.extra, secrets))
        case ToolResult():
            new = replace(
                part,
                text=secrets.hide_known_values(part.text),
                rest=tuple(_result_part(inner, secrets) for inner in part.rest),
                extra=_fields(part.extra, secrets),
            )
        case Thinking(signature="", redacted=False):
            new = replace(
                part, text=secrets.hide_known_values(part.text), extra=_fields(part.extra, secrets)
            )
        case Opaque():
            new = _attachment(part, secrets)
        case Thinking() | Image():
            new = part
    return part if new == part else new


def _result_part(part: Image | Opaque, secrets: KnownValues) -> Image | Opaque:
    """What a result holds besides its text."""
    return _attachment(part, secrets) if isinstance(part, Opaque) else part


def _attachment(part: Opaque, secrets: KnownValues) -> Opaque:
    return replace(
        part, data=_fields(part.data, secrets), text=secrets.hide_known_values(part.text)
    )


def _arguments(text: str, secrets: KnownValues) -> str:
    """The JSON that a model wrote for a tool; a number that is secret is a text then."""
    return _json(text, secrets, numbers=True)


def _fields(text: str, secrets: KnownValues) -> str:
    """The JSON of fields that are carried along; its numbers are sizes and places."""
    return _json(text, secrets, numbers=False)


def _json(text: str, secrets: KnownValues, *, numbers: bool) -> str:
    hidden = secrets.hide_known_values(text)
    if hidden == text:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return hidden
    try:
        return json.dumps(_hide_in(value, secrets, numbers=numbers), ensure_ascii=False)
    except RecursionError:
        return json.dumps(HIDDEN)


def _hide_in(value: object, secrets: KnownValues, *, numbers: bool) -> object:
    if isinstance(value, str):
        return secrets.hide_known_values(value)
    if isinstance(value, dict):
        hidden = {}
        for name, member in value.items():
            hidden[secrets.hide_known_values(name)] = _hide_in(member, secrets, numbers=numbers)
        return hidden
    if isinstance(value, list):
        return [_hide_in(member, secrets, numbers=numbers) for member in value]
    is_number = numbers and isinstance(value, int | float) and not isinstance(value, bool)
    return HIDDEN if is_number and secrets.is_known(str(value)) else value
