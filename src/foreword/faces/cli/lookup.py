"""`foreword lookup`: what is never loaded, asked for."""

from __future__ import annotations

import click

from foreword.faces.cli import screen
from foreword.faces.cli.assemble import FORMATS, written
from foreword.tokens import COUNTERS


@click.command()
@click.argument("wanted", nargs=-1, required=True)
@click.option(
    "--kind", metavar="KIND", default="", help="Only documents of this kind: policy, schema, doc, persona ..."
)
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
@click.option("--recipe", metavar="NAME", default="factory", show_default=True, help="Says which documents there are.")
@click.option("--budget", metavar="N", help="The most tokens the answer may have.  [default: 1000]")
@click.option("--counter", metavar="|".join(COUNTERS), help="How tokens are counted.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="xml", show_default=True, help="What goes to stdout."
)
@click.option("--quiet", "-q", is_flag=True, help="No report on stderr.")
def lookup(wanted: tuple[str, ...], form: str, quiet: bool, **request: str | None) -> None:
    """Look up a document by name or by meaning.

    Policies, schemas, manifests, docs and personas cost nothing until they are asked for. One word is taken as a name
    or a path first; several are a question, answered by the documents that have most to do with it.

    \b
    Examples:
      foreword lookup default --kind policy
      foreword lookup personas/engineering/security-auditor.md
      foreword lookup how are findings weighted --budget 400
    """
    from foreword.runtime.lookup import lookup as look

    package = look(" ".join(wanted), **request)  # type: ignore[arg-type]
    click.echo(written(package, form), nl=False)
    if not quiet:
        screen.show_report(package.report)
