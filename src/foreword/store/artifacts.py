"""Artifacts: what the phases of a flow hand on, one of each name in a run, kept once and never changed.

The text itself is an original, so `recall` finds it by its handle, too.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from foreword.model import handle_of
from foreword.store.database import Database, plain, stamp
from foreword.store.kept import Store

COLUMNS = "name, phase, title, tokens, handle, created"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact, without its text."""

    name: str
    phase: str
    title: str
    tokens: int
    handle: str
    created: str

    @property
    def reference(self) -> str:
        """What stands for it in a context: `[FEAT-1] Requirements, 412 tokens`."""
        return f"[{self.name}] {self.title}, {self.tokens:,} tokens"


def keep(db: Database, run: str, name: str, phase: str, title: str, text: str, tokens: int) -> Artifact:
    """Keep an artifact; where there is one of that name in the run, that one stays."""
    body = plain(text).encode()
    handle = handle_of(body)
    with db.transaction():
        db.rows("INSERT INTO originals VALUES (?, ?) ON CONFLICT DO NOTHING", (handle, zlib.compress(body, 1)))
        db.rows(
            "INSERT INTO artifacts (run, name, phase, title, tokens, handle, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (run, plain(name), plain(phase), plain(title), tokens, handle, stamp()),
        )
        (row,) = db.rows(f"SELECT {COLUMNS} FROM artifacts WHERE run = ? AND name = ?", (run, plain(name)))
    return Artifact(*row)


def everything(db: Database, run: str) -> list[Artifact]:
    """The artifacts of a run, in the order they were kept."""
    rows = db.rows(f"SELECT {COLUMNS} FROM artifacts WHERE run = ? ORDER BY created, name", (run,))
    return [Artifact(*row) for row in rows]


def text_of(db: Database, artifact: Artifact) -> str:
    """The text of an artifact, if it is the one that was kept."""
    ((packed,),) = db.rows("SELECT body FROM originals WHERE handle = ?", (artifact.handle,))
    return Store(db).original(artifact.handle, packed).decode()
