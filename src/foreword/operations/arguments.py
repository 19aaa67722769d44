"""What a caller has sent, checked against what a tool takes: one error with a hint, before
anything is touched.

For the tools of MCP and of the director, whose schemas are JSON. HTTP checks its requests by
pydantic models (`faces.http`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.errors import UnknownName, UsageError

LONGEST_NAME = 80  # characters of a name or a value that an error repeats
# Characters of a text that is not kept as a value: a question or a path is shorter, and a model
# that sends a whole file in one is told so.
LONGEST_TEXT = 100_000

Schema = Mapping[str, Any]
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
TYPE_WORDS = {
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
    arguments = {}
    for name, value in (given or {}).items():
        if name not in known:
            raise UnknownName("argument", name[:LONGEST_NAME], known)
        if value is not None or _takes_any(known[name]):
            arguments[name] = value
    for name in schema.get("required", ()):
        if name not in arguments:
            raise UsageError(
                f"argument {name!r} is missing", hint=f"needed: {', '.join(schema['required'])}"
            )
    for name, value in arguments.items():
        _check_argument(name, value, known[name])
    return arguments


def _check_argument(name: str, value: object, wanted: Schema) -> None:
    if isinstance(value, str) and len(value) > LONGEST_TEXT and not _takes_any(wanted):
        raise UsageError(
            f"argument {name!r} has {len(value):,} characters, more than {LONGEST_TEXT:,}"
        )
    options = wanted.get("anyOf", [wanted])
    types = [option["type"] for option in options if "type" in option]
    if types and not any(_is_of_type(value, type_name) for type_name in types):
        expected = " or ".join(TYPE_WORDS[type_name] for type_name in types)
        raise UsageError(f"argument {name!r} must be {expected}, not {_type_in_words(value)}")
    if "enum" in wanted and value not in wanted["enum"]:
        raise UnknownName(name, str(value)[:LONGEST_NAME], wanted["enum"])


def _takes_any(wanted: Schema) -> bool:
    return not wanted.keys() & {"type", "anyOf", "enum"}


def _is_of_type(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _type_in_words(value: object) -> str:
    for name, words in TYPE_WORDS.items():
        if _is_of_type(value, name):
            return words
    return "null"
