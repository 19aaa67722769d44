"""A process that takes part in runs: dbos, a heartbeat, and taking over what a dead one held.

dbos hands a dead process' runs to nobody by itself. So every process has a `heartbeat`, and each
looks out for the silent: under one lock it has dbos put what they held back into its queue. Whoever
dies at that leaves the rows as they were, and the next one does it. A process that was only slow
loses its runs, and dbos refuses what it still writes: every claim of a run has a token of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from foreword.errors import name_list
from foreword.store import workers
from foreword.store.database import Database
from foreword.work.heartbeat import Identity, Notice, heartbeat, is_dead, log
from foreword.work.runs import AGENTS, RUNS, Engine, launch_engine

LOCK = "foreword: recovery"


@contextmanager
def run_worker(
    db: str | None,
    root: Path,
    *,
    queues: Sequence[str] = (AGENTS, RUNS),
    concurrency: int | None = None,
    take_over_all: bool = False,
    notice: Notice = log.info,
) -> Iterator[Engine]:
    """Launch dbos and be seen alive for the length of a `with` block, taking over what dead
    processes held.

    That is whatever it has started itself or waits for; with `take_over_all`, all that belongs into
    those queues. `notice` is called with what was taken over, and when the database can't be
    reached.
    """
    me = Identity()
    lookout = _Lookout(me, notice)
    with (
        heartbeat(db, root, me, also=lookout, notice=notice) as wake,
        launch_engine(
            db,
            root,
            me.executor,
            queues=queues,
            concurrency=concurrency,
            take_over_all=take_over_all,
            wake_heart=wake,
        ) as engine,
        lookout.for_engine(engine),
    ):
        yield engine


class _Lookout:
    """Takes over what the dead held, after each beat for as long as there is an engine."""

    def __init__(self, me: Identity, notice: Notice) -> None:
        self._me = me
        self._notice = notice
        self._engine: Engine | None = None
        self._lock = Lock()  # nobody looks while the engine goes

    def __call__(self, store: Database) -> None:
        with self._lock:
            runs = recover(store, self._engine, self._me) if self._engine else []
        if runs:
            self._notice(f"took over from processes that are gone: {name_list(runs)}")

    @contextmanager
    def for_engine(self, engine: Engine) -> Iterator[None]:
        """Take over for an engine, for the length of a `with` block."""
        self._engine = engine
        engine.wake_heart.set()
        try:
            yield
        finally:
            with self._lock:
                self._engine = None


def recover(store: Database, engine: Engine, me: Identity) -> list[str]:
    """Put back what the dead held; returns the runs. Two that notice at once do it one after the
    other."""
    if not engine.runs_held_by(_dead_executors(store, me, engine)):
        return []
    with store.transaction(LOCK):
        return engine.requeue(_dead_executors(store, me, engine))


def _dead_executors(store: Database, me: Identity, engine: Engine) -> list[str]:
    everyone = workers.all_workers(store)
    dead = list[str]()
    for worker in everyone:
        if worker.executor != me.executor and is_dead(worker, me):
            dead.append(worker.executor)
    return [*dead, *engine.unknown_executors([worker.executor for worker in everyone])]
