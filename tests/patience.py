"""How long tests wait for what is to come: what is waited for comes in a moment, and whoever waits
so long on a machine under heavy load waits for something that hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 300.0
# Time limits of things of which some hang and use all of it: enough for the rest on a quiet
# machine, on a busy one, and on any.
LIMITS_SECONDS = (2.5, 20.0, PATIENCE_SECONDS)

Result = TypeVar("Result")


def within_time(attempt: Callable[[float], Result], is_enough: Callable[[Result], bool]) -> Result:
    """What an attempt gives under the first time limit that is long enough for all that does not
    hang."""
    for seconds in LIMITS_SECONDS:
        result = attempt(seconds)
        if is_enough(result):
            break
    return result
