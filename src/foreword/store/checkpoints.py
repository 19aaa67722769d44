"""When the checkpoint of each phase was last written, so that live updates can report it.

The checkpoints themselves are files (`checkpoint_files`).
"""

from __future__ import annotations

from foreword.store.database import Database, stamp


def note_written(db: Database, workflow: int, phase: str) -> None:
    """Note that the checkpoint of a phase was written now."""
    db.rows(
        "INSERT INTO checkpoints (workflow, name, created) VALUES (?, ?, ?) ON CONFLICT"
        " (workflow, name) DO UPDATE SET created = excluded.created",
        (workflow, phase, stamp()),
    )
