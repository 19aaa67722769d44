"""`foreword flow`: a workflow's phases, each asked of a model, kept, and gone on with after a
crash. Running them is `work.flow_runs`' business; here options become its request, and a status
becomes lines.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import printable
from foreword.errors import UsageError
from foreword.faces.cli import command_input, screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import (
    DOCUMENT_RECIPE,
    ROOT,
    SECONDS,
    form_option,
    judging_options,
    missing_model,
    read_facts,
    store_options,
    timeout_option,
)
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.work.flow_status import FlowStatus, PhaseStatus

LONGEST_TITLE = 40  # columns of a phase's title
FORMATS = form_option("text", "json")
DIFF = click.option(
    "--diff",
    metavar="REV|FILE|-",
    default="",
    help="A change, for the phases that have a panel look at one.",
)
_NEXT_HINTS = {
    "failed": "`foreword flow resume {task}` tries it again; what is done stays done",
    "stopped": "`foreword flow resume {task}` goes on",
    "interrupted": "`foreword flow resume {task}` goes on",
}
_REJECTED_HINT = (
    "mend the change, then `foreword flow resume {task} --diff REV|FILE` has the panel look at it"
)


@click.group(cls=Commands)
def flow() -> None:
    """Run a workflow, also after a crash.

    Phase by phase, each asked of a model and kept. A flow writes artifacts; it edits no file of the
    project.

    \b
    Examples:
      foreword flow run feature --task "let members cancel a booking" --model anthropic:claude-sonnet-5-5
      foreword flow resume
      foreword flow status
    """  # noqa: E501 - commands to copy stay on one line


@flow.command()
@click.argument("name")
@click.option(
    "--task",
    metavar="TEXT|FILE|-",
    default="",
    help="What is to be done, or a file that says it; else what the active plan is for.",
)
@click.option(
    "--task-id",
    metavar="ID",
    default="",
    help="What the task is called, as in FEAT-1; else after the workflow and its first words.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="",
    help="Who does the phases, as in openai:gpt-5; `test` needs no key.",
)
@DIFF
@click.option(
    "--stop-at-gates",
    is_flag=True,
    help="Begin nothing behind a phase with a gate; `flow resume` goes on.",
)
@judging_options
@DOCUMENT_RECIPE
@timeout_option(600.0, "How long each phase has.")
@FORMATS
@store_options
def run(
    name: str,
    task: str,
    task_id: str,
    model: str,
    diff: str,
    stop_at_gates: bool,
    facts: tuple[str, ...],
    default_rules: bool,
    recipe: str,
    timeout_seconds: float,
    form: str,
    db: str | None,
    root: str,
) -> None:
    """Run a workflow on a task.

    A flow writes artifacts and edits no file. Each phase begins as soon as those it waits for are
    done. What it hands on is kept as an artifact; later phases are given its reference and look it
    up, as they may the project's documents. Every phase writes a checkpoint. Where a phase has a
    panel and a gate, the panel must approve --diff, or nothing behind it begins. Killed at any
    moment, it goes on with `foreword flow resume` and does nothing twice. With --db
    postgresql://... any number of `foreword worker` processes answer along.

    \b
    Examples:
      foreword flow run feature --task "let members cancel a booking" --model anthropic:claude-sonnet-5-5
      foreword flow run feature --task task.md --task-id FEAT-1 --model openai:gpt-5 --stop-at-gates
      foreword flow run feature --task "try it out" --model test
      foreword flow run feature --task "kill it, then resume" --model test:3s
    """  # noqa: E501 - commands to copy stay on one line
    from foreword.faces.cli.run_board import RunBoard
    from foreword.plan.flow import handover_lines
    from foreword.sources.diff_source import read_change
    from foreword.sources.project_root import project_root
    from foreword.work import flow_runs
    from foreword.work.factory_project import read_flow

    if not model:
        raise missing_model("a flow needs a model to do its phases")
    folder = project_root(root)
    change = read_change(diff, folder, command_input.read_stdin) if diff else None
    if task:
        text = command_input.read_text_or_file(task)
    else:
        task_id, text = _planned_task(folder, task_id, recipe)

    def say_start(started: str) -> None:
        screen.say(f"{started} (`foreword flow resume` goes on with it, should it be stopped)")
        for line in handover_lines(read_flow(folder, name, recipe)):
            screen.say(f"  {line}")

    done = flow_runs.run(
        folder,
        name,
        task=text,
        model=model,
        db=db,
        task_id=task_id,
        diff=change.text if change else "",
        diff_source=diff,
        stop_at_gates=stop_at_gates,
        timeout_seconds=timeout_seconds,
        recipe=recipe,
        default_rules=default_rules,
        facts=read_facts(facts),
        watch=RunBoard(),
        warn=screen.warn,
        begun=say_start,
    )
    _finish(done, form)


@flow.command()
@click.argument("task", default="")
@click.option("--model", metavar="NAME", default="", help="Another model from here on.")
@DIFF
@click.option(
    "--stop-at-gates/--no-stop-at-gates",
    default=None,
    help="As it was started, unless it is said here.",
)
@click.option(
    "--timeout-seconds",
    metavar="N",
    type=SECONDS,
    help="How long each phase has from here on; else as it was started.",
)
@FORMATS
@store_options
def resume(
    task: str,
    model: str,
    diff: str,
    stop_at_gates: bool | None,
    timeout_seconds: float | None,
    form: str,
    db: str | None,
    root: str,
) -> None:
    """Go on with a flow that was killed, has failed, or stopped at a gate.

    TASK is its task or its run, as `foreword flow status` shows them; without it, the newest that
    is not done. A phase whose panel has not approved is done again: give it the mended change with
    --diff.

    \b
    Examples:
      foreword flow resume
      foreword flow resume FEAT-1 --diff HEAD~2
    """
    from foreword.faces.cli.run_board import RunBoard
    from foreword.sources.diff_source import read_change
    from foreword.sources.project_root import project_root
    from foreword.work import flow_runs

    folder = project_root(root)
    change = read_change(diff, folder, command_input.read_stdin) if diff else None
    done = flow_runs.resume(
        folder,
        task,
        db,
        model=model,
        diff=change.text if change else "",
        diff_source=diff,
        stop_at_gates=stop_at_gates,
        timeout_seconds=timeout_seconds,
        watch=RunBoard(),
        warn=screen.warn,
        begun=lambda found: screen.say(f"going on with {found}"),
    )
    _finish(done, form)


@flow.command()
@click.argument("name")
@FORMATS
@DOCUMENT_RECIPE
@ROOT
def show(name: str, form: str, recipe: str, root: str) -> None:
    """Show the phases of a workflow: what each takes, hands on and waits for.

    \b
    Examples:
      foreword flow show feature
      foreword flow show migration --format json
    """

    from foreword.plan.flow import handover_lines
    from foreword.sources.project_root import project_root
    from foreword.work.factory_project import read_flow

    found = read_flow(project_root(root), name, recipe)
    if form == "json":
        screen.show_json(asdict(found))
        return
    screen.show_lines(handover_lines(found))


@flow.command()
@click.argument("task", default="")
@FORMATS
@store_options
def status(task: str, form: str, db: str | None, root: str) -> None:
    """Show how far flows are, the newest first.

    \b
    Examples:
      foreword flow status
      foreword flow status FEAT-1 --format json
    """
    from foreword.work import flow_runs

    found = flow_runs.status(root, task, db)
    if form == "json":
        screen.show_json([one.to_dict() for one in found])
        return
    if not found:
        screen.say("no flow has been run here yet")
    for place, one in enumerate(found):
        if place:
            click.echo()
        _show_flow(one, how_to_read=len(found) == 1)


def _planned_task(root: Path, task_id: str, recipe: str) -> tuple[str, str]:
    """The active plan: what it is called, unless the user says, and what it is for."""
    from foreword.work.factory_project import active_task

    found = active_task(root, recipe)
    if not found:
        raise UsageError(
            "what is to be done?",
            hint='--task "let members cancel a booking", a file, or a plan in .plans/',
        )
    screen.say(f"task: {found}")
    return task_id or found.partition(":")[0], found


def _finish(done: FlowStatus, form: str) -> None:
    if form == "json":
        screen.show_json(done.to_dict())
    else:
        _show_flow(done)
    if done.status == "failed" or done.rejected:
        raise click.exceptions.Exit(1)


def _show_flow(one: FlowStatus, *, how_to_read: bool = True) -> None:
    """A line for the flow and one for each phase; what to do next, and how to read what was
    handed on."""
    reason = f": {one.why}" if one.why else ""
    click.echo(printable(f"{one.run}  {one.flow}  {one.status}{reason}"))
    width = max((len(phase.phase) for phase in one.phases), default=0)
    longest = max((len(phase.title) for phase in one.phases), default=0)
    title_width = min(LONGEST_TITLE, longest)
    for phase in one.phases:
        title = phase.title[:title_width]
        line = f"  {phase.phase:<{width}}  {title:<{title_width}}  {_phase_status(phase)}"
        click.echo(printable(line).rstrip())
    for phase in one.phases:
        if phase.phase in one.gates:
            screen.say(f"gate of phase {phase.phase}: {phase.gate or 'it says nothing'}")
    if how_to_read and (line := _recall_line(one)):
        screen.say(line)
    hint = _REJECTED_HINT if one.rejected else _NEXT_HINTS.get(one.status, "")
    screen.show_hint(hint.format(task=one.task))


def _recall_line(one: FlowStatus) -> str:
    """How to read what was handed on last, or what a panel said that has not approved."""
    with_result = [phase for phase in one.phases if phase.handle]
    if not with_result:
        return ""
    unfinished = [phase for phase in with_result if phase.status != "done"]
    last = unfinished[-1] if unfinished else with_result[-1]
    if last.artifact and last.status == "done":
        what = f"[{last.artifact}]"
    else:
        what = f"what phase {last.phase} came to"
    return f"`foreword recall {last.handle}` prints {what}"


def _phase_status(phase: PhaseStatus) -> str:
    """How far a phase is, with what it came to."""
    verdict = f"{phase.verdict.replace('_', ' ')}  " if phase.verdict else ""
    if phase.status == "rejected":
        return f"rejected  {verdict}{phase.handle}  {phase.error}"
    if phase.status != "done":
        return f"{phase.status}  {phase.error}".rstrip()
    name = f"[{phase.artifact or f'phase {phase.phase}'}]  "
    tokens = quantity(phase.tokens, "token")
    note = f"  ({phase.note})" if phase.note else ""
    return f"done     {name}{verdict}{tokens}  {phase.handle}{note}"
