"""What an extracted value should look like: the part of JSON Schema that tells texts, numbers,
lists and mappings.

A page has nothing but texts, so a text that reads as the number or the yes or no that a schema
wants becomes one. A keyword that is not known is a problem of the schema: it would be believed to
hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from foreword.errors import did_you_mean
from foreword.plan import shape_check

TYPES: dict[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_REMARKS = frozenset(["title", "description", "default", "examples", "$schema", "$id", "$comment"])
_LIMITS: dict[str, tuple[Any, str]] = {  # keyword: what it limits, and how it is said
    "minItems": (list, "must have at least {} elements"),
    "maxItems": (list, "must have at most {} elements"),
    "minLength": (str, "must have at least {} characters"),
    "maxLength": (str, "must have at most {} characters"),
    "minimum": ((int, float), "must be at least {}"),
    "maximum": ((int, float), "must be at most {}"),
}
_KEYWORDS = (
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    *_LIMITS,
)


def problems(schema: object, path: str) -> Iterator[str]:
    """What is wrong with a schema."""
    if not isinstance(schema, Mapping):
        yield f"{path}: must be a mapping, not {shape_check.value_in_words(schema)}"
        return
    for name in schema:
        if name not in _KEYWORDS and name not in _REMARKS:
            guess = did_you_mean(str(name), _KEYWORDS)
            instead = f"did you mean {guess!r}?" if guess else f"known: {', '.join(_KEYWORDS)}"
            yield f"{path}.{name}: no such keyword here, {instead}"
    yield from shape_check.fields({}, _RULES)(schema, path)


def fit_value(value: object, schema: Mapping[str, Any], path: str) -> tuple[Any, list[str]]:
    """The value as the schema wants it, and where it is not what the schema wants."""
    value = _converted(value, schema)
    wanted = _types(schema)
    if wanted and not any(_is(value, name) for name in wanted):
        return value, [
            f"{path}: must be {' or '.join(map(_said, wanted))}, not {shape_check.value_in_words(value)}"
        ]
    found = list(_limits(value, schema, path))
    if isinstance(value, Mapping):
        return _members(value, schema, path, found)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        parts = [
            fit_value(one, schema["items"], f"{path}[{index}]") for index, one in enumerate(value)
        ]
        return [part for part, _ in parts], [
            *found,
            *(problem for _, some in parts for problem in some),
        ]
    return value, found


def _members(
    value: Mapping[str, Any], schema: Mapping[str, Any], path: str, found: list[str]
) -> tuple[dict[str, Any], list[str]]:
    rules = schema.get("properties") or {}
    made = dict(value)
    found += [
        f"{path}.{name}: missing" for name in schema.get("required") or () if name not in value
    ]
    for name, member in value.items():
        if name in rules:
            made[name], more = fit_value(member, rules[name], f"{path}.{name}")
            found += more
        elif schema.get("additionalProperties") is False:
            found.append(f"{path}.{name}: is not in the schema")
    return made, found


def _limits(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if schema.get("enum") is not None and value not in schema["enum"]:
        yield (
            f"{path}: {shape_check.value_in_words(value)} is not one of"
            f" {', '.join(map(shape_check.value_in_words, schema['enum']))}"
        )
    if "const" in schema and value != schema["const"]:
        yield f"{path}: must be {shape_check.value_in_words(schema['const'])}, not {shape_check.value_in_words(value)}"
    for name, (kind, said) in _LIMITS.items():
        limit = schema.get(name)
        if limit is None or not isinstance(value, kind) or isinstance(value, bool):
            continue
        size = len(value) if isinstance(value, list | str) else value
        if (size < limit) if name.startswith("min") else (size > limit):
            yield (
                f"{path}: {said.format(limit)}, not"
                f" {len(value) if isinstance(value, list | str) else value}"
            )


def _converted(value: object, schema: Mapping[str, Any]) -> object:
    """A text as the number, or the yes or no, that is wanted instead of a text."""
    wanted = _types(schema)
    if not isinstance(value, str) or "string" in wanted:
        return value
    text = value.strip()
    if "boolean" in wanted and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for name, read in (("integer", int), ("number", float)):
        if name in wanted or (name == "integer" and "number" in wanted):
            try:
                number = read(text)
            except ValueError:
                continue
            if isfinite(number) and "_" not in text:
                return number
    return None if "null" in wanted and not text else value


def _types(schema: Mapping[str, Any]) -> list[str]:
    wanted = schema.get("type")
    return [wanted] if isinstance(wanted, str) else list(wanted or ())


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def _said(name: str) -> str:
    return {
        "string": "text",
        "array": "a list",
        "object": "a mapping",
        "null": "null",
        "boolean": "true or false",
    }.get(name, "a whole number" if name == "integer" else "a number")


def _type(value: object, path: str) -> Iterator[str]:
    named = shape_check.one_of(tuple(TYPES))
    yield from (
        shape_check.list_of(named)(value, path)
        if isinstance(value, list | tuple)
        else named(value, path)
    )


def _properties(value: object, path: str) -> Iterator[str]:
    yield from shape_check.mapping(value, path)
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from problems(member, f"{path}.{name}")


def yes_or_no(value: object, path: str) -> Iterator[str]:
    """True or false."""
    if not isinstance(value, bool):
        yield f"{path}: must be true or false, not {shape_check.value_in_words(value)}"


def _limit(value: object, path: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{path}: must be a number, not {shape_check.value_in_words(value)}"


_RULES: dict[str, shape_check.Rule] = {
    "type": _type,
    "properties": _properties,
    "required": shape_check.list_of(shape_check.text),
    "additionalProperties": yes_or_no,
    "items": problems,
    "enum": shape_check.list_of(lambda value, path: ()),
    **dict.fromkeys(_LIMITS, _limit),
}
