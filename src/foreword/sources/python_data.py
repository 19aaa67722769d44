"""Data that a caller gives in Python in place of a file: mappings, lists, texts, numbers.

What JSON has is taken as it is, what has one obvious way to be written (a date, a path) as text.
Anything else is an error that names its place in the data and its type. What the data means is for
`items` and `json_state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from uuid import UUID

from foreword.errors import BadSource

_TYPE_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}
SOURCE = "source"  # what errors call it: the name of the argument
_WRITTEN_AS_TEXT = (date, time, Decimal, PurePath, UUID)  # a datetime is a date, too


def type_name(value: object) -> str:
    """What an error calls a value of the wrong type."""
    return "nothing" if value is None else _TYPE_NAMES.get(type(value), "a value")


def plain_data(value: object) -> object:
    """The value as JSON would have it; an error names the place, such as `items[0].text`."""
    try:
        return _plain(value, place="")
    except RecursionError:
        raise BadSource(SOURCE, "it is nested too deeply, or holds itself") from None


def _plain(value: object, place: str) -> object:
    if isinstance(value, Enum):
        return _plain(value.value, place)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, _WRITTEN_AS_TEXT):
        return str(value)
    if isinstance(value, Mapping):
        return _plain_mapping(value, place)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_plain(member, f"{place}[{index}]") for index, member in enumerate(value)]
    raise _not_data(value, place)


def _plain_mapping(mapping: Mapping[object, object], place: str) -> dict[str, object]:
    plain: dict[str, object] = {}
    for key, member in mapping.items():
        if not isinstance(key, str | int):
            raise _not_data(key, f"{place}: the key {key!r}" if place else f"the key {key!r}")
        name = str(key)
        plain[name] = _plain(member, f"{place}.{name}" if place else name)
    return plain


def _not_data(value: object, place: str) -> BadSource:
    problem = f"must be plain data, not {type(value).__name__}"
    return BadSource(
        SOURCE,
        f"{place}: {problem}" if place else problem,
        hint="give mappings, lists, texts, numbers, true, false, None, dates or paths",
    )
