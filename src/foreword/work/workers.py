"""A process at work: its heartbeat in the database, and taking over what a dead one held.

dbos hands a dead process' runs to nobody by itself. So every process has a row with the time it was
last heard of (`store.workers`), and each looks out for the silent: under one lock it has dbos put
what they held back into its queue. Whoever dies at that leaves the rows as they were, and the next
one does it. A process that was only slow loses its runs, and dbos refuses what it still writes:
every claim of a run has a token of its own.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

from foreword.errors import StoreError, name_list
from foreword.secrets.masking import mask
from foreword.store import workers
from foreword.store.database import Database
from foreword.store.urls import open_database
from foreword.store.workers import Worker
from foreword.work.runs import AGENTS, RUNS, Engine, launch_engine

# One small write each; also how late a process notices that another one has died.
BEAT_SECONDS = 2.0
# Of silence, after which a process is taken for dead: five beats. One that was only slow loses its
# runs and has asked its models for nothing, so less would punish a busy machine; with more,
# everybody waits longer for what a dead process held.
DEAD_SECONDS = 10
LOCK = "foreword: recovery"
_log = logging.getLogger("dbos.foreword")  # heard where dbos is


@dataclass(frozen=True, slots=True)
class Identity:
    """This process, as others see it."""

    host: str = field(default_factory=lambda: f"{socket.gethostname()}:{_process_space()}")
    pid: int = field(default_factory=os.getpid)
    executor: str = field(
        default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
    )


@contextmanager
def run_worker(
    db: str | None,
    root: Path,
    *,
    queues: Sequence[str] = (AGENTS, RUNS),
    concurrency: int | None = None,
    take_over_all: bool = False,
    notice: Callable[[str], None] = _log.info,
) -> Iterator[Engine]:
    """Launch dbos and be seen alive for the length of a `with` block, taking over what dead
    processes held.

    That is whatever it has started itself or waits for; with `take_over_all`, all that belongs into
    those queues. `notice` is called with what was taken over, and when the database can't be
    reached.
    """
    me = Identity()
    with closing(open_database(db, root)) as store:
        workers.forget(store)
        _beat(store, me)
    try:
        with ExitStack() as block:
            engine = block.enter_context(
                launch_engine(
                    db,
                    root,
                    me.executor,
                    queues=queues,
                    concurrency=concurrency,
                    take_over_all=take_over_all,
                )
            )
            block.enter_context(_heartbeat(engine, me, notice))
            yield engine
    finally:
        with suppress(StoreError), closing(open_database(db, root)) as store:
            workers.leave(store, me.executor)


def recover(store: Database, engine: Engine, me: Identity) -> list[str]:
    """Put back what the dead held; returns the runs. Two that notice at once do it one after the
    other."""
    if not engine.runs_held_by(_dead_executors(store, me, engine)):
        return []
    with store.transaction(LOCK):
        return engine.requeue(_dead_executors(store, me, engine))


def living_workers(store: Database) -> frozenset[str]:
    """Everyone who is at work, as far as this process can tell."""
    me = Identity()
    everyone = workers.all_workers(store)
    return frozenset(worker.executor for worker in everyone if not _is_dead(worker, me))


def _dead_executors(store: Database, me: Identity, engine: Engine) -> list[str]:
    everyone = workers.all_workers(store)
    others = [worker for worker in everyone if worker.executor != me.executor]
    dead = [other.executor for other in others if _is_dead(other, me)]
    return [*dead, *engine.unknown_executors([worker.executor for worker in everyone])]


def _is_dead(other: Worker, me: Identity) -> bool:
    """Whether a process is gone: it said so, it is silent, or it was on this machine and isn't
    any more."""
    if other.gone or other.silent_seconds > DEAD_SECONDS:
        return True
    return other.host == me.host and not _exists(other.pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is there, and somebody else's
    return True


def _process_space() -> int:
    """What tells containers apart that share a name: in another one, the same number is another
    process."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


@contextmanager
def _heartbeat(engine: Engine, me: Identity, notice: Callable[[str], None]) -> Iterator[None]:
    stop = Event()
    thread = Thread(
        target=_keep_beating, args=(engine, me, stop, notice), name="foreword-heart", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        engine.wake_heart.set()
        thread.join(BEAT_SECONDS)


def _keep_beating(engine: Engine, me: Identity, stop: Event, notice: Callable[[str], None]) -> None:
    store: Database | None = None
    trouble = ""
    while not stop.is_set():
        engine.wake_heart.clear()
        try:
            store = store or open_database(engine.db, engine.root)
            _beat(store, me)
            runs = recover(store, engine, me)
            if runs:
                notice(f"took over from processes that are gone: {name_list(runs)}")
            if trouble:
                notice("the database answers again")
            trouble = ""
        except Exception as error:  # noqa: BLE001 - the next beat tries again; a heart that stops is a death
            if not trouble:
                notice(f"no heartbeat, trying again: {mask(str(error))}")
            trouble = str(error)
        engine.wake_heart.wait(BEAT_SECONDS)
    if store:
        store.close()


def _beat(store: Database, me: Identity) -> None:
    workers.beat(store, executor=me.executor, host=me.host, pid=me.pid)
