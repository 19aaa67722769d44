"""Recipes that can be named here, each with what its lint says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from foreword.errors import RecipeError, UnknownName
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.recipe import load as loading


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeRow:
    """A recipe in the list."""

    name: str
    about: str
    is_own: bool
    sections: int
    problems: tuple[RecipeError, ...]


def show_all(request: ViewRequest) -> Response:
    """Every recipe; those of the project first."""
    root = request.app_state.root()
    known, more = loading.recipes_to_list(root)
    rows = [_row(name, path, root) for name, path in known.items()]
    rows.sort(key=lambda row: (not row.is_own, row.name))
    return page(
        "recipes.html",
        title="Recipes",
        rows=rows,
        more=more,
        problem=loading.folder_problem(root),
    )


def show(request: ViewRequest) -> Response:
    """One recipe with those it extends; only what can be named, never a path, and no file that
    is no recipe."""
    root = request.app_state.root()
    name = request.name("name")
    known = loading.names(root)
    if name not in known:
        raise UnknownName("recipe", name, known)
    row = _row(name, known[name], root)
    layers = [] if row.problems else loading.checked_layers(name, root)
    texts = [(Path(layer.path).name, layer.text) for layer in layers]
    return page("recipe.html", title=f"Recipe {name}", recipe=row, texts=texts)


def _row(name: str, path: Path, root: Path) -> RecipeRow:
    problems = _problems(name, root)
    is_own = path.parent != loading.BUILTIN
    if problems:
        return RecipeRow(name=name, about="", is_own=is_own, sections=0, problems=problems)
    recipe = loading.load(name, root)
    return RecipeRow(
        name=name, about=recipe.about, is_own=is_own, sections=len(recipe.sections), problems=()
    )


def _problems(name: str, root: Path) -> tuple[RecipeError, ...]:
    try:
        return tuple(loading.problems(loading.layers(name, root)))
    except RecipeError as problem:
        return (problem,)
