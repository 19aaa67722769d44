"""Artifacts: what the phases of a task hand on. One of each name in a run; over the runs of a task,
the newest counts.

A flow keeps each once per run, however often its process dies. A task that is worked on turn by
turn is a run of its own name, in which an artifact can be corrected. Texts are originals, so
`recall` finds every version by its handle.
"""

from __future__ import annotations

from dataclasses import dataclass

from foreword.origin import Origin, origin_of_agent
from foreword.store import originals
from foreword.store.database import Database, select, select_first, stamp, storable_text
from foreword.text.quantity import quantity

_KEEP_OLD = "DO NOTHING"
_TAKE_NEW = (
    "(run, name) DO UPDATE SET task = excluded.task, phase = excluded.phase, title ="
    " excluded.title, tokens = excluded.tokens, handle = excluded.handle, created ="
    " excluded.created"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One artifact, without its text."""

    name: str
    phase: str
    title: str
    tokens: int
    handle: str
    created: str
    task: str = ""

    @property
    def reference(self) -> str:
        """What stands for it in a context: `[FEAT-1] Design, 412 tokens, assistant phase 1`."""
        return f"[{self.name}] {self.title}, {quantity(self.tokens, 'token')}, {self.origin}"

    @property
    def origin(self) -> Origin:
        """Who said it: the agent or the panel of its phase."""
        return origin_of_agent(f"phase {self.phase}" if self.phase else "")


def keep(
    db: Database,
    *,
    run: str,
    name: str,
    phase: str,
    title: str,
    text: str,
    tokens: int,
    task: str = "",
    replaces: bool = False,
) -> Artifact:
    """Keep an artifact of a task, which is the run itself if not told.

    One of that name in the run stays as it is, unless the new one `replaces` it; its text is still
    an original then.
    """
    words = (run, name, task or run, phase, title)
    with db.transaction():
        handle = originals.keep(db, storable_text(text).encode())
        db.rows(
            "INSERT INTO artifacts (run, name, task, phase, title, tokens, handle, created) VALUES"
            f" (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT {_TAKE_NEW if replaces else _KEEP_OLD}",
            (*map(storable_text, words), tokens, handle, stamp()),
        )
        which = "FROM artifacts WHERE run = ? AND name = ?"
        (artifact,) = select(db, Artifact, which, (storable_text(run), storable_text(name)))
    return artifact


def artifacts_of(db: Database, run: str) -> list[Artifact]:
    """The artifacts of a run, in the order they were kept."""
    return select(db, Artifact, "FROM artifacts WHERE run = ? ORDER BY created, name", (run,))


def every_artifact(db: Database) -> list[Artifact]:
    """Every artifact of every run, in the order they were kept."""
    return select(db, Artifact, "FROM artifacts ORDER BY created, run, name")


def of_task(db: Database, task: str) -> list[Artifact]:
    """The newest artifact of each name over all runs of a task, in the order they were kept."""
    which = "FROM artifacts WHERE task = ? ORDER BY created, run, name"
    kept = select(db, Artifact, which, (storable_text(task),))
    newest = {artifact.name: artifact for artifact in kept}
    return sorted(newest.values(), key=lambda artifact: artifact.created)


def newest(db: Database, name: str) -> Artifact | None:
    """The newest artifact of that name, whatever task it is of."""
    which = "FROM artifacts WHERE lower(name) = lower(?) ORDER BY created DESC, run DESC"
    return select_first(db, Artifact, which, (storable_text(name),))


def text_of(db: Database, artifact: Artifact) -> str:
    """The text of an artifact, if it is the one that was kept."""
    return originals.read_exact(db, artifact.handle).decode()
