"""A browser as its users see it: plain functions, callable from any thread.

What is done on a page is in `actions`, `explore` and `dom`; here is which tab it is done on, one
thing at a time, what happened beside it, and what becomes of a browser or a tab that has crashed.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from foreword.browser import actions, browser_errors, browser_state, chromium, explore, tab_care
from foreword.browser.blocked import BlockedOrigin, BlockedRequests
from foreword.browser.chromium import CLOSE_SECONDS, START_SECONDS, Chromium
from foreword.browser.dom import Dom
from foreword.browser.page_script import READ_SECONDS
from foreword.browser.rules import BLANK, Rules, origin_error
from foreword.browser.side_events import Notes
from foreword.browser.tabs import CRASHED, Tab
from foreword.browser.thread import LoopThread
from foreword.errors import BrowserFailed

T = TypeVar("T")
AGAIN = "the browser had ended and was started again"


class Browser:
    """A Chromium with named tabs; every action says where it ended, or raises BrowserFailed with
    the page's state."""

    def __init__(
        self,
        rules: Rules,
        reach: Callable[[BlockedRequests], Awaitable[Chromium]],
        restore: Path | None = None,
    ) -> None:
        self.rules, self._reach, self._saved = rules, reach, restore
        self._blocked = BlockedRequests(rules)
        self._thread = LoopThread()
        self._lock = asyncio.Lock()
        self._chromium: Chromium | None = None
        try:
            self._thread.run(self._begin(), 2 * START_SECONDS)
        except BaseException:
            self._thread.stop()
            raise
        atexit.register(self.close)

    @classmethod
    def start(
        cls,
        rules: Rules | None = None,
        *,
        path: str | Path | None = None,
        headless: bool = True,
        folder: str | Path | None = None,
        restore: str | Path | None = None,
    ) -> Browser:
        """Start a Chromium of our own, with an empty profile or as another one was saved."""
        rules = rules or Rules()
        base = Path(folder) if folder is not None else None
        return cls(
            rules,
            lambda blocked: chromium.start_chromium(rules, path, headless, base, blocked),
            Path(restore) if restore is not None else None,
        )

    @classmethod
    def attach(cls, address: str, rules: Rules | None = None) -> Browser:
        """Reach the user's own browser; it is never closed, nor a tab of it that was not opened
        here."""
        rules = rules or Rules()
        return cls(rules, lambda blocked: chromium.attach_chromium(address, rules, blocked))

    def tabs(self) -> list[dict[str, Any]]:
        """Every open tab: its name, its address and whether it is the active one; from memory."""
        here = self._chromium
        return [] if here is None or here.has_ended else here.tabs.listing()

    def blocked(self) -> list[BlockedOrigin]:
        """The origins that pages asked for things and may not reach, the most wanted first; from
        memory."""
        return self._blocked.listing()

    def navigate(self, url: str, tab: str | None = None) -> dict[str, Any]:
        """Open an address in a tab."""
        return self._act(lambda here: actions.navigate(here, url, self.rules), tab, anew=True)

    def click(self, selector: str, tab: str | None = None) -> dict[str, Any]:
        """Press an element."""
        return self._act(lambda here: actions.click(here, selector, self.rules), tab, selector)

    def type(self, selector: str, text: str, tab: str | None = None) -> dict[str, Any]:
        """Fill a field or choose from a list; the text is in no result and no error."""
        return self._act(
            lambda here: actions.type_text(here, selector, text, self.rules), tab, selector
        )

    def wait(
        self,
        selector: str | None = None,
        url: str | None = None,
        seconds: float | None = None,
        tab: str | None = None,
    ) -> dict[str, Any]:
        """Wait for an element, an address, or some seconds."""
        return self._act(
            lambda here: actions.wait_for(here, selector, url, seconds, self.rules),
            tab,
            selector or "",
        )

    def extract(
        self,
        selector: str,
        fields: Mapping[str, Any] | None = None,
        many: bool = False,
        tab: str | None = None,
    ) -> dict[str, Any]:
        """Read the text or the named fields of an element, or of all that match; under `found`."""
        return self._act(
            lambda here: actions.extract(here, selector, fields, many, self.rules), tab, selector
        )

    def explore(
        self, instruction: str, tab: str | None = None, limit: int = explore.MOST_ELEMENTS
    ) -> dict[str, Any]:
        """What can be used on a page, best first by the instruction, each with a selector that
        was tried."""
        return self._act(lambda here: explore.explore_page(here.page, instruction, limit), tab)

    def dom(self, tab: str | None = None) -> Dom:
        """The page's elements, cleaned of what nobody sees."""
        found: Dom = self._act(lambda here: _inside(here.page), tab)["dom"]
        return found

    def state(self, tab: str | None = None) -> dict[str, Any]:
        """How a page stands: tab, address, title; an error if it does not answer."""

        async def asked() -> dict[str, Any]:
            return await browser_errors.state_of((await self._alive()).tabs.named(tab))

        return self._run(asked())

    def open_tab(self, url: str, name: str | None = None) -> dict[str, Any]:
        """Open an address in a new tab, which is then the active one."""
        url = self.rules.check(url)
        return self._run(self._serial(lambda here: self._open(here, url, name)))

    def close_tab(self, name: str) -> dict[str, Any]:
        """Close a tab; of a user's own browser only those that were opened here."""
        return self._run(self._serial(lambda here: tab_care.close(here, here.tabs.named(name))))

    def activate(self, name: str) -> dict[str, Any]:
        """Bring a tab to the front."""
        return self._act(_nothing, name, any_address=True)

    def save(self, path: str | Path) -> None:
        """Keep cookies, local storage and open tabs in a file that only its owner can read.

        Of the user's own browser nothing is kept: it goes on without us, and its cookies are
        nobody's business.
        """
        if self._run(self._serial(lambda here: browser_state.save(here, Path(path)))):
            self._saved = Path(path)

    def close(self) -> None:
        """End the browser and remove its profile; of one that was attached, only our connection
        and our tabs."""
        atexit.unregister(self.close)
        here, self._chromium = self._chromium, None
        try:
            if here is not None:
                self._thread.run(tab_care.end(here), 3 * CLOSE_SECONDS)
        finally:
            self._thread.stop()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _act(
        self,
        do: Callable[[Tab], Awaitable[dict[str, Any]]],
        tab: str | None,
        selector: str = "",
        *,
        anew: bool = False,
        any_address: bool = False,
    ) -> dict[str, Any]:
        """Do something on a tab that is in front, and say what came of it."""

        async def acting(here: Chromium) -> dict[str, Any]:
            on = here.tabs.named(tab)
            if not (anew or any_address or self.rules.allows(on.url)):
                raise await _with_state(origin_error(on.url, self.rules), on)
            return await self._done(here, await self._ready(here, on, anew=anew), do, selector)

        return self._run(self._serial(acting))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        limit = 3 * self.rules.page_seconds + self.rules.action_seconds + START_SECONDS
        return self._thread.run(work, limit)

    async def _begin(self) -> None:
        kept = browser_state.read(self._saved) if self._saved is not None else None
        here = await self._reach(self._blocked)
        if kept is not None:
            try:
                await browser_state.restore(here, kept, self.rules)
            except BaseException:
                await here.end()
                raise
        self._chromium = here

    async def _alive(self) -> Chromium:
        if self._chromium is None or self._chromium.has_ended:
            if self._chromium is not None:
                await self._chromium.end()
            if self._saved is not None and not self._saved.exists():
                self._saved = None
            await self._begin()
        assert self._chromium is not None
        return self._chromium

    async def _serial(self, do: Callable[[Chromium], Awaitable[T]]) -> T:
        """One thing at a time, on a browser that is there."""
        from playwright.async_api import Error

        async with self._lock:
            fresh = self._chromium is None or self._chromium.has_ended
            here = await self._alive()
            try:
                await here.guard.begin()
                result = await do(here)
            except BrowserFailed as failure:
                if fresh:
                    failure.state.setdefault("note", AGAIN)
                raise
            except Error as error:
                raise (
                    _gone()
                    if here.has_ended or not here.browser.is_connected()
                    else browser_errors.other(error)
                ) from None
            return {**result, "note": AGAIN} if fresh and isinstance(result, dict) else result  # type: ignore[return-value]

    async def _ready(self, here: Chromium, tab: Tab, *, anew: bool) -> Tab:
        """The tab in front, or a new one in the place of one that is beyond use."""
        if tab.broken == browser_errors.SILENT:
            await browser_errors.state_of(tab)
        # A tab of the user's own is never closed, so it can't be replaced either.
        if tab.broken and not (anew and tab.ours):
            raise browser_errors.broken(tab)
        if tab.broken:
            tab = await tab_care.replace(here, tab)
        tab.guarded = True
        await here.tabs.limit(tab)
        await tab_care.to_front(here, tab)
        return tab

    async def _done(
        self,
        here: Chromium,
        tab: Tab,
        do: Callable[[Tab], Awaitable[dict[str, Any]]],
        selector: str,
    ) -> dict[str, Any]:
        from playwright.async_api import Error

        notes = here.tabs.notes
        before = len(notes.refused)
        try:
            found = await do(tab)
            is_loaded = await actions.wait_for_page(tab, self.rules)
            await here.guard.opened(self.rules.action_seconds)
            await here.tabs.settled()
        except (BrowserFailed, TimeoutError, Error) as failure:
            raise await self._explained(here, tab, _told(failure), selector, before) from None
        finally:
            # What happens from now on is told with the next action.
            here.tabs.notes = Notes()
        gone = notes.refused_tabs(before) or await self._slipped(tab)
        beside = {**notes.told(), **self._blocked.told()}
        if gone:
            raise await _with_state(origin_error(gone[0], self.rules), tab, **beside)
        loading = {} if is_loaded else {"loading": "the page is still loading"}
        if tab.page.is_closed():
            return {"tab": tab.name, "url": tab.url, "title": "", "closed": True, **found, **beside}
        return {**await browser_errors.state_of(tab), **found, **loading, **beside}

    async def _slipped(self, tab: Tab) -> list[str]:
        """The address of a tab of ours that came past the guard, such as one that was loaded in
        advance; it is left."""
        url = tab.url
        if (
            not tab.ours
            or tab.page.is_closed()
            or self.rules.allows(url)
            or not url.startswith(("http:", "https:"))
        ):
            return []
        await tab.page.goto(BLANK, timeout=1000 * self.rules.page_seconds)
        return [url]

    async def _explained(
        self, here: Chromium, tab: Tab, failure: BrowserFailed, selector: str, before: int
    ) -> BrowserFailed:
        """A failure with what caused it, the nearest selectors, and how the page stands."""
        if here.has_ended:
            return _gone()
        if tab.broken and tab.broken != browser_errors.SILENT:
            return browser_errors.broken(tab)
        if gone := here.tabs.notes.refused_tabs(before):
            failure = origin_error(gone[0], self.rules)
        explained = await _with_state(
            failure, tab, **here.tabs.notes.told(), **self._blocked.told()
        )
        if tab.broken == CRASHED:
            return browser_errors.broken(tab)
        if selector and "nothing on the page matches" in str(failure) and not tab.broken:
            near = await explore.similar(tab.page, selector)
            if near:
                similar = ", ".join(map(repr, near))
                return BrowserFailed(
                    f"{failure}; similar: {similar}", hint=failure.hint, state=explained.state
                )
        return explained

    async def _open(self, here: Chromium, url: str, name: str | None) -> dict[str, Any]:
        tab = await here.tabs.new()
        here.tabs.activate(tab)
        try:
            result = await self._done(
                here, tab, lambda on: actions.navigate(on, url, self.rules), ""
            )
        except BrowserFailed:
            await tab.page.close()
            raise
        await here.tabs.entitle(tab, name)
        return {**result, "tab": tab.name}


def _gone() -> BrowserFailed:
    return BrowserFailed(
        "the browser has ended or crashed", hint="the next action begins with a new one"
    )


def _told(failure: Exception) -> BrowserFailed:
    if isinstance(failure, BrowserFailed):
        return failure
    if isinstance(failure, TimeoutError):
        return BrowserFailed(f"the page could not be read within {READ_SECONDS:g} s")
    return browser_errors.other(failure)


async def _inside(page: Any) -> dict[str, Any]:
    return {"dom": await explore.dom_of(page)}


async def _nothing(tab: Tab) -> dict[str, Any]:
    return {}


async def _with_state(failure: BrowserFailed, tab: Tab, **more: Any) -> BrowserFailed:
    return type(failure)(
        str(failure), hint=failure.hint, state={**await browser_errors.state_of(tab), **more}
    )
