"""The durable engine of this process, launched for the first run that needs it and left by the
last.

There is one in a process at a time. Several workflows of one store may run in it at once, as on a
page with several users; somebody else's flows, or a run on another store, have to wait for their
turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from foreword.work.runs import Engine
from foreword.work.workers import run_worker

# Nobody takes work from this queue: a run needs the browser of the process that began it. Where
# that process has died, the run goes on as a new attempt, in whichever process has a browser for
# it.
QUEUE = "foreword-nodes"


@dataclass(slots=True)
class _SharedEngine:
    """An engine that is running, and how many runs are in it."""

    block: AbstractContextManager[Engine]
    engine: Engine
    users: int = 0


_lock = Lock()
_shared: dict[tuple[str | None, Path], _SharedEngine] = {}


@contextmanager
def run_engine(db: str | None, root: Path) -> Iterator[Engine]:
    """The engine of a store, for the length of a `with` block."""
    place = (db, root)
    with _lock:
        if place not in _shared:
            block = run_worker(db, root, queues=())
            _shared[place] = _SharedEngine(block, engine=block.__enter__())
        _shared[place].users += 1
    try:
        yield _shared[place].engine
    finally:
        with _lock:
            _shared[place].users -= 1
            if not _shared[place].users:
                _shared.pop(place).block.__exit__(None, None, None)
