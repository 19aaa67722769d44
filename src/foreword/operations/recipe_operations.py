"""Recipes: those that can be named, one with all that it extends, and what is wrong with it or
with the documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from foreword.errors import RecipeError, UnknownName
from foreword.lint import lint_project
from foreword.lint.document_index import AUTHORED
from foreword.lint.problem import Problem
from foreword.operations.operation import Name, NoInput, Operation, OperationInput, Project
from foreword.recipe import load as loading


class RecipeName(OperationInput):
    """Which recipe."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeLine:
    """One recipe in the list."""

    name: str
    about: str
    own: Annotated[bool, Field(description="Whether it is the project's own.")]
    problem: Annotated[str, Field(description="What is wrong with it, where something is.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeList:
    """The recipes that can be named."""

    items: list[RecipeLine]
    left_out: Annotated[int, Field(description="How many more there are; each can still be named.")]
    warnings: Annotated[list[str], Field(description="Why recipes of the project are not read.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeLayer:
    """One file of a recipe."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeLayers:
    """A recipe: its own file first, then what it extends."""

    name: str
    layers: list[RecipeLayer]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeProblem:
    """What is wrong with a recipe, and where."""

    path: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeProblems:
    """What is wrong with a recipe, and with the documents that it is about."""

    recipe: list[RecipeProblem]
    documents: tuple[Problem, ...]
    checked: tuple[str, ...]


def list_recipes(project: Project, given: NoInput) -> RecipeList:
    """List the recipes that can be named, built in and the project's own."""
    known, more = loading.recipes_to_list(project.root)
    problem = loading.folder_problem(project.root)
    return RecipeList(
        items=[_recipe_line(name, path, project.root) for name, path in known.items()],
        left_out=more,
        warnings=[problem] if problem else [],
    )


def _recipe_line(name: str, path: Path, root: Path) -> RecipeLine:
    about = ""
    problem = ""
    try:
        about = loading.load(name, root).about
    except RecipeError as wrong:
        problem = f"line {wrong.line or 1}: {wrong.problem}"
    is_own = path.parent != loading.BUILTIN
    return RecipeLine(name=name, about=about, own=is_own, problem=problem)


def get_recipe(project: Project, given: RecipeName) -> RecipeLayers:
    """Show a recipe and those it extends; one that is wrong is an error that says where."""
    root = project.root
    layers = loading.checked_layers(_known_name(given.name, root), root)
    texts = [RecipeLayer(path=_display_path(layer.path, root), text=layer.text) for layer in layers]
    return RecipeLayers(name=given.name, layers=texts)


def lint_recipe(project: Project, given: RecipeName) -> RecipeProblems:
    """Say what is wrong with a recipe, and with the documents that it is about."""
    root = project.root
    name = _known_name(given.name, root)
    try:
        errors = list(loading.problems(loading.layers(name, root)))
    except RecipeError as error:
        errors = [error]
    problems = [_recipe_problem(error, root) for error in errors]
    if errors or not _has_authored_documents(name, root):
        return RecipeProblems(recipe=problems, documents=(), checked=())
    found = lint_project(root, name)
    return RecipeProblems(recipe=problems, documents=found.problems, checked=found.documents)


def _recipe_problem(error: RecipeError, root: Path) -> RecipeProblem:
    return RecipeProblem(
        path=_display_path(error.path, root),
        line=error.line,
        column=error.column,
        message=error.problem,
    )


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


LIST_RECIPES = Operation(run=list_recipes, scope="project")
GET_RECIPE = Operation(run=get_recipe, scope="project")
LINT_RECIPE = Operation(run=lint_recipe, scope="project")
