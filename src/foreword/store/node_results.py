"""What the nodes of a workflow gave, run by run; kept once for each turn of a node: a success stays
as it is.

`key` tells the turns of a node apart: `node5[2]/node6` is node6 in the third turn of the loop
node5. What is kept is for people and agents to read, so the caller has hidden what is secret;
values for other nodes are variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreword.store.database import Database, Row, from_json, mapping, plain, stamp, to_json

TEST = "test"  # the run of single tests: the newest of each node
SUCCESS, FAILED, RUNNING = "success", "failed", "running"
_COLUMNS = "run, key, node, status, created, written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one turn of a node gave."""

    run: str
    key: str
    node: str
    status: str
    created: str
    told: dict[str, Any]  # result, variables, error, page, seconds: whatever there is


def keep(
    db: Database, workflow: int, run: str, key: str, node: str, status: str, told: dict[str, Any]
) -> bool:
    """Keep a result; one that was a success already stays, and False is returned."""
    written = to_json(told, f"the result of {node}")
    with db.transaction(f"foreword: node results {workflow}"):
        done = db.rows(
            "SELECT 1 FROM node_results WHERE workflow = ? AND run = ? AND key = ? AND status = ?",
            (workflow, plain(run), plain(key), SUCCESS),
        )
        if not done:
            _replace(db, workflow, run, key, node, status, written)
    return not done


def keep_test(db: Database, workflow: int, node: str, status: str, told: dict[str, Any]) -> None:
    """Keep what a single test of a node gave, in place of the test before it."""
    written = to_json(told, f"the result of {node}")
    with db.transaction(f"foreword: node results {workflow}"):
        _replace(db, workflow, TEST, node, node, status, written)


def of_run(db: Database, workflow: int, run: str) -> dict[str, Result]:
    """Every result of a run by its key, in the order in which they were kept."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM node_results WHERE workflow = ? AND run = ? ORDER BY id",
        (workflow, plain(run)),
    )
    return {row[1]: _result(db, row) for row in rows}


def newest(db: Database, workflow: int) -> dict[str, Result]:
    """The newest result of each node, whatever run it is of."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM node_results WHERE id IN"
        " (SELECT MAX(id) FROM node_results WHERE workflow = ? GROUP BY node) ORDER BY id",
        (workflow,),
    )
    return {row[2]: _result(db, row) for row in rows}


def _replace(
    db: Database, workflow: int, run: str, key: str, node: str, status: str, written: str
) -> None:
    """Put a row in the place of the one before; as a new one, so that the newest has the highest
    number."""
    place = (workflow, plain(run), plain(key))
    db.rows("DELETE FROM node_results WHERE workflow = ? AND run = ? AND key = ?", place)
    db.rows(
        f"INSERT INTO node_results (workflow, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*place, plain(node), status, stamp(), written),
    )


def _result(db: Database, row: Row) -> Result:
    run, key, node, status, created, written = row
    return Result(
        run=run,
        key=key,
        node=node,
        status=status,
        created=created,
        told=from_json(written, f"the result of {key!r} in {db.name}", mapping()),
    )
