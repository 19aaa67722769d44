"""Find what is secret, by the name it stands under and by its shape, and hide it.

What is hidden reads `[hidden]`. Null, an empty value, a yes or no, a placeholder and a reference to
a variable (`{{creds.password}}`) give nothing away and are shown. JSON inside a text is searched as
text. Which names promise a secret says `secret_names`; texts are searched by `patterns` for shapes
and by `assignments` for names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from typing import TypeGuard

from foreword.pattern import lazy_pattern
from foreword.secrets.assignments import argument_without_secret, hide_assignments
from foreword.secrets.patterns import without_shapes
from foreword.secrets.placeholders import HIDDEN, is_pin, is_placeholder
from foreword.secrets.secret_names import (
    asks_for_a_secret,
    is_guarded_name,
    is_label_field,
    is_labelled_field,
    is_pin_name,
    is_secret_name,
    name_by_label,
)
from foreword.secrets.text_search import remember_short

__all__ = [
    "HIDDEN",
    "as_text",
    "elements",
    "hide",
    "is_array",
    "is_secret",
    "is_secret_name",
    "mask",
    "members",
]

MOST_DEPTH = 100  # of a value: far below Python's limit of recursion
TOO_DEEP = "[nested too deeply]"
_MOST_ROUNDS = 8  # of hiding: a contrived text may need more than two, and none goes on for ever
_TIMESTAMP = lazy_pattern(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)?", re.ASCII
)
# How much of a list is read as the command that its flags are of: `["docker", "login", "-p", ...]`.
_COMMAND_WORDS = 8
_COMMAND_CHARS = 120
# Under `credentials` a shorter number is a count; one of twelve digits and more may be a card's.
_LEAST_CARD_NUMBER = 10**11
# Most values are of the first types: to ask for those costs a tenth of asking for a `Mapping`.
_SCALARS = (int, float, type(None))
_MAPPINGS = (dict, Mapping)
_ARRAYS = (list, tuple, Sequence)
_BYTES = (str, bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameTraits:
    """What the name of a member says about its value and those beside it."""

    masked: str
    may_be_secret: bool
    is_label: bool
    is_labelled: bool
    asks: bool
    answers: bool


def is_secret(name: str, value: object) -> bool:
    """Whether all of this value is to be hidden because of the name it stands under.

    Under `credentials`, `creds` or `pass` a text is hidden, while a mapping is left to its own
    keys.
    """
    # First what nearly always settles it: names come again and again, and are remembered.
    if not _may_be_secret(name):
        return False
    if value is None or isinstance(value, bool) or _is_empty(value):
        return False
    if isinstance(value, str) and is_placeholder(value):
        return False
    if is_pin_name(name) and isinstance(value, str | int) and is_pin(str(value)):
        return True
    return is_secret_name(name) or (is_guarded_name(name) and not _speaks_for_itself(value))


def _may_be_secret(name: str) -> bool:
    return is_secret_name(name) or is_guarded_name(name) or is_pin_name(name)


@remember_short
def mask(text: str) -> str:
    """The text with every secret that can be told by its shape or by the name before it replaced
    with `[hidden]`."""
    # A plan and a workflow have new ones at every change: to search one for names before its
    # colons took longer than to search all else that a turn shows for the first time.
    if _TIMESTAMP.fullmatch(text):
        return text
    # What was hidden can bare the end of another value: the second round finds nothing new in all
    # but contrived texts.
    for _ in range(_MOST_ROUNDS):
        masked = hide_assignments(without_shapes(text))
        if masked == text:
            break
        text = masked
    return text


def members(mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    """The members of a mapping, those that are secret by name hidden; what is inside them is left
    as it is.

    `{"name": "password", "value": ...}` and `{"selector": "#password", "text": ...}` name their
    value in a field.
    """
    label = ""
    has_question = False
    named = [(_traits(str(key)), key, value) for key, value in mapping.items()]
    for traits, key, value in named:
        if traits.is_label and label != "password" and isinstance(value, str):
            label = name_by_label(str(key), value) or label
        has_question = has_question or traits.asks
    for traits, key, value in named:
        secret = traits.may_be_secret and is_secret(str(key), value)
        if not secret and label and traits.is_labelled:
            secret = is_secret(label, value)
        if has_question and traits.answers:
            secret = is_secret("secret", value)
        yield traits.masked, HIDDEN if secret else value


@remember_short
def _traits(name: str) -> _NameTraits:
    return _NameTraits(
        masked=mask(name),
        may_be_secret=_may_be_secret(name),
        is_label=is_label_field(name),
        is_labelled=is_labelled_field(name),
        asks=asks_for_a_secret(name),
        answers=name.lower().startswith("answer"),
    )


def elements(array: Sequence[object]) -> Iterator[object]:
    """The elements of an array, those hidden that a flag names: `["--password", ...]`, `["curl",
    "-u", "me:..."]`."""
    words = [word for word in islice(array, _COMMAND_WORDS) if isinstance(word, str)]
    command = " ".join(words)[:_COMMAND_CHARS]
    flag = ""
    for element in array:
        if isinstance(element, str) and (flag or element.startswith("-")):
            yield argument_without_secret(command, flag, element)
        else:
            yield element
        flag = element if isinstance(element, str) and element.startswith("-") else ""


def hide(value: object) -> object:
    """A copy made of plain JSON values in which every secret at any depth reads `[hidden]`."""
    return _copy_without_secrets(value, ())


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether the value is written as an array."""
    return isinstance(value, _ARRAYS) and not isinstance(value, _BYTES)


def as_text(value: object) -> str:
    """A value that JSON has no writing for, as text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    return str(value)


def _copy_without_secrets(value: object, inside: tuple[int, ...]) -> object:
    """A copy of a value; `inside` has the ids of those around it, which it may hold again."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, _SCALARS):
        return value
    if len(inside) >= MOST_DEPTH or id(value) in inside:
        return TOO_DEEP
    inside = (*inside, id(value))
    if isinstance(value, _MAPPINGS):
        return {name: _copy_without_secrets(member, inside) for name, member in members(value)}
    if is_array(value):
        return [_copy_without_secrets(member, inside) for member in elements(value)]
    return mask(as_text(value))


def _is_empty(value: object) -> bool:
    return isinstance(value, Sized) and len(value) == 0


def _speaks_for_itself(value: object) -> bool:
    """Whether a value under a guarded name is left to its own keys, or is a mere count."""
    if is_array(value):
        return all(isinstance(member, Mapping) for member in value)
    if isinstance(value, int | float):
        return abs(value) < _LEAST_CARD_NUMBER
    return isinstance(value, Mapping)
