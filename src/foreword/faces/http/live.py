"""Live updates: one loop looks at the store for all who listen, and wakes those whose workflow has changed.

Nothing is queued. The loop remembers the newest vector of each workflow; a listener compares it with the one it has
seen, so that however slow it is, it costs no memory and misses nothing. A change made by another process on the same
database is seen at the next look.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic

from foreword.errors import ForewordError
from foreword.store import changes
from foreword.store.changes import Event, Vector

EVERY_SECONDS, SOON_SECONDS = 0.25, 0.02  # by itself, and after a change that was made here
AFTER_TROUBLE_SECONDS = 1.0
BUSY_SHARE = 10  # a look that takes long is not taken more often than a tenth of the time
HEARTBEAT_SECONDS = 15.0
ANY = ""  # who listens to all workflows

Look = Callable[[list[str] | None], Awaitable[dict[str, Vector]]]


class Live:
    """The listeners of one server process."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known = dict[str, Vector]()
        self._listeners = Counter[str]()
        self._news = asyncio.Event()  # a new one after each change
        self._poked = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.stopped = False

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return self._listeners.total()

    def poke(self) -> None:
        """Look at once: something was changed in this process."""
        self._poked.set()

    def stop(self) -> None:
        """End all streams."""
        self.stopped = True
        self._poked.set()

    async def begin(self, workflow: str) -> dict[str, Vector]:
        """How new everything is just now: whatever is changed from here on, the `events` that follow tell."""
        return await self._look(None if workflow == ANY else [workflow])

    async def events(
        self, workflow: str, begin: Mapping[str, Vector], seen: Vector | None = None
    ) -> AsyncIterator[Event | None]:
        """What happens to a workflow after `begin`, or after what was `seen`; nothing, now and then, while it waits.

        `ANY` is all workflows: a listener that comes back learns that it has missed something, not what.
        """
        self._listeners[workflow] += 1
        try:
            self._tell(begin)
            if self._loop is None or self._loop.done():
                self._loop = asyncio.create_task(self._run())
            telling = self._of_all(begin, seen) if workflow == ANY else self._of_one(workflow, begin, seen)
            async for event in telling:
                yield event
        finally:
            self._listeners[workflow] -= 1
            self._listeners += Counter()  # forgets those at zero

    async def _of_one(
        self, workflow: str, begin: Mapping[str, Vector], seen: Vector | None
    ) -> AsyncIterator[Event | None]:
        seen = begin.get(workflow, Vector()) if seen is None else seen
        while not self.stopped:
            now = self._known.get(workflow, seen)
            if now == seen:
                if not await self._changed():
                    yield None
                continue
            for event in changes.between(workflow, seen, now):
                yield event
            seen = now

    async def _of_all(self, begin: Mapping[str, Vector], last: Vector | None) -> AsyncIterator[Event | None]:
        if last not in (None, changes.together(begin.values())):
            yield Event("workflow", {"workflow": None, "kind": "workflow"}, self._sum())
        seen = dict(begin)
        while not self.stopped:
            news = {name: now for name, now in self._known.items() if seen.get(name, Vector()) != now}
            new = [name for name in self._known if name not in seen]
            if not news and not new:
                if not await self._changed():
                    yield None
                continue
            for name in new:
                yield Event("workflow", {"workflow": name, "kind": "workflow"}, self._sum())
            for name, now in news.items():
                for event in changes.between(name, seen.get(name, Vector()), now):
                    yield Event(event.kind, event.data, self._sum())
            seen = {**seen, **{name: Vector() for name in new}, **news}

    def _sum(self) -> Vector:
        return changes.together(self._known.values())

    async def _changed(self) -> bool:
        """Wait until anything has changed; false where that takes as long as a heartbeat."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._news.wait(), HEARTBEAT_SECONDS)
        return False

    async def _run(self) -> None:
        """Look, as long as anybody listens."""
        while self._listeners and not self.stopped:
            began = monotonic()
            try:
                self._tell(await self._look(None if self._listeners[ANY] else list(self._listeners)))
                pause = max(EVERY_SECONDS, BUSY_SHARE * (monotonic() - began))
            except ForewordError:  # the store is away for a while: the streams stay, and go on with it
                pause = AFTER_TROUBLE_SECONDS
            await self._rest(pause)
        self._tell({})
        self._known.clear()

    async def _rest(self, seconds: float) -> None:
        """Wait for so long, or until poked; even then for a while, so that writers are not slowed down by looking."""
        soon = seconds * SOON_SECONDS / EVERY_SECONDS
        await asyncio.sleep(soon)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._poked.wait(), seconds - soon)
        self._poked.clear()

    def _tell(self, now: Mapping[str, Vector]) -> None:
        newest = {name: changes.newest(self._known.get(name, vector), vector) for name, vector in now.items()}
        if self.stopped or any(self._known.get(name) != vector for name, vector in newest.items()):
            self._known |= newest
            self._news.set()
            self._news = asyncio.Event()
