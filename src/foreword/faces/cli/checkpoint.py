"""`foreword checkpoint`: where tasks were at the end of their phases, and how to go on from there.

Reading and comparing them is `work.task_checkpoints`' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import printable, shorten_name
from foreword.faces.cli import screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import (
    ONLY_JSON,
    ROOT,
    all_of,
    form_option,
    json_option,
    store_options,
)

if TYPE_CHECKING:
    from foreword.operations.operation import Project
    from foreword.store.database import Database
    from foreword.work.task_checkpoints import CheckpointEntry, RestoredCheckpoint

LONGEST_TASK = 40  # columns
LONGEST_PHASE = 20  # columns


@click.group(cls=Commands)
def checkpoint() -> None:
    """Look at checkpoints, or go on from one.

    Each is a file in .checkpoints under the root.

    \b
    Examples:
      foreword checkpoint list
      foreword checkpoint resume FEAT-1
    """


# which checkpoint is meant, where it is, and how it is shown
checkpoint_options = all_of(
    click.argument("task"),
    click.option("--phase", metavar="N", help="The checkpoint of this phase; else the newest."),
    form_option("text", "json"),
    store_options,
)


@checkpoint.command("list")
@click.argument("task", required=False)
@json_option()
@ROOT
def list_checkpoints(task: str | None, as_json: bool, root: str) -> None:
    """List the checkpoints of a task or of all, the newest of each task last.

    One that can't be used is marked, with the reason.

    \b
    Examples:
      foreword checkpoint list
      foreword checkpoint list FEAT-1
    """
    from foreword.sources.project_root import project_root
    from foreword.work.task_checkpoints import checkpoint_entries

    folder = project_root(root)
    entries = checkpoint_entries(folder, task)
    if not entries:
        screen.say(f"no checkpoints yet in {folder}")
    if as_json:
        screen.show_json([_entry_as_json(entry) for entry in entries])
    elif entries:
        _show_table(entries)


def _entry_as_json(entry: CheckpointEntry) -> dict[str, object]:
    found = entry.checkpoint
    return {
        "task": entry.task,
        "phase": entry.phase,
        "number": found.sequence if found else None,
        "written_at": found.written_at if found else None,
        "problem": "" if found else entry.problem,
    }


def _show_table(entries: Sequence[CheckpointEntry]) -> None:
    tasks = [shorten_name(entry.task, LONGEST_TASK) for entry in entries]
    phases = [shorten_name(entry.phase, LONGEST_PHASE) for entry in entries]
    task_width = max(map(len, ["task", *tasks]))
    phase_width = max(map(len, ["phase", *phases]))
    head = f"{'task':<{task_width}}  {'phase':<{phase_width}}  number  {'written (UTC)':<19}"
    click.echo(f"{head}  done pending", err=True)
    for entry, task, phase in zip(entries, tasks, phases, strict=True):
        name = f"{task:<{task_width}}  {phase:<{phase_width}}"
        click.echo(printable(f"{name}  {_entry_columns(entry)}"))


def _entry_columns(entry: CheckpointEntry) -> str:
    """What a line says behind task and phase."""
    found = entry.checkpoint
    if found is None:
        return f"DAMAGED: {entry.problem}"
    size = f"{len(found.done):>4,} {len(found.pending):>7,}"
    return f"{found.sequence:>6,}  {found.written_at[:19]:<19}  {size}"


@checkpoint.command()
@checkpoint_options
def show(task: str, phase: str | None, form: str, db: str | None, root: str) -> None:
    """Print a checkpoint as it was written.

    Every field that has a value; `resume` prints what a model goes on from, and what has changed
    since.

    \b
    Examples:
      foreword checkpoint show FEAT-1
      foreword checkpoint show FEAT-1 --phase 2 --format json
    """
    from foreword.work.checkpoint import as_data, as_plain_text, without_secrets

    restored = _restore(task, phase, db=db, root=root)
    for note in restored.notes:
        screen.warn(note)
    if form == "json":
        screen.show_json(as_data(without_secrets(restored.checkpoint)))
    else:
        screen.show_lines(as_plain_text(restored.checkpoint).splitlines())


@checkpoint.command()
@checkpoint_options
def resume(task: str, phase: str | None, form: str, db: str | None, root: str) -> None:
    """Print what a model needs to go on with a task, and what has changed since.

    As text for a model, or as JSON with the fields checkpoint and changes. What has changed
    (commits, files of artifacts, instructions of tiers 0 and 1) is also said as warnings.

    \b
    Examples:
      foreword checkpoint resume FEAT-1
      foreword checkpoint resume FEAT-1 --phase 2 --format json | jq .checkpoint.pending
    """
    from foreword.operations.checkpoint_operations import RESUME_CHECKPOINT

    resumed = RESUME_CHECKPOINT.answer(_project(db, root), {"task": task, "phase": phase})
    for change in resumed.warnings:
        screen.warn(change)
    if form == "json":
        screen.show_json({"checkpoint": resumed.checkpoint, "changes": resumed.warnings})
    else:
        screen.show_lines(resumed.text.splitlines())


@checkpoint.command()
@ONLY_JSON
def schema() -> None:
    """Print the JSON Schema of a checkpoint's file.

    \b
    Example:
      foreword checkpoint schema > checkpoint.schema.json
    """
    from foreword.work.checkpoint_schema import json_schema

    screen.show_json(json_schema())


def _restore(task: str, phase: str | None, *, db: str | None, root: str) -> RestoredCheckpoint:
    from foreword.work.task_checkpoints import newest, read

    with _root_and_store(db, root) as (folder, store):
        if phase is None:
            return newest(folder, store, task)
        return read(folder, store, task, phase)


@contextmanager
def _project(db: str | None, root: str) -> Iterator[Project]:
    from foreword.operations.operation import Project

    with _root_and_store(db, root) as (folder, store):
        yield Project(folder, store)


@contextmanager
def _root_and_store(db: str | None, root: str) -> Iterator[tuple[Path, Database | None]]:
    """The root and its store; no store is made where there is none, since there are the files."""
    from foreword.sources.project_root import project_root
    from foreword.store.urls import open_database, store_exists

    folder = project_root(root)
    store = open_database(db, folder) if store_exists(db, folder) else None
    try:
        yield folder, store
    finally:
        if store is not None:
            store.close()
