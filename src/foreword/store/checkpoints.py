"""Checkpoints in the database: each under the phase it is of, in the workflow that is its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.store.database import Database, stamp, to_json


def keep(db: Database, workflow: int, name: str, data: Mapping[str, Any]) -> str:
    """Keep a checkpoint under a name, in place of an older one of that name; gives what was
    written."""
    written = to_json(data, f"checkpoint {name!r}")
    db.rows(
        "INSERT INTO checkpoints (workflow, name, created, written) VALUES (?, ?, ?, ?) ON CONFLICT"
        " (workflow, name) DO UPDATE SET created = excluded.created, written = excluded.written",
        (workflow, name, stamp(), written),
    )
    return written


def text(db: Database, workflow: str, name: str) -> str | None:
    """One checkpoint of a workflow as it is written, if it is there."""
    rows = db.rows(
        "SELECT c.written FROM checkpoints c JOIN workflows w ON w.id = c.workflow"
        " WHERE w.name = ? AND c.name = ?",
        (workflow, name),
    )
    return str(rows[0][0]) if rows else None


def texts(db: Database, workflow: int) -> dict[str, str]:
    """Every checkpoint of a workflow by its name, the oldest first, as it is written: one of
    them may be damaged."""
    return dict(
        db.rows("SELECT name, written FROM checkpoints WHERE workflow = ? ORDER BY id", (workflow,))
    )


def workflows_with(db: Database) -> dict[str, int]:
    """Every workflow that has a checkpoint: its name and its number."""
    rows = db.rows(
        "SELECT w.name, w.id FROM workflows w WHERE EXISTS (SELECT 1 FROM checkpoints c WHERE"
        " c.workflow = w.id) ORDER BY w.name"
    )
    return dict(rows)
