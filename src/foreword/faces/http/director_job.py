"""One thing that a director does: what it has told so far, and those who listen to it.

A thread tells, the server's loop listens. Nothing is queued for anybody: each listener knows how
far it is in the list of events, so that a slow one costs nothing and a late one misses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Literal
from uuid import uuid4

from foreword.director.tool_calls import Outcome

HEARTBEAT_SECONDS = 15.0  # well under the minute after which proxies drop a silent connection
DONE = "done"

# the loop that a listener waits in, and what wakes it
_Listener = tuple[asyncio.AbstractEventLoop, asyncio.Event]


@dataclass(eq=False, slots=True, kw_only=True)
class DirectorJob:
    """A turn of a director, or a tool that is called by hand."""

    kind: Literal["turn", "call"]
    tool: str = ""
    id: str = field(default_factory=lambda: uuid4().hex[:12])
    cancel: Event = field(default_factory=Event)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcome: Outcome | None = None  # of a call
    stopped: bool = False  # by somebody
    unfinished: bool = False  # a turn that made as many requests as it may
    problem: str = ""  # why it ended, where it broke
    hint: str = ""
    ended: Event = field(default_factory=Event)
    _listeners: list[_Listener] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        return self.ended.is_set()

    @property
    def listeners(self) -> int:
        """How many listen to it."""
        return len(self._listeners)

    def tell(self, event: dict[str, Any]) -> None:
        """Say what happens; that it is done is said here, once everything is."""
        if event["type"] != DONE:
            self._add(event)

    def fail(self, problem: str, hint: str = "") -> None:
        """Note why the job failed, and tell its listeners."""
        self.problem = problem
        self.hint = hint
        self._add({"type": "failed", "text": problem, "hint": hint})

    def end(self) -> None:
        """Mark the job as ended, and tell its listeners how."""
        if self.kind == "call" and self.cancel.is_set():
            self.stopped = True
        self.ended.set()
        self._add(
            {
                "type": DONE,
                "stopped": self.stopped,
                "unfinished": self.unfinished,
                "failed": bool(self.problem),
            }
        )

    def _add(self, event: dict[str, Any]) -> None:
        with self._lock:
            self.events.append(event)
            listeners = list(self._listeners)
        for loop, news in listeners:
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(news.set)

    async def follow(self, seen: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]] | None]:
        """Everything after the first so many events, each with its number; nothing, now and
        then, while it waits."""
        news = asyncio.Event()
        me = (asyncio.get_running_loop(), news)
        with self._lock:
            self._listeners.append(me)
        try:
            while True:
                news.clear()
                while seen < len(self.events):
                    seen += 1
                    yield seen, self.events[seen - 1]
                if self.events and self.events[-1]["type"] == DONE:
                    return
                try:
                    await asyncio.wait_for(news.wait(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._listeners.remove(me)
