"""What an extracted value should look like: the part of JSON Schema that tells texts, numbers,
lists and mappings.

A page has nothing but texts, so a text that reads as the number or the yes or no that a schema
wants becomes one. What a schema itself may say is in `node_shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from foreword.plan.value_words import value_in_words

TYPES: dict[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_LIMITS: dict[str, tuple[Any, str]] = {  # keyword: what it limits, and how it is said
    "minItems": (list, "must have at least {} elements"),
    "maxItems": (list, "must have at most {} elements"),
    "minLength": (str, "must have at least {} characters"),
    "maxLength": (str, "must have at most {} characters"),
    "minimum": ((int, float), "must be at least {}"),
    "maximum": ((int, float), "must be at most {}"),
}


def fit_value(value: object, schema: Mapping[str, Any], path: str) -> tuple[Any, list[str]]:
    """The value as the schema wants it, and where it is not what the schema wants."""
    value = _convert_text(value, schema)
    wanted = _types(schema)
    if wanted and not any(_is_of_type(value, name) for name in wanted):
        types = " or ".join(map(_type_in_words, wanted))
        return value, [f"{path}: must be {types}, not {value_in_words(value)}"]
    found = list(_limit_problems(value, schema, path))
    if isinstance(value, Mapping):
        members, more = _fit_members(value, schema, path)
        return members, found + more
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        elements = []
        for index, element in enumerate(value):
            fitted, more = fit_value(element, schema["items"], f"{path}[{index}]")
            elements.append(fitted)
            found += more
        return elements, found
    return value, found


def _fit_members(
    value: Mapping[str, Any], schema: Mapping[str, Any], path: str
) -> tuple[dict[str, Any], list[str]]:
    rules = schema.get("properties") or {}
    required = schema.get("required") or ()
    found = [f"{path}.{name}: missing" for name in required if name not in value]
    members = dict(value)
    for name, member in value.items():
        if name in rules:
            members[name], more = fit_value(member, rules[name], f"{path}.{name}")
            found += more
        elif schema.get("additionalProperties") is False:
            found.append(f"{path}.{name}: is not in the schema")
    return members, found


def _limit_problems(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if schema.get("enum") is not None and value not in schema["enum"]:
        options = ", ".join(map(value_in_words, schema["enum"]))
        yield f"{path}: {value_in_words(value)} is not one of {options}"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: must be {value_in_words(schema['const'])}, not {value_in_words(value)}"
    for name, (kind, rule) in _LIMITS.items():
        limit = schema.get(name)
        if limit is None or not isinstance(value, kind) or isinstance(value, bool):
            continue
        size = len(value) if isinstance(value, list | str) else value
        too_small = name.startswith("min") and size < limit
        too_large = name.startswith("max") and size > limit
        if too_small or too_large:
            yield f"{path}: {rule.format(limit)}, not {size}"


def _convert_text(value: object, schema: Mapping[str, Any]) -> object:
    """A text as the number, or the yes or no, that is wanted instead of a text."""
    wanted = _types(schema)
    if not isinstance(value, str) or "string" in wanted:
        return value
    text = value.strip()
    if "boolean" in wanted and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "integer" in wanted or "number" in wanted:
        whole = _read_number(text, int)
        if whole is not None:
            return whole
    if "number" in wanted:
        number = _read_number(text, float)
        if number is not None:
            return number
    return None if "null" in wanted and not text else value


def _read_number(text: str, read: Callable[[str], int | float]) -> int | float | None:
    """The number that a text reads as; Python's `1_000` and `inf` are none."""
    try:
        number = read(text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None


def _types(schema: Mapping[str, Any]) -> list[str]:
    wanted = schema.get("type")
    return [wanted] if isinstance(wanted, str) else list(wanted or ())


def _is_of_type(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def _type_in_words(name: str) -> str:
    words = {
        "string": "text",
        "number": "a number",
        "integer": "a whole number",
        "array": "a list",
        "object": "a mapping",
        "null": "null",
        "boolean": "true or false",
    }
    return words[name]
