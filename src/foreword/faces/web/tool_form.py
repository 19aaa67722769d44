"""A tool as a form: a field for each of its arguments, and the arguments that a filled form
stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foreword.director.tool import DirectorTool
from foreword.errors import UsageError
from foreword.plan.node import TYPES

# by the types of JSON Schema; all others are written as JSON
KINDS = {"string": "text", "boolean": "flag", "integer": "number", "number": "number"}
NODE_FIELDS = ("node", "after", "parent")  # that name a node
PREFIX = "arg."  # of the fields' names in the form
EXAMPLES = {"config": '{"selector": "#sign-in"}', "plan": '{"overall_goal": "...", "phases": []}'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument as a person fills it in."""

    name: str
    kind: str  # text, choice, flag, number, json
    needed: bool
    options: tuple[str, ...] = ()  # of a choice: all there are; of a text: some that are usual
    about: str = ""
    example: str = ""


def fields(tool: DirectorTool, nodes: tuple[str, ...] = ()) -> list[Field]:
    """The fields of a tool; those that name a node offer the ones there are."""
    needed = tool.needs
    parameters = tool.parameters.items()
    return [_field(name, schema, name in needed, nodes) for name, schema in parameters]


def _field(name: str, schema: Mapping[str, Any], needed: bool, nodes: tuple[str, ...]) -> Field:
    if "enum" in schema:
        return Field(name=name, kind="choice", needed=needed, options=tuple(schema["enum"]))
    return Field(
        name=name,
        kind=KINDS.get(str(schema.get("type")), "json"),
        needed=needed,
        options=_usual_values(name, nodes),
        about=str(schema.get("description", "")),
        example=EXAMPLES.get(name, ""),
    )


def _usual_values(name: str, nodes: tuple[str, ...]) -> tuple[str, ...]:
    if name == "type":
        return tuple(TYPES)
    return nodes if name in NODE_FIELDS else ()


def arguments(tool: DirectorTool, form: Mapping[str, str]) -> dict[str, Any]:
    """What a filled form gives to the tool; an empty field is left out."""
    values = dict[str, Any]()
    for field in fields(tool):
        text = form.get(PREFIX + field.name, "")
        if text.strip():
            values[field.name] = _parse(field, text, tool)
    return values


def _parse(field: Field, text: str, tool: DirectorTool) -> Any:
    if field.kind == "flag":
        return True
    if field.kind == "number":
        return _number(field.name, text.strip())
    if field.kind == "json":
        return _json(
            field.name, text, is_object=tool.parameters[field.name].get("type") == "object"
        )
    return text.replace("\r\n", "\n")


def _number(name: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{name} must be a number, not {text[:40]!r}") from None


def _json(name: str, text: str, *, is_object: bool) -> Any:
    """JSON; where anything will do, what is no JSON is a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if not is_object:
            return text
        raise UsageError(
            f"{name} is not JSON: {error}", hint=f"for example {EXAMPLES.get(name, '{}')}"
        ) from None
