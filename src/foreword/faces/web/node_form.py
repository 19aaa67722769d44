"""The configuration of a node as a form: fields made from the JSON Schema of its type, and back.

Nobody writes JSON here but where a value may be anything. What stood in a field and was not changed
is not sent, so that a secret which reads `[hidden]` stays what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from foreword.errors import UsageError
from foreword.plan.node import TYPES
from foreword.plan.node_shape import CONFIGS

PREFIX = "config."  # of the names of fields
FREE_ROWS = 2  # empty rows below those of a mapping, to add to it
# By the types of JSON Schema; all others may hold anything.
_KINDS = {"string": "text", "boolean": "flag", "integer": "number", "number": "number"}
_COLUMNS = ("name", "selector", "attribute")  # of a mapping from names to places on a page
# What most nodes leave empty stands below, folded.
_SELDOM = frozenset(
    "tab schema dialog dialog_text timeout retries on_failure append button double".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeField:
    """One field of a node's configuration."""

    name: str
    kind: str  # text, long, flag, number, choice, value, lines, rows, json, group
    needed: bool
    about: str
    options: tuple[str, ...] = ()
    value: str = ""
    rows: tuple[tuple[str, ...], ...] = ()  # of a mapping
    inner: tuple[NodeField, ...] = ()  # of a group, named with it: while.left
    is_seldom: bool = False


def about(kind: str) -> str:
    """What a type of node does, in a sentence."""
    return str(_schema(kind).get("description", ""))


def fields(kind: str, config: Mapping[str, Any]) -> list[NodeField]:
    """The fields of a type of node, filled with a configuration, what is needed first."""
    made = _fields(_schema(kind), config, _schema(kind).get("$defs", {}))
    return sorted(made, key=lambda field: (field.is_seldom, not field.needed))


def _fields(
    schema: Mapping[str, Any],
    config: Mapping[str, Any],
    definitions: Mapping[str, Any],
    prefix: str = "",
) -> list[NodeField]:
    needed = schema.get("required", ())
    made = list[NodeField]()
    for name, property_schema in schema["properties"].items():
        value = config.get(name)
        group = _group_schema(property_schema, definitions)
        if group is None:
            made.append(_field(prefix + name, property_schema, name in needed, value))
            continue
        inner = _fields(group, value or {}, definitions, f"{prefix}{name}.")
        about = str(property_schema.get("description", ""))
        field = NodeField(
            name=prefix + name,
            kind="group",
            needed=False,
            about=about,
            value="given" if value else "",
            inner=tuple(inner),
            is_seldom=True,
        )
        made.append(field)
    return made


def _group_schema(
    schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The schema of a field that is a mapping of a few named fields; a JSON Schema, which holds
    others of its kind, is none."""
    for form in schema.get("anyOf", [schema]):
        reference = str(form.get("$ref", ""))
        found = definitions.get(reference.rpartition("/")[2])
        if found and "properties" in found and reference not in json.dumps(found):
            group: Mapping[str, Any] = found
            return group
    return None


def config_of(kind: str, form: Mapping[str, str]) -> dict[str, Any]:
    """The configuration that a form stands for; an empty field is left out."""
    config = dict[str, Any]()
    for field in fields(kind, {}):
        value = _read(field, form)
        if value is not None:
            config[field.name] = value
    return config


def changes(kind: str, form: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """What a form says otherwise than the configuration that it was filled with; null for what was
    emptied."""
    # as the form would read if nobody had touched it
    untouched = config_of(kind, as_form(kind, before))
    now = config_of(kind, form)
    changed = dict[str, Any]()
    for name in {**untouched, **now}:
        if now.get(name) != untouched.get(name):
            changed[name] = now.get(name)
    return changed


def as_form(kind: str, config: Mapping[str, Any]) -> dict[str, str]:
    """A configuration as the fields of a form that nobody has touched."""
    form = dict[str, str]()
    every = list(fields(kind, config))
    for field in every:
        every += field.inner
        form[PREFIX + field.name] = field.value
        for number, row in enumerate(field.rows):
            for column, cell in zip(_COLUMNS, row, strict=True):
                form[f"{PREFIX}{field.name}.{number}.{column}"] = cell
    return form


@cache
def _schema(kind: str) -> dict[str, Any]:
    return CONFIGS[kind].model_json_schema()


def _field(name: str, schema: Mapping[str, Any], needed: bool, value: Any) -> NodeField:
    kind = _kind(schema)
    options = tuple(map(str, schema.get("enum", ())))
    return NodeField(
        name=name,
        kind=kind,
        needed=needed,
        about=str(schema.get("description", "")),
        options=options,
        value=_field_text(kind, value),
        rows=_rows(value) if kind == "rows" else (),
        is_seldom=name in _SELDOM,
    )


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "choice"
    if schema.get("format") == "multiline":
        return "long"
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") != "null"]
    only = forms[0] if len(forms) == 1 else {}
    if "$ref" in only:
        return "json"
    if only.get("type") == "object":
        return "rows"
    if only.get("type") == "array":
        return "lines"
    return _KINDS.get(str(only.get("type")), "value")


def _field_text(kind: str, value: Any) -> str:
    """A value as it stands in its field."""
    if value is None or kind == "rows":
        return ""
    if kind == "lines" and isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, str) and (kind != "value" or not _is_json(value)):
        return value
    if kind == "flag":
        return "true" if value else ""
    return json.dumps(value, ensure_ascii=False, indent=1 if kind == "json" else None)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _rows(value: Any) -> tuple[tuple[str, ...], ...]:
    rows = list[tuple[str, ...]]()
    for name, source in (value or {}).items():
        place = {"selector": source} if isinstance(source, str) else source
        rows.append((str(name), place.get("selector") or "", place.get("attribute") or ""))
    rows += [("", "", "")] * FREE_ROWS
    return tuple(rows)


def _read(field: NodeField, form: Mapping[str, str]) -> Any:
    """The value of a field; None where it is empty."""
    if field.kind == "group":
        values = {inner.name.rpartition(".")[2]: _read(inner, form) for inner in field.inner}
        return {name: value for name, value in values.items() if value is not None} or None
    if field.kind == "rows":
        return _read_rows(field, form)
    text = form.get(PREFIX + field.name, "").replace("\r\n", "\n")
    if field.kind == "flag":
        return True if text else None
    if not text.strip() and not (field.kind == "long" and field.needed):
        return None
    if field.kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if field.kind == "number":
        return _number(text.strip())
    if field.kind == "json" and not _is_json(text):
        raise UsageError(f"{field.name} is not JSON", hint='for example {"type": "object"}')
    if field.kind in ("json", "value") and _is_json(text):
        return json.loads(text)
    return text


def _read_rows(field: NodeField, form: Mapping[str, str]) -> dict[str, Any] | None:
    rows = dict[str, Any]()
    number = 0
    while f"{PREFIX}{field.name}.{number}.name" in form:
        cells = [form.get(f"{PREFIX}{field.name}.{number}.{cell}", "") for cell in _COLUMNS]
        name, selector, attribute = [cell.strip() for cell in cells]
        number += 1
        if not name and not selector and not attribute:
            continue
        if not name:
            raise UsageError(f"{field.name}: a row has no name", hint="give it one, or empty it")
        place = {"selector": selector, "attribute": attribute}
        rows[name] = {key: value for key, value in place.items() if value}
        if not attribute:
            rows[name] = selector
    return rows or None


def _number(text: str) -> int | float | str:
    """A number; what is none stays a text, for it may be a template."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def kinds() -> list[tuple[str, str]]:
    """Every type of node that can be made, and what it does."""
    return [(kind, about(kind)) for kind in TYPES]
