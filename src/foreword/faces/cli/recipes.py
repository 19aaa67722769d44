"""`foreword recipes`, `foreword recipe` and `foreword lint`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from foreword.engine.table import printable
from foreword.errors import RecipeError
from foreword.faces.cli.groups import Commands

OWN = "foreword/recipes"


@click.command()
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
def recipes(root: str) -> None:
    """List the recipes that can be named.

    Built-in ones, and those in foreword/recipes under the root; one that is wrong is marked.
    """
    from foreword.recipe import load as loading

    for name, path in loading.names(Path(root)).items():
        own = "" if path.parent == loading.BUILTIN else f"  ({path})"
        click.echo(printable(f"{name:<12} {_about(name, Path(root))}{own}"))


def _about(name: str, root: Path) -> str:
    """What a recipe says it is, or what is wrong with it."""
    from foreword.recipe import load as loading

    try:
        return loading.load(name, root).about
    except RecipeError as wrong:
        return f"BROKEN, line {wrong.line or 1}: {wrong.problem}"


@click.group(cls=Commands)
def recipe() -> None:
    """Look at recipes."""


@recipe.command()
@click.argument("name")
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
def show(name: str, root: str) -> None:
    """Print a recipe and those it extends."""
    from foreword.recipe import load as loading

    for layer in loading.layers(name, Path(root)):
        click.echo(Path(layer.path).read_text("utf-8"), nl=False)


@recipe.command()
def schema() -> None:
    """Print the JSON Schema of a recipe, for editors."""
    from foreword.recipe import load as loading

    click.echo(json.dumps(loading.json_schema(), indent=2))


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
def lint(paths: tuple[str, ...]) -> None:
    """Check recipes.

    Takes files, folders or names; without any, the recipes in foreword/recipes are checked.

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
            click.echo(printable(problem.message))
    many = "recipe" if len(checked) == 1 else "recipes"
    click.echo(f"{len(checked)} {many} checked, {found} {'problem' if found == 1 else 'problems'}", err=True)
    if not checked:
        places = ", ".join(str(Path(path).resolve()) for path in paths or (OWN,))
        click.echo(printable(f"looked for *.yaml and *.yml in {places}"), err=True)
    if found:
        raise click.exceptions.Exit(1)


def _recipe_files(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths or (OWN,):
        if Path(path).is_dir():
            yield from (str(found) for found in sorted([*Path(path).rglob("*.yaml"), *Path(path).rglob("*.yml")]))
        elif paths:
            yield path


def _problems(name: str) -> Iterator[RecipeError]:
    from foreword.recipe import load as loading

    try:
        yield from loading.problems(loading.layers(name, Path()))
    except RecipeError as problem:
        yield problem
