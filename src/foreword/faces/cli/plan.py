"""`foreword plan`: a workflow's plan, in all its versions."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import bar
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.command_input import (
    answer_on,
    display_name,
    existing_workflow,
    read_json,
)
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import form_option, json_option, store_options

if TYPE_CHECKING:
    from foreword.operations.plan_operations import Plan
    from foreword.session.workflow_state import WorkflowState

BAR = 10  # columns
DONE_COLUMNS = BAR + 13  # the bar and, before it, so many of so many tasks


@click.group(cls=Commands)
def plan() -> None:
    """Look at a workflow's plan, or update it.

    Every update is a new version; none is ever lost.

    \b
    Examples:
      foreword plan update demo plan.json --reason "first plan"
      foreword plan show demo
    """


@plan.command()
@click.argument("workflow")
@click.option(
    "--version", "number", metavar="N", type=int, help="An earlier version; else the newest."
)
@form_option("text", "json")
@store_options
def show(workflow: str, number: int | None, form: str, db: str | None, root: str) -> None:
    """Print the plan as a to-do list or as JSON.

    In the list, secrets are hidden; the JSON is exactly what is kept.

    \b
    Examples:
      foreword plan show demo
      foreword plan show demo --version 2 --format json
    """
    from foreword.operations.plan_operations import GET_CURRENT_PLAN, GET_PLAN_VERSION, CurrentPlan
    from foreword.plan.plan import as_todo
    from foreword.secrets.masking import hide

    if number is None:
        newest = answer_on(GET_CURRENT_PLAN, workflow, {}, db=db, root=root)
        assert isinstance(newest, CurrentPlan)  # without a budget, it is whole
        data = newest.plan
    else:
        data = answer_on(GET_PLAN_VERSION, workflow, {"version": number}, db=db, root=root).plan
    if data is None:
        raise _no_plan(workflow)
    if form == "json":
        screen.show_json(data)
        return
    screen.show_lines(as_todo(hide(data)).splitlines())  # type: ignore[arg-type]


@plan.command()
@click.argument("workflow")
@click.argument("file", metavar="FILE|-")
@click.option("--reason", metavar="TEXT", required=True, help="Why the plan is changed.")
@click.option(
    "--expect",
    metavar="N",
    type=int,
    help="Only if the newest version is N; 0 where there is none yet.",
)
@json_option()
@store_options
def update(
    workflow: str,
    file: str,
    reason: str,
    expect: int | None,
    as_json: bool,
    db: str | None,
    root: str,
) -> None:
    """Replace the plan by a new version.

    FILE is JSON: overall_goal and phases, each with phase_name, status and tasks; a task has
    task_id, description and status. Other fields are kept as they are. Prints the number of the new
    version.

    \b
    Examples:
      foreword plan update demo plan.json --reason "first plan"
      foreword plan show demo --format json | jq '.blockers = []' |
        foreword plan update demo - --reason "unblocked" --expect 3
    """
    from foreword.operations.plan_operations import UPDATE_PLAN
    from foreword.plan.plan import read_plan

    value = read_json(file, "a plan is JSON: `foreword plan update --help` shows its fields")
    plan = read_plan(value, display_name(file))  # so that an error names the file
    given = {"plan": plan, "reason": reason, "expected_version": expect}
    # who expects a version expects the workflow, too: a mistyped name is not to make one
    made = answer_on(UPDATE_PLAN, workflow, given, db=db, root=root, expected=bool(expect))
    if as_json:
        screen.show_json(UPDATE_PLAN.to_data(made))
    else:
        click.echo(f"version {made.version}")
    for warning in made.warnings:
        screen.warn(warning)


@plan.command()
@click.argument("workflow")
@json_option()
@store_options
def history(workflow: str, as_json: bool, db: str | None, root: str) -> None:
    """List the versions, the oldest first.

    \b
    Example:
      foreword plan history demo
    """
    with existing_workflow(db, root, workflow) as state:
        versions = state.plan_history()
    if not versions:
        raise _no_plan(workflow)
    if as_json:
        screen.show_json([_version_as_json(version) for version in versions])
        return
    click.echo(f"{'version':>7}  {'when (UTC)':<19}  {'done':<{DONE_COLUMNS}}  reason", err=True)
    screen.show_lines(map(_version_line, versions))


def _version_as_json(version: Plan) -> dict[str, object]:
    from foreword.operations.plan_operations import progress

    done = progress(version.data)
    return {
        "version": version.version,
        "created": version.created,
        "reason": version.reason,
        "completed": done.completed,
        "total": done.total,
    }


def _version_line(version: Plan) -> str:
    from foreword.operations.plan_operations import progress

    done = progress(version.data)
    drawn = bar(done.completed / done.total if done.total else 0.0, BAR)
    tasks = f"{done.completed:>4} of {done.total:<4} {drawn}"
    return f"{version.version:>7}  {version.created[:19]}  {tasks}  {version.reason}"


@plan.command()
@click.argument("workflow")
@click.argument("old", type=int, required=False)
@click.argument("new", type=int, required=False)
@json_option()
@store_options
def diff(
    workflow: str, old: int | None, new: int | None, as_json: bool, db: str | None, root: str
) -> None:
    """Say what changed between two versions.

    Without numbers the last two; with one, from that version to the newest.

    \b
    Examples:
      foreword plan diff demo
      foreword plan diff demo 1 3
    """
    from foreword.operations.plan_operations import DIFF_PLAN

    with existing_workflow(db, root, workflow) as state:
        first, last = _versions_to_compare(state, old, new)
    given = {"old": first, "new": last}
    changes = answer_on(DIFF_PLAN, workflow, given, db=db, root=root).lines
    count = f"{len(changes):,} changed" if changes else "no changes"
    screen.say(f"version {first} -> {last}: {count}")
    if as_json:
        screen.show_json({"old": first, "new": last, "lines": changes})
        return
    screen.show_lines(changes)


def _versions_to_compare(state: WorkflowState, old: int | None, new: int | None) -> tuple[int, int]:
    if old is not None and new is not None:
        return old, new
    newest = state.get_current_plan()
    if newest is None:
        raise _no_plan(state.workflow.name)
    last = int(newest["plan_version"])
    if old is None and last == 1:
        raise UsageError(
            f"the plan of {state.workflow.name!r} has one version, so there is nothing to compare"
        )
    return (last - 1 if old is None else old), last


def _no_plan(workflow: str) -> UsageError:
    return UsageError(
        f"workflow {workflow!r} has no plan yet",
        hint=f'foreword plan update {quote(workflow)} plan.json --reason "first plan"',
    )
