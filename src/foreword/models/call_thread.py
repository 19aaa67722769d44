"""Run an asynchronous call in a thread of its own, and leave it when nobody waits for it any
longer.

So a call may come from inside an event loop, be cancelled from another thread, and never keep its
caller: one that blocks its thread is left behind, and does not keep the process alive.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar

from foreword.errors import ModelFailed
from foreword.models.model_errors import timeout_error

# How often a waiting caller looks whether to give up: a user who cancels does not notice it, and
# twenty looks a second cost nothing.
LOOK_SECONDS = 0.05
GRACE_SECONDS = 1.0  # for a call to end by itself, closing its connection, before it is left behind

T = TypeVar("T")


def in_a_thread(call: Callable[[], Awaitable[T]], seconds: float, cancel: Event | None) -> T:
    """The outcome of a call in a thread of its own, for as long as anybody waits for it."""
    stop: Future[Callable[[], object]] = Future()
    outcome: Future[T] = Future()
    Thread(target=_run, args=(call, stop, outcome), name="foreword-model", daemon=True).start()
    ends = time.monotonic() + seconds + GRACE_SECONDS
    try:
        while not wait([outcome], LOOK_SECONDS).done:
            if cancel is not None and cancel.is_set():
                raise ModelFailed("the call was cancelled")
            if time.monotonic() > ends:
                raise timeout_error(seconds)
        return outcome.result()
    finally:
        if not outcome.done():
            stop.result()()
            wait([outcome], GRACE_SECONDS)


def _run(
    call: Callable[[], Awaitable[T]], stop: Future[Callable[[], object]], outcome: Future[T]
) -> None:
    async def running() -> T:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop has come to its end in the meantime
                loop.call_soon_threadsafe(task.cancel if task else loop.stop)

        stop.set_result(cancel)
        return await call()

    try:
        outcome.set_result(asyncio.run(running()))
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
        if not stop.done():
            stop.set_result(lambda: None)
        outcome.set_exception(error)
