"""Values of variables inside a node's configuration: `{{node7.emails[0].subject}}`.

A text that is one template and nothing else becomes the value itself, whatever its type; inside a
longer text a value is written out. A name is that of a loop around the node, else that of a
variable, the longest that fits. Errors say names and places and never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import UnknownName, UsageError
from foreword.pattern import lazy_pattern
from foreword.secrets.masking import is_array, mask
from foreword.text.quantity import quantity

_TEMPLATE = lazy_pattern(r"\{\{([^{}]{0,500})\}\}")
_FIRST = lazy_pattern(r"[^.\[\]\"'{}]+")
_PART = lazy_pattern(
    r"\.([^.\[\]\"'{}]+)|\[\s*(-?\d{1,9})\s*\]|\[\s*\"([^\"]+)\"\s*\]|\[\s*'([^']+)'\s*\]"
)
EXAMPLE = "for example {{node7.emails[0].subject}}"

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What templates may name: the variables, and before them the names that loops give."""

    variables: Mapping[str, Any]
    loops: Mapping[str, Any] = field(default_factory=dict)

    def inside(self, name: str, value: Any) -> Scope:
        """The scope in one turn of a loop; a name that was there is shadowed."""
        return Scope(self.variables, {**self.loops, name: value})


class _NoExpression(Exception):
    """What stands between the braces can't be read."""


def problems(value: object, path: str) -> Iterator[str]:
    """What is wrong with the templates in a value, as they are written."""
    for place, text in texts(value, path):
        for template in _TEMPLATE.finditer(text):
            try:
                parse_expression(template[1])
            except _NoExpression:
                yield f"{place}: {mask(template[0])} can't be read, {EXAMPLE}"


def expressions(value: object) -> list[str]:
    """What the templates in a value name, each once."""
    found: list[str] = []
    for _, text in texts(value, ""):
        found += [expression.strip() for expression in _TEMPLATE.findall(text)]
    return list(dict.fromkeys(found))


def is_template(value: object) -> bool:
    """Whether a value is one template and nothing else."""
    return isinstance(value, str) and _TEMPLATE.fullmatch(value.strip()) is not None


def fill(value: object, scope: Scope) -> Any:
    """The value with every template replaced; `UnknownName` or `UsageError` where one leads
    nowhere."""
    if isinstance(value, Mapping):
        return {key: fill(member, scope) for key, member in value.items()}
    if is_array(value):
        return [fill(member, scope) for member in value]
    if not isinstance(value, str):
        return value
    if is_template(value):
        return _look_up(value.strip()[2:-2], scope)
    return _TEMPLATE.sub(lambda template: value_as_text(_look_up(template[1], scope)), value)


def parse_expression(expression: str) -> Path:
    """The names and places of an expression: `node7.emails[0]` is `("node7", "emails", 0)`."""
    text = expression.strip()
    first = _FIRST.match(text)
    if not first or not first[0].strip():
        raise _NoExpression
    path: list[str | int] = [first[0].strip()]
    at = first.end()
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            raise _NoExpression
        name, index, double_quoted, single_quoted = part.groups()
        if index is not None:
            path.append(int(index))
        elif name:
            path.append(name.strip())
        else:
            path.append(double_quoted or single_quoted)
        at = part.end()
    return tuple(path)


def texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a value, with the path to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from texts(member, f"{path}.{key}" if path else str(key))
    elif is_array(value):
        for index, member in enumerate(value):
            yield from texts(member, f"{path}[{index}]")


def value_as_text(value: object) -> str:
    """A value inside a longer text: nothing for null, a text as it is, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(expression: str, scope: Scope) -> Any:
    try:
        path = parse_expression(expression)
    except _NoExpression:
        raise UsageError(f"{{{{{mask(expression)}}}}} can't be read", hint=EXAMPLE) from None
    name, value, rest = _root(path, scope)
    for at, part in enumerate(rest):
        value = _member(value, part, mask(_path_text(name, rest[:at])))
    return value


def _root(path: Path, scope: Scope) -> tuple[str, Any, Path]:
    """The loop's name or the variable that an expression begins with, its value, and the rest of
    the way."""
    if path[0] in scope.loops:
        return str(path[0]), scope.loops[str(path[0])], path[1:]
    for length in range(len(path), 0, -1):
        name = ".".join(map(str, path[:length]))
        if name in scope.variables and not any(isinstance(part, int) for part in path[:length]):
            return name, scope.variables[name], path[length:]
    known = [mask(name) for name in (*scope.loops, *scope.variables)]
    raise UnknownName("variable", mask(_path_text(str(path[0]), path[1:])), known)


def _member(value: Any, part: str | int, where: str) -> Any:
    """One step on the way into a value."""
    if isinstance(value, Mapping):
        if part in value:
            return value[part]
        if str(part) in value:
            return value[str(part)]
        known = [mask(str(name)) for name in value]
        raise UnknownName("key", mask(str(part)), known, where=f"in {where}")
    if is_array(value) and isinstance(part, int):
        if not -len(value) <= part < len(value):
            count = quantity(len(value), "element")
            raise UsageError(
                f"{where} has {count}, so there is no [{part}]", hint="the first is [0]"
            )
        return value[part]
    hint = EXAMPLE
    if is_array(value):
        kind = "a list"
        hint = "give the place of one element, as in [0]"
    elif value is None:
        kind = "null"
    else:
        kind = f"of type {type(value).__name__}"
    raise UsageError(f"{where} is {kind}, so there is no {mask(str(part))!r} in it", hint=hint)


def _path_text(name: str, path: Path) -> str:
    text = name
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text
