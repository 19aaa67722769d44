"""Variables and the trail of their changes.

The trail shows values as a context would, so no secret is in it; whole values are in `variables`
alone. What a value looks like is said by `plan.variable_text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreword.plan.variable_text import display
from foreword.store.database import (
    LARGEST_NUMBER,
    Database,
    from_json,
    insert,
    select,
    stamp,
    storable_text,
    to_json,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableChange:
    """One entry of the trail."""

    name: str
    action: str  # set, clear
    before: str  # as displayed; nothing where there was none
    after: str
    reason: str
    created: str


def set_variable(db: Database, workflow: int, name: str, value: object, *, reason: str) -> None:
    """Set a variable; one that was set before keeps its place."""
    written = to_json(value, f"variable {name!r}")
    with db.transaction(f"foreword: variables {workflow}"):
        before = _displayed_value(db, workflow, name)
        db.rows(
            "INSERT INTO variables (workflow, name, updated, written) VALUES (?, ?, ?, ?) ON"
            " CONFLICT (workflow, name) DO UPDATE SET updated = excluded.updated, written ="
            " excluded.written",
            (workflow, name, stamp(), written),
        )
        _log(db, workflow, name, before=before, after=display(name, value), reason=reason)


def drop(db: Database, workflow: int, name: str, *, reason: str) -> bool:
    """Clear a variable; says whether there was one."""
    with db.transaction(f"foreword: variables {workflow}"):
        before = _displayed_value(db, workflow, name)
        deleted = db.rows(
            "DELETE FROM variables WHERE workflow = ? AND name = ? RETURNING name", (workflow, name)
        )
        if deleted:
            _log(db, workflow, name, before=before, reason=reason)
    return bool(deleted)


def drop_all(db: Database, workflow: int, reason: str) -> list[str]:
    """Clear every variable; returns their names."""
    with db.transaction(f"foreword: variables {workflow}"):
        values = all_variables(db, workflow)
        db.rows("DELETE FROM variables WHERE workflow = ?", (workflow,))
        for name, value in values.items():
            _log(db, workflow, name, before=display(name, value), reason=reason)
    return list(values)


def all_variables(db: Database, workflow: int) -> dict[str, Any]:
    """Every variable with its whole value, in the order in which they were first set."""
    rows = written_variables(db, workflow)
    return {name: from_json(written) for name, written in rows}


def written_variables(db: Database, workflow: int) -> list[tuple[str, str]]:
    """Every variable as it is kept, with its name, in the order in which they were first set."""
    rows = db.rows(
        "SELECT name, written FROM variables WHERE workflow = ? ORDER BY id", (workflow,)
    )
    return [(name, written) for name, written in rows]


def changes(db: Database, workflow: int, limit: int = 100) -> list[VariableChange]:
    """The newest entries of the trail, the newest first."""
    which = "FROM variable_changes WHERE workflow = ? ORDER BY id DESC LIMIT ?"
    return select(db, VariableChange, which, (workflow, max(0, min(limit, LARGEST_NUMBER))))


def _displayed_value(db: Database, workflow: int, name: str) -> str:
    """A variable's value as the trail shows it; nothing where there is none."""
    rows = db.rows(
        "SELECT written FROM variables WHERE workflow = ? AND name = ?", (workflow, name)
    )
    if not rows:
        return ""
    ((written,),) = rows
    return display(name, from_json(written))


def _log(
    db: Database, workflow: int, name: str, *, before: str, reason: str, after: str | None = None
) -> None:
    """Note that a variable was set, or cleared where nothing comes after."""
    change = VariableChange(
        name=name,
        action="clear" if after is None else "set",
        before=before,
        after=after or "",
        reason=storable_text(reason),
        created=stamp(),
    )
    insert(db, "variable_changes", change, workflow=workflow)
