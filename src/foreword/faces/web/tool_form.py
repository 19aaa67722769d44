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
    return [_field(name, schema, name in tool.needs, nodes) for name, schema in tool.takes.items()]


def _field(name: str, schema: Mapping[str, Any], needed: bool, nodes: tuple[str, ...]) -> Field:
    if "enum" in schema:
        return Field(name=name, kind="choice", needed=needed, options=tuple(schema["enum"]))
    kind = {"string": "text", "boolean": "flag", "integer": "number", "number": "number"}.get(
        str(schema.get("type")), "json"
    )
    usual = tuple(TYPES) if name == "type" else nodes if name in ("node", "after", "parent") else ()
    return Field(
        name=name,
        kind=kind,
        needed=needed,
        options=usual,
        about=str(schema.get("description", "")),
        example=EXAMPLES.get(name, ""),
    )


def arguments(tool: DirectorTool, form: Mapping[str, str]) -> dict[str, Any]:
    """What a filled form gives to the tool; an empty field is left out."""
    given = dict[str, Any]()
    for field in fields(tool):
        text = form.get(PREFIX + field.name, "")
        if text.strip():
            given[field.name] = _read(field, text, tool)
    return given


def _read(field: Field, text: str, tool: DirectorTool) -> Any:
    if field.kind == "flag":
        return True
    if field.kind == "number":
        return _number(field.name, text.strip())
    if field.kind == "json":
        return _json(field.name, text, is_object=tool.takes[field.name].get("type") == "object")
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
