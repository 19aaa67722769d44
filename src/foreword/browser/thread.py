"""One thread with an event loop, in which everything that concerns a browser happens.

Playwright's objects belong to the loop they were made in; callers are plain functions in any
thread. Every call has a time limit of its own, so that nothing waits for ever on a browser that has
stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread, current_thread
from typing import Any, TypeVar

from foreword.errors import BrowserFailed

T = TypeVar("T")
# For the loop to say that something was given up, and for what is under way to end: it has its own
# limits, so this only passes where the loop itself hangs.
GRACE_SECONDS = 5.0


class LoopThread:
    """The thread and its loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="foreword-browser", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Do something in the loop and wait for it; what takes longer is given up."""
        if self._loop.is_closed() or current_thread() is self._thread:
            work.close()
            raise BrowserFailed("the browser is closed", hint="start another one")
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, seconds), self._loop)
        try:
            return future.result(seconds + GRACE_SECONDS)
        except TimeoutError:
            future.cancel()
            raise BrowserFailed(f"the browser gave no answer within {seconds:g} s") from None

    def stop(self) -> None:
        """End the loop with everything that is under way in it, and the thread."""
        if not self._loop.is_closed():
            future = asyncio.run_coroutine_threadsafe(_cancel_tasks(), self._loop)
            try:
                future.result(GRACE_SECONDS)
            except TimeoutError:
                future.cancel()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(GRACE_SECONDS)
            if not self._thread.is_alive():
                self._loop.close()


async def _cancel_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
