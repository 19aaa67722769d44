"""What the tools of a director work on: its session, its browser, its secrets, and whether it was
told to stop.

The browser is started when a tool first needs it. Whoever waits for it stops waiting as soon as
`cancel` is set; what the browser was doing ends by its own time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

from foreword.director import assets, browser_files, runner
from foreword.errors import BrowserFailed, StoreError, UsageError
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session
from foreword.store import workflows

if TYPE_CHECKING:
    from foreword.browser import Browser
    from foreword.browser.blocked import BlockedOrigin

LOOK_SECONDS = 0.05  # how often one who waits looks whether to stop
NO_BROWSER = "there is no browser here"
RESULT_TOKENS, LEAST_RESULT_TOKENS = 4_000, 300  # of one result; the rest is there by its handle
RESULT_SHARE = 8  # no result takes more than one part in so many of the budget

T = TypeVar("T")
Start = Callable[[Path | None], "Browser"]  # from where another one was saved, if it was
Tell = Callable[[dict[str, Any]], None]


class ToolContext:
    """One director's things; a scout's desk has a session and a tab of its own and the same
    browser."""

    def __init__(
        self,
        session: Session,
        browser: Browser | Start | None,
        *,
        model: Any = None,
        inspect_with: Any = None,
        tab: str | None = None,
        not_ours: frozenset[str] = frozenset(),
        secrets: KnownValues | None = None,
    ) -> None:
        self.session, self.model, self.inspect_with = session, model, inspect_with
        # the tab that is meant where none is named; those that are taboo
        self.tab, self.not_ours = tab, not_ours
        self.cancel, self.tell = Event(), cast(Tell, nobody)
        self.secrets = secrets or KnownValues()
        self._given = browser
        self._browser: Browser | None = None
        self._blocked_kept: list[BlockedOrigin] = []
        self._known: object = None  # what the workflow held when its secrets were last looked for
        self.result_tokens = min(
            RESULT_TOKENS, max(LEAST_RESULT_TOKENS, session.limits.compress_at // RESULT_SHARE)
        )

    # --- the browser ------------------------------------------------------------------------------

    @property
    def browser(self) -> Browser:
        """The browser, started now if it was not yet; each of its calls is left when `cancel` is
        set."""
        if self._browser is None:
            if self._given is None:
                raise UsageError(
                    NO_BROWSER, hint="open the director with one, or use the tools that need none"
                )
            found = self._started(self._given) if callable(self._given) else self._given
            self._browser = cast("Browser", _Stoppable(self, found))
        return self._browser

    @property
    def unstopped(self) -> Browser:
        """The browser for tidying up, which is not to be stopped."""
        return cast("Browser", cast(_Stoppable, self.browser).browser)

    @property
    def browser_or_none(self) -> Browser | None:
        """The browser, for work that may need none."""
        return None if self._given is None else self.browser

    def tabs(self) -> list[dict[str, Any]] | None:
        """The open tabs, for the fifth part of a context; none while nothing is started.

        A page may put into its address or its title what was typed into it, so secrets are hidden
        in those too.
        """
        if self._given is None or (self._browser is None and callable(self._given)):
            return None
        return [
            {
                key: self.secrets.text(value) if isinstance(value, str) else value
                for key, value in tab.items()
            }
            for tab in self.browser.tabs()
        ]

    def blocked(self) -> list[BlockedOrigin]:
        """The origins that pages asked for things and may not reach; none while nothing is
        started."""
        if self._browser is None:
            return []
        return [
            replace(one, origin=self.secrets.known(one.origin)) for one in self.unstopped.blocked()
        ]

    def keep_blocked(self) -> None:
        """Keep with the workflow what its pages could not load, to be offered the next time."""
        found = self.blocked()
        if found != self._blocked_kept:
            with suppress(StoreError):  # a store that can't be written offers nothing
                assets.remember(self.session, found)
            self._blocked_kept = found

    def save(self) -> None:
        """Keep how the browser stands, so that another process can go on if this one dies."""
        if self._browser is not None and callable(self._given):
            # one that has crashed is kept as it was before
            with suppress(BrowserFailed, StoreError):
                browser_files.prepare(path := browser_files.place(self.session))
                self._browser.save(path)

    def close(self) -> None:
        """Close the browser if it was started here; what was kept of it goes, unless a run may
        still need it."""
        self.keep_blocked()
        if self._browser is not None and callable(self._given):
            self.unstopped.close()
            if runner.unfinished_run(self.session) is None:
                browser_files.place(self.session).unlink(missing_ok=True)
        self._browser = None

    def _started(self, start: Start) -> Browser:
        """A browser as the last one of this workflow was left by a process that died, or a new
        one."""
        left = runner.saved_browser(self.session)
        try:
            return start(left)
        except BrowserFailed as failure:
            if left is None:
                raise
            self.tell(
                {"type": "warning", "text": f"the browser is not as it was left: {failure.message}"}
            )
            return start(None)

    def lent(self, session: Session, tab: str, not_ours: frozenset[str], tell: Tell) -> ToolContext:
        """A desk for a scout: the same browser and secrets, told to stop at the same moment."""
        desk = ToolContext(
            session,
            self.browser,
            model=self.model,
            inspect_with=self.inspect_with,
            tab=tab,
            not_ours=not_ours,
            secrets=self.secrets,
        )
        desk.cancel, desk.tell = self.cancel, tell
        return desk

    # --- secrets ----------------------------------------------------------------------------------

    def learn(self) -> None:
        """Know every secret that the workflow holds now."""
        now = workflows.stamps(self.session.db, self.session.workflow.id)
        known = (now.snapshot, now.variables)
        if known != self._known:
            nodes = workflows.nodes(self.session.db, self.session.workflow.id)
            self.secrets.learn([self.session.variables, *(node.get("config") for node in nodes)])
            self._known = known


class _Stoppable:
    """A browser whose calls are left when the desk is told to stop."""

    def __init__(self, desk: ToolContext, browser: Any) -> None:
        self._desk, self.browser = desk, browser

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.browser, name)
        if not callable(found) or name == "tabs":
            return found
        return lambda *args, **named: wait_unless_stopped(
            lambda: found(*args, **named), self._desk.cancel
        )


def wait_unless_stopped(work: Callable[[], T], cancel: Event) -> T:
    """What the work gives, for as long as nobody says stop; it is left behind then, in its
    thread."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the outcome is waited for
            outcome.set_exception(error)

    if cancel.is_set():
        raise BrowserFailed("stopped before it was begun")
    Thread(target=run, name="foreword-browsing", daemon=True).start()
    while not wait([outcome], LOOK_SECONDS).done:
        if cancel.is_set():
            raise BrowserFailed(
                "stopped before it was done", hint="look at the page before going on"
            )
    return outcome.result()


def nobody(event: Mapping[str, Any]) -> None:
    """Listen to nothing."""
