"""`foreword variable`: a workflow's variables and the trail of their changes. Only `get` ever
prints a secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import click

from foreword.engine.report_table import printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.command_input import STDIN, answer_on, existing_workflow, read_text
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import (
    ONLY_JSON,
    DependentOption,
    json_option,
    last_option,
    store_options,
)
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.session.workflow_state import WorkflowState

REASON = click.option(
    "--reason", metavar="TEXT", required=True, help="Why; it is kept in the trail."
)


@click.group(cls=Commands)
def variable() -> None:
    """Look at a workflow's variables, or set them.

    \b
    Examples:
      foreword variable set demo node7.emails '["a@example.org"]' --reason "found in the inbox"
      foreword variable list demo
    """


@variable.command("list")
@click.argument("workflow")
@click.option("--changes", is_flag=True, help="The trail of changes instead, the newest first.")
@last_option(100, "How many changes.", cls=DependentOption, needs="--changes")
@json_option()
@store_options
def list_variables(
    workflow: str, changes: bool, last: int, as_json: bool, db: str | None, root: str
) -> None:
    """List the variables as a model sees them.

    Long values by their beginning, secrets hidden.

    \b
    Examples:
      foreword variable list demo
      foreword variable list demo --changes
    """
    if as_json:
        _show_json(workflow, changes, last, db=db, root=root)
        return
    with existing_workflow(db, root, workflow) as state:
        lines = (
            _change_lines(state, last)
            if changes
            else _variable_lines(state.get_workflow_variables())
        )
    if not lines:
        screen.say(f"no {'changes' if changes else 'variables'} in {workflow!r}")
    elif changes:
        click.echo(f"{'when (UTC)':<19}  change", err=True)
    screen.show_lines(lines)


def _show_json(workflow: str, changes: bool, last: int, *, db: str | None, root: str) -> None:
    from foreword.operations.variable_operations import LIST_VARIABLE_CHANGES, LIST_VARIABLES

    if changes:
        trail = answer_on(LIST_VARIABLE_CHANGES, workflow, {"limit": last}, db=db, root=root)
        screen.show_json(LIST_VARIABLE_CHANGES.to_data(trail))
    else:
        listed = answer_on(LIST_VARIABLES, workflow, {}, db=db, root=root)
        screen.show_json(LIST_VARIABLES.to_data(listed))


def _variable_lines(variables: dict[str, object]) -> list[str]:
    from foreword.plan.variable_text import variable_lines

    return variable_lines(variables).split("\n") if variables else []


def _change_lines(state: WorkflowState, last: int) -> list[str]:
    from foreword.secrets.masking import mask

    lines = []
    for change in state.variable_changes(last):
        before = change.before or "nothing"
        after = change.after or "nothing"
        what = f"{change.action} {mask(change.name)}: {before} -> {after} ({change.reason})"
        lines.append(f"{change.created[:19]}  {what}")
    return lines


@variable.command()
@click.argument("workflow")
@click.argument("name", required=False, metavar="[NAME|all]")
@click.option("--node", metavar="N", help="All variables of this node, as in 7 for node7.emails.")
@ONLY_JSON
@store_options
def get(workflow: str, name: str | None, node: str | None, db: str | None, root: str) -> None:
    """Print a whole value as JSON.

    Secrets are printed, too: this is the one command that does.

    \b
    Examples:
      foreword variable get demo node7.emails
      foreword variable get demo --node 7
      foreword variable get demo all
    """
    if node is not None and name not in (None, "all"):
        raise UsageError(f"give a name or --node, not both ({name!r} and {node!r})")
    from foreword.operations.fitted_values import WholeValue
    from foreword.operations.variable_operations import GET_WORKFLOW_VARIABLE

    given = {"name": name, "node": node}
    found = answer_on(GET_WORKFLOW_VARIABLE, workflow, given, db=db, root=root)
    assert isinstance(found, WholeValue)  # without a budget
    screen.show_json(found.value)


@variable.command("set")
@click.argument("workflow")
@click.argument("name")
@click.argument("value", metavar="VALUE|-")
@click.option(
    "--text", "as_text", is_flag=True, help="Take the value as text even where it reads as JSON."
)
@REASON
@json_option()
@store_options
def set_variable(
    workflow: str,
    name: str,
    value: str,
    as_text: bool,
    reason: str,
    as_json: bool,
    db: str | None,
    root: str,
) -> None:
    """Set a variable.

    VALUE is JSON where it reads as JSON, else text; - reads it from standard input, where no list
    of processes and no shell history shows it. One that begins with a minus comes last, after --.

    \b
    Examples:
      foreword variable set demo retries 3 --reason "the site is slow"
      foreword variable set demo node7.zip 01234 --text --reason "keeps its zero"
      pass show gmail | foreword variable set demo gmail.password - --reason "new login"
      foreword variable set demo offset --reason "measured" -- -5
    """
    from foreword.operations.variable_operations import SET_VARIABLE
    from foreword.secrets.masking import mask

    text = value
    if value == STDIN:
        text = read_text(STDIN).removesuffix("\n").removesuffix("\r")
    new_value = text if as_text else _json_or_text(text)
    given = {"name": name, "value": new_value, "reason": reason}
    made = answer_on(SET_VARIABLE, workflow, given, db=db, root=root)
    screen.say(printable(f"set {mask(made.name)} = {made.shown}"))
    if as_json:
        screen.show_json({"name": mask(made.name), "shown": made.shown})


def _json_or_text(text: str) -> object:
    """The value that a text stands for; NaN and the like are no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


@variable.command()
@click.argument("workflow")
@click.argument("name")
@REASON
@json_option()
@store_options
def clear(workflow: str, name: str, reason: str, as_json: bool, db: str | None, root: str) -> None:
    """Remove a variable.

    \b
    Example:
      foreword variable clear demo node7.emails --reason "read again tomorrow"
    """
    from foreword.operations.variable_operations import CLEAR_VARIABLE

    answer_on(CLEAR_VARIABLE, workflow, {"name": name, "reason": reason}, db=db, root=root)
    screen.say(f"cleared {name}")
    if as_json:
        screen.show_json({"cleared": [name]})


@variable.command("clear-all")
@click.argument("workflow")
@REASON
@json_option()
@store_options
def clear_all(workflow: str, reason: str, as_json: bool, db: str | None, root: str) -> None:
    """Remove every variable.

    \b
    Example:
      foreword variable clear-all demo --reason "a new run"
    """
    from foreword.operations.variable_operations import CLEAR_ALL_VARIABLES

    names = answer_on(CLEAR_ALL_VARIABLES, workflow, {"reason": reason}, db=db, root=root).cleared
    screen.say(f"cleared {quantity(len(names), 'variable')}")
    for name in names:
        screen.say(f"  {name}")
    if as_json:
        screen.show_json({"cleared": names})
