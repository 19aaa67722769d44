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

# How often one who waits looks whether to stop: a stop is heard within a moment, and looking costs
# next to nothing.
LOOK_SECONDS = 0.05
NO_BROWSER = "there is no browser here"
# Of one result; the rest is there by its handle. No result takes more than one part in
# RESULT_SHARE of what the conversation may grow to, so that a few of them don't force it to be
# compressed; the least still holds an error with the state of its page.
RESULT_TOKENS = 4_000
LEAST_RESULT_TOKENS = 300
RESULT_SHARE = 8

T = TypeVar("T")
Start = Callable[[Path | None], "Browser"]  # from where another one was saved, if it was
Tell = Callable[[dict[str, Any]], None]


class ToolContext:
    """One director's session, browser and secrets; a scout's has a session and a tab of its own and
    the same browser."""

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
        self.session = session
        self.model = model
        self.inspect_with = inspect_with
        self.tab = tab  # the one that is meant where none is named
        self.not_ours = not_ours  # tabs that are taboo
        self.cancel = Event()
        self.tell: Tell = nobody
        self.secrets = secrets or KnownValues()
        self._browser_source = browser  # one that is open, or a function that starts one
        self._browser: Browser | None = None
        self._remembered_origins: list[BlockedOrigin] = []
        # how new the workflow was when its secrets were last looked for
        self._known_stamps: tuple[int, int] | None = None
        share = session.limits.compress_at // RESULT_SHARE
        self.result_tokens = min(RESULT_TOKENS, max(LEAST_RESULT_TOKENS, share))

    # --- the browser ------------------------------------------------------------------------------

    @property
    def browser(self) -> Browser:
        """The browser, started now if it was not yet; each of its calls is left when `cancel` is
        set."""
        if self._browser is None:
            source = self._browser_source
            if source is None:
                raise UsageError(
                    NO_BROWSER, hint="open the director with one, or use the tools that need none"
                )
            browser = self._start_browser(source) if callable(source) else source
            self._browser = cast("Browser", _StoppableBrowser(self, browser))
        return self._browser

    @property
    def browser_for_cleanup(self) -> Browser:
        """The browser for tidying up, which is not to be stopped."""
        return cast("Browser", cast(_StoppableBrowser, self.browser).browser)

    @property
    def browser_or_none(self) -> Browser | None:
        """The browser, for work that may need none."""
        return None if self._browser_source is None else self.browser

    def tabs(self) -> list[dict[str, Any]] | None:
        """The open tabs, for the fifth part of a context; none while nothing is started.

        A page may put into its address or its title what was typed into it, so secrets are hidden
        in those too.
        """
        if self._browser_source is None:
            return None
        if self._browser is None and callable(self._browser_source):
            return None
        return [self._tab_without_secrets(tab) for tab in self.browser.tabs()]

    def _tab_without_secrets(self, tab: Mapping[str, Any]) -> dict[str, Any]:
        shown = dict(tab)
        for key, value in tab.items():
            if isinstance(value, str):
                shown[key] = self.secrets.text(value)
        return shown

    def blocked_origins(self) -> list[BlockedOrigin]:
        """The origins that pages asked for things and may not reach; none while nothing is
        started."""
        if self._browser is None:
            return []
        found = self.browser_for_cleanup.blocked()
        return [replace(one, origin=self.secrets.known(one.origin)) for one in found]

    def remember_blocked_origins(self) -> None:
        """Keep with the workflow what its pages could not load, to be offered the next time."""
        found = self.blocked_origins()
        if found != self._remembered_origins:
            with suppress(StoreError):  # a store that can't be written offers nothing
                assets.remember(self.session, found)
            self._remembered_origins = found

    def save(self) -> None:
        """Keep how the browser stands, so that another process can go on if this one dies."""
        if self._browser is not None and callable(self._browser_source):
            path = browser_files.place(self.session)
            # one that has crashed is kept as it was before
            with suppress(BrowserFailed, StoreError):
                browser_files.prepare(path)
                self._browser.save(path)

    def close(self) -> None:
        """Close the browser if it was started here; what was kept of it goes, unless a run may
        still need it."""
        self.remember_blocked_origins()
        if self._browser is not None and callable(self._browser_source):
            self.browser_for_cleanup.close()
            if runner.unfinished_run(self.session) is None:
                browser_files.place(self.session).unlink(missing_ok=True)
        self._browser = None

    def _start_browser(self, start: Start) -> Browser:
        """A browser as the last one of this workflow was left by a process that died, or a new
        one."""
        saved = runner.saved_browser(self.session)
        try:
            return start(saved)
        except BrowserFailed as failure:
            if saved is None:
                raise
            text = f"the browser is not as it was left: {failure.message}"
            self.tell({"type": "warning", "text": text})
            return start(None)

    def for_scout(
        self, session: Session, *, tab: str, not_ours: frozenset[str], tell: Tell
    ) -> ToolContext:
        """A context for a scout: the same browser and secrets, told to stop at the same moment."""
        context = ToolContext(
            session,
            self.browser,
            model=self.model,
            inspect_with=self.inspect_with,
            tab=tab,
            not_ours=not_ours,
            secrets=self.secrets,
        )
        context.cancel = self.cancel
        context.tell = tell
        return context

    # --- secrets ----------------------------------------------------------------------------------

    def learn(self) -> None:
        """Know every secret that the workflow holds now."""
        stamps = workflows.stamps(self.session.db, self.session.workflow.id)
        now = (stamps.snapshot, stamps.variables)
        if now != self._known_stamps:
            nodes = workflows.nodes(self.session.db, self.session.workflow.id)
            values: list[object] = [self.session.variables]
            values += [node.get("config") for node in nodes]
            self.secrets.learn(values)
            self._known_stamps = now


class _StoppableBrowser:
    """A browser whose calls are left when the context is told to stop."""

    def __init__(self, context: ToolContext, browser: Any) -> None:
        self._tool_context = context
        self.browser = browser

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.browser, name)
        if not callable(found) or name == "tabs":
            return found

        def stoppable(*args: Any, **named: Any) -> Any:
            return wait_unless_stopped(lambda: found(*args, **named), self._tool_context.cancel)

        return stoppable


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
