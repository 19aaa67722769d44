"""Recipes: those that can be named, one with all that it extends, and what is wrong with it or
with the documents."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from foreword.errors import RecipeError, UnknownName
from foreword.faces.http.checkpoints import Where
from foreword.faces.http.endpoint import ApiRequest, Endpoint
from foreword.lint import lint_project
from foreword.lint.document_index import AUTHORED
from foreword.recipe import load as loading


class RecipeLine(BaseModel):
    """One recipe in the list."""

    name: str
    about: str
    own: bool = Field(description="Whether it is the project's own.")
    problem: str = Field(description="What is wrong with it, where something is.")


class Recipes(BaseModel):
    """The recipes that can be named."""

    items: list[RecipeLine]
    left_out: int = Field(0, description="How many more there are; each can still be named.")
    warnings: list[str] = Field(
        default_factory=list, description="Why recipes of the project are not read."
    )


class RecipeLayer(BaseModel):
    """One file of a recipe."""

    path: str
    text: str


class Recipe(BaseModel):
    """A recipe: its own file first, then what it extends."""

    name: str
    layers: list[RecipeLayer]


class RecipeProblem(BaseModel):
    """What is wrong with a recipe, and where."""

    path: str
    line: int
    column: int
    message: str


class DocumentProblem(BaseModel):
    """What is wrong with a document, and where."""

    file: str
    line: int
    column: int
    code: str
    severity: str
    message: str
    fixable: bool
    excused: str


class LintAnswer(BaseModel):
    """What is wrong with a recipe, and with the documents that it is about."""

    recipe: list[RecipeProblem]
    documents: list[DocumentProblem]
    checked: list[str]


def list_recipes(request: ApiRequest[Where, None]) -> dict[str, Any]:
    """List the recipes that can be named, built in and the project's own."""
    root = request.app_state.root(request.query.root)
    known, more = loading.recipes_to_list(root)
    problem = loading.folder_problem(root)
    return {
        "items": [_line(name, path, root) for name, path in known.items()],
        "left_out": more,
        "warnings": [problem] if problem else [],
    }


def _line(name: str, path: Path, root: Path) -> dict[str, Any]:
    about = ""
    problem = ""
    try:
        about = loading.load(name, root).about
    except RecipeError as wrong:
        problem = f"line {wrong.line or 1}: {wrong.problem}"
    return {"name": name, "about": about, "own": path.parent != loading.BUILTIN, "problem": problem}


def show_recipe(request: ApiRequest[Where, None]) -> dict[str, Any]:
    """Show a recipe and those it extends; one that is wrong is an error that says where."""
    root = request.app_state.root(request.query.root)
    layers = loading.checked_layers(_known_name(request.path["name"], root), root)
    texts = [{"path": _display_path(layer.path, root), "text": layer.text} for layer in layers]
    return {"name": request.path["name"], "layers": texts}


def lint(request: ApiRequest[Where, None]) -> dict[str, Any]:
    """Say what is wrong with a recipe, and with the documents that it is about."""
    root = request.app_state.root(request.query.root)
    name = _known_name(request.path["name"], root)
    try:
        errors = list(loading.problems(loading.layers(name, root)))
    except RecipeError as error:
        errors = [error]
    answer: dict[str, Any] = {
        "recipe": [_recipe_problem(error, root) for error in errors],
        "documents": [],
        "checked": [],
    }
    if not errors and _has_authored_documents(name, root):
        found = lint_project(root, name)
        answer["documents"] = [asdict(problem) for problem in found.problems]
        answer["checked"] = list(found.documents)
    return answer


def _recipe_problem(error: RecipeError, root: Path) -> dict[str, Any]:
    return {
        "path": _display_path(error.path, root),
        "line": error.line,
        "column": error.column,
        "message": error.problem,
    }


def _has_authored_documents(name: str, root: Path) -> bool:
    return any(kind in AUTHORED for kind in loading.load(name, root).documents)


def _known_name(name: str, root: Path) -> str:
    """A recipe by its name alone: a path would be a way to read other files."""
    known = loading.names(root)
    if name not in known:
        raise UnknownName("recipe", name, known)
    return name


def _display_path(path: str, root: Path) -> str:
    """A path as far as it is inside the root; of a built-in recipe its name."""
    real = Path(path).resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else real.name


RECIPE = "/v1/recipes/{name}"
ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/recipes",
        run=list_recipes,
        answer=Recipes,
        query=Where,
        problems=(404,),
    ),
    Endpoint(method="GET", path=RECIPE, run=show_recipe, answer=Recipe, query=Where),
    Endpoint(method="GET", path=f"{RECIPE}/lint", run=lint, answer=LintAnswer, query=Where),
)
