"""Bring tabs to the front, replace the ones that are beyond use, close them.

What a user opened stays open. Which tabs there are and what they are called is in `tabs`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from foreword.browser import browser_errors
from foreword.browser.chromium import CLOSE_SECONDS, Chromium
from foreword.browser.rules import BLANK, Rules
from foreword.browser.tab import Tab
from foreword.browser.tabs import MAIN
from foreword.errors import BrowserFailed


async def to_front(chromium: Chromium, tab: Tab) -> None:
    """Bring a tab to the front, as far as it still answers."""
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        await asyncio.wait_for(tab.page.bring_to_front(), browser_errors.ANSWER_SECONDS)
    chromium.tabs.activate(tab)


async def usable_tab(chromium: Chromium, tab: Tab, *, anew: bool) -> Tab:
    """The tab, in front; a new one in the place of one that is beyond use and is to go to another
    address (`anew`)."""
    if tab.broken_reason == browser_errors.SILENT:
        await browser_errors.state_of(tab)
    # A tab of the user's own is never closed, so it can't be replaced either.
    if tab.broken_reason and not (anew and tab.ours):
        raise browser_errors.broken_tab_error(tab)
    if tab.broken_reason:
        tab = await replace(chromium, tab)
    tab.guarded = True
    await chromium.tabs.limit(tab)
    await to_front(chromium, tab)
    return tab


async def leave_forbidden_page(tab: Tab, rules: Rules) -> list[str]:
    """Leave a page of a tab of ours that came past the guard, such as one that was loaded in
    advance; returns its address."""
    url = tab.url
    if not tab.ours or tab.page.is_closed():
        return []
    if rules.allows(url) or not url.startswith(("http:", "https:")):
        return []
    await tab.page.goto(BLANK, timeout=1000 * rules.page_seconds)
    return [url]


async def replace(chromium: Chromium, tab: Tab) -> Tab:
    """A new page under the name of one that has crashed, hangs, or can't be navigated."""
    if tab.broken_reason:
        await _crash(tab)
    new = await chromium.tabs.new()
    chromium.tabs.take_place(new, tab)
    await _close_page(tab)
    return new


async def renew_workflow_tab(chromium: Chromium) -> None:
    """Let nodes run in a new tab of the user's own browser; the one of an earlier run is closed."""
    old = chromium.tabs.workflow_tab()
    is_ours = old is not None and old.ours
    new = await (replace(chromium, old) if old and is_ours else chromium.tabs.new())
    chromium.tabs.set_workflow_tab(new)
    await to_front(chromium, new)


async def close(chromium: Chromium, tab: Tab) -> dict[str, Any]:
    """Close a tab, which is never the user's own, and say which one is in front then."""
    if chromium.tabs.attached and not tab.ours:
        raise BrowserFailed(f"{tab.name!r} is a tab of the user's own and is not closed")
    if len(chromium.tabs.all()) == 1 and not chromium.tabs.attached:
        # Without any tab Chromium ends.
        new = await replace(chromium, tab)
        chromium.tabs.rename(new, MAIN)
    else:
        await _close_page(tab)
    if not chromium.tabs.all():
        return {"closed": tab.name}
    current = chromium.tabs.by_name(None)
    await to_front(chromium, current)
    return {"closed": tab.name, **await browser_errors.state_of(current)}


async def end(chromium: Chromium) -> None:
    """Take leave of a browser; of the tabs in a user's own, those that were opened here are
    closed."""
    if chromium.tabs.attached and not chromium.has_ended:
        for tab in chromium.tabs.all():
            if tab.ours:
                await _close_page(tab)
    await chromium.end()


async def _crash(tab: Tab) -> None:
    """End the process of a page: it may be so busy that nothing else is heard of the browser."""
    from playwright.async_api import Error

    if tab.session is not None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(tab.session.send("Page.crash"), browser_errors.ANSWER_SECONDS)


async def _close_page(tab: Tab) -> None:
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        await asyncio.wait_for(tab.page.close(), CLOSE_SECONDS)
