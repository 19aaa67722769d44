"""`foreword lookup` and `foreword recall`: a document that is never loaded, and what was cut from
a context. Both bring back what a model or a person asks for by name.
"""

from __future__ import annotations

from pathlib import Path

import click

from foreword.faces.cli import screen
from foreword.faces.cli.assemble import output_options, show_package
from foreword.faces.cli.options import json_option, store_options
from foreword.tokens import COUNTERS


@click.command()
@click.argument("wanted", nargs=-1, required=True)
@click.option(
    "--kind",
    metavar="KIND",
    default="",
    help="Only this kind: policy, schema, doc, persona ... or artifact.",
)
@store_options
@click.option(
    "--recipe",
    metavar="NAME",
    default="factory",
    show_default=True,
    help="Says which documents there are.",
)
@click.option("--budget", metavar="N", help="The most tokens the answer may have.  [default: 1000]")
@click.option("--counter", metavar="|".join(COUNTERS), help="How tokens are counted.")
@output_options
def lookup(wanted: tuple[str, ...], form: str, quiet: bool, **request: str | None) -> None:
    """Look up a document by name or by meaning.

    Policies, schemas, manifests, docs and personas cost nothing until they are asked for, nor does
    what the phases of a flow or a task have handed on. One word is taken as a name or a path first;
    several are a question, answered by the documents that have most to do with it. Of artifacts
    with the same name the newest is printed.

    \b
    Examples:
      foreword lookup default --kind policy
      foreword lookup personas/engineering/security-auditor.md
      foreword lookup FEAT-1
      foreword lookup how are findings weighted --budget 400
    """
    from foreword.context.lookup import lookup as look

    package = look(" ".join(wanted), **request)  # type: ignore[arg-type]
    show_package(package, form, quiet=quiet)


@click.command()
@click.argument("handle")
@json_option("The text in an object; what is not UTF-8 in it is replaced.")
@store_options
def recall(handle: str, as_json: bool, db: str | None, root: str) -> None:
    """Print the original of something that was cut.

    Byte for byte, in this project or any other of yours.

    \b
    Examples:
      foreword recall fw_3f9c01d7ab52e8
      foreword recall fw_3f9c01d7ab52e8 > original.md
    """
    from foreword.operations import original_pages

    original = original_pages.recall(handle, Path(root), db)
    if as_json:
        screen.show_json({"handle": handle, "text": original.decode("utf-8", "replace")})
    else:
        screen.show_bytes(original)
