"""Flows and panels of tests/work do not wait for the second in which dbos finds a new queue."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from dbos import _dbos

LOOK_SECONDS = 0.1  # dbos looks for new queues once a second, and every test has a new database


class _QuickEvent:
    """An event whose `wait` ends early: whoever waits looks again."""

    def __init__(self, event: Event) -> None:
        self._event = event

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout: float) -> bool:
        return self._event.wait(min(timeout, LOOK_SECONDS))


@pytest.fixture(scope="session", autouse=True)
def quick_queues() -> Iterator[None]:
    """Let dbos look for new queues more often."""
    look: Any = vars(_dbos)["queue_thread"]

    def quick_thread(stop: Event, dbos: object) -> None:
        look(_QuickEvent(stop), dbos)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_dbos, "queue_thread", quick_thread)
        yield
