"""`foreword recipes`, `foreword recipe` and `foreword lint`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from foreword.errors import RecipeError
from foreword.recipe import load as loading


@click.command()
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
def recipes(root: str) -> None:
    """List the recipes that can be named: built in, and in foreword/recipes under the root."""
    for name, path in loading.names(Path(root)).items():
        about = loading.read_layer(path).data.get("about", "")
        own = "" if path.parent == loading.BUILTIN else f"  ({path})"
        click.echo(f"{name:<12} {about}{own}")


@click.group()
def recipe() -> None:
    """Look at recipes."""


@recipe.command()
@click.argument("name")
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
def show(name: str, root: str) -> None:
    """Print a recipe as it is written, followed by those it extends."""
    for layer in loading.layers(name, Path(root)):
        click.echo(Path(layer.path).read_text("utf-8"), nl=False)


@recipe.command()
def schema() -> None:
    """Print the JSON Schema of a recipe, for editors."""
    click.echo(json.dumps(loading.json_schema(), indent=2))


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
def lint(paths: tuple[str, ...]) -> None:
    """Check recipes: files, folders or names; without any, those in foreword/recipes.

    Prints file:line:column: message for each problem and exits with 1 if there is one.

    \b
    Examples:
      foreword lint
      foreword lint foreword/recipes/mine.yaml director
    """
    found = 0
    checked = list(_recipe_files(paths))
    for name in checked:
        for problem in _problems(name):
            found += 1
            click.echo(problem.message)
    many = "recipe" if len(checked) == 1 else "recipes"
    click.echo(f"{len(checked)} {many} checked, {found} {'problem' if found == 1 else 'problems'}", err=True)
    if found:
        raise click.exceptions.Exit(1)


def _recipe_files(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths or (str(Path("foreword") / "recipes"),):
        if Path(path).is_dir():
            yield from (str(found) for found in sorted([*Path(path).rglob("*.yaml"), *Path(path).rglob("*.yml")]))
        elif paths:
            yield path


def _problems(name: str) -> Iterator[RecipeError]:
    try:
        yield from loading.problems(loading.layers(name, Path()))
    except RecipeError as problem:
        yield problem
