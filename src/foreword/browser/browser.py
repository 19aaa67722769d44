"""A browser as its users see it: plain functions, callable from any thread.

What is done on a page is in `actions`, `explore` and `dom`; here is which tab it is done on, one
thing at a time, what happened beside it, and what becomes of a browser or a tab that has crashed.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from foreword.browser import (
    actions,
    browser_errors,
    browser_state,
    downloads,
    explore,
    form_result,
    page_script,
    pictures,
    tab_lifecycle,
)
from foreword.browser.actions import Effect
from foreword.browser.block_log import BlockedOrigin, BlockLog
from foreword.browser.chromium import (
    CLOSE_SECONDS,
    START_SECONDS,
    Chromium,
    attach_chromium,
    start_chromium,
)
from foreword.browser.dom import Dom
from foreword.browser.frame_content import dom_of
from foreword.browser.page_actions import PAGE_ACTIONS, ActionContext, is_usable
from foreword.browser.rules import Rules, origin_error
from foreword.browser.side_events import DISMISS, DialogAnswer, Notes
from foreword.browser.tab import CRASHED, Tab
from foreword.browser.tabs import MAIN
from foreword.browser.thread import LoopThread
from foreword.errors import BrowserFailed
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from playwright.async_api import Page

T = TypeVar("T")
Action = Callable[[Chromium, Tab], Awaitable[dict[str, Any]]]
# Who looks waits so long for an action to end. Most take less; while one takes longer, the last
# picture stays.
LIVE_SECONDS = 2.0
STARTED_AGAIN = "the browser had ended and was started again"


def _nothing_secret(text: str) -> bool:
    return False


async def _has_ended(chromium: Chromium) -> bool:
    """Whether a browser without a tab is gone: its tabs go first, and on a busy machine its own end
    is told some time later. It is asked for something that only a browser can answer."""
    from playwright.async_api import Error

    try:
        session = await chromium.browser.new_browser_cdp_session()
        await session.detach()
    except Error:
        return True
    return chromium.has_ended


class Browser:
    """A Chromium with named tabs; every action says where it ended, or raises BrowserFailed with
    the page's state."""

    def __init__(
        self,
        rules: Rules,
        reach: Callable[[BlockLog], Awaitable[Chromium]],
        restore: Path | None = None,
    ) -> None:
        self.rules = rules
        self._reach = reach
        self._state_file = restore
        self._blocked = BlockLog(rules)
        self._thread = LoopThread()
        self._lock = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._has_state = False  # of another browser, with which this one began
        try:
            # Chromium itself, and then the tabs that are opened again.
            self._thread.run(self._launch(self._saved_state()), 2 * START_SECONDS)
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
        profiles = Path(folder) if folder is not None else None

        def reach(blocked: BlockLog) -> Awaitable[Chromium]:
            return start_chromium(
                rules, path=path, headless=headless, folder=profiles, blocked=blocked
            )

        return cls(rules, reach, Path(restore) if restore is not None else None)

    @classmethod
    def attach(cls, address: str, rules: Rules | None = None) -> Browser:
        """Reach the user's own browser; it is never closed, nor a tab of it that was not opened
        here."""
        rules = rules or Rules()
        return cls(rules, lambda blocked: attach_chromium(address, rules, blocked))

    def tabs(self) -> list[dict[str, Any]]:
        """Every open tab: its name, its address and whether it is the active one; from memory."""
        chromium = self._chromium
        if chromium is None or chromium.has_ended:
            return []
        return chromium.tabs.listing()

    def blocked_origins(self) -> list[BlockedOrigin]:
        """The origins that pages asked for things and may not reach, the most wanted first; from
        memory."""
        return self._blocked.listing()

    def perform(
        self,
        kind: str,
        given: Mapping[str, Any],
        *,
        tab: str | None = None,
        dialog: DialogAnswer = DISMISS,
        folder: Path | None = None,
        has_secret: pictures.HasSecret = _nothing_secret,
    ) -> dict[str, Any]:
        """Do what `page_actions` names so: `given` has what it takes, `dialog` answers what the
        page asks by it, `folder` is for files that are kept. A `timeout` in what is given stands
        for the limits of the rules."""
        action = PAGE_ACTIONS[kind]
        rules = self.rules
        if given.get("timeout"):
            seconds = float(given["timeout"])
            rules = replace(rules, action_seconds=seconds, page_seconds=seconds)
        effect = Effect(done=action.done)

        def perform(chromium: Chromium, on: Tab) -> Awaitable[dict[str, Any]]:
            context = ActionContext(
                chromium=chromium,
                rules=rules,
                effect=effect,
                folder=folder,
                has_secret=has_secret,
            )
            return action.perform(on, given, context)

        return self._act(
            perform,
            tab,
            rules=rules,
            selector=str(given.get("selector") or ""),
            anew=action.anew,
            any_address=kind == "http_login",
            while_loading=action.while_loading,
            awaited=action.awaited,
            effect=effect,
            dialog=dialog,
        )

    def navigate(self, url: str, tab: str | None = None) -> dict[str, Any]:
        """Open an address in a tab."""
        return self.perform("navigate", {"url": url}, tab=tab)

    def click(
        self, selector: str, tab: str | None = None, *, dialog: DialogAnswer = DISMISS
    ) -> dict[str, Any]:
        """Press an element; `dialog` answers what the page asks by it."""
        return self.perform("click", {"selector": selector}, tab=tab, dialog=dialog)

    def press(
        self,
        keys: str,
        selector: str | None = None,
        tab: str | None = None,
        *,
        dialog: DialogAnswer = DISMISS,
    ) -> dict[str, Any]:
        """Press keys, one after the other, on an element or where the page has its focus."""
        return self.perform("press", {"keys": keys, "selector": selector}, tab=tab, dialog=dialog)

    def type(self, selector: str, text: str, tab: str | None = None) -> dict[str, Any]:
        """Fill a field or choose from a list; the text is in no result and no error."""
        return self.perform("type", {"selector": selector, "text": text}, tab=tab)

    def wait(
        self,
        selector: str | None = None,
        url: str | None = None,
        seconds: float | None = None,
        tab: str | None = None,
    ) -> dict[str, Any]:
        """Wait for an element, an address, or some seconds."""
        return self.perform("wait", {"selector": selector, "url": url, "seconds": seconds}, tab=tab)

    def extract(
        self,
        selector: str,
        fields: Mapping[str, Any] | None = None,
        many: bool = False,
        tab: str | None = None,
    ) -> dict[str, Any]:
        """Read the text or the named fields of an element, or of all that match; under `found`."""
        given = {"selector": selector, "fields": fields, "many": many}
        return self.perform("extract", given, tab=tab)

    def is_present(self, selector: str, tab: str | None = None) -> bool:
        """Whether an element that can be used is on the page as it stands; nothing is waited for
        but a page that is just loading."""
        return bool(self._act(lambda _, on: _presence(on, selector), tab)["present"])

    def row_text(self, selector: str, tab: str | None = None) -> str:
        """The text of the row that an element is in, as the page stands; '' where the selector
        does not lead to one element, or that is in no row."""
        return str(self._act(lambda _, on: _row_text(on, selector), tab)["row"])

    def explore(
        self, instruction: str, tab: str | None = None, limit: int = explore.MOST_ELEMENTS
    ) -> dict[str, Any]:
        """What can be used on a page, best first by the instruction, each with a selector that
        was tried."""
        return self._act(
            lambda _, on: explore.explore_page(on.page, instruction, limit),
            tab,
            while_loading=True,
        )

    def dom(self, tab: str | None = None) -> Dom:
        """The page's elements, cleaned of what nobody sees."""
        found: Dom = self._act(lambda _, on: _dom_result(on.page), tab, while_loading=True)["dom"]
        return found

    def live_picture(self, has_secret: pictures.HasSecret) -> bytes | None:
        """A picture of the tab in front, between two actions, without what `has_secret`; none where
        that can't be had soon. It starts no browser and changes nothing."""

        async def look() -> bytes | None:
            chromium = self._chromium
            if chromium is None or chromium.has_ended or not chromium.tabs.all():
                return None
            tab = chromium.tabs.by_name(None)
            if tab.broken_reason or not self.rules.allows(tab.url):
                return None
            return await pictures.take(tab.page, has_secret)

        return self._thread.run(self._when_free(look), LIVE_SECONDS + pictures.PICTURE_SECONDS)

    def state(self, tab: str | None = None) -> dict[str, Any]:
        """How a page stands: tab, address, title; an error if it does not answer."""

        async def read_state() -> dict[str, Any]:
            chromium = await self._running_chromium()
            return await browser_errors.state_of(chromium.tabs.by_name(tab))

        return self._run(read_state())

    def start_anew(self, *, keep_login: bool = False) -> None:
        """Begin with an empty profile and one empty tab, signed in only with `keep_login`.

        The user's own browser goes on as it is; in it, only the tab for nodes is a new one.
        """

        async def start(chromium: Chromium) -> None:
            if chromium.profile is None:
                await tab_lifecycle.renew_workflow_tab(chromium)
                return
            chromium.tabs.set_workflow_tab(None)
            if chromium.tabs.has_loaded or (self._has_state and not keep_login):
                login = await browser_state.snapshot(chromium, with_tabs=False)
                self._chromium = None
                await chromium.end()
                await self._launch(login if keep_login else None)

        self._run(self._serially(start))

    def workflow_tab(self) -> str:
        """The name of the tab that nodes run in, whichever is active; opened where it was closed.

        It is the main one, until a node names or opens another.
        """

        async def find(chromium: Chromium) -> str:
            tab = chromium.tabs.workflow_tab()
            if tab is None:
                tab = await chromium.tabs.new()
                chromium.tabs.rename(tab, MAIN)
            return tab.name

        return self._run(self._serially(find))

    def follow_node(self, result: Mapping[str, Any]) -> None:
        """Let the next node run in the tab that one with this result was in, or has opened."""

        async def follow(chromium: Chromium) -> None:
            opened = result.get("opened") or ()
            name = opened[-1] if opened else result.get("tab")
            if name is not None and not (result.get("closed") and not opened):
                chromium.tabs.set_workflow_tab(chromium.tabs.by_name(name))

        self._run(self._serially(follow))

    def open_tab(self, url: str, name: str | None = None) -> dict[str, Any]:
        """Open an address in a new tab, which is then the active one."""
        url = self.rules.check(url)
        return self._run(self._serially(lambda chromium: self._open_tab(chromium, url, name)))

    def close_tab(self, name: str) -> dict[str, Any]:
        """Close a tab; of a user's own browser only those that were opened here."""

        async def close(chromium: Chromium) -> dict[str, Any]:
            return await tab_lifecycle.close(chromium, chromium.tabs.by_name(name))

        return self._run(self._serially(close))

    def activate(self, name: str) -> dict[str, Any]:
        """Bring a tab to the front."""
        return self._act(_no_action, name, any_address=True, while_loading=True)

    def save(self, path: str | Path, *, mark: str = "", with_tabs: bool = True) -> None:
        """Keep cookies, local storage and open tabs in a file that only its owner can read; `mark`
        says after what.

        Of the user's own browser nothing is kept: it goes on without us, and its cookies are
        nobody's business.
        """
        file = Path(path)

        async def save(chromium: Chromium) -> bool:
            if chromium.profile is None:
                return False
            browser_state.write(
                file, await browser_state.snapshot(chromium, mark, with_tabs=with_tabs)
            )
            return True

        if self._run(self._serially(save)) and with_tabs:
            self._state_file = file

    def close(self) -> None:
        """End the browser and remove its profile; of one that was attached, only our connection
        and our tabs."""
        atexit.unregister(self.close)
        chromium = self._chromium
        self._chromium = None
        try:
            if chromium is not None:
                # Its tabs, its window and Playwright have CLOSE_SECONDS each.
                self._thread.run(tab_lifecycle.end(chromium), 3 * CLOSE_SECONDS)
        finally:
            self._thread.stop()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _act(
        self,
        do: Action,
        tab_name: str | None,
        *,
        rules: Rules | None = None,
        selector: str = "",
        anew: bool = False,
        any_address: bool = False,
        while_loading: bool = False,
        awaited: bool = False,
        effect: Effect | None = None,
        dialog: DialogAnswer = DISMISS,
    ) -> dict[str, Any]:
        """Do something on a tab that is in front, and say what came of it; unless `while_loading`,
        not on a page that is about to be replaced. Where it is `awaited`, the requests that it has
        set off are, too."""
        limits = rules or self.rules
        effect = effect or Effect(done="")

        async def act(chromium: Chromium) -> dict[str, Any]:
            tab = chromium.tabs.by_name(tab_name)
            if not (anew or any_address or self.rules.allows(tab.url)):
                raise await browser_errors.with_state(origin_error(tab.url, self.rules), tab)
            tab = await tab_lifecycle.usable_tab(chromium, tab, anew=anew)
            if not (anew or while_loading or await actions.wait_for_next_page(tab, limits)):
                failure = browser_errors.still_loading_error(tab, limits)
                raise await browser_errors.with_state(failure, tab)
            chromium.tabs.dialog_answer = dialog
            try:
                result = await self._perform(
                    chromium,
                    tab,
                    do,
                    selector=selector,
                    rules=limits,
                    awaited=effect if awaited else None,
                )
            finally:
                chromium.tabs.dialog_answer = DISMISS
            if effect.done and "loading" in result:
                result["loading"] = f"{effect.done}; {result['loading']}"
            return result

        try:
            return self._run(self._serially(act), limits)
        except BrowserFailed as failure:
            failure.may_have_happened = bool(effect.done) and effect.may_have_happened
            raise

    def _run(self, work: Coroutine[Any, Any, T], rules: Rules | None = None) -> T:
        # A page that is still coming, one that is gone to twice and then left again, an element, a
        # file, and a browser that is started anew; each of them has a shorter limit of its own.
        limits = rules or self.rules
        limit = 4 * limits.page_seconds + limits.action_seconds + START_SECONDS
        limit += downloads.DOWNLOAD_SECONDS
        return self._thread.run(work, limit)

    async def _launch(self, saved: Mapping[str, Any] | None) -> None:
        chromium = await self._reach(self._blocked)
        if saved is not None:
            try:
                await browser_state.restore(chromium, saved, self.rules)
            except BaseException:
                await chromium.end()
                raise
        self._has_state = saved is not None
        self._chromium = chromium

    def _saved_state(self) -> Mapping[str, Any] | None:
        return browser_state.read(self._state_file) if self._state_file is not None else None

    async def _running_chromium(self) -> Chromium:
        """The browser, started again if it has ended."""
        if self._chromium is None or self._chromium.has_ended:
            if self._chromium is not None:
                await self._chromium.end()
            if self._state_file is not None and not self._state_file.exists():
                self._state_file = None
            await self._launch(self._saved_state())
        assert self._chromium is not None
        return self._chromium

    async def _serially(self, do: Callable[[Chromium], Awaitable[T]]) -> T:
        """Do one thing at a time, on a browser that is there."""
        from playwright.async_api import Error

        async with self._lock:
            is_new = self._chromium is None or self._chromium.has_ended
            chromium = await self._running_chromium()
            try:
                await chromium.guard.begin()
                result = await do(chromium)
            except BrowserFailed as failure:
                if not chromium.tabs.all() and await _has_ended(chromium):
                    raise browser_errors.ended_error() from None
                if is_new:
                    failure.state.setdefault("note", STARTED_AGAIN)
                raise
            except Error as error:
                if chromium.has_ended or not chromium.browser.is_connected():
                    raise browser_errors.ended_error() from None
                raise browser_errors.page_error(error) from None
        if is_new and isinstance(result, dict):
            result["note"] = STARTED_AGAIN
        return result

    async def _when_free(self, look: Callable[[], Awaitable[T]]) -> T | None:
        """Look at something while nothing is done; nothing where that does not end soon."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(LIVE_SECONDS):
                await self._lock.acquire()
        except TimeoutError:
            return None
        try:
            return await look()
        except (BrowserFailed, TimeoutError, Error):
            return None
        finally:
            self._lock.release()

    async def _perform(
        self,
        chromium: Chromium,
        tab: Tab,
        do: Action,
        *,
        selector: str,
        rules: Rules,
        awaited: Effect | None = None,
    ) -> dict[str, Any]:
        """Do something on a tab, wait for what it sets off, and tell where the tab is then; of an
        `awaited` action, also whether the server rejected it."""
        from playwright.async_api import Error

        notes = chromium.tabs.notes
        refused_before = len(notes.refused)
        tab.requests.begin_action()
        in_progress = list[str]()
        try:
            found = await do(chromium, tab)
            is_loaded = await actions.wait_for_page(tab, rules)
            if awaited is not None:
                begin_seconds = actions.BEGIN_SECONDS if awaited.done else 0.0
                in_progress = await actions.wait_for_effects(
                    tab, rules, begin_seconds=begin_seconds
                )
            has_popups = await chromium.guard.wait_for_popups(rules)
            await chromium.tabs.wait_for_arrivals()
        except (BrowserFailed, TimeoutError, Error) as error:
            failure = browser_errors.as_browser_failed(error)
            refused = notes.refused_tabs(refused_before)
            raise await self._explain(
                failure, chromium, tab, selector=selector, refused=refused
            ) from None
        finally:
            # What happens from now on is told with the next action.
            chromium.tabs.notes = Notes()
        if chromium.has_ended:
            raise browser_errors.ended_error()
        refused = notes.refused_tabs(refused_before)
        if not refused:
            refused = await tab_lifecycle.leave_forbidden_page(tab, self.rules)
        side_results = {**notes.as_result(), **self._blocked.new_as_result()}
        if refused:
            refusal = origin_error(refused[0], self.rules)
            raise await browser_errors.with_state(refusal, tab, **side_results)
        if tab.page.is_closed():
            closed = {"tab": tab.name, "url": tab.url, "title": "", "closed": True}
            return {**closed, **found, **side_results}
        rejection = await form_result.rejection(tab, awaited) if awaited is not None else None
        if rejection is not None:
            raise await browser_errors.with_state(rejection, tab, **side_results)
        loading = dict[str, str]()
        if not is_loaded:
            loading["loading"] = "the page is still loading"
        elif not has_popups:
            loading["loading"] = "a tab that it has opened is still loading"
        elif in_progress:
            requests = ", ".join(dict.fromkeys(in_progress))
            loading["loading"] = f"the page still waits for {mask(requests)}"
        return {**await browser_errors.state_of(tab), **found, **loading, **side_results}

    async def _explain(
        self,
        failure: BrowserFailed,
        chromium: Chromium,
        tab: Tab,
        *,
        selector: str,
        refused: Sequence[str],
    ) -> BrowserFailed:
        """A failure with what caused it, the nearest selectors, and how the page stands."""
        if chromium.has_ended:
            return browser_errors.ended_error()
        if tab.broken_reason and tab.broken_reason != browser_errors.SILENT:
            return browser_errors.broken_tab_error(tab)
        if refused:
            failure = origin_error(refused[0], self.rules)
        side_results = {**chromium.tabs.notes.as_result(), **self._blocked.new_as_result()}
        explained = await browser_errors.with_state(failure, tab, **side_results)
        if tab.broken_reason == CRASHED:
            return browser_errors.broken_tab_error(tab)
        if selector and "nothing on the page matches" in str(failure) and not tab.broken_reason:
            near = await explore.similar(tab.page, selector)
            if near:
                similar = ", ".join(map(repr, near))
                return BrowserFailed(
                    f"{failure}; similar: {similar}",
                    hint=failure.command_hint,
                    state=explained.state,
                )
        return explained

    async def _open_tab(self, chromium: Chromium, url: str, name: str | None) -> dict[str, Any]:
        tab = await chromium.tabs.new()
        chromium.tabs.activate(tab)
        try:
            result = await self._perform(
                chromium,
                tab,
                lambda _, on: actions.navigate(on, url, self.rules),
                selector="",
                rules=self.rules,
            )
        except BrowserFailed:
            await tab.page.close()
            raise
        await chromium.tabs.entitle(tab, name)
        return {**result, "tab": tab.name}


async def _dom_result(page: Page) -> dict[str, Any]:
    return {"dom": await dom_of(page)}


async def _no_action(chromium: Chromium, tab: Tab) -> dict[str, Any]:
    return {}


async def _row_text(tab: Tab, selector: str) -> dict[str, Any]:
    locator = actions.locate(tab.page, selector)
    if await locator.count() != 1:
        return {"row": ""}
    texts = await page_script.read(locator, "row", seconds=page_script.READ_SECONDS)
    return {"row": texts["row"]}


async def _presence(tab: Tab, selector: str) -> dict[str, Any]:
    return {"present": await is_usable(actions.locate(tab.page, selector).first)}
