"""Find what is secret, by the name it stands under and by its shape, and hide it.

What is hidden reads `[hidden]`. Null, an empty value, a yes or no, a placeholder and a reference to
a variable (`{{creds.password}}`) give nothing away and are shown. JSON inside a text is searched as
text. Which names promise a secret is told by `names`; texts are searched by `keys` for shapes and
by `assigned` for names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import TypeGuard

from foreword.secrets.assignments import argument_without_secret, hide_assignments
from foreword.secrets.patterns import without_shapes
from foreword.secrets.placeholders import HIDDEN, is_pin, is_placeholder
from foreword.secrets.secret_names import (
    asks_for_a_secret,
    is_guarded_name,
    is_labelled_field,
    is_pin_name,
    is_secret_name,
    name_by_label,
)

__all__ = [
    "HIDDEN",
    "as_text",
    "elements",
    "hide",
    "is_array",
    "is_secret",
    "is_secret_name",
    "is_secret_value",
    "mask",
    "members",
]

MOST_DEPTH = 100
TOO_DEEP = "[nested too deeply]"
_MOST_ROUNDS = 8
_MOST_COMMAND, _LONGEST_COMMAND = 8, 120
_LEAST_CARD_NUMBER = 10**11


def is_secret(name: str, value: object) -> bool:
    """Whether all of this value is to be hidden because of the name it stands under.

    Under `credentials`, `creds` or `pass` a text is hidden, while a mapping is left to its own
    keys.
    """
    if value is None or isinstance(value, bool) or _is_empty(value):
        return False
    if isinstance(value, str) and is_placeholder(value):
        return False
    if is_pin_name(name) and isinstance(value, str | int) and is_pin(str(value)):
        return True
    return is_secret_name(name) or (is_guarded_name(name) and not _speaks_for_itself(value))


def is_secret_value(text: str) -> bool:
    """Whether a secret can be told by its shape anywhere in the text."""
    return mask(text) != text


def mask(text: str) -> str:
    """The text with every secret that can be told by its shape or by the name before it replaced
    with `[hidden]`."""
    # What was hidden can bare the end of another value: the second round finds nothing new in all
    # but contrived texts.
    for _ in range(_MOST_ROUNDS):
        before, text = text, hide_assignments(without_shapes(text))
        if text == before:
            break
    return text


def members(mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    """The members of a mapping, those that are secret by name hidden; what is inside them is left
    as it is.

    `{"name": "password", "value": ...}` and `{"selector": "#password", "text": ...}` name their
    value in a field.
    """
    label = _label(mapping)
    asked = any(asks_for_a_secret(str(field)) for field in mapping)
    for key, value in mapping.items():
        name = str(key)
        secret = is_secret(name, value) or (
            label and is_labelled_field(name) and is_secret(label, value)
        )
        if asked and name.lower().startswith("answer"):
            secret = is_secret("secret", value)
        yield mask(name), HIDDEN if secret else value


def elements(array: Sequence[object]) -> Iterator[object]:
    """The elements of an array, those hidden that a flag names: `["--password", ...]`, `["curl",
    "-u", "me:..."]`."""
    command = " ".join(word for word in islice(array, _MOST_COMMAND) if isinstance(word, str))[
        :_LONGEST_COMMAND
    ]
    flag = ""
    for element in array:
        if isinstance(element, str) and (flag or element.startswith("-")):
            yield argument_without_secret(command, flag, element)
        else:
            yield element
        flag = element if isinstance(element, str) and element.startswith("-") else ""


def hide(value: object) -> object:
    """A copy made of plain JSON values in which every secret at any depth reads `[hidden]`."""
    return _hidden(value, ())


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether the value is written as an array."""
    return isinstance(value, Sequence) and not isinstance(
        value, str | bytes | bytearray | memoryview
    )


def as_text(value: object) -> str:
    """A value that JSON has no writing for, as text."""
    return (
        f"[{len(value)} bytes]" if isinstance(value, bytes | bytearray | memoryview) else str(value)
    )


def _hidden(value: object, inside: tuple[int, ...]) -> object:
    if isinstance(value, str):
        return mask(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if len(inside) >= MOST_DEPTH or id(value) in inside:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return {name: _hidden(member, (*inside, id(value))) for name, member in members(value)}
    if is_array(value):
        return [_hidden(member, (*inside, id(value))) for member in elements(value)]
    return mask(as_text(value))


def _label(mapping: Mapping[object, object]) -> str:
    """The name that a field gives to the value in another, a password's before a PIN's."""
    names = [
        name_by_label(str(field), label)
        for field, label in mapping.items()
        if isinstance(label, str)
    ]
    return min(filter(None, names), default="")


def _is_empty(value: object) -> bool:
    return isinstance(value, Sized) and len(value) == 0


def _speaks_for_itself(value: object) -> bool:
    if is_array(value):
        return all(isinstance(member, Mapping) for member in value)
    return isinstance(value, Mapping) or (
        isinstance(value, int | float) and abs(value) < _LEAST_CARD_NUMBER
    )
