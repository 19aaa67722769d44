"""Find a recipe, read it with everything it extends, and say in words what is wrong with it and where.

Recipes are files: built in, or `foreword/recipes/NAME.yaml` under the root, or a path. What a recipe means is the
runtime's business; its shape is `schema`'s, whether it makes sense is `checks`', reading a file is `document`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foreword.errors import RecipeError, UnknownName
from foreword.recipe import checks, schema
from foreword.recipe.document import BUILTIN, Layer, problem_at, read_layer
from foreword.recipe.schema import RecipeSpec, SectionSpec, worded

LONGEST_CHAIN = 20

__all__ = ["BUILTIN", "Layer", "check", "json_schema", "layers", "load", "names", "problems", "read_layer"]


def names(root: Path | None = None) -> dict[str, Path]:
    """Every recipe that can be named, built-in and under the root, and its file."""
    own = sorted((root / "foreword" / "recipes").glob("*.yaml")) if root else []
    return {path.stem: path for path in [*sorted(BUILTIN.glob("*.yaml")), *own]}


def load(name: str, root: Path | None = None) -> RecipeSpec:
    """The recipe of that name or path, checked."""
    return check(layers(name, root))


def layers(name: str, root: Path | None = None) -> list[Layer]:
    """The recipe's own file first, then what it extends, to the end of the chain."""
    known = names(root)
    chain = [read_layer(_find(name, known, root))]
    while parent := chain[-1].data.get("extends"):
        if not isinstance(parent, str):
            raise problem_at(chain[-1:], ("extends",), "extends must be the name of a recipe")
        path = _find_parent(parent, chain[-1], known, root)
        if str(path) in (layer.path for layer in chain):
            raise problem_at(chain[-1:], ("extends",), f"recipe {parent!r} extends itself")
        if len(chain) > LONGEST_CHAIN:
            raise problem_at(
                chain[:1], ("extends",), f"a chain of more than {LONGEST_CHAIN} recipes that extend another"
            )
        chain.append(read_layer(path))
    return chain


def _find(name: str, known: Mapping[str, Path], root: Path | None) -> Path:
    if name.endswith((".yaml", ".yml")):
        for candidate in (Path(name), (root or Path()) / name):
            if (found := _file(candidate)) is not None:
                return found
        raise RecipeError(
            name, "there is no such file", hint="give the path of a recipe, or a name from `foreword recipes`"
        )
    if name not in known:
        raise UnknownName("recipe", name, known)
    return known[name]


def _file(path: Path) -> Path | None:
    """The path with its `~` written out, if a file is there; a name that no file can have is not there."""
    try:
        path = path.expanduser()
        return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _find_parent(parent: str, child: Layer, known: Mapping[str, Path], root: Path | None) -> Path:
    builtin = BUILTIN / f"{parent}.yaml"
    own_name = Path(child.path).stem == parent and str(builtin) != child.path
    if own_name and parent in {path.stem for path in BUILTIN.glob("*.yaml")}:
        return builtin  # a project's own `director` may extend the built-in one
    try:
        return _find(parent, known, root)
    except UnknownName as unknown:
        raise problem_at([child], ("extends",), unknown.message, hint=unknown.hint) from None


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
    """Everything that is wrong with a recipe, each with its line; its own file first, then those it extends."""
    files = [layer.path for layer in chain]
    found = {problem.message: problem for problem in _problems(chain)}
    yield from sorted(found.values(), key=lambda problem: (files.index(problem.path), problem.line, problem.column))


def _problems(chain: list[Layer]) -> Iterator[RecipeError]:
    try:
        recipe = RecipeSpec.model_validate(_merged(chain))
    except ValidationError as invalid:
        for error in invalid.errors():
            place = tuple(error["loc"])
            yield problem_at(chain, place, worded(error, place))
        return
    for place, message in checks.check(recipe):
        yield problem_at(chain, place, message)


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


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe file."""
    return schema.json_schema()
