"""Variables and the trail of their changes. A trail shows values as a context would, so no
secret is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreword.plan.variables import display
from foreword.store.database import LARGEST_NUMBER, Database, from_json, plain, stamp, to_json


@dataclass(frozen=True, slots=True)
class VariableChange:
    """One entry of the trail."""

    name: str
    action: str  # set, clear
    before: str  # as displayed; nothing where there was none
    after: str
    reason: str
    created: str


def set_variable(db: Database, workflow: int, name: str, value: object, reason: str) -> None:
    """Set a variable; one that was set before keeps its place."""
    written = to_json(value, f"variable {name!r}")
    with db.transaction(f"foreword: variables {workflow}"):
        before = _shown(db, workflow, name)
        db.rows(
            "INSERT INTO variables (workflow, name, updated, written) VALUES (?, ?, ?, ?) ON"
            " CONFLICT (workflow, name) DO UPDATE SET updated = excluded.updated, written ="
            " excluded.written",
            (workflow, name, stamp(), written),
        )
        _log(db, workflow, name, "set", before, display(name, value), reason)


def drop(db: Database, workflow: int, name: str, reason: str) -> bool:
    """Clear a variable; says whether there was one."""
    with db.transaction(f"foreword: variables {workflow}"):
        before = _shown(db, workflow, name)
        gone = db.rows(
            "DELETE FROM variables WHERE workflow = ? AND name = ? RETURNING name", (workflow, name)
        )
        if gone:
            _log(db, workflow, name, "clear", before, "", reason)
    return bool(gone)


def drop_all(db: Database, workflow: int, reason: str) -> list[str]:
    """Clear every variable; returns their names."""
    with db.transaction(f"foreword: variables {workflow}"):
        values = all_variables(db, workflow)
        db.rows("DELETE FROM variables WHERE workflow = ?", (workflow,))
        for name, value in values.items():
            _log(db, workflow, name, "clear", display(name, value), "", reason)
    return list(values)


def all_variables(db: Database, workflow: int) -> dict[str, Any]:
    """Every variable with its whole value, in the order in which they were first set."""
    rows = db.rows(
        "SELECT name, written FROM variables WHERE workflow = ? ORDER BY id", (workflow,)
    )
    return {name: from_json(written, f"variable {name!r} in {db.name}") for name, written in rows}


def changes(db: Database, workflow: int, limit: int = 100) -> list[VariableChange]:
    """The newest entries of the trail, the newest first."""
    rows = db.rows(
        "SELECT name, action, before, after, reason, created FROM variable_changes WHERE workflow ="
        " ? ORDER BY id DESC LIMIT ?",
        (workflow, max(0, min(limit, LARGEST_NUMBER))),
    )
    return [VariableChange(*row) for row in rows]


def _shown(db: Database, workflow: int, name: str) -> str:
    rows = db.rows(
        "SELECT written FROM variables WHERE workflow = ? AND name = ?", (workflow, name)
    )
    return display(name, from_json(rows[0][0], f"variable {name!r} in {db.name}")) if rows else ""


def _log(
    db: Database, workflow: int, name: str, action: str, before: str, after: str, reason: str
) -> None:
    db.rows(
        "INSERT INTO variable_changes (workflow, name, action, before, after, reason, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (workflow, name, action, before, after, plain(reason), stamp()),
    )
