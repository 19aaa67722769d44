"""`foreword director export` and `import`: a workflow as a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import Any

import click

from foreword.errors import UsageError
from foreword.faces.cli import command_input, screen
from foreword.faces.cli.command_input import existing_workflow, workflow_to_write
from foreword.faces.cli.options import ONLY_JSON, json_option, store_options
from foreword.text.quantity import quantity

HINT = "a workflow file is what `foreword director export NAME` writes"


@click.command()
@click.argument("workflow", required=False)
@click.option(
    "--schema", is_flag=True, help="Instead of a workflow, the JSON Schema of such a file."
)
@ONLY_JSON
@store_options
def export(workflow: str | None, schema: bool, db: str | None, root: str) -> None:
    """Write a workflow as a file, to standard output.

    It has the nodes and the variables that they need. No secret is in it: those are named.

    \b
    Examples:
      foreword director export letters > letters.json
      foreword director export --schema
    """
    from foreword.director import workflow_file

    if schema:
        screen.show_json(workflow_file.schema())
        return
    if workflow is None:
        raise UsageError("which workflow?", hint="foreword director export NAME")
    with existing_workflow(db, root, workflow) as state:
        made = workflow_file.export(state)
    screen.show_json(made)
    _say_secrets(made)


def _say_secrets(made: dict[str, Any]) -> None:
    if made["secrets"]:
        screen.say(f"without its secrets: {', '.join(made['secrets'])}")


@click.command("import")
@click.argument("name")
@click.argument("file", metavar="FILE|-")
@json_option()
@store_options
def import_(name: str, file: str, as_json: bool, db: str | None, root: str) -> None:
    """Make a workflow of that name from a file.

    A file that was exported from this store, and not changed since, takes the values of its secrets
    from the workflow it is of. Others are named, to be set by hand.

    \b
    Examples:
      foreword director import copy letters.json
    """
    from foreword.director import workflow_file

    content = command_input.read_json(file, HINT)
    with workflow_to_write(db, root, name) as state:
        done = workflow_file.load(state, content)
    count = quantity(done.nodes, "node")
    if as_json:
        screen.show_json(asdict(done))
    else:
        click.echo(f"{name}  {count}, variables: {', '.join(done.variables) or 'none'}")
    if done.taken_from:
        screen.say(f"secrets are those of {done.taken_from!r}")
    for path in done.missing:
        screen.warn(
            f"{path} is not set: `foreword variable set {quote(name)} {path} - --reason ...` reads"
            " it"
        )
