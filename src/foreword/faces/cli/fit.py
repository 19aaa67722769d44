"""`foreword fit`: files and folders within a budget, by a question."""

from __future__ import annotations

from pathlib import Path

import click

from foreword.faces.cli.assemble import output_options, show_package
from foreword.faces.cli.options import store_options
from foreword.tokens import COUNTERS


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
