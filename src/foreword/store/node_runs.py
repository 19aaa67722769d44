"""The runs of a workflow's nodes: how each stands, which attempt it is at, and which process is at
it.

A run that failed or whose process died goes on as its next attempt; whoever is still at an earlier
one changes nothing here any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from foreword.store.database import (
    Database,
    column_list,
    record_of,
    select,
    select_first,
    stamp,
    storable_text,
)

RUNNING, SUCCESS, FAILED, STOPPED = "running", "success", "failed", "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRun:
    """One run of a workflow's nodes."""

    run: str
    attempt: int
    status: str  # running, success, failed, stopped
    executor: str  # the process that is or was at it
    failed_at: str  # the turn of a node where it stopped
    started: str
    updated: str


def lock(workflow: int) -> str:
    """The lock of whatever is written about the runs of a workflow."""
    return f"foreword: node results {workflow}"


def begin(db: Database, workflow: int, *, run: str, executor: str) -> NodeRun:
    """Note that a process is at a run: a new one, or the next attempt of one."""
    now = stamp()
    (row,) = db.rows(
        f"INSERT INTO node_runs (workflow, {column_list(NodeRun)}) VALUES (?, ?, 1, ?, ?, '', ?, ?)"
        " ON CONFLICT (workflow, run) DO UPDATE SET attempt = node_runs.attempt + 1, status ="
        " excluded.status, executor = excluded.executor, failed_at = '', updated ="
        f" excluded.updated RETURNING {column_list(NodeRun)}",
        (workflow, storable_text(run), RUNNING, executor, now, now),
    )
    return record_of(NodeRun, row)


def end(db: Database, workflow: int, run: NodeRun, *, status: str, failed_at: str = "") -> bool:
    """Note how an attempt ended, unless another has begun since; says whether it was noted."""
    changed = db.rows(
        "UPDATE node_runs SET status = ?, failed_at = ?, updated = ? WHERE workflow = ? AND run = ?"
        " AND attempt = ? RETURNING run",
        (status, storable_text(failed_at), stamp(), workflow, storable_text(run.run), run.attempt),
    )
    return bool(changed)


def is_current(db: Database, workflow: int, run: NodeRun) -> bool:
    """Whether an attempt is the newest of its run."""
    newest = db.rows(
        "SELECT 1 FROM node_runs WHERE workflow = ? AND run = ? AND attempt = ?",
        (workflow, storable_text(run.run), run.attempt),
    )
    return bool(newest)


def find(db: Database, workflow: int, run: str) -> NodeRun | None:
    """One run, if there is one of that name."""
    which = "FROM node_runs WHERE workflow = ? AND run = ?"
    return select_first(db, NodeRun, which, (workflow, storable_text(run)))


def runs_of(db: Database, workflow: int) -> list[NodeRun]:
    """Every run of a workflow, the newest first."""
    return select(db, NodeRun, "FROM node_runs WHERE workflow = ? ORDER BY id DESC", (workflow,))
