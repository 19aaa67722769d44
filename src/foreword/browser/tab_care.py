"""Bringing tabs to the front, replacing the ones that are beyond use, closing them; what a user
opened stays open."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from foreword.browser import browser_errors
from foreword.browser.chromium import CLOSE_SECONDS, Chromium
from foreword.browser.tabs import MAIN, Tab
from foreword.errors import BrowserFailed


async def to_front(here: Chromium, tab: Tab) -> None:
    """Bring a tab to the front, as far as it still answers."""
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        await asyncio.wait_for(tab.page.bring_to_front(), browser_errors.ANSWER_SECONDS)
    here.tabs.activate(tab)


async def replace(here: Chromium, tab: Tab) -> Tab:
    """A new page under the name of one that has crashed, hangs, or can't be led anywhere."""
    if tab.broken:
        await _silence(tab)
    new = await here.tabs.new()
    here.tabs.take_place(new, tab)
    await _shut(tab)
    return new


async def close(here: Chromium, tab: Tab) -> dict[str, Any]:
    """Close a tab, which is never the user's own, and say which one is in front then."""
    if here.tabs.attached and not tab.ours:
        raise BrowserFailed(f"{tab.name!r} is a tab of the user's own and is not closed")
    if len(here.tabs.all()) == 1 and not here.tabs.attached:
        # Without any tab Chromium ends.
        here.tabs.rename(await replace(here, tab), MAIN)
    else:
        await _shut(tab)
    current = here.tabs.named(None) if here.tabs.all() else None
    if current is None:
        return {"closed": tab.name}
    await to_front(here, current)
    return {"closed": tab.name, **await browser_errors.state_of(current)}


async def end(here: Chromium) -> None:
    """Take leave of a browser; of the tabs in a user's own, those that were opened here are
    closed."""
    if here.tabs.attached and not here.has_ended:
        for tab in here.tabs.all():
            if tab.ours:
                await _shut(tab)
    await here.end()


async def _silence(tab: Tab) -> None:
    """End the process of a page: it may be so busy that nothing else is heard of the browser."""
    from playwright.async_api import Error

    if tab.session is not None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(tab.session.send("Page.crash"), browser_errors.ANSWER_SECONDS)


async def _shut(tab: Tab) -> None:
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        await asyncio.wait_for(tab.page.close(), CLOSE_SECONDS)
