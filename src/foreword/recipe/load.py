"""Find a recipe, read it with everything it extends, and say what is wrong with it and where.

Recipes are files: built in, or `foreword/recipes/NAME.yaml` under the root, or a path. A project's
recipes are read inside its root, and so is what they extend; only whoever calls names a path
elsewhere. What a recipe means is the business of `selection` and `context`; its shape is
`schema`'s, whether it makes sense is `checks`', reading a file is `document`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from foreword import regular_file
from foreword.errors import RecipeError, UnknownName
from foreword.recipe import checks, schema
from foreword.recipe.document import BUILTIN, RecipeFile, problem_at, read_layer
from foreword.recipe.schema import (
    PROFILES,
    BudgetSpec,
    Profile,
    RecipePart,
    RecipeSpec,
    SectionSpec,
    validate,
)
from foreword.recipe.valid_data import read_fields, read_part
from foreword.recipe.validation_errors import problem_in_words

FOLDER = Path("foreword/recipes")
# Recipes that extend one another: people make two or three, and each is read from a file.
LONGEST_CHAIN = 20
MOST_LISTED = 500  # each is read and checked: 2 ms, for the largest 0.3 s; projects have a dozen
SUFFIXES = (".yaml", ".yml")

ReadFields = Callable[[type[RecipePart], Mapping[str, Any]], dict[str, Any]]

__all__ = [
    "BUILTIN",
    "RecipeFile",
    "check",
    "checked_layers",
    "folder_problem",
    "json_schema",
    "layers",
    "load",
    "names",
    "problems",
    "read_layer",
    "recipes_to_list",
]


def names(root: Path | None = None) -> dict[str, Path]:
    """Every recipe that can be named, built-in and under the root, and its file."""
    paths = sorted(BUILTIN.glob("*.yaml"))
    if root and not folder_problem(root):
        paths += sorted((root / FOLDER).glob("*.yaml"))
    # `x.yaml.yaml` has no name: x.yaml is a path, which whoever names a recipe may not give.
    return {path.stem: path for path in paths if not path.stem.endswith(SUFFIXES)}


def recipes_to_list(root: Path) -> tuple[dict[str, Path], int]:
    """The recipes that a list has room for, and how many more there are."""
    known = names(root)
    return dict(islice(known.items(), MOST_LISTED)), max(0, len(known) - MOST_LISTED)


def folder_problem(root: Path) -> str:
    """Why the recipes of a project are not read, if they are not."""
    try:
        regular_file.place_inside(root, str(FOLDER))
    except regular_file.Unusable as unusable:
        return f"{FOLDER}: {unusable.reason}, left out"
    return ""


def load(name: str, root: Path | None = None) -> RecipeSpec:
    """The recipe of that name or path, checked; the same files are checked once."""
    return _checked_spec(tuple(layers(name, root)))


# Recipes with all they extend: a process uses a handful. `read_layer` gives the same file for the
# same text, so a file that has changed since is another one.
@lru_cache(maxsize=32)
def _checked_spec(chain: tuple[RecipeFile, ...]) -> RecipeSpec:
    return check(list(chain))


def layers(name: str, root: Path | None = None) -> list[RecipeFile]:
    """The recipe's own file first, then what it extends, to the end of the chain."""
    chain = [_first(name, root)]
    parent = chain[0].data.get("extends")
    while parent:
        if not isinstance(parent, str):
            raise problem_at(chain[-1:], ("extends",), "extends must be the name of a recipe")
        layer = _parent(parent, chain[-1], root)
        if any(layer.path == other.path for other in chain):
            raise problem_at(chain[-1:], ("extends",), f"recipe {parent!r} extends itself")
        if len(chain) > LONGEST_CHAIN:
            raise problem_at(
                chain[:1],
                ("extends",),
                f"a chain of more than {LONGEST_CHAIN} recipes that extend another",
            )
        chain.append(layer)
        parent = layer.data.get("extends")
    return chain


def checked_layers(name: str, root: Path | None) -> list[RecipeFile]:
    """The files of a recipe as `layers` has them; the first problem in them is raised."""
    chain = layers(name, root)
    check(chain)
    return chain


def _first(name: str, root: Path | None) -> RecipeFile:
    """The recipe that was asked for: by name, or by a path, which is the caller's to choose."""
    if not name.endswith(SUFFIXES):
        return _by_name(name, root)
    for candidate in (Path(name), (root or Path()) / name):
        path = _existing(candidate)
        if path is not None:
            return read_layer(path, root if root and _is_of(root, path) else None)
    raise RecipeError(
        name,
        "there is no such file",
        hint="give the path of a recipe, or a name from `foreword recipe list`",
    )


def _by_name(name: str, root: Path | None) -> RecipeFile:
    """A recipe of the project, else a built-in one; looked for directly, for there may be many."""
    folders = [BUILTIN]
    problem = folder_problem(root) if root else ""
    if root and not problem:
        folders.insert(0, root / FOLDER)
    for folder in folders:
        path = folder / f"{name}.yaml"
        if path.parent == folder and _is_there(path):
            return read_layer(path, root)
    if root and problem:
        raise RecipeError(str(root / FOLDER), f"recipe {name!r} is not built in; {problem}")
    raise UnknownName("recipe", name, names(root))


def _is_there(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL in the name
        return False


def _existing(path: Path) -> Path | None:
    """The path with its `~` written out, if something is there."""
    try:
        path = path.expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _is_of(root: Path, path: Path) -> bool:
    """Whether a file is a project's own, by its name or by where it leads.

    A link in a project that leads out of it is not the user's word, though the user names the link.
    """
    base = root.resolve()
    named = _without_dots(path)
    by_name = named.is_relative_to(base) or named.is_relative_to(_without_dots(root))
    return by_name or path.resolve().is_relative_to(base)


def _without_dots(path: Path) -> Path:
    """The path as it is written, from the top, no link followed."""
    return Path(os.path.normpath(path.absolute()))


# --- what a recipe extends ------------------------------------------------------------------------


def _parent(parent: str, child: RecipeFile, root: Path | None) -> RecipeFile:
    builtin = BUILTIN / f"{parent}.yaml"
    own_name = Path(child.path).stem == parent and str(builtin) != child.path
    if own_name and _is_there(builtin):
        # a project's own `director` may extend the built-in one
        return read_layer(builtin, BUILTIN)
    try:
        if parent.endswith(SUFFIXES):
            return _by_path(parent, child, root)
        return _by_name(parent, root)
    except UnknownName as unknown:
        raise problem_at(
            [child], ("extends",), unknown.message, hint=unknown.command_hint
        ) from None


def _by_path(parent: str, child: RecipeFile, root: Path | None) -> RecipeFile:
    """The file that a recipe extends, read in the folder that the recipe itself was read in."""
    reasons = set[str]()
    for path, within in _places(parent, child, root):
        try:
            regular_file.place_inside(within, str(path))
        except regular_file.Unusable as unusable:
            reasons.add(unusable.reason)
            continue
        if _is_there(path):
            return read_layer(path, within)
    problem = f"there is no file {parent!r}"
    if regular_file.OUTSIDE in reasons or parent.startswith("~"):
        problem = f"{parent!r} leads outside {child.within}"
    hint = f"name a recipe, or a file in {child.within}; a copy of the other one will do"
    raise problem_at([child], ("extends",), f"extends: {problem}", hint=hint)


def _places(parent: str, child: RecipeFile, root: Path | None) -> Iterator[tuple[Path, Path]]:
    """Where the file may be, each place with the folder that it must not lead out of."""
    beside = Path(child.path).resolve().parent / parent
    if child.within == root:
        yield root / parent, root
        yield beside, root
        return
    yield beside, child.within
    here = _existing(Path(parent))
    if here is not None:
        yield here.absolute(), child.within
    if root:
        yield root / parent, root


# --- checking -------------------------------------------------------------------------------------


def check(chain: list[RecipeFile]) -> RecipeSpec:
    """The merged recipe, valid in shape and in what it refers to; the first problem is raised.

    Recipes that are built in are valid, which tests hold, and cost no check.
    """
    if all(Path(layer.path).parent == BUILTIN for layer in chain):
        return built_in_recipe(chain)
    return validated_recipe(chain)


def built_in_recipe(chain: list[RecipeFile]) -> RecipeSpec:
    """The merged recipe out of files that are known to be valid."""
    data = merge_layers(chain)
    return _complete(read_part(RecipeSpec, data), data, read_fields)


def validated_recipe(chain: list[RecipeFile]) -> RecipeSpec:
    """The merged recipe out of files that may hold anything; the first problem is raised."""
    for problem in problems(chain):
        raise problem
    data = merge_layers(chain)
    return _complete(validate(RecipeSpec, data), data, _validated_fields)


def _validated_fields(part: type[RecipePart], data: Mapping[str, Any]) -> dict[str, Any]:
    validated = validate(part, data)
    return {name: getattr(validated, name) for name in data}


def _complete(recipe: RecipeSpec, data: Mapping[str, Any], read_changes: ReadFields) -> RecipeSpec:
    """The recipe with what follows from its fields.

    Sections in reading order, the fields that profiles change as sections have them, and the budget
    of one that has tiers and says no more: all of them together.
    """
    changes: dict[str, Any] = {"sections": _in_reading_order(recipe.sections)}
    if recipe.tiers and "budget" not in data:
        changes["budget"] = BudgetSpec(tokens=sum(recipe.tiers.values()))
    for table in PROFILES.values():
        profiles: dict[str, Profile] = getattr(recipe, table)
        changes[table] = {
            name: _with_changes_read(profile, read_changes) for name, profile in profiles.items()
        }
    if recipe.other_skills is not None:
        changes["other_skills"] = _with_changes_read(recipe.other_skills, read_changes)
    return replace(recipe, **changes)


def _with_changes_read(profile: Profile, read_changes: ReadFields) -> Profile:
    if not profile.change:
        return profile
    change = {tag: read_changes(SectionSpec, fields) for tag, fields in profile.change.items()}
    return replace(profile, change=change)


def _in_reading_order(sections: dict[str, SectionSpec]) -> dict[str, SectionSpec]:
    """The sections as they are written, those that `follow` another behind it."""
    order = [tag for tag, spec in sections.items() if spec.follows is None]
    for tag, spec in sections.items():
        if spec.follows is None:
            continue
        place = order.index(spec.follows) + 1 if spec.follows in order else len(order)
        order.insert(place, tag)
    return {tag: sections[tag] for tag in order}


def problems(chain: list[RecipeFile]) -> Iterator[RecipeError]:
    """Everything that is wrong with a recipe, each with its line; its own file first, then those
    it extends."""
    files = [layer.path for layer in chain]
    unique = {problem.message: problem for problem in [*_stray_fields(chain), *_problems(chain)]}
    yield from sorted(
        unique.values(),
        key=lambda problem: (files.index(problem.path), problem.line, problem.column),
    )


def _stray_fields(chain: list[RecipeFile]) -> Iterator[RecipeError]:
    """What is wrong in a file of the chain even if the one that extends it takes it away again.

    Without this, `password: null` in a recipe makes a recipe of the file with the password.
    """
    from pydantic import ValidationError  # only for recipes that are not built in

    for layer in chain[1:]:
        try:
            validate(RecipeSpec, _without_nulls(layer.data))
        except ValidationError as invalid:
            for error in invalid.errors():
                # what it lacks, the others may have
                if error["type"] not in ("missing", "too_short"):
                    place = tuple(error["loc"])
                    yield problem_at([layer], place, problem_in_words(error, place))


def _problems(chain: list[RecipeFile]) -> Iterator[RecipeError]:
    from pydantic import ValidationError

    try:
        data = merge_layers(chain)
        recipe = validate(RecipeSpec, data)
    except ValidationError as invalid:
        for error in invalid.errors():
            place = tuple(error["loc"])
            yield problem_at(chain, place, problem_in_words(error, place))
        return
    for place, message in checks.check(recipe, data):
        yield problem_at(chain, place, message)


def merge_layers(chain: list[RecipeFile]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in reversed(chain):
        merged = _over(merged, layer.data)
    if len(chain) > 1:
        merged.pop("extends", None)
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


def _without_nulls(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says, without what it takes away."""
    rest = dict[str, Any]()
    for key, value in data.items():
        if value is not None:
            rest[key] = _without_nulls(value) if isinstance(value, dict) else value
    return rest


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe file."""
    return schema.json_schema()
