"""The steps of a run of nodes: a row before each turn of a node is taken, and its end when it is
over.

A step that began and has no end was under way when its process ended: nobody knows whether it had
its effect. What a turn gave is in `node_results`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from foreword.store.database import Column, Database, select, stamp, storable_text, update
from foreword.store.node_runs import RUNNING, NodeRun

UNCLEAR = "unclear"  # over, and whether it had its effect is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStep:
    """One turn of a node in one attempt at a run."""

    number: Annotated[int, Column("id")]
    attempt: int
    key: str
    node: str
    status: str  # running until it is over, then success, failed, stopped or unclear
    began: str
    ended: str  # nothing while it is under way


def begin(db: Database, workflow: int, run: NodeRun, *, key: str, node: str) -> int:
    """Note that a turn of a node is about to be taken; gives the number of the step."""
    ((number,),) = db.rows(
        "INSERT INTO node_steps (workflow, run, attempt, key, node, status, began, ended)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '') RETURNING id",
        (
            workflow,
            storable_text(run.run),
            run.attempt,
            storable_text(key),
            storable_text(node),
            RUNNING,
            stamp(),
        ),
    )
    return int(number)


def end(db: Database, number: int, status: str) -> None:
    """Note how a step ended."""
    update(db, "node_steps", {"id": number}, status=status, ended=stamp())


def of_run(db: Database, workflow: int, run: str) -> list[NodeStep]:
    """Every step of a run, in the order in which they began."""
    which = "FROM node_steps WHERE workflow = ? AND run = ? ORDER BY id"
    return select(db, NodeStep, which, (workflow, storable_text(run)))
