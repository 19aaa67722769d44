"""Recipes out of data that is known to be valid: the built-in ones, without loading pydantic.

Nothing is checked here. Tests hold that the built-in recipes are valid, and that reading them this
way and validating them give the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from foreword.recipe.field_types import FieldType
from foreword.recipe.schema import AnyPart, RecipePart


def read_part(part: type[AnyPart], data: Mapping[str, Any]) -> AnyPart:
    """A part of a recipe, with all parts in it."""
    return part(**read_fields(part, data))


def read_fields(part: type[RecipePart], data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a part that are given, as they are in it."""
    hashable: Any = part
    hints = _hints(hashable)
    return {name: _read(hints[name], value) for name, value in data.items()}


@cache
def _hints(part: type) -> dict[str, Any]:
    return get_type_hints(part, include_extras=True)


def _read(hint: Any, value: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, RecipePart):
        return read_part(hint, value)
    origin = get_origin(hint)
    if origin is Annotated:
        return _read_annotated(hint, value)
    if origin is tuple:
        return tuple(_read(get_args(hint)[0], entry) for entry in value)
    if origin is dict:
        key_hint, value_hint = get_args(hint)
        return {_read(key_hint, key): _read(value_hint, entry) for key, entry in value.items()}
    if origin in (Union, UnionType):
        return _read_union(get_args(hint), value)
    return value


def _read_annotated(hint: Any, value: Any) -> Any:
    for annotation in hint.__metadata__:
        if isinstance(annotation, FieldType) and annotation.read is not None:
            value = annotation.read(value)
    return _read(get_args(hint)[0], value)


def _read_union(choices: tuple[Any, ...], value: Any) -> Any:
    """None and, where the union has it, a text stay as they are; all else is read as the first of
    the other types."""
    if value is None or (isinstance(value, str) and str in choices):
        return value
    others = [choice for choice in choices if choice not in (NoneType, str)]
    return _read(others[0], value) if others else value
