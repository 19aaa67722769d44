"""The tabs of a browser, kept current by its events: what they are called, where they are, which
one is active.

A tab's first name is "Main Tab", what it was given, or "Tab 2"; a popup takes its title as its name
once it has one and still answers to the old one. Nothing here asks a page for anything but its
title.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.browser.blocked import BlockedRequests
from foreword.browser.side_events import LONGEST_SAID, MOST_TABS, Notes, short
from foreword.errors import BrowserFailed, did_you_mean, name_list

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Download, Page, Request

MAIN = "Main Tab"
LONGEST_NAME, LONGEST_URL = 60, 2_000
MOST_DIALOGS = 25  # of a page meanwhile: one with more asks without end
TITLE_SECONDS = 2.0
ERROR_PAGE = "chrome-error:"
CRASHED = "has crashed"
# In a world of its own: the page's scripts see nothing of it.
_WATCH = """(() => { const tell = (what) => globalThis.forewordFocus && globalThis.forewordFocus(what);
  addEventListener('focus', () => tell('focus'));
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && tell('focus'));
  if (self === top && document.hasFocus()) tell('focus'); })()"""

_NO_WEBRTC = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name]"
)


@dataclass(slots=True, eq=False, kw_only=True)
class Tab:
    """One tab."""

    name: str
    page: Page
    ours: bool  # opened by us, or from a tab that was
    unnamed: bool  # has only a number so far
    guarded: bool = False  # the rules apply to it
    target: str = ""
    session: CDPSession | None = None
    aliases: set[str] = field(default_factory=set)
    surplus: bool = False  # came when there were enough
    wanted: bool = False  # by us, and not by a page
    begun: int = 0  # pages that it has begun to load
    attempted: str = ""  # the address that was asked for last
    broken: str = ""  # why nothing can be done with it any more
    limited: bool = False  # by what `limit` does
    quiet: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The address; of a page that could not be loaded, the one that was asked for."""
        return self.attempted if self.page.url.startswith(ERROR_PAGE) else self.page.url


class Tabs:
    """All tabs of one browser."""

    def __init__(
        self, context: BrowserContext, blocked: BlockedRequests, *, attached: bool
    ) -> None:
        self.context, self.attached, self._blocked = context, attached, blocked
        self.notes = Notes()
        self._tabs: list[Tab] = []
        self._active: list[Tab] = []  # the newest last
        self._had_one = False
        self._arriving: dict[Page, asyncio.Task[Tab]] = {}
        self._opening = 0  # tabs of ours that are about to come
        context.on("page", self._came)
        context.on("dialog", self._answer)

    def listing(self) -> list[dict[str, Any]]:
        """Every tab: name, address, whether it is active."""
        active = self._current()
        return [
            {"name": tab.name, "url": short(tab.url, LONGEST_URL), "active": tab is active}
            for tab in list(self._tabs)
        ]

    def all(self) -> list[Tab]:
        """The tabs in the order they were opened."""
        return list(self._tabs)

    def named(self, name: str | None) -> Tab:
        """The tab of that name, the active one without a name."""
        if name is None:
            if tab := self._current():
                return tab
            raise BrowserFailed("no tab is open", hint="open one with its address")
        for matches in (
            lambda tab: name == tab.name,
            lambda tab: name in tab.aliases,
            lambda tab: _same(name, tab.name),
        ):
            if found := [tab for tab in self._tabs if matches(tab)]:
                return found[-1]
        names = [tab.name for tab in self._tabs]
        near = did_you_mean(name, names)
        raise BrowserFailed(
            f"no tab is called {name!r}; open: {name_list(names)}",
            hint=f"did you mean {near!r}?" if near else "",
        )

    def activate(self, tab: Tab) -> None:
        """Remember which tab is in front."""
        self._active = [*(other for other in self._active if other is not tab), tab]

    def rename(self, tab: Tab, name: str) -> None:
        """Give a tab a name that no other has; the old one still finds it."""
        tab.aliases.add(tab.name)
        tab.unnamed = False
        tab.name = _unique(name, [other.name for other in self._tabs if other is not tab])

    async def entitle(self, tab: Tab, name: str | None = None) -> None:
        """Give a tab the name it is to have, or while it has only a number, its title."""
        from playwright.async_api import Error

        title = ""
        if name or not tab.unnamed:
            return self.rename(tab, name) if name else None
        with suppress(Error, TimeoutError):
            await tab.page.wait_for_load_state("domcontentloaded", timeout=1000 * TITLE_SECONDS)
            title = await asyncio.wait_for(tab.page.title(), TITLE_SECONDS)
        if name := _name(title) or _place(tab.url):
            self.rename(tab, name)
        return None

    def take_place(self, new: Tab, old: Tab) -> None:
        """Let a tab stand where another did, under its name."""
        at = self._tabs.index(old) if old in self._tabs else 0
        self._forget(old)
        self._tabs = [tab for tab in self._tabs if tab is not new]
        self._tabs.insert(at, new)
        self.rename(new, old.name)

    def adopt(self, page: Page) -> asyncio.Task[Tab]:
        """Take a page in, once; the task ends when it is known by name and watched."""
        if page not in self._arriving:
            tab = self._register(page)
            self._arriving[page] = asyncio.ensure_future(self._arrived(tab))
        return self._arriving[page]

    async def new(self) -> Tab:
        """Open a tab of ours."""
        self._opening += 1
        try:
            page = await self.context.new_page()
            self.adopt(page)
            tab = next(tab for tab in self._tabs if tab.page is page)
            tab.ours = tab.guarded = tab.wanted = True
        finally:
            self._opening -= 1
        return await self.adopt(page)

    async def limit(self, tab: Tab) -> None:
        """Take from a tab in the user's own browser what no guard sees: WebRTC, and pages loaded
        in advance."""
        from playwright.async_api import Error

        if tab.limited or not (self.attached and tab.guarded and self._blocked.rules.are_limits):
            return
        tab.limited = True
        with suppress(Error, TimeoutError):
            await tab.page.add_init_script(_NO_WEBRTC)
            if tab.session is not None:
                await tab.session.send("Page.setPrerenderingAllowed", {"isAllowed": False})
                # A page that was open before goes on asking past the guard until Chromium connects
                # it anew, as it does for this; there are no such addresses.
                await tab.session.send("Fetch.enable", {"patterns": [{"urlPattern": "none:*"}]})
                await tab.session.send("Fetch.disable")
            for frame in tab.page.frames:
                await asyncio.wait_for(frame.evaluate(_NO_WEBRTC), TITLE_SECONDS)

    async def settled(self) -> None:
        """Wait until the tabs that are coming in are known."""
        await asyncio.gather(*self._arriving.values(), return_exceptions=True)

    def of_target(self, target: str) -> Tab | None:
        """The tab of a debugging target."""
        return next((tab for tab in self._tabs if tab.target == target), None)

    def _came(self, page: Page) -> None:
        self.adopt(page)

    def _current(self) -> Tab | None:
        return self._active[-1] if self._active else next(iter(self._tabs), None)

    def _register(self, page: Page) -> Tab:
        ours, names = not self.attached, [other.name for other in self._tabs]
        name = _unique(f"Tab {len(names) + 1}", names) if self._had_one else MAIN
        tab = Tab(
            name=name,
            page=page,
            ours=ours,
            unnamed=self._had_one,
            guarded=ours,
            surplus=len(names) >= MOST_TABS,
        )
        self._had_one = True
        tab.quiet.set()
        self._tabs.append(tab)
        page.on("close", lambda _: self._forget(tab))
        page.on("crash", lambda _: _mark(tab, CRASHED))
        page.on("request", lambda request: _began(tab, request))
        page.on("requestfailed", lambda request: self._failed(tab, request))
        page.on("websocket", lambda socket: self._count(tab, socket.url, "websocket"))
        page.on("domcontentloaded", lambda _: tab.quiet.set())
        page.on("download", lambda download: self._refuse(tab, download))
        return tab

    def _failed(self, tab: Tab, request: Request) -> None:
        _ended(tab, request)
        self._count(tab, request.url, request.resource_type)

    def _count(self, tab: Tab, url: str, kind: str) -> None:
        if tab.guarded:
            self._blocked.request(url, kind)

    async def _arrived(self, tab: Tab) -> Tab:
        from playwright.async_api import Error

        with suppress(Error):
            opener = await tab.page.opener()
            if opened_by := next((other for other in self._tabs if other.page is opener), None):
                tab.ours, tab.guarded = tab.ours or opened_by.ours, tab.guarded or opened_by.guarded
                self.notes.opened.append(tab)
                self.activate(tab)
            if tab.surplus and tab.ours and not tab.wanted and not self._opening:
                self.notes.closed += 1
                await tab.page.close()
                return tab
            await self._watch(tab)
        await self.limit(tab)
        await self.entitle(tab)
        return tab

    async def _watch(self, tab: Tab) -> None:
        tab.session = session = await self.context.new_cdp_session(tab.page)
        tab.target = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        if not self.attached:
            await _unfeigned(session)
            page = tab.page
            page.on("domcontentloaded", lambda _: _unfeigned(session))
        session.on("Runtime.bindingCalled", lambda _: self.activate(tab))
        world = {"worldName": "foreword"}
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        await session.send(
            "Runtime.addBinding", {"name": "forewordFocus", "executionContextName": "foreword"}
        )
        source = {"source": _WATCH, "runImmediately": True}
        await session.send("Page.addScriptToEvaluateOnNewDocument", {**source, **world})

    def _forget(self, tab: Tab) -> None:
        self._tabs = [other for other in self._tabs if other is not tab]
        self._active = [other for other in self._active if other is not tab]
        self._arriving.pop(tab.page, None)
        tab.quiet.set()

    async def _answer(self, dialog: Dialog) -> None:
        from playwright.async_api import Error

        # Staying on a page because it asks would hold it against every navigation.
        leaving = dialog.type == "beforeunload"
        tab = next((tab for tab in self._tabs if tab.page is dialog.page), None)
        if tab is not None and not tab.guarded:
            return
        if len(self.notes.dialogs) >= MOST_DIALOGS and tab is not None and not leaving:
            # Left without an answer it does nothing more, until it is replaced.
            _mark(tab, "asks without end")
            return
        answer = "left the page" if leaving else "dismissed"
        said = short(dialog.message, LONGEST_SAID)
        self.notes.dialogs.append({"type": dialog.type, "message": said, "answer": answer})
        with suppress(Error):
            await (dialog.accept() if leaving else dialog.dismiss())

    async def _refuse(self, tab: Tab, download: Download) -> None:
        from playwright.async_api import Error

        if tab.guarded:
            self.notes.downloads.append(short(download.suggested_filename, LONGEST_SAID))
            tab.quiet.set()
            with suppress(Error):
                await download.cancel()


async def _unfeigned(session: CDPSession) -> None:
    """Let a tab know whether it is in front: Playwright makes all believe so, and every new
    document anew."""
    from playwright.async_api import Error

    with suppress(Error):
        for enabled in (True, False):
            await session.send("Emulation.setFocusEmulationEnabled", {"enabled": enabled})


def _mark(tab: Tab, why: str) -> None:
    tab.broken = why
    tab.quiet.set()


def _began(tab: Tab, request: Request) -> None:
    if request.is_navigation_request() and _is_main(tab, request):
        tab.attempted = request.url
        tab.begun += 1
        tab.quiet.clear()


def _ended(tab: Tab, request: Request) -> None:
    if request.is_navigation_request() and _is_main(tab, request):
        tab.quiet.set()


def _is_main(tab: Tab, request: Request) -> bool:
    from playwright.async_api import Error

    try:
        return request.frame is tab.page.main_frame
    except Error:
        return True


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == other.casefold()


def _name(text: str) -> str:
    return short(" ".join(text[: 10 * LONGEST_NAME].split()), LONGEST_NAME)


def _place(url: str) -> str:
    parts = urlsplit(url)
    return _name(f"{parts.netloc}{parts.path}".rstrip("/")) if parts.netloc else ""


def _unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken already."""
    used = {other.casefold() for other in taken}
    number, wanted = 2, name
    while wanted.casefold() in used:
        wanted, number = f"{name} ({number})", number + 1
    return wanted
