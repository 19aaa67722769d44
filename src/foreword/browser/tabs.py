"""The tabs of a browser, kept current by its events: what they are called, where they are, which one is active.

A tab's first name is "Main Tab", what it was given, or "Tab 2"; a popup takes its title as its name once it has one
and still answers to the old one. Nothing here asks a page for anything but its title.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.errors import BrowserFailed, did_you_mean, listed

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Download, Page, Request

MAIN = "Main Tab"
LONGEST_NAME = 60
TITLE_SECONDS = 2.0
ERROR_PAGE = "chrome-error:"
# In a world of its own: the page's scripts see nothing of it.
_WATCH = """(() => { const tell = (what) => globalThis.forewordFocus && globalThis.forewordFocus(what);
  addEventListener('focus', () => tell('focus'));
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && tell('focus'));
  if (self === top && document.hasFocus()) tell('focus'); })()"""


@dataclass(slots=True, eq=False)
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
    attempted: str = ""  # the address that was asked for last
    broken: str = ""  # why nothing can be done with it any more
    quiet: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The address; of a page that could not be loaded, the one that was asked for."""
        return self.attempted if self.page.url.startswith(ERROR_PAGE) else self.page.url


@dataclass(slots=True)
class Notes:
    """What happened beside what was asked for."""

    dialogs: list[dict[str, str]] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    opened: list[Tab] = field(default_factory=list)
    refused: list[tuple[str, bool]] = field(default_factory=list)  # the address, and whether of a whole tab

    def refused_tabs(self, since: int = 0) -> list[str]:
        """The addresses that were to fill a whole tab and were refused."""
        return [url for url, whole in self.refused[since:] if whole]

    def told(self) -> dict[str, Any]:
        """As much of it as there is, for a result."""
        all_of_it = {
            "dialogs": self.dialogs,
            "downloads_refused": self.downloads,
            "opened": [tab.name for tab in self.opened if not tab.page.is_closed()],
            "refused": [url for url, _ in self.refused],
        }
        return {name: value for name, value in all_of_it.items() if value}


class Tabs:
    """All tabs of one browser."""

    def __init__(self, context: BrowserContext, *, attached: bool) -> None:
        self.context, self.attached = context, attached
        self.notes = Notes()
        self._tabs: list[Tab] = []
        self._active: list[Tab] = []  # the newest last
        self._had_one = False
        self._arriving: dict[Page, asyncio.Task[Tab]] = {}
        context.on("page", self._came)
        context.on("dialog", self._answer)

    def listing(self) -> list[dict[str, Any]]:
        """Every tab: name, address, whether it is active."""
        active = self._current()
        return [{"name": tab.name, "url": tab.url, "active": tab is active} for tab in list(self._tabs)]

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
            f"no tab is called {name!r}; open: {listed(names)}", hint=f"did you mean {near!r}?" if near else ""
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
        if name := _short(title) or _place(tab.url):
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
        tab = Tab(name, page, ours, unnamed=self._had_one, guarded=ours)
        self._had_one = True
        tab.quiet.set()
        self._tabs.append(tab)
        page.on("close", lambda _: self._forget(tab))
        page.on("crash", lambda _: _mark(tab, "has crashed"))
        page.on("request", lambda request: _began(tab, request))
        page.on("requestfailed", lambda request: _ended(tab, request))
        page.on("domcontentloaded", lambda _: tab.quiet.set())
        page.on("download", lambda download: self._refuse(tab, download))
        return tab

    async def _arrived(self, tab: Tab) -> Tab:
        from playwright.async_api import Error

        with suppress(Error):
            opener = await tab.page.opener()
            if opened_by := next((other for other in self._tabs if other.page is opener), None):
                tab.ours, tab.guarded = tab.ours or opened_by.ours, tab.guarded or opened_by.guarded
                self.notes.opened.append(tab)
                self.activate(tab)
            await self._watch(tab)
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
        await session.send("Runtime.addBinding", {"name": "forewordFocus", "executionContextName": "foreword"})
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
        answer = "left the page" if leaving else "dismissed"
        self.notes.dialogs.append({"type": dialog.type, "message": dialog.message, "answer": answer})
        with suppress(Error):
            await (dialog.accept() if leaving else dialog.dismiss())

    async def _refuse(self, tab: Tab, download: Download) -> None:
        from playwright.async_api import Error

        if tab.guarded:
            self.notes.downloads.append(download.suggested_filename)
            tab.quiet.set()
            with suppress(Error):
                await download.cancel()


async def _unfeigned(session: CDPSession) -> None:
    """Let a tab know whether it is in front: Playwright makes all believe so, and every new document anew."""
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


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3].rstrip() + "..."


def _place(url: str) -> str:
    parts = urlsplit(url)
    return _short(f"{parts.netloc}{parts.path}".rstrip("/")) if parts.netloc else ""


def _unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken already."""
    used = {other.casefold() for other in taken}
    number, wanted = 2, name
    while wanted.casefold() in used:
        wanted, number = f"{name} ({number})", number + 1
    return wanted
