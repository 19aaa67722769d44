"""When the checkpoint of each phase was last written, for live updates, and which phases were done.

The checkpoints themselves are files (`checkpoint_files`), which anybody may have written: which
gates a task has passed is read here.
"""

from __future__ import annotations

from foreword.store.database import Database, from_json, stamp, storable_text, to_ascii_json


def note_written(db: Database, workflow: int, phase: str, done: list[str]) -> None:
    """Note that the checkpoint of a phase was written now, and which phases were done then."""
    db.rows(
        "INSERT INTO checkpoints (workflow, name, created, done) VALUES (?, ?, ?, ?) ON CONFLICT"
        " (workflow, name) DO UPDATE SET created = excluded.created, done = excluded.done",
        (workflow, phase, stamp(), to_ascii_json({"done": done})),
    )


def done_at(db: Database, task: str, phase: str) -> set[str]:
    """Return the phases that were done when this store's checkpoint of a phase was written."""
    rows = db.rows(
        "SELECT k.done FROM checkpoints k JOIN workflows w ON w.id = k.workflow WHERE w.name = ?"
        " AND k.name = ?",
        (storable_text(task), storable_text(phase)),
    )
    return set(from_json(rows[0][0])["done"]) if rows else set()
