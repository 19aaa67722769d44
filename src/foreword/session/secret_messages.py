"""Messages in which no secret of the workflow is repeated: known values are hidden in every string
of a message, of what it says and of the JSON that it came as.

JSON stays JSON. A thought that its provider has signed or encrypted is left out whole where it
holds a secret, since the provider refuses one of which a byte has changed. What is kept in the
store is never changed.
"""

from __future__ import annotations

import json

from foreword.messages.blocks import rewrite
from foreword.messages.message import Message, edit
from foreword.messages.parts import Part, Thinking
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import HIDDEN


def without_secrets(message: Message, secrets: KnownValues) -> Message:
    """The message with the known values hidden; the same object where there are none in it."""
    if not secrets:
        return message

    def hide_text(value: object) -> object:
        return secrets.hide_known_values(value) if isinstance(value, str) else value

    def hide_arguments(value: object) -> object:
        if isinstance(value, str):
            return _hide_json(value, secrets)
        return HIDDEN if secrets.is_known(str(value)) else value

    parts = [part for part in message.parts if not _is_secret_thought(part, secrets)]
    if len(parts) < len(message.parts):
        message = edit(message, parts=tuple(parts), tokens=None)
    return rewrite(message, hide_text, hide_arguments)


def _is_secret_thought(part: Part, secrets: KnownValues) -> bool:
    if not isinstance(part, Thinking) or not part.is_bound:
        return False
    said = part.text if part.block is None else json.dumps(part.block.raw, ensure_ascii=False)
    return secrets.hide_known_values(said) != said


def _hide_json(text: str, secrets: KnownValues) -> str:
    """The JSON that a model wrote for a tool, or a string in it; a number that is secret is a text
    then."""
    hidden = secrets.hide_known_values(text)
    if hidden == text:
        return text
    try:
        value = json.loads(text)
        return json.dumps(_hide_in(value, secrets), ensure_ascii=False)
    except ValueError:
        return hidden
    except RecursionError:
        return json.dumps(HIDDEN)


def _hide_in(value: object, secrets: KnownValues) -> object:
    if isinstance(value, str):
        return secrets.hide_known_values(value)
    if isinstance(value, dict):
        hidden = {}
        for name, member in value.items():
            hidden[secrets.hide_known_values(name)] = _hide_in(member, secrets)
        return hidden
    if isinstance(value, list):
        return [_hide_in(member, secrets) for member in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return HIDDEN if is_number and secrets.is_known(str(value)) else value
