"""`foreword assemble` and `foreword why`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from foreword.faces.cli import screen
from foreword.faces.cli.options import request_options

if TYPE_CHECKING:
    from foreword.engine.package import Package

FORMATS = ("xml", "messages", "anthropic", "openai", "json")


@click.command()
@click.argument("recipe")
@request_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="xml",
    show_default=True,
    help="What goes to stdout.",
)
@click.option("--quiet", "-q", is_flag=True, help="No report on stderr.")
def assemble(recipe: str, form: str, quiet: bool, **request: Any) -> None:
    """Assemble a context within a budget.

    The text goes to stdout, the report to stderr.

    RECIPE is a built-in recipe, one of the project's own, or a path to a YAML file (see `foreword
    recipes`).

    \b
    Examples:
      foreword assemble director --agent builder --budget 12000
      foreword assemble factory --phase 3a --task .plans/014-quiet-hours.md
      foreword assemble director --agent planner --model gpt-4o --format json
      foreword assemble package --purpose handoff --source items.json --budget 4000
      foreword assemble phases --phase testing --source state.json --format anthropic
    """
    from foreword.context import assemble

    _say_what_is_read(request)
    package = assemble.assemble(recipe, **request)
    screen.show(format_package(package, form), nl=False)
    if not quiet:
        screen.show_report(package.report)


def _say_what_is_read(request: dict[str, Any]) -> None:
    if request.get("source") == "-":
        screen.say_reading()


def format_package(package: Package, form: str) -> str:
    """The package in one of the formats."""
    if form == "xml":
        return package.text
    shapes: dict[str, Any] = {
        "messages": package.to_openai,
        "anthropic": package.to_anthropic,
        "openai": package.to_openai,
        "json": lambda: {
            "text": package.text,
            "messages": package.to_openai(),
            "report": package.report.to_dict(),
        },
    }
    return json.dumps(shapes[form](), ensure_ascii=False, indent=2) + "\n"


@click.command()
@click.argument("recipe")
@request_options
@click.option(
    "--about", required=True, metavar="ABOUT", help="The section, file or item to explain."
)
def why(recipe: str, about: str, **request: Any) -> None:
    """Say what is in a context, and why.

    ABOUT is a tag, a title, a path, the name of a file or a handle: is it in, in which form, and
    why.

    \b
    Examples:
      foreword why director --agent builder --budget 3000 --about recent_changes
      foreword why director --agent builder --about .director/codebase/STRUCTURE.md
      foreword why factory --phase 3a --about docs/architecture.md
    """
    from foreword.context.explain import explain

    _say_what_is_read(request)
    answer = explain(recipe, about, **request)
    screen.show(answer.text)
    if not answer.met:
        raise click.exceptions.Exit(1)
