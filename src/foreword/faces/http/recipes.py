"""Recipes: those that can be named, one with all that it extends, and what is wrong with it or
with the documents."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from foreword.errors import RecipeError, UnknownName
from foreword.faces.http.checkpoints import Where
from foreword.faces.http.endpoint import Ask, Endpoint
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


def list_recipes(ask: Ask[Where, None]) -> dict[str, Any]:
    """List the recipes that can be named, built in and the project's own."""
    root = ask.serving.root(ask.query.root)
    known, more = loading.recipes_to_list(root)
    problem = loading.folder_problem(root)
    return {
        "items": [_line(name, path, root) for name, path in known.items()],
        "left_out": more,
        "warnings": [problem] if problem else [],
    }


def _line(name: str, path: Path, root: Path) -> dict[str, Any]:
    about = problem = ""
    try:
        about = loading.load(name, root).about
    except RecipeError as wrong:
        problem = f"line {wrong.line or 1}: {wrong.problem}"
    return {"name": name, "about": about, "own": path.parent != loading.BUILTIN, "problem": problem}


def show_recipe(ask: Ask[Where, None]) -> dict[str, Any]:
    """Show a recipe and those it extends; one that is wrong is an error that says where."""
    root = ask.serving.root(ask.query.root)
    layers = loading.checked_layers(_named(ask.path["name"], root), root)
    texts = [{"path": _shown(layer.path, root), "text": layer.text} for layer in layers]
    return {"name": ask.path["name"], "layers": texts}


def lint(ask: Ask[Where, None]) -> dict[str, Any]:
    """Say what is wrong with a recipe, and with the documents that it is about."""
    root = ask.serving.root(ask.query.root)
    name = _named(ask.path["name"], root)
    try:
        wrong = list(loading.problems(loading.layers(name, root)))
    except RecipeError as error:
        wrong = [error]
    about_documents = not wrong and any(
        kind in AUTHORED for kind in loading.load(name, root).documents
    )
    found = lint_project(root, name) if about_documents else None
    return {
        "recipe": [
            {
                "path": _shown(one.path, root),
                "line": one.line,
                "column": one.column,
                "message": one.problem,
            }
            for one in wrong
        ],
        "documents": [asdict(one) for one in found.problems] if found else [],
        "checked": list(found.documents) if found else [],
    }


def _named(name: str, root: Path) -> str:
    """A recipe by its name alone: a path would be a way to read other files."""
    known = loading.names(root)
    if name not in known:
        raise UnknownName("recipe", name, known)
    return name


def _shown(path: str, root: Path) -> str:
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
