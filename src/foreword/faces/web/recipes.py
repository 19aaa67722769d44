"""Recipes that can be named here, each with what its lint says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from foreword.errors import RecipeError, UnknownName
from foreword.faces.web.asking import Asked
from foreword.faces.web.rendering import page
from foreword.recipe import load as loading


@dataclass(frozen=True, slots=True)
class Told:
    """A recipe in the list."""

    name: str
    about: str
    is_own: bool
    sections: int
    problems: tuple[RecipeError, ...]


def show_all(asked: Asked) -> Response:
    """Every recipe; those of the project first."""
    root = asked.serving.root()
    found = [_told(name, path, root) for name, path in loading.names(root).items()]
    found.sort(key=lambda one: (not one.is_own, one.name))
    return page("recipes.html", title="Recipes", found=found)


def show(asked: Asked) -> Response:
    """One recipe with those it extends; only what can be named, never a path."""
    root, name = asked.serving.root(), asked.name("name")
    known = loading.names(root)
    if name not in known:
        raise UnknownName("recipe", name, known)
    told = _told(name, known[name], root)
    texts = [(path.name, path.read_text("utf-8", "replace")) for path in _files(name, known[name], root)]
    return page("recipe.html", title=f"Recipe {name}", told=told, texts=texts)


def _told(name: str, path: Path, root: Path) -> Told:
    problems = _problems(name, root)
    is_own = path.parent != loading.BUILTIN
    if problems:
        return Told(name, "", is_own, 0, problems)
    recipe = loading.load(name, root)
    return Told(name, recipe.about, is_own, len(recipe.sections), ())


def _problems(name: str, root: Path) -> tuple[RecipeError, ...]:
    try:
        return tuple(loading.problems(loading.layers(name, root)))
    except RecipeError as problem:
        return (problem,)


def _files(name: str, path: Path, root: Path) -> list[Path]:
    """The file of a recipe and those it extends, as far as they can be read."""
    try:
        return [Path(layer.path) for layer in loading.layers(name, root)]
    except RecipeError:
        return [path]
