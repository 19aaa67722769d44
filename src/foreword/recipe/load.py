"""Find a recipe, read it with everything it extends, and say in words what is wrong with it and where.

Recipes are files: built in, or `foreword/recipes/NAME.yaml` under the root, or a path. What a recipe means is the
runtime's business; its shape is `schema`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from foreword.errors import RecipeError, UnknownName, did_you_mean
from foreword.recipe import schema
from foreword.recipe.schema import PROFILES, Profile, RecipeSpec, SectionSpec

BUILTIN = Path(__file__).parent / "builtin"
TAG = re.compile(r"^[a-z][a-z0-9_]*$")
SOURCES = ("file", "files", "git", "text", "items", "state")


@dataclass(frozen=True, slots=True)
class Layer:
    """One recipe file: its data, and the nodes that know the lines."""

    path: str
    data: dict[str, Any]
    node: Node


def names(root: Path | None = None) -> dict[str, Path]:
    """Every recipe that can be named, built-in and under the root, and its file."""
    own = sorted((root / "foreword" / "recipes").glob("*.yaml")) if root else []
    return {path.stem: path for path in [*sorted(BUILTIN.glob("*.yaml")), *own]}


def load(name: str, root: Path | None = None) -> RecipeSpec:
    """The recipe of that name or path, checked."""
    return check(layers(name, root))


def layers(name: str, root: Path | None = None) -> list[Layer]:
    """The recipe's own file first, then what it extends, to the end of the chain."""
    chain = [read_layer(_find(name, root))]
    while parent := chain[-1].data.get("extends"):
        if not isinstance(parent, str):
            raise _problem(chain, ("extends",), "extends must be the name of a recipe")
        path = _find_parent(parent, chain[-1], root)
        if str(path) in (layer.path for layer in chain):
            raise _problem(chain[-1:], ("extends",), f"recipe {parent!r} extends itself")
        chain.append(read_layer(path))
    return chain


def _find(name: str, root: Path | None) -> Path:
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        for candidate in (path, (root or Path()) / path):
            if candidate.is_file():
                return candidate
        raise RecipeError(
            name, "there is no such file", hint="give the path of a recipe, or a name from `foreword recipes`"
        )
    known = names(root)
    if name not in known:
        raise UnknownName("recipe", name, known)
    return known[name]


def _find_parent(parent: str, child: Layer, root: Path | None) -> Path:
    builtin = BUILTIN / f"{parent}.yaml"
    if Path(child.path).stem == parent and builtin.is_file() and str(builtin) != child.path:
        return builtin  # a project's own `director` may extend the built-in one
    try:
        return _find(parent, root)
    except UnknownName as unknown:
        raise _problem([child], ("extends",), unknown.message, hint=unknown.hint) from None


@cache
def _builtin_layer(path: Path) -> Layer:
    return _read_layer(path)


def read_layer(path: Path) -> Layer:
    """One file as data with line numbers; built-in ones are read once."""
    return _builtin_layer(path) if path.parent == BUILTIN else _read_layer(path)


def _read_layer(path: Path) -> Layer:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        node = yaml.compose(text, Loader=_Loader)
        data = yaml.load(text, Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(str(path), f"can't be read: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise RecipeError(str(path), f"not valid YAML: {error.problem}", line=line, column=column) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecipeError(str(path), f"not valid YAML: {error}") from None
    if not isinstance(data, dict) or node is None:
        raise RecipeError(str(path), "a recipe is a mapping with name and sections", line=1)
    layer = Layer(str(path), data, node)
    for place, key in _repeated(node, ()):
        raise _problem([layer], place, f"{key!r} is there twice")
    return layer


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _repeated(node: Node, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                yield (*place, key.value), key.value
            seen.add(key.value)
            yield from _repeated(value, (*place, key.value))


# --- checking --------------------------------------------------------------------------------------------------


def check(chain: list[Layer]) -> RecipeSpec:
    """The merged recipe, valid in shape and in what it refers to; the first problem is raised."""
    for problem in problems(chain):
        raise problem
    recipe = RecipeSpec.model_validate(_merged(chain))
    return recipe.model_copy(update={"sections": _in_reading_order(recipe.sections)})


def _in_reading_order(sections: dict[str, SectionSpec]) -> dict[str, SectionSpec]:
    """As written, but for those that say which section they follow."""
    order = [tag for tag, spec in sections.items() if spec.follows is None]
    for tag, spec in sections.items():
        if spec.follows is not None:
            order.insert(order.index(spec.follows) + 1 if spec.follows in order else len(order), tag)
    return {tag: sections[tag] for tag in order}


def problems(chain: list[Layer]) -> Iterator[RecipeError]:
    """Everything that is wrong with a recipe, each with its line."""
    data = _merged(chain)
    try:
        recipe = RecipeSpec.model_validate(data)
    except ValidationError as invalid:
        for error in invalid.errors():
            place = tuple(error["loc"])
            yield _problem(chain, place, _worded(error["type"], error["msg"], place))
        return
    for place, message in _references(recipe):
        yield _problem(chain, place, message)


def _merged(chain: list[Layer]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in reversed(chain):
        merged = _over(merged, layer.data)
    merged.pop("extends", None) if len(chain) > 1 else None
    return merged


def _over(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` laid over `below`, mapping by mapping; a null takes an entry away."""
    merged = dict(below)
    for key, value in above.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = _over(merged[key], value)
        else:
            merged[key] = value
    return merged


def _worded(kind: str, message: str, place: tuple[str | int, ...]) -> str:
    path = dotted(place)
    if kind == "extra_forbidden":
        guess = did_you_mean(str(place[-1]), _fields_at(place))
        return f"unknown field {path!r}" + (f", did you mean {guess!r}?" if guess else "")
    if kind == "missing":
        return f"{path!r} is missing"
    message = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{path}: {message if message.startswith('must') else 'must be ' + message}"


def _fields_at(place: tuple[str | int, ...]) -> list[str]:
    model: Any = RecipeSpec
    for step in place[:-1]:
        field = model.model_fields.get(step) if isinstance(step, str) and hasattr(model, "model_fields") else None
        model = field.annotation if field else model
        inner = [arg for arg in get_args(model) if isinstance(arg, type) and issubclass(arg, BaseModel)]
        model = inner[0] if inner else model
    return list(getattr(model, "model_fields", {}))


def _references(recipe: RecipeSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Names that refer to nothing, and sections that make no sense."""
    sections = recipe.sections
    for tag, section in sections.items():
        yield from _section_problems(tag, section, sections)
    yield from _unknown(("gives_way",), recipe.gives_way, sections, "section")
    for table in PROFILES.values():
        for name, profile in getattr(recipe, table).items():
            yield from _profile_problems((table, name), profile, recipe)


def _section_problems(
    tag: str, section: SectionSpec, sections: Mapping[str, SectionSpec]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    place = ("sections", tag)
    if not TAG.match(tag):
        yield place, f"tag {tag!r} must be lower-case letters, digits and underscores"
    given = [name for name in SOURCES if getattr(section, name) is not None]
    if len(given) != 1:
        have = f"has {' and '.join(given)}" if given else "says not where its text comes from"
        yield place, f"section {tag!r} {have}: give exactly one of {', '.join(SOURCES)}"
    if section.forms is not None and section.forms[:1] != ("full",):
        yield (*place, "forms"), "forms must begin with full"
    for field in ("stands_in_for", "follows"):
        if getattr(section, field) is not None:
            yield from _unknown((*place, field), (getattr(section, field),), sections, "section")


def _profile_problems(
    place: tuple[str | int, ...], profile: Profile, recipe: RecipeSpec
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for field in ("sections", "add", "without", "required", "optional", "gives_way"):
        yield from _unknown((*place, field), getattr(profile, field) or (), recipe.sections, "section")
    yield from _unknown((*place, "change"), tuple(profile.change), recipe.sections, "section")
    if profile.agent is not None:
        yield from _unknown((*place, "agent"), (profile.agent,), recipe.agents, "agent")
    for tag, fields in profile.change.items():
        try:
            SectionSpec.model_validate(fields)
        except ValidationError as invalid:
            for error in invalid.errors():
                yield (
                    (*place, "change", tag, *error["loc"]),
                    _worded(error["type"], error["msg"], ("sections", tag, *error["loc"])),
                )


def _unknown(
    place: tuple[str | int, ...], used: tuple[str | tuple[str, ...], ...], known: Mapping[str, object], kind: str
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for index, entry in enumerate(used):
        for name in (entry,) if isinstance(entry, str) else entry:
            if name not in known:
                yield (*place, index), UnknownName(kind, name, known).message


def dotted(place: tuple[str | int, ...]) -> str:
    """A place in a recipe as people write it: `sections.vision.forms[1]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def _problem(chain: list[Layer], place: tuple[str | int, ...], message: str, hint: str = "") -> RecipeError:
    """The error at the deepest node of the place that any file of the chain has."""
    best, depth = (chain[0].path, 1, 1), -1
    for layer in chain:
        node, reached = _node_at(layer.node, place)
        if reached > depth:
            mark = node.start_mark
            best, depth = (layer.path, mark.line + 1, mark.column + 1), reached
    path, line, column = best
    return RecipeError(path, message, line=line, column=column, hint=hint)


def _node_at(node: Node, place: tuple[str | int, ...]) -> tuple[Node, int]:
    shown = node
    for depth, step in enumerate(place):
        found: Node | None = None
        if isinstance(node, MappingNode):
            for key, value in node.value:
                if isinstance(key, ScalarNode) and key.value == str(step):
                    shown, found = key, value
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            shown = found = node.value[step]
        if found is None:
            return shown, depth
        node = found
    return shown, len(place)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe file."""
    return schema.json_schema()
