"""What a server serves: which store, which project roots, and sessions that stay open between
requests.

Requests are served by threads. A store or a session is one request's at a time; afterwards it waits
for the next one, so that a request costs what is new in it. No route opens a store by itself.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from anyio import CapacityLimiter, to_thread

from foreword.browser.rules import Rules
from foreword.errors import ForewordError, StoreError, UnknownName
from foreword.faces.serving.change_poller import ChangePoller
from foreword.operations import change_vector, conversation_operations, workflow_list
from foreword.operations.change_vector import Vector
from foreword.operations.conversation_operations import MAIN
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState, checked_name
from foreword.store.database import Database
from foreword.store.urls import open_database

if TYPE_CHECKING:
    from foreword.faces.http.directors import Directors
    from foreword.transcripts.events import AgentUsage

Result = TypeVar("Result")
# That read, and as many that write. More wait for the interpreter and for one another's locks in
# the store; fewer, and a few slow readers keep the rest waiting.
MOST_THREADS = 8
Lane = Literal["reading", "writing", "computing"]
LANES: dict[Lane, int] = {  # the threads of each; none waits for those of another
    "reading": MOST_THREADS,
    "writing": MOST_THREADS,  # what is short: a message, a plan, a variable
    # Contexts: more of them at once slow down all others. Two at least, so that one that waits for
    # a command does not hold up the next. Behind eight contexts of 14 MB on two cores, the last of
    # 40 quick requests took 0.5 s with one thread and 0.7 s with two.
    "computing": max(2, (os.cpu_count() or 1) - 1),
}
# That wait, open, for the next request: one that is opened anew reads its history again. Each
# holds a connection to the database, of which a PostgreSQL gives 100 to all its clients.
MOST_SESSIONS = 12


class Closing(Protocol):
    """Something that is open."""

    def close(self) -> None:
        """Close it."""


Thing = TypeVar("Thing", bound=Closing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a server was started. Roots are named here and never taken from a request."""

    root: Path
    db: str | None = None
    roots: dict[str, Path] = field(default_factory=dict)  # more projects that may be read, by name
    host: str = "127.0.0.1"
    port: int = 0
    # SHA-256 of the token that requests must carry; without one, only on loopback
    token_digest: str = ""
    hosts: tuple[str, ...] = ()  # names the server answers to besides loopback's
    recipe: str | None = None
    largest_body_bytes: int = 16 * 1024 * 1024  # it is held in memory whole
    timeout_seconds: float = 60.0  # for an answer; who waits is told what may still be done
    requests_per_minute: int = 6_000  # from one address: above what agents ask, below a wild loop
    model: str | None = None  # of the directors; without one nobody talks to them
    # of the models that the sessions are for, in tokens; else the usual one
    window: int | None = None
    browser_rules: Rules = field(default_factory=Rules)  # of the directors' browsers
    browser: str | None = None  # the program that is started; else the system's
    attach: str | None = None  # the address of a browser that is running already, in place of one
    keep_login: bool = False  # whether workflows stay signed in between two browsers
    # of sessions that a coding agent ran: what its provider counted, by their names
    agent_usage: Mapping[str, AgentUsage] = field(default_factory=dict)


class AppState:
    """The stores of one server process."""

    def __init__(self, settings: Settings, directors: Directors | None = None) -> None:
        self.settings = settings
        self._directors = directors
        self._stores: Pool[Database] = Pool(MOST_THREADS)
        self._sessions: Pool[Session] = Pool(MOST_SESSIONS)
        self._limiters = {lane: CapacityLimiter(most) for lane, most in LANES.items()}
        self._at_work = set[int]()  # the ids of threads
        self.poller = ChangePoller(self._look)

    @property
    def directors(self) -> Directors:
        """The directors of this process; a server for MCP has none, nor imports what they take."""
        assert self._directors is not None
        return self._directors

    async def call(self, work: Callable[..., Result], *args: Any, lane: Lane = "reading") -> Result:
        """Return `work(*args)`, run in a thread of its lane; raises what it raises.

        Where the caller is cancelled (a timeout, a stop), its place is free again: work that had
        not begun is never begun, work that had begun ends by itself. While writers wait for a
        store that somebody has locked, it can still be read; while large contexts are assembled,
        messages are appended.
        """
        return await to_thread.run_sync(
            self._run, partial(work, *args), limiter=self._limiters[lane], abandon_on_cancel=True
        )

    def _run(self, work: Callable[[], Result]) -> Result:
        thread = get_ident()
        self._at_work.add(thread)
        try:
            return work()
        finally:
            self._at_work.discard(thread)

    def root(self, name: str | None = None) -> Path:
        """The project of that name; without one, that of the server."""
        if not name:
            return self.settings.root
        if name not in self.settings.roots:
            raise UnknownName("root", name, self.settings.roots)
        return self.settings.roots[name]

    @contextmanager
    def store(self) -> Iterator[Database]:
        """An open store."""
        settings = self.settings
        opening = self._stores.lend("", lambda: open_database(settings.db, settings.root))
        with self._reopen_on_failure(), opening as db:
            yield db

    @contextmanager
    def _reopen_on_failure(self) -> Iterator[None]:
        """Where the store failed, what is open and waits may have lost its connection, too: it
        is opened anew."""
        try:
            yield
        except StoreError:
            self._sessions.clear()
            self._stores.clear()
            raise

    @contextmanager
    def state(self, workflow: str) -> Iterator[WorkflowState]:
        """A workflow's plan, variables and nodes, to be read: nothing is made."""
        with self.store() as db:
            yield workflow_list.existing_state(db, checked_name(workflow, "workflow"))

    @contextmanager
    def session(
        self, workflow: str, conversation: str = MAIN, *, create: bool = False
    ) -> Iterator[Session]:
        """An open session; one in which something went wrong is closed and opened anew the next
        time."""
        opening = self._sessions.lend(
            (workflow, conversation), lambda: self._open(workflow, conversation, create)
        )
        with self._reopen_on_failure(), opening as found:
            try:
                yield found
            except ForewordError:
                if found.is_new:  # what was refused leaves nothing behind
                    workflow_list.drop_if_empty(found)
                raise
            found.is_new = False

    def _open(self, workflow: str, conversation: str, create: bool) -> Session:
        settings = self.settings
        if not create and conversation != MAIN:
            self._check_conversation(workflow, conversation)
        return Session.open(
            settings.db,
            workflow,
            root=settings.root,
            conversation=conversation,
            recipe=settings.recipe,
            window=settings.window,
            create=create,
        )

    def _check_conversation(self, workflow: str, conversation: str) -> None:
        """An error where there is no such conversation: asking for one must not make it."""
        with self.store() as db:
            conversation_operations.check_exists(
                workflow_list.existing_state(db, workflow), conversation
            )

    async def _look(self, names: list[str] | None) -> dict[str, Vector]:
        return await self.call(self._vectors, names)

    def _vectors(self, names: list[str] | None) -> dict[str, Vector]:
        with self.store() as db:
            return change_vector.vectors(db, names)

    def notice_change(self) -> None:
        """Something may have been changed by this process: those who listen are told at once."""
        self.poller.poke()

    @property
    def threads_at_work(self) -> int:
        """The number of threads whose work has begun and not ended, abandoned ones included."""
        return len(self._at_work)

    def stop(self) -> None:
        """The server begins to stop: live streams end, and so does what directors are doing."""
        self.poller.stop()
        if self._directors is not None:
            self._directors.stop_all()

    def close(self) -> None:
        """Close everything; the server has stopped."""
        if self._directors is not None:
            self._directors.close()
        self._sessions.close()
        self._stores.close()


class Pool(Generic[Thing]):
    """Things that are open, each lent to one at a time; the last used are kept, as many as may
    wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: OrderedDict[tuple[object, int], Thing] = OrderedDict()  # the last used last
        self._lock = Lock()
        self._count = 0  # of returns: tells apart things that wait under one key
        self._closed = False

    @contextmanager
    def lend(self, key: object, make: Callable[[], Thing]) -> Iterator[Thing]:
        """One that waits under that key, or a new one; where something goes wrong it is closed,
        not kept."""
        thing = self._take(key) or make()
        try:
            yield thing
        except BaseException as error:
            is_wrong = isinstance(error, ForewordError) and not isinstance(error, StoreError)
            if is_wrong and not getattr(thing, "is_new", False):
                self._keep(key, thing)  # what was asked for was wrong, not the store
            else:
                thing.close()
            raise
        self._keep(key, thing)

    def _take(self, key: object) -> Thing | None:
        """The one that was used last under a key, if one waits."""
        with self._lock:
            for name in reversed(self._waiting):
                if name[0] == key:
                    return self._waiting.pop(name)
        return None

    def _keep(self, key: object, thing: Thing) -> None:
        with self._lock:
            self._count += 1
            self._waiting[key, self._count] = thing
            most = 0 if self._closed else self.most
            surplus = list[Thing]()
            while len(self._waiting) > most:
                _, oldest = self._waiting.popitem(last=False)
                surplus.append(oldest)
        for each in surplus:
            each.close()

    def clear(self) -> None:
        """Close what waits."""
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for each in waiting:
            each.close()

    def close(self) -> None:
        """Close what waits; what is lent is closed when it comes back."""
        self._closed = True
        self.clear()
