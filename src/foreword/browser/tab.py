"""One tab: its name, its page, whose it is, and whether it is loading or beyond use.

It knows of no other tab: which ones there are is in `tabs`, and `tab_lifecycle` replaces and closes
them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foreword.browser.page_requests import PageRequests

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request

LONGEST_URL = 2_000  # characters that a result tells of an address; `data:` addresses have no end
ERROR_PAGE = "chrome-error:"
CRASHED = "has crashed"


@dataclass(slots=True, eq=False, kw_only=True)
class Tab:
    """One tab."""

    name: str
    page: Page
    ours: bool  # opened by us, or from a tab that was
    unnamed: bool  # has only a number so far
    guarded: bool = False  # the rules apply to it
    target: str = ""  # its name in the debugging protocol
    session: CDPSession | None = None
    aliases: set[str] = field(default_factory=set)  # earlier names, which still find it
    surplus: bool = False  # came when there were enough
    is_requested: bool = False  # by us, and not by a page
    loads: int = 0  # pages that it has begun to load
    requested_url: str = ""  # the address that was asked for last
    broken_reason: str = ""  # why nothing can be done with it any more
    is_limited: bool = False  # by what `limit` does
    quiet: asyncio.Event = field(default_factory=asyncio.Event)  # set while no page is loading
    request: Request | None = None  # for the page that it is loading
    shows_last_page: bool = False  # the one before that, since no answer has come yet
    requests: PageRequests = field(default_factory=PageRequests)

    @property
    def url(self) -> str:
        """The address; of a page that could not be loaded, the one that was asked for."""
        return self.requested_url if self.page.url.startswith(ERROR_PAGE) else self.page.url

    def mark_broken(self, reason: str) -> None:
        """Give the tab up for this reason; whoever waits for its page to load is released."""
        self.broken_reason = reason
        self.on_loaded()

    def on_request(self, request: Request) -> None:
        """Note that its scripts ask for something, or that it begins to load another page."""
        self.requests.on_request(request)
        if self.is_navigation(request):
            self.requests.clear()
            self.requested_url = request.url
            self.loads += 1
            self.request = request
            self.shows_last_page = True
            self.quiet.clear()

    def on_loaded(self) -> None:
        """Note that it has its page, or will have none."""
        self.request = None
        self.shows_last_page = False
        self.quiet.set()

    def on_shown(self, frame: Frame) -> None:
        """Note that it shows the next page, as far as that is loaded."""
        if frame is self.page.main_frame:
            self.shows_last_page = False

    def is_navigation(self, request: Request) -> bool:
        """Whether a request is for the page itself, and not for a frame or a part of it."""
        from playwright.async_api import Error

        if not request.is_navigation_request():
            return False
        try:
            return request.frame is self.page.main_frame
        except Error:
            return True
