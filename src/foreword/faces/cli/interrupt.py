"""Ctrl-C as an event, not as an exception: work stops at its next step, and a command that serves
ends in its own order. What the exit code is then, `main` and the commands say.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, current_thread, main_thread
from typing import Any

STOPPING = b"\nstopping (ctrl-C again ends the program)\n"
# The exit code of what was stopped: 128 and the number of SIGINT, as shells have it.
INTERRUPTED = 130


@contextmanager
def stoppable() -> Iterator[Event]:
    """An event that ctrl-C sets; the second time it is an interrupt as ever."""
    cancel = Event()

    def stop(*_: Any) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()
        with suppress(OSError):
            os.write(2, STOPPING)  # a stream may be in the middle of a write

    with _signal_handler(stop, signal.SIGINT):
        yield cancel


@contextmanager
def interrupt_event() -> Iterator[Event]:
    """An event that ctrl-C and SIGTERM set."""
    ended = Event()
    with _signal_handler(lambda *_: ended.set(), signal.SIGINT, signal.SIGTERM):
        yield ended


@contextmanager
def _signal_handler(handle: Callable[..., Any], *numbers: signal.Signals) -> Iterator[None]:
    """Handle these signals so, and as before afterwards."""
    if current_thread() is not main_thread():  # Python lets no other set a handler
        yield
        return
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
