"""A process that is seen to be alive: a row of the store with the time it was last heard of.

Whoever is at work (a worker, a flow, a run of nodes) has a row of its own (`store.workers`), kept
fresh by a thread of its own. Others take a process for dead that said good-bye, is silent, or was
on this machine and isn't any more. What becomes of a dead one's work is the business of
`worker_process` and of `director.runner`.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

from foreword.errors import StoreError
from foreword.secrets.masking import mask
from foreword.store import workers
from foreword.store.database import Database
from foreword.store.urls import open_database
from foreword.store.workers import Worker

# One small write each; also how late a process notices that another one has died.
BEAT_SECONDS = 2.0
# Of silence, after which a process is taken for dead: five beats. One that was only slow loses its
# runs and has asked its models for nothing, so less would punish a busy machine; with more,
# everybody waits longer for what a dead process held.
DEAD_SECONDS = 10
log = logging.getLogger("dbos.foreword")  # heard where dbos is

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Identity:
    """This process, as others see it; whatever it does at once may have one each."""

    host: str = field(default_factory=lambda: f"{socket.gethostname()}:{_process_space()}")
    pid: int = field(default_factory=os.getpid)
    executor: str = field(
        default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
    )


def _nothing_else(store: Database) -> None:
    """A heart that only beats."""


@contextmanager
def heartbeat(
    db: str | None,
    root: Path,
    me: Identity,
    *,
    also: Callable[[Database], None] = _nothing_else,
    notice: Notice = log.info,
) -> Iterator[Event]:
    """Be seen alive for the length of a `with` block; an error where the store can't be used.

    `also` is done after each beat, in its thread; setting the event that is given has the next
    beat come at once. `notice` is called when the database can't be reached.
    """
    heart = _Heart(db=db, root=root, me=me, also=also, notice=notice)
    thread = Thread(target=heart.run, name="foreword-heart", daemon=True)
    thread.start()
    try:
        heart.first_beat.result()
        yield heart.wake
    finally:
        heart.stop.set()
        heart.wake.set()
        thread.join(BEAT_SECONDS)


def living_workers(store: Database) -> frozenset[str]:
    """Everyone who is at work, as far as this process can tell."""
    me = Identity()
    everyone = workers.all_workers(store)
    return frozenset(worker.executor for worker in everyone if not is_dead(worker, me))


def is_dead(other: Worker, me: Identity) -> bool:
    """Whether a process is gone: it said so, it is silent, or it was on this machine and isn't
    any more."""
    if other.gone or other.silent_seconds > DEAD_SECONDS:
        return True
    return other.host == me.host and not _exists(other.pid)


@dataclass(slots=True, kw_only=True)
class _Heart:
    """What the thread of a heartbeat does, on a connection of its own."""

    db: str | None
    root: Path
    me: Identity
    also: Callable[[Database], None]
    notice: Notice
    first_beat: Future[None] = field(default_factory=Future)
    stop: Event = field(default_factory=Event)
    wake: Event = field(default_factory=Event)

    def run(self) -> None:
        """Beat until it is time to stop, then say good-bye."""
        with ExitStack() as block:
            try:
                store = block.enter_context(closing(open_database(self.db, self.root)))
                workers.forget(store)
                self._beat(store)
            except Exception as error:  # noqa: BLE001 - it is raised where the first beat is waited for
                self.first_beat.set_exception(error)
                return
            self.first_beat.set_result(None)
            self._keep_beating(store)
            with suppress(StoreError):
                workers.leave(store, self.me.executor)

    def _keep_beating(self, store: Database) -> None:
        trouble = ""
        while not self.stop.is_set():
            self.wake.clear()
            try:
                self._beat(store)
                self.also(store)
                if trouble:
                    self.notice("the database answers again")
                trouble = ""
            except Exception as error:  # noqa: BLE001 - the next beat tries again; a heart that stops is a death
                if not trouble:
                    self.notice(f"no heartbeat, trying again: {mask(str(error))}")
                trouble = str(error)
            if not self.stop.is_set():
                self.wake.wait(BEAT_SECONDS)

    def _beat(self, store: Database) -> None:
        me = self.me
        workers.beat(store, executor=me.executor, host=me.host, pid=me.pid)


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
