"""The tabs of a browser, kept current by its events: what they are called, where they are, which
one is active.

A tab's first name is "Main Tab", what it was given, or "Tab 2"; a popup takes its title as its name
once it has one and still answers to the old one. Nothing here asks a page for anything but its
title. What is known of one tab is in `tab`; replacing and closing them is `tab_lifecycle`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.browser.block_log import BlockLog
from foreword.browser.side_events import DISMISS, LONGEST_TEXT, MOST_TABS, Notes, short
from foreword.browser.tab import CRASHED, LONGEST_URL, Tab
from foreword.errors import BrowserFailed, did_you_mean, name_list

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Download, Page, Request

MAIN = "Main Tab"
LONGEST_NAME = 60  # characters: a name is what a model calls a tab by, and a page chooses its title
MOST_DIALOGS = 25  # of all pages during one action: a page that asks more asks without end
TITLE_SECONDS = 2.0  # for a new tab to have a title; without one it is called by its address
# In a world of its own: the page's scripts see nothing of it.
_WATCH_FOCUS = """(() => {
  const tell = (what) => globalThis.forewordFocus && globalThis.forewordFocus(what);
  addEventListener('focus', () => tell('focus'));
  document.addEventListener(
    'visibilitychange', () => document.visibilityState === 'visible' && tell('focus'));
  if (self === top && document.hasFocus()) tell('focus'); })()"""
_NO_WEBRTC = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name]"
)


class Tabs:
    """All tabs of one browser."""

    def __init__(self, context: BrowserContext, blocked: BlockLog, *, attached: bool) -> None:
        self.context = context
        self.attached = attached
        self._blocked = blocked
        self.notes = Notes()
        self.dialog_answer = DISMISS  # during the action that is under way
        self.keeps_downloads = False  # the same
        self._tabs: list[Tab] = []
        self._front: list[Tab] = []  # those that were in front, the newest last
        self._workflow_tabs: list[Tab] = []  # those that nodes ran in, the newest last
        self._had_one = False
        self.has_loaded = False  # any page, in any tab that was ever there
        self._arriving: dict[Page, asyncio.Task[Tab]] = {}
        self._opening = 0  # tabs of ours that are about to come
        context.on("page", self._on_page)
        context.on("dialog", self._answer_dialog)

    def listing(self) -> list[dict[str, Any]]:
        """Every tab: name, address, whether it is active."""
        active = self._active_tab()
        listing = []
        for tab in list(self._tabs):  # another thread may ask while a tab comes or goes
            url = short(tab.url, LONGEST_URL)
            listing.append({"name": tab.name, "url": url, "active": tab is active})
        return listing

    def all(self) -> list[Tab]:
        """The tabs in the order they were opened."""
        return list(self._tabs)

    def by_name(self, name: str | None) -> Tab:
        """The tab of that name, the active one without a name."""
        if name is None:
            active = self._active_tab()
            if active is None:
                raise BrowserFailed("no tab is open", hint="open one with its address")
            return active
        found = [tab for tab in self._tabs if name == tab.name]
        if not found:
            found = [tab for tab in self._tabs if name in tab.aliases]
        if not found:
            found = [tab for tab in self._tabs if _is_same_name(name, tab.name)]
        if found:
            return found[-1]
        names = [tab.name for tab in self._tabs]
        near = did_you_mean(name, names)
        raise BrowserFailed(
            f"no tab is called {name!r}; open: {name_list(names)}",
            hint=f"did you mean {near!r}?" if near else "",
        )

    def activate(self, tab: Tab) -> None:
        """Remember which tab is in front."""
        self._front = [other for other in self._front if other is not tab]
        self._front.append(tab)

    def workflow_tab(self) -> Tab | None:
        """The tab that nodes run in, whichever is active: where the last of them was, or the main
        one; none where that is closed."""
        for tab in reversed(self._workflow_tabs):
            if tab in self._tabs:
                return tab
        for tab in self._tabs:
            if tab.name == MAIN:
                return tab
        return None

    def set_workflow_tab(self, tab: Tab | None) -> None:
        """Remember which tab the last node ran in or opened; none of them at the start."""
        if tab is None:
            self._workflow_tabs.clear()
            return
        self._workflow_tabs = [other for other in self._workflow_tabs if other is not tab]
        self._workflow_tabs.append(tab)

    def rename(self, tab: Tab, name: str) -> None:
        """Give a tab a name that no other has; the old one still finds it."""
        tab.aliases.add(tab.name)
        tab.unnamed = False
        tab.name = _unique(name, [other.name for other in self._tabs if other is not tab])

    async def entitle(self, tab: Tab, name: str | None = None) -> None:
        """Give a tab the name it is to have, or while it has only a number, its title."""
        from playwright.async_api import Error

        if name:
            self.rename(tab, name)
            return
        if not tab.unnamed:
            return
        title = ""
        with suppress(Error, TimeoutError):
            await tab.page.wait_for_load_state("domcontentloaded", timeout=1000 * TITLE_SECONDS)
            title = await asyncio.wait_for(tab.page.title(), TITLE_SECONDS)
        new_name = _one_line(title) or _name_from_url(tab.url)
        if new_name:
            self.rename(tab, new_name)

    def take_place(self, new: Tab, old: Tab) -> None:
        """Let a tab stand where another did, under its name."""
        position = self._tabs.index(old) if old in self._tabs else 0
        if self.workflow_tab() is old:
            self.set_workflow_tab(new)
        self._forget(old)
        self._tabs = [tab for tab in self._tabs if tab is not new]
        self._tabs.insert(position, new)
        self.rename(new, old.name)

    def adopt(self, page: Page) -> asyncio.Task[Tab]:
        """Take a page in, once; the task ends when it is known by name and watched."""
        if page not in self._arriving:
            tab = self._register(page)
            self._arriving[page] = asyncio.ensure_future(self._welcome(tab))
        return self._arriving[page]

    async def new(self) -> Tab:
        """Open a tab of ours."""
        self._opening += 1
        try:
            page = await self.context.new_page()
            self.adopt(page)
            tab = self._tab_of_page(page)
            assert tab is not None
            tab.ours = True
            tab.guarded = True
            tab.is_requested = True
        finally:
            self._opening -= 1
        return await self.adopt(page)

    async def limit(self, tab: Tab) -> None:
        """Take from a tab in the user's own browser what no guard sees: WebRTC, and pages loaded
        in advance."""
        from playwright.async_api import Error

        if tab.is_limited or not (self.attached and tab.guarded and self._blocked.rules.are_limits):
            return
        tab.is_limited = True
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

    async def wait_for_arrivals(self) -> None:
        """Wait until the tabs that are coming in are known."""
        await asyncio.gather(*self._arriving.values(), return_exceptions=True)

    def of_target(self, target: str) -> Tab | None:
        """The tab of a debugging target."""
        for tab in self._tabs:
            if tab.target == target:
                return tab
        return None

    def _on_page(self, page: Page) -> None:
        self.adopt(page)

    def _active_tab(self) -> Tab | None:
        if self._front:
            return self._front[-1]
        return self._tabs[0] if self._tabs else None

    def _tab_of_page(self, page: Page | None) -> Tab | None:
        for tab in self._tabs:
            if tab.page is page:
                return tab
        return None

    def _register(self, page: Page) -> Tab:
        ours = not self.attached
        names = [other.name for other in self._tabs]
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
        page.on("crash", lambda _: tab.mark_broken(CRASHED))
        page.on("request", lambda request: self._on_request(tab, request))
        page.on("response", lambda response: tab.requests.on_response(response))
        page.on("requestfinished", lambda request: tab.requests.on_end(request))
        page.on("requestfailed", lambda request: self._on_failed_request(tab, request))
        page.on(
            "websocket", lambda socket: self._count_blocked(tab, url=socket.url, kind="websocket")
        )
        page.on("framenavigated", lambda frame: tab.on_shown(frame))
        page.on("domcontentloaded", lambda _: tab.on_loaded())
        page.on("download", lambda download: self._cancel_download(tab, download))
        return tab

    def _on_request(self, tab: Tab, request: Request) -> None:
        tab.on_request(request)
        self.has_loaded = self.has_loaded or tab.loads > 0

    def _on_failed_request(self, tab: Tab, request: Request) -> None:
        tab.requests.on_end(request)
        if request is tab.request:
            tab.on_loaded()
        self._count_blocked(tab, url=request.url, kind=request.resource_type)

    def _count_blocked(self, tab: Tab, *, url: str, kind: str) -> None:
        if tab.guarded:
            self._blocked.request(url, kind)

    async def _welcome(self, tab: Tab) -> Tab:
        """Find out who opened a tab, watch it and name it; one too many is closed again."""
        from playwright.async_api import Error

        with suppress(Error):
            opener = await tab.page.opener()
            opened_by = self._tab_of_page(opener)
            if opened_by is not None:
                tab.ours = tab.ours or opened_by.ours
                tab.guarded = tab.guarded or opened_by.guarded
                self.notes.opened.append(tab)
                self.activate(tab)
            if tab.surplus and tab.ours and not tab.is_requested and not self._opening:
                self.notes.closed += 1
                await tab.page.close()
                return tab
            await self._watch(tab)
        await self.limit(tab)
        await self.entitle(tab)
        return tab

    async def _watch(self, tab: Tab) -> None:
        """Hear from a tab's debugging session when it comes to the front."""
        session = await self.context.new_cdp_session(tab.page)
        tab.session = session
        tab.target = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        if not self.attached:
            await _end_focus_emulation(session)
            tab.page.on("domcontentloaded", lambda _: _end_focus_emulation(session))
        session.on("Runtime.bindingCalled", lambda _: self.activate(tab))
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        await session.send(
            "Runtime.addBinding", {"name": "forewordFocus", "executionContextName": "foreword"}
        )
        script = {"source": _WATCH_FOCUS, "runImmediately": True, "worldName": "foreword"}
        await session.send("Page.addScriptToEvaluateOnNewDocument", script)

    def _forget(self, tab: Tab) -> None:
        self._tabs = [other for other in self._tabs if other is not tab]
        self._front = [other for other in self._front if other is not tab]
        self._arriving.pop(tab.page, None)
        tab.on_loaded()

    async def _answer_dialog(self, dialog: Dialog) -> None:
        from playwright.async_api import Error

        # Staying on a page because it asks would hold it against every navigation.
        is_leaving = dialog.type == "beforeunload"
        tab = self._tab_of_page(dialog.page)
        if tab is not None and not tab.guarded:
            return
        if len(self.notes.dialogs) >= MOST_DIALOGS and tab is not None and not is_leaving:
            # Left without an answer it does nothing more, until it is replaced.
            tab.mark_broken("asks without end")
            return
        chosen = self.dialog_answer
        answer = "accepted" if chosen.accept else "dismissed"
        if is_leaving:
            answer = "left the page"
        message = short(dialog.message, LONGEST_TEXT)
        self.notes.dialogs.append({"type": dialog.type, "message": message, "answer": answer})
        with suppress(Error):
            if is_leaving:
                await dialog.accept()
            elif chosen.accept and dialog.type == "prompt" and chosen.text is not None:
                await dialog.accept(chosen.text)
            elif chosen.accept:
                await dialog.accept()
            else:
                await dialog.dismiss()

    async def _cancel_download(self, tab: Tab, download: Download) -> None:
        from playwright.async_api import Error

        if tab.guarded and not self.keeps_downloads:
            self.notes.downloads.append(short(download.suggested_filename, LONGEST_TEXT))
            tab.on_loaded()
            with suppress(Error):
                await download.cancel()


async def _end_focus_emulation(session: CDPSession) -> None:
    """Let a tab know whether it is in front: Playwright makes all believe so, and every new
    document anew."""
    from playwright.async_api import Error

    with suppress(Error):
        for enabled in (True, False):
            await session.send("Emulation.setFocusEmulationEnabled", {"enabled": enabled})


def _is_same_name(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == other.casefold()


def _one_line(text: str) -> str:
    # A title may be endless: ten times a name is plenty to find its first words in.
    return short(" ".join(text[: 10 * LONGEST_NAME].split()), LONGEST_NAME)


def _name_from_url(url: str) -> str:
    parts = urlsplit(url)
    if not parts.netloc:
        return ""
    return _one_line(f"{parts.netloc}{parts.path}".rstrip("/"))


def _unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken already."""
    used = {other.casefold() for other in taken}
    unique = name
    number = 2
    while unique.casefold() in used:
        unique = f"{name} ({number})"
        number += 1
    return unique
