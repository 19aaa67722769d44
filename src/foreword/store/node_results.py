"""What the nodes of a workflow gave, run by run; kept once for each turn of a node: a success stays
as it is.

`key` tells the turns of a node apart: `node5[2]/node6` is node6 in the third turn of the loop
node5. What is kept is for people and agents to read, so the caller has hidden what is secret;
values for other nodes are variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from foreword.store.database import (
    Column,
    Database,
    from_json,
    select,
    stamp,
    storable_text,
    to_json,
)
from foreword.store.node_runs import SUCCESS, lock

TEST = "test"  # the run of single tests: the newest of each node


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one turn of a node gave."""

    run: str
    key: str
    node: str
    status: str
    created: str
    # result, variables, error, page, seconds: whatever there is
    output: Annotated[dict[str, Any], Column("written", from_json)]


def keep(
    db: Database,
    workflow: int,
    *,
    run: str,
    key: str,
    node: str,
    status: str,
    output: dict[str, Any],
) -> bool:
    """Keep a result; one that was a success already stays, and False is returned."""
    written = to_json(output, f"the result of {node}")
    with db.transaction(lock(workflow)):
        succeeded = db.rows(
            "SELECT 1 FROM node_results WHERE workflow = ? AND run = ? AND key = ? AND status = ?",
            (workflow, storable_text(run), storable_text(key), SUCCESS),
        )
        if not succeeded:
            _replace(db, workflow, run=run, key=key, node=node, status=status, written=written)
    return not succeeded


def keep_test(
    db: Database, workflow: int, *, node: str, status: str, output: dict[str, Any]
) -> None:
    """Keep what a single test of a node gave, in place of the test before it."""
    written = to_json(output, f"the result of {node}")
    with db.transaction(lock(workflow)):
        _replace(db, workflow, run=TEST, key=node, node=node, status=status, written=written)


def of_run(db: Database, workflow: int, run: str) -> dict[str, Result]:
    """Every result of a run by its key, in the order in which they were kept."""
    which = "FROM node_results WHERE workflow = ? AND run = ? ORDER BY id"
    results = select(db, Result, which, (workflow, storable_text(run)))
    return {result.key: result for result in results}


def newest(db: Database, workflow: int) -> dict[str, Result]:
    """The newest result of each node, whatever run it is of."""
    which = (
        "FROM node_results WHERE id IN (SELECT MAX(id) FROM node_results WHERE workflow = ? GROUP"
        " BY node) ORDER BY id"
    )
    return {result.node: result for result in select(db, Result, which, (workflow,))}


def _replace(
    db: Database, workflow: int, *, run: str, key: str, node: str, status: str, written: str
) -> None:
    """Put a row in the place of the one before; as a new one, so that the newest has the highest
    number."""
    place = (workflow, storable_text(run), storable_text(key))
    db.rows("DELETE FROM node_results WHERE workflow = ? AND run = ? AND key = ?", place)
    db.rows(
        "INSERT INTO node_results (workflow, run, key, node, status, created, written) VALUES"
        " (?, ?, ?, ?, ?, ?, ?)",
        (*place, storable_text(node), status, stamp(), written),
    )
