"""Threads for one kind of work: a few at a time, and none that hangs takes the place of another.

A thread can't be stopped. One that waits for something that may never come (a network disk, a store
that is locked) uses no processor: after a moment it no longer counts, and the next request has its
turn. How many may wait like that is bounded; beyond it requests are refused at once. What is given
up before its turn is never begun.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread, get_ident
from time import monotonic
from typing import Any, TypeVar

from foreword.faces.serving.problem_response import ProblemResponse

Result = TypeVar("Result")
# While somebody waits for a place, the threads are looked at so often. At half of it, a thread that
# waits for the interpreter's lock on a busy machine looks as if it waited for a disk; at double,
# the tenth request behind nine that hang begins after five seconds.
LOOK_SECONDS = 0.25
LEAST_PROCESSOR_SECONDS = 0.002  # between two looks: less has only woken up now and then
# Threads that wait for something, besides those that work: each has a stack and perhaps a
# connection. Twice what a lane has, so that all of it may hang and as many again be served.
MOST_WAITING = 16
HUNG_SECONDS = 10.0  # without any work: such a thread hangs, and is not waited for
RETRY_SECONDS = 5  # after which a client may ask again: by then some of the threads may have ended


class Threads:
    """Threads that do one kind of work. Used by one event loop, like all of its methods."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._running = set[_ThreadJob]()
        self._waiting = deque[_ThreadJob]()
        self._idle = list[_Worker]()
        self._look: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """How many requests have begun and not ended."""
        return len(self._running)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do it in a thread. Who waits may be told that it takes too long; once begun, it ends
        by itself even so."""
        self._refuse_if_all_hang()
        job = _ThreadJob(work)
        self._waiting.append(job)
        self._begin()
        try:
            return await asyncio.shield(job.answer)
        finally:
            with suppress(ValueError):  # it has begun
                self._waiting.remove(job)

    def close(self) -> None:
        """Let the threads that do nothing end."""
        for worker in self._idle:
            worker.jobs.put(None)
        self._idle.clear()

    def _begin(self) -> None:
        """Begin what waits, as far as there is room."""
        while self._waiting and self._has_room():
            job = self._waiting.popleft()
            self._running.add(job)
            worker = self._idle.pop() if self._idle else _Worker(self._finish)
            worker.jobs.put(job)
        if self._waiting and self._look is None:
            self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _has_room(self) -> bool:
        at_work = sum(not job.rests for job in self._running)
        return at_work < self.most and len(self._running) < self.most + MOST_WAITING

    def _look_again(self) -> None:
        self._look = None
        for job in self._running:
            job.look()
        self._begin()

    def _refuse_if_all_hang(self) -> None:
        if len(self._running) < self.most + MOST_WAITING:
            return
        for job in self._running:
            job.look()
        if all(job.hangs for job in self._running):
            what = f"{len(self._running)} requests hang, and no more are begun"
            hint = (
                "something that they read does not answer: a network disk, or a store that is"
                " locked"
            )
            headers = {"retry-after": str(RETRY_SECONDS)}
            raise ProblemResponse(503, code="busy", title=what, hint=hint, headers=headers)

    def _finish(
        self, worker: _Worker, job: _ThreadJob, result: object, error: BaseException | None
    ) -> None:
        """Give the answer to who waits for it, and begin what waits; in the loop's thread."""
        self._running.discard(job)
        if len(self._idle) < self.most:
            self._idle.append(worker)
        else:
            worker.jobs.put(None)
        if error is None:
            job.answer.set_result(result)
        else:
            job.answer.set_exception(error)
            job.answer.exception()  # so that it is not logged where nobody waits for it any more
        self._begin()


class _ThreadJob:
    """Something to be done, and how its thread gets on."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
        # of the processor time of its thread, where the system has one
        self.clock: int | None = None
        self.rests = False  # it has not worked since the last look
        self._used = 0.0  # processor seconds at the last look at which it had worked
        self._since = monotonic()  # and when that was

    @property
    def hangs(self) -> bool:
        """Whether it has not worked for long."""
        return monotonic() - self._since > HUNG_SECONDS

    def look(self) -> None:
        """See whether it has worked since the last look; where that can't be seen, only time
        tells."""
        if self.clock is None:
            self.rests = self.hangs
            return
        used = time.clock_gettime(self.clock)
        self.rests = used - self._used < LEAST_PROCESSOR_SECONDS
        if not self.rests:
            self._used = used
            self._since = monotonic()

    def start_clock(self, clock: int | None) -> None:
        """Its thread begins with it: what that has used before does not count."""
        if clock is not None:
            self._used = time.clock_gettime(clock)
        self.clock = clock


class _Worker(Thread):
    """A thread that does one job after another. A daemon: a server that stops does not wait for
    one that hangs."""

    def __init__(
        self, finish: Callable[[_Worker, _ThreadJob, object, BaseException | None], None]
    ) -> None:
        super().__init__(name="foreword worker", daemon=True)
        self.jobs: SimpleQueue[_ThreadJob | None] = SimpleQueue()
        self._finish = finish
        self.start()

    def run(self) -> None:
        clock = None
        if hasattr(time, "pthread_getcpuclockid"):
            clock = time.pthread_getcpuclockid(get_ident())
        while (job := self.jobs.get()) is not None:
            job.start_clock(clock)
            result: object = None
            error: BaseException | None = None
            try:
                result = job.work()
            except BaseException as caught:  # noqa: BLE001 - whoever waits for it is told
                error = caught
            with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
                job.loop.call_soon_threadsafe(self._finish, self, job, result, error)
            del job, result, error  # a thread that waits holds nothing
