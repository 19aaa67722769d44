"""Live updates: one loop looks at the store for all who listen, and wakes those whose workflow has
changed.

Nothing is queued. The loop remembers the newest vector of each workflow; a listener compares it
with the one it has seen, so that however slow it is, it costs no memory and misses nothing. Those
who listen to all workflows share what the loop remembers, so that more of them cost no more. A
change made by another process on the same database is seen at the next look.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from time import monotonic

from foreword.errors import ForewordError
from foreword.operations import change_vector
from foreword.operations.change_vector import ChangeEvent, Vector

# Between two looks: a change by another process is seen within it, and a page that is watched
# feels live. At half the store is asked twice as often for nothing; at double it is noticed.
EVERY_SECONDS = 0.25
SOON_SECONDS = 0.02  # after a change that was made here: several that come together are one look
AFTER_TROUBLE_SECONDS = 1.0  # so that a store that is away is not asked all the time
LONGEST_LOOK_SECONDS = 10.0  # a look at 100,000 workflows takes one; what takes longer hangs
BUSY_SHARE = 10  # a look that takes long is not taken more often than a tenth of the time
HEARTBEAT_SECONDS = 15.0  # well under the minute after which proxies drop a silent connection
ANY = ""  # who listens to all workflows

Look = Callable[[list[str] | None], Awaitable[dict[str, Vector]]]
Vectors = Mapping[str, Vector]  # by workflow; never changed, so that listeners may hold on to it


class ChangePoller:
    """The listeners of one server process."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: Vectors = {}
        self._before: Vectors = {}  # `_known` as it was, and what happened since then
        self._last: list[ChangeEvent] = []
        self._listeners = Counter[str]()
        self._news = dict[str, asyncio.Event]()  # by workflow: set, and forgotten, when it changes
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
        """How new everything is just now: whatever is changed from here on, the `events` that
        follow tell."""
        return await self._look(None if workflow == ANY else [workflow])

    async def events(
        self, workflow: str, begin: Vectors, seen: Vector | None = None
    ) -> AsyncIterator[ChangeEvent | None]:
        """What happens to a workflow after `begin`, or after what was `seen`; nothing, now and
        then, while it waits.

        `ANY` is all workflows: a listener that comes back learns that it has missed something, not
        what.
        """
        self._listeners[workflow] += 1
        try:
            self._notice(begin)
            if self._loop is None or self._loop.done():
                self._loop = asyncio.create_task(self._run())
            if workflow == ANY:
                stream = self._events_of_all(begin, seen)
            else:
                stream = self._events_of_one(workflow, begin, seen)
            del begin  # a stream lasts for hours, and this may be large
            async for event in stream:
                yield event
        finally:
            self._listeners[workflow] -= 1
            self._listeners += Counter()  # forgets those at zero
            if workflow not in self._listeners:
                self._news.pop(workflow, None)

    async def _events_of_one(
        self, workflow: str, begin: Vectors, seen: Vector | None
    ) -> AsyncIterator[ChangeEvent | None]:
        seen = begin.get(workflow, Vector()) if seen is None else seen
        while not self.stopped:
            now = self._known.get(workflow, seen)
            if now == seen:
                if not await self._wait_for_change(workflow):
                    yield None
                continue
            for event in change_vector.events_between(workflow, seen, now):
                yield event
            seen = now

    async def _events_of_all(
        self, seen: Vectors, last: Vector | None
    ) -> AsyncIterator[ChangeEvent | None]:
        if last is not None and last != change_vector.sum_of(seen.values()):
            at = change_vector.sum_of(self._known.values())
            yield ChangeEvent("workflow", {"workflow": None, "kind": "workflow"}, at)
        while not self.stopped:
            now = self._known
            if now is seen:
                if not await self._wait_for_change(ANY):
                    yield None
                continue
            # Most have seen all but the last change: what that was is worked out once for all of
            # them.
            events = self._last if seen is self._before else _events_of_all_between(seen, now)
            for event in events:
                yield event
            seen = now

    async def _wait_for_change(self, workflow: str) -> bool:
        """Wait until it has changed; false where that takes as long as a heartbeat.

        Only those are woken who listen to it: to wake 300 for every message would cost more than to
        send the events.
        """
        news = self._news.setdefault(workflow, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                return await news.wait()
        return False

    async def _run(self) -> None:
        """Look, as long as anybody listens."""
        while self._listeners and not self.stopped:
            began = monotonic()
            try:
                async with asyncio.timeout(LONGEST_LOOK_SECONDS):
                    names = None if self._listeners[ANY] else list(self._listeners)
                    self._notice(await self._look(names))
                pause = max(EVERY_SECONDS, BUSY_SHARE * (monotonic() - began))
            except (ForewordError, TimeoutError):
                pause = AFTER_TROUBLE_SECONDS  # the store is away: the streams stay, and go on
            await self._rest(pause)
        self._notice({})
        self._known = {}
        self._before = {}
        self._last = []

    async def _rest(self, seconds: float) -> None:
        """Wait for so long, or until poked; even then for a while, so that writers are not
        slowed down by looking."""
        soon = seconds * SOON_SECONDS / EVERY_SECONDS
        await asyncio.sleep(soon)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._poked.wait(), seconds - soon)
        self._poked.clear()

    def _notice(self, now: Vectors) -> None:
        """Remember what is newer than what was known, and wake those who listen to it; all of
        them once everything is to stop."""
        news = dict[str, Vector]()
        for name, vector in now.items():
            known = self._known.get(name)
            newest = vector if known is None else change_vector.newest_of(known, vector)
            if newest != known:
                news[name] = newest
        if news:
            self._before = self._known
            self._known = {**self._known, **news}
            self._last = []
            if self._listeners[ANY]:
                self._last = _events_of_all_between(self._before, self._known)
        if self.stopped:
            self._wake(list(self._news))
        elif news:
            self._wake([ANY, *news])

    def _wake(self, names: Iterable[str]) -> None:
        for name in names:
            event = self._news.pop(name, None)
            if event is not None:
                event.set()


def _events_of_all_between(seen: Vectors, now: Vectors) -> list[ChangeEvent]:
    """What happened to all workflows from one moment to another; those that are new come first."""
    at = change_vector.sum_of(now.values())
    events = list[ChangeEvent]()
    for name in now:
        if name not in seen:
            events.append(ChangeEvent("workflow", {"workflow": name, "kind": "workflow"}, at))
    for name, vector in now.items():
        before = seen.get(name, Vector())
        if before == vector:
            continue
        for event in change_vector.events_between(name, before, vector):
            events.append(ChangeEvent(event.kind, event.data, at))
    return events
