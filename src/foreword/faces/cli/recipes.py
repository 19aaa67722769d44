"""`foreword recipes` and `foreword recipe`: the list of them, and one as it is written."""

from __future__ import annotations

import json
from pathlib import Path

import click

from foreword.engine.report_table import printable
from foreword.errors import RecipeError
from foreword.faces.cli import screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import ONLY_JSON, ROOT, json_option


@click.command()
@json_option()
@ROOT
def recipes(as_json: bool, root: str) -> None:
    """List the recipes that can be named.

    Built-in ones, and those in foreword/recipes under the root; one that is wrong is marked.

    \b
    Examples:
      foreword recipe list
      foreword recipe list --root ../kilnbook --format json
    """
    from foreword.recipe import load as loading

    known, more = loading.recipes_to_list(Path(root))
    if as_json:
        screen.show_json([_recipe_as_json(name, path, Path(root)) for name, path in known.items()])
        known = {}
    for name, path in known.items():
        own = "" if path.parent == loading.BUILTIN else f"  ({path})"
        click.echo(printable(f"{name:<12} {_description(name, Path(root))}{own}"))
    if more:
        screen.warn(f"{more:,} more recipes are not listed; each can still be named")
    if problem := loading.folder_problem(Path(root)):
        screen.warn(problem)


def _recipe_as_json(name: str, path: Path, root: Path) -> dict[str, object]:
    from foreword.recipe import load as loading

    is_own = path.parent != loading.BUILTIN
    return {"name": name, "about": _description(name, root), "file": str(path) if is_own else None}


def _description(name: str, root: Path) -> str:
    """What a recipe says it is, or what is wrong with it."""
    from foreword.recipe import load as loading

    try:
        return loading.load(name, root).about
    except RecipeError as wrong:
        return f"BROKEN, line {wrong.line or 1}: {wrong.problem}"


@click.group(cls=Commands)
def recipe() -> None:
    """Look at recipes.

    \b
    Examples:
      foreword recipe list
      foreword recipe show director
      foreword recipe schema > recipe.schema.json
    """


recipe.add_command(recipes, "list")


@recipe.command()
@click.argument("name")
@json_option("One object with everything that it extends in it.")
@ROOT
def show(name: str, as_json: bool, root: str) -> None:
    """Print a recipe and those it extends.

    NAME is one of `foreword recipe list`, or the path of a recipe's file. One that is wrong is not
    printed: the error says where.

    \b
    Examples:
      foreword recipe show director
      foreword recipe show foreword/recipes/mine.yaml
    """
    from foreword.recipe import load as loading

    layers = loading.checked_layers(name, Path(root))
    if as_json:
        screen.show_json(loading.merge_layers(layers))
        return
    for layer in layers:
        screen.show(layer.text, nl=False)


@recipe.command()
@ONLY_JSON
def schema() -> None:
    """Print the JSON Schema of a recipe, for editors.

    \b
    Example:
      foreword recipe schema > recipe.schema.json
    """
    from foreword.recipe import load as loading

    click.echo(json.dumps(loading.json_schema(), indent=2))
