"""`make reference`: the pages of `docs/reference`, written from the code.

Names, signatures, options, fields and what is said of them come from docstrings, the commands'
help, the HTTP description and the schema of recipes; a test holds the pages up to date.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import click

import foreword
import foreword.testing

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
WRITTEN = "Written from the code by `make reference`; change the code, not this page.\n"
# Classes whose members a caller uses; of the others the docstring says it all.
WITH_MEMBERS = ("Session", "Package", "Report", "Director", "Task", "Message", "PrefixBreak")
HELP_COLUMNS = 100


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    return {
        "python.md": python_page(),
        "commands.md": commands_page(),
        "http.md": http_page(),
        "recipes.md": recipes_page(),
    }


def python_page() -> str:
    """The public names of the package: functions, classes with their members, errors."""
    functions = list[str]()
    classes = list[str]()
    errors = list[str]()
    for module in (foreword, foreword.testing):
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseException):
                errors.append(f"| `{name}` | {_cell(inspect.getdoc(value) or '')} |")
            elif inspect.isclass(value):
                classes.append("\n".join(_class_lines(module.__name__, name, value)))
            elif inspect.isroutine(value):
                functions.append(_function(f"{module.__name__}.{name}", value, level="###"))
    return "\n".join(
        [
            "# Python",
            "",
            WRITTEN,
            "## Functions",
            "",
            *functions,
            "## Classes",
            "",
            *classes,
            "## Errors",
            "",
            "All of them are `foreword.ForewordError`s with `message`, `hint` and a stable `code`.",
            "",
            "| error | says |",
            "|---|---|",
            *errors,
            "",
        ]
    )


def _class_lines(module: str, name: str, kind: type) -> Iterator[str]:
    yield f"### {module}.{name}"
    yield ""
    yield _plain(inspect.getdoc(kind) or "")
    yield ""
    if name not in WITH_MEMBERS:
        return
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        if not field.name.startswith("_"):
            yield f"- `.{field.name}`: `{field.type}`"
    for member_name, member in _members(kind):
        if isinstance(member, property | cached_property):
            yield f"- `.{member_name}`: {_cell(inspect.getdoc(member) or '')}"
    yield ""
    for member_name, member in _members(kind):
        function = inspect.unwrap(getattr(member, "__func__", member))
        if inspect.isfunction(function):
            yield _function(f"{name}.{member_name}", function, level="####")


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members that a class has a docstring for, its bases' included, by name."""
    found = dict[str, Any]()
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("foreword"):
            found |= vars(base)
    for name, member in sorted(found.items()):
        if not name.startswith("_") and inspect.getdoc(member):
            yield name, member


def _function(name: str, function: Any, *, level: str) -> str:
    arguments = list(_arguments(function))
    returns = inspect.signature(function).return_annotation
    code = f"{name}({', '.join(arguments)}) -> {returns}"
    if len(code) > HELP_COLUMNS:
        lines = "".join(f"    {argument},\n" for argument in arguments)
        code = f"{name}(\n{lines}) -> {returns}"
    docstring = _plain(inspect.getdoc(function) or "")
    return f"{level} {name}\n\n```python\n{code}\n```\n\n{docstring}\n"


def _arguments(function: Any) -> Iterator[str]:
    """The arguments of a function as it was written, its own object aside."""
    is_named = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not is_named:
            yield "*"
        is_named = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL)
        stars += "**" * (parameter.kind is parameter.VAR_KEYWORD)
        written = f"{stars}{parameter.name}: {parameter.annotation}"
        has_default = parameter.default is not parameter.empty
        shown = "..." if callable(parameter.default) else repr(parameter.default)
        yield f"{written} = {shown}" if has_default else written


def commands_page() -> str:
    """The help of every command."""
    from foreword.faces.cli.main import cli

    lines = ["# Commands", "", WRITTEN]
    for path, command in _commands(cli, "foreword"):
        # with the settings of the whole, since a command keeps the first help option it made
        context = click.Context(command, info_name=path, **cli.context_settings)
        context.terminal_width = HELP_COLUMNS
        help_text = command.get_help(context)
        lines += [f"## {path}", "", "```text", help_text, "```", ""]
    return "\n".join(lines)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command, info_name=path)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _commands(below, f"{path} {name}")


def http_page() -> str:
    """Every route with what it takes and gives."""
    from foreword.faces.http.api import description

    described = description()
    lines = [
        "# HTTP",
        "",
        WRITTEN,
        "`GET /openapi.json` of a server is the same for programs. [Serving](../serving.md) says"
        " how one is started.",
        "",
    ]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            lines += _route_lines(f"{method.upper()} {path}", operation)
    lines += ["## Bodies and answers", ""]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += [f"### {name}", "", *_object_lines(schema)]
    return "\n".join(lines)


def _route_lines(title: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield _plain(operation["summary"])
    yield ""
    if operation["parameters"]:
        yield "| takes | in | |"
        yield "|---|---|---|"
        for one in operation["parameters"]:
            about = _cell(one.get("description", _type_of(one["schema"])))
            needed = "" if one["required"] or one["in"] != "query" else " (may be left out)"
            yield f"| `{one['name']}` | {one['in']} | {about}{needed} |"
        yield ""
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body ({media}): {_type_of(content['schema'])}"
        yield ""
    for status, response in operation["responses"].items():
        for content in response.get("content", {}).values():
            if status.startswith("2") and "schema" in content:
                yield f"Answers {status} with {_type_of(content['schema'])}"
                yield ""


def recipes_page() -> str:
    """Every field of a recipe."""
    from foreword.recipe.load import json_schema

    schema = json_schema()
    lines = [
        "# Fields of a recipe",
        "",
        WRITTEN,
        "[Writing a recipe](../recipes.md) goes from nothing to one with agents; `foreword recipe"
        " schema` is this for editors.",
        "",
        "## A recipe",
        "",
        *_object_lines(schema),
    ]
    for name, part in schema["$defs"].items():
        if part.get("properties"):
            lines += [f"## {name}", "", *_object_lines(part)]
    return "\n".join(lines)


def _object_lines(schema: Mapping[str, Any]) -> Iterator[str]:
    """The fields of an object as a table."""
    if schema.get("description"):
        yield _plain(schema["description"])
        yield ""
    if not schema.get("properties"):
        yield f"{_type_of(schema)}"
        yield ""
        return
    yield "| field | type | default | |"
    yield "|---|---|---|---|"
    needed = schema.get("required", ())
    for name, field in schema["properties"].items():
        default = "required" if name in needed else _default(field)
        about = _cell(field.get("description", ""))
        yield f"| `{name}` | {_type_of(field)} | {default} | {about} |"
    yield ""


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    is_nothing = value in (None, "", [""]) or isinstance(value, list | dict)
    return "" if is_nothing else f"`{value}`"


def _type_of(schema: Mapping[str, Any]) -> str:
    """What a schema allows, in a few words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            kinds = [_type_of(each) for each in schema[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type", "anything")
    if kind == "array":
        items = schema.get("items") or {}
        return f"list of {_type_of(items)}" if items else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type_of(schema['additionalProperties'])}"
    return str(kind)


def _plain(text: str) -> str:
    """A docstring as it is, paragraphs apart."""
    return inspect.cleandoc(text).replace("<", "&lt;") if "```" not in text else text


def _cell(text: str) -> str:
    """A text on one line, for a table."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text.rstrip("\n") + "\n", "utf-8")
        print(f"docs/reference/{name}: {len(text.splitlines()):,} lines")


if __name__ == "__main__":
    main()
