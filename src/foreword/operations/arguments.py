"""What a caller has sent, checked against what a tool takes: one error with a hint, before
anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.errors import UnknownName, UsageError

# characters: of what errors repeat, and of a text that is no value
LONGEST_NAME, LONGEST_TEXT = 80, 100_000

Schema = Mapping[str, Any]
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
SAID = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}


def validate_arguments(given: Mapping[str, Any] | None, schema: Schema) -> dict[str, Any]:
    """The arguments that were given; null stands for one that was not."""
    known: Schema = schema["properties"]
    for name in given or {}:
        if name not in known:
            raise UnknownName("argument", name[:LONGEST_NAME], known)
    found = {
        name: value
        for name, value in (given or {}).items()
        if value is not None or _takes_any(known[name])
    }
    for name in schema.get("required", ()):
        if name not in found:
            raise UsageError(
                f"argument {name!r} is missing", hint=f"needed: {', '.join(schema['required'])}"
            )
    for name, value in found.items():
        _check(name, value, known[name])
    return found


def _check(name: str, value: object, wanted: Schema) -> None:
    if isinstance(value, str) and len(value) > LONGEST_TEXT and not _takes_any(wanted):
        raise UsageError(
            f"argument {name!r} has {len(value):,} characters, more than {LONGEST_TEXT:,}"
        )
    names = [one["type"] for one in wanted.get("anyOf", [wanted]) if "type" in one]
    if names and not any(_is(value, one) for one in names):
        raise UsageError(
            f"argument {name!r} must be {' or '.join(SAID[one] for one in names)}, not"
            f" {_said(value)}"
        )
    if "enum" in wanted and value not in wanted["enum"]:
        raise UnknownName(name, str(value)[:LONGEST_NAME], wanted["enum"])


def _takes_any(wanted: Schema) -> bool:
    return not wanted.keys() & {"type", "anyOf", "enum"}


def _is(value: object, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _said(value: object) -> str:
    return next((SAID[name] for name in SAID if _is(value, name)), "null")
