"""How much work something is, without a clock: a busy machine changes no count."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Processor time that somebody waits for what takes a tenth of a second, before it counts as never
# ending: what grows with the square of a text of 100,000 characters takes longer.
PATIENCE_SECONDS = 10.0


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python are run by a call, those of other packages as well."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@contextmanager
def comes_to_an_end() -> Iterator[None]:
    """Fails where what is inside goes on and on, as patterns that try everything do."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it goes on and on")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
