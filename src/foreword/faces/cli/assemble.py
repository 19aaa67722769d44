"""`foreword assemble`, `foreword why` and `foreword fit`: a context, the reason for anything that
is in it or not, and files by a question. `show_package` writes any package to stdout's formats,
for `lookup` and `session` as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from foreword.faces.cli import screen
from foreword.faces.cli.options import (
    QUIET,
    all_of,
    json_option,
    request_options,
    store_options,
)
from foreword.messages.message import SHAPES, Shape
from foreword.tokens import COUNTERS

if TYPE_CHECKING:
    from foreword.context.explain import Explanation
    from foreword.engine.package import Package

FORMATS = ("xml", "messages", *SHAPES, "json")
PACKAGE_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="xml",
    show_default=True,
    help="What goes to stdout.",
)
# how a package is shown
output_options = all_of(PACKAGE_FORMAT, QUIET)


@click.command()
@click.argument("recipe")
@request_options
@output_options
def assemble(recipe: str, form: str, quiet: bool, **request: Any) -> None:
    """Assemble a context within a budget.

    The text goes to stdout, the report to stderr.

    RECIPE is a built-in recipe, one of the project's own, or a path to a YAML file (see `foreword
    recipe list`).

    \b
    Examples:
      foreword assemble director --agent builder --budget 12000
      foreword assemble factory --phase 3a --task .plans/014-quiet-hours.md
      foreword assemble director --agent planner --model gpt-5 --format json
      git diff | foreword assemble package --purpose review --source - --budget 4000
      foreword assemble package --purpose handoff --source .planning --budget 4000
      foreword assemble phases --phase testing --source state.json --format anthropic
      foreword assemble repository --task ISSUE.md --budget 8000
    """
    from foreword.context import assemble

    _say_if_reading(request)
    with screen.progress_of("reading the code base") as progress:
        package = assemble.assemble(recipe, **request, progress=progress)
    show_package(package, form, quiet=quiet)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--question", metavar="TEXT", help="What the text is for.")
@click.option("--budget", metavar="N", required=True, help="The most tokens the text may have.")
@click.option("--counter", metavar="|".join(COUNTERS), help="How tokens are counted.")
@store_options
@output_options
def fit(paths: tuple[str, ...], form: str, quiet: bool, **request: str) -> None:
    """Fit files to a question.

    Prints what of the files answers the question, in their order and in their own words, with a
    mark in every gap. A folder stands for all text files below it, - for standard input. Without a
    question the passages stay that carry most.

    \b
    Examples:
      foreword fit docs README.md --question "how are budgets worked out?" --budget 2000
      git log -200 | foreword fit - --question "retry loop" --budget 500
    """
    from foreword.questions.fit_material import fit as fit_material
    from foreword.sources.source_argument import read_stdin

    def material(path: str) -> str | Path:
        return read_stdin().decode("utf-8", "replace") if path == "-" else Path(path)

    package = fit_material(list(map(material, paths)), **request)  # type: ignore[arg-type]
    show_package(package, form, quiet=quiet)


def _say_if_reading(request: dict[str, Any]) -> None:
    """Where the material comes from standard input, a person is told to type it."""
    if request.get("source") == "-":
        screen.say_reading()


def show_package(package: Package, form: str, *, quiet: bool) -> None:
    """A package in one of the formats on stdout, its report on stderr unless it is to be quiet."""
    screen.show(_format_package(package, form), nl=False)
    if not quiet:
        screen.show_report(package.report)
    for loss in package.losses(_shape(form)) if form not in ("xml", "json") else ():
        screen.warn(loss)


def _format_package(package: Package, form: str) -> str:
    if form == "xml":
        return package.text
    if form == "json":
        from foreword.context.named_results import named_results

        value: Any = {
            "text": package.text,
            "messages": package.to_openai(),
            "report": package.report.to_dict(),
            **named_results(package),
        }
    else:
        value = package.to_json(_shape(form))
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _shape(form: str) -> Shape:
    return cast("Shape", "openai" if form == "messages" else form)


@click.command()
@click.argument("recipe")
@request_options
@click.option(
    "--about", metavar="ABOUT", help="The section, file or item to explain; without it, all."
)
@json_option()
def why(recipe: str, about: str | None, as_json: bool, **request: Any) -> None:
    """Say what is in a context, and why.

    ABOUT is a tag, a title, a path, the name of a file or a handle: is it in, in which form, and
    why. Without it, everything.

    \b
    Examples:
      foreword why director --agent builder --budget 3000
      foreword why director --agent builder --budget 3000 --about recent_changes
      foreword why director --agent builder --about .director/codebase/STRUCTURE.md
      foreword why factory --phase 3a --about docs/architecture.md
    """
    from foreword.context import explain

    _say_if_reading(request)
    with screen.progress_of("reading the code base") as progress:
        answer = explain.why(recipe, about, **request, progress=progress)
    show_explanation(answer, as_json)


def show_explanation(answer: Explanation, as_json: bool) -> None:
    """An answer to why; a budget that can't be met is the exit code, too."""
    if as_json:
        screen.show_json({"text": answer.text, "met": answer.met})
    else:
        screen.show(answer.text)
    if not answer.met:
        raise click.exceptions.Exit(1)
