"""Messages in which no secret of the workflow is repeated: known values are hidden in every part
that is words.

The ids of calls stay, so that each call keeps its result, and so does JSON. A thought that its
provider has signed or encrypted stays whole, since the provider refuses one of which a byte has
changed; so does the address of a picture, which would lead nowhere. What is kept in the store is
never changed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from operator import is_

from foreword.message import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import HIDDEN


def without_secrets(message: Message, secrets: KnownValues) -> Message:
    """The message with the known values hidden; the same object where there are none in it."""
    if not secrets:
        return message
    parts = tuple([_part(part, secrets) for part in message.parts])
    extra = _fields(message.extra, secrets)
    if extra == message.extra and all(map(is_, parts, message.parts)):
        return message
    return replace(message, parts=parts, extra=extra, tokens=None)


def _part(part: Part, secrets: KnownValues) -> Part:
    """The part without secrets; the same object where there are none in it."""
    new: Part
    match part:
        case Text():
            new = replace(part, text=secrets.known(part.text), extra=_fields(part.extra, secrets))
        case ToolCall():
            arguments = _arguments(part.arguments, secrets)
            new = replace(part, arguments=arguments, extra=_fields(part.extra, secrets))
        case ToolResult():
            rest = tuple(
                [
                    replace(one, data=_fields(one.data, secrets))
                    if isinstance(one, Opaque)
                    else one
                    for one in part.rest
                ]
            )
            new = replace(
                part, text=secrets.known(part.text), rest=rest, extra=_fields(part.extra, secrets)
            )
        case Thinking(signature="", redacted=False):
            new = replace(part, text=secrets.known(part.text), extra=_fields(part.extra, secrets))
        case Opaque():
            new = replace(part, data=_fields(part.data, secrets))
        case Thinking() | Image():
            new = part
    return part if new == part else new


def _arguments(text: str, secrets: KnownValues) -> str:
    """The JSON that a model wrote for a tool; a number that is secret is a text then."""
    return _json(text, secrets, numbers=True)


def _fields(text: str, secrets: KnownValues) -> str:
    """The JSON of fields that are carried along; its numbers are sizes and places."""
    return _json(text, secrets, numbers=False)


def _json(text: str, secrets: KnownValues, *, numbers: bool) -> str:
    hidden = secrets.known(text)
    if hidden == text:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return hidden
    try:
        return json.dumps(_each(value, secrets, numbers), ensure_ascii=False)
    except RecursionError:
        return json.dumps(HIDDEN)


def _each(value: object, secrets: KnownValues, numbers: bool) -> object:
    if isinstance(value, str):
        return secrets.known(value)
    if isinstance(value, dict):
        return {
            secrets.known(name): _each(member, secrets, numbers) for name, member in value.items()
        }
    if isinstance(value, list):
        return [_each(member, secrets, numbers) for member in value]
    is_number = numbers and isinstance(value, int | float) and not isinstance(value, bool)
    return HIDDEN if is_number and secrets.is_known(str(value)) else value
