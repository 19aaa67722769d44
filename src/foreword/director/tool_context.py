"""What the tools of one turn work on: the conversation, the director's resources, who hears of it,
and whether it was told to stop.

A value that is made for each turn, or each call by hand, and not changed. Whoever waits for the
browser stops waiting as soon as `cancel` is set; what the browser was doing ends by its own time
limit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

from foreword.director.director_resources import DirectorResources, Tell, nobody
from foreword.errors import BrowserFailed
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session

if TYPE_CHECKING:
    from foreword.browser import Browser

# How often one who waits looks whether to stop: a stop is heard within a moment, and looking costs
# next to nothing.
LOOK_SECONDS = 0.05
# Of one result; the rest is there by its handle. No result takes more than one part in
# RESULT_SHARE of what the conversation may grow to, so that a few of them don't force it to be
# compressed; the least still holds an error with the state of its page.
RESULT_TOKENS = 4_000
LEAST_RESULT_TOKENS = 300
RESULT_SHARE = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One turn of a director; a scout's has a session and a tab of its own and the same browser."""

    resources: DirectorResources
    session: Session
    tell: Tell = nobody
    cancel: Event = field(default_factory=Event)
    tab: str | None = None  # the one that is meant where none is named
    not_ours: frozenset[str] = frozenset()  # tabs that are taboo
    is_scout: bool = False

    @property
    def secrets(self) -> KnownValues:
        """The secret values that are hidden in whatever is shown or sent."""
        return self.resources.secrets

    @property
    def result_tokens(self) -> int:
        """The most that one result may take."""
        share = self.session.limits.compress_at // RESULT_SHARE
        return min(RESULT_TOKENS, max(LEAST_RESULT_TOKENS, share))

    @property
    def browser(self) -> Browser:
        """The browser, started now if it was not yet; each of its calls is left when `cancel` is
        set."""
        return cast("Browser", _StoppableBrowser(self.browser_for_cleanup, self.cancel))

    @property
    def browser_for_cleanup(self) -> Browser:
        """The browser for tidying up, which is not to be stopped."""
        return self.resources.browser(self.tell)

    @property
    def browser_or_none(self) -> Browser | None:
        """The browser, for work that may need none."""
        return self.browser if self.resources.has_browser else None

    def save(self) -> None:
        """Keep how the browser stands, so that another process can go on if this one dies; what a
        scout does is gone with its tab."""
        if not self.is_scout:
            with suppress(BrowserFailed):  # it was told to stop
                wait_unless_stopped(self.resources.save, self.cancel)

    def for_scout(
        self, session: Session, *, tab: str, not_ours: frozenset[str], tell: Tell
    ) -> ToolContext:
        """A context for a scout: the same browser and secrets, told to stop at the same moment."""
        return replace(self, session=session, tab=tab, not_ours=not_ours, tell=tell, is_scout=True)


class _StoppableBrowser:
    """A browser whose calls are left when somebody says stop."""

    def __init__(self, browser: Any, cancel: Event) -> None:
        self._browser = browser
        self._cancel = cancel

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._browser, name)
        if not callable(found) or name == "tabs":
            return found

        def stoppable(*args: Any, **named: Any) -> Any:
            return wait_unless_stopped(lambda: found(*args, **named), self._cancel)

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
            stopped = BrowserFailed(
                "stopped before it was done", hint="look at the page before going on"
            )
            stopped.may_have_happened = True
            raise stopped
    return outcome.result()
