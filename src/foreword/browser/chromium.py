"""A running Chromium: one that we start with a profile of its own, or one that the user has running
already.

Everything here is async and belongs to the loop of `thread`. Ending one that was attached ends our
connection only.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.browser import page_script, proxy
from foreword.browser.block_log import BlockLog
from foreword.browser.origin_guard import OriginGuard
from foreword.browser.profile_folders import BrowserProfile, program
from foreword.browser.proxy import RefusingProxy
from foreword.browser.rules import Rules
from foreword.browser.tabs import Tabs
from foreword.errors import BrowserFailed
from foreword.extras import extra

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

# For a Chromium to start: far more than it takes on an idle machine, as a busy one is no failure.
# Only a browser that never comes takes all of it. One that is running already has a quarter.
START_SECONDS = 60.0
ATTACH_SECONDS = START_SECONDS / 4
# For a browser or a tab to close by itself; after that its connection is given up.
CLOSE_SECONDS = 10.0
LONGEST_REASON = 200  # characters of Playwright's message in an error
# Playwright's own choice, with which a page can keep the whole browser busy by changing its address
# without end.
_UNPROTECTED = "--disable-ipc-flooding-protection"


@dataclass(slots=True, eq=False, kw_only=True)
class Chromium:
    """One browser that is reached, with its tabs and their guard."""

    playwright: Playwright
    browser: Browser
    context: BrowserContext
    tabs: Tabs
    guard: OriginGuard
    profile: BrowserProfile | None  # None: the user's own, which is never closed
    proxy: RefusingProxy | None = None
    has_ended: bool = False

    async def end(self) -> None:
        """Close what we started, or take leave of what we did not."""
        from playwright.async_api import Error

        if self.profile is not None:
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(self.context.close(), CLOSE_SECONDS)
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(self.playwright.stop(), CLOSE_SECONDS)
        if self.proxy is not None:
            self.proxy.close()
        if self.profile is not None:
            self.profile.remove()


async def start_chromium(
    rules: Rules,
    *,
    path: str | Path | None,
    headless: bool,
    folder: Path | None,
    blocked: BlockLog,
) -> Chromium:
    """Start a Chromium of our own; connections to other places than the rules allow end at a
    proxy."""
    executable = program(path)
    playwright = await _playwright()  # first: it says what to do where there is none
    from playwright.async_api import Error

    profile = BrowserProfile(folder)
    refusing = RefusingProxy(blocked.connection) if rules.are_limits else None
    try:
        if refusing is None:
            switches = proxy.own_switches(rules)
        else:
            switches = proxy.switches(rules, await refusing.start())
        await page_script.prepare(playwright)
        context = await playwright.chromium.launch_persistent_context(
            profile.data,
            executable_path=executable,
            headless=headless,
            args=switches,
            accept_downloads=False,
            ignore_default_args=[_UNPROTECTED],
            # A sandbox needs a user who is not root.
            chromium_sandbox=os.getuid() != 0,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            # Wide enough that sites do not turn to their layout for phones.
            viewport={"width": 1280, "height": 860} if headless else None,
            no_viewport=None if headless else True,
            timeout=1000 * START_SECONDS,
        )
    except Error as error:
        await playwright.stop()
        profile.remove()
        if refusing is not None:
            refusing.close()
        raise BrowserFailed(f"{executable} did not start: {_reason(error)}") from None
    chromium = await _connect(playwright, context, rules, profile=profile, blocked=blocked)
    chromium.proxy = refusing
    return chromium


async def attach_chromium(address: str, rules: Rules, blocked: BlockLog) -> Chromium:
    """Reach a Chromium that was started with `--remote-debugging-port`; nothing in it is
    changed."""
    address = _whole_address(address)
    playwright = await _playwright()  # first: it says what to do where there is none
    from playwright.async_api import Error

    try:
        browser = await playwright.chromium.connect_over_cdp(
            address, no_defaults=True, timeout=1000 * ATTACH_SECONDS
        )
        await page_script.prepare(playwright)
        if not browser.contexts:
            raise BrowserFailed(f"the browser at {address} has no window")
        return await _connect(playwright, browser.contexts[0], rules, profile=None, blocked=blocked)
    except Error as error:
        await playwright.stop()
        reason = "" if "ECONNREFUSED" in str(error) else f": {_reason(error)}"
        raise BrowserFailed(
            f"no browser answers at {address}{reason}",
            hint=(
                "`foreword browser start` starts one and says its address; yours needs"
                " --remote-debugging-port=9222"
            ),
        ) from None
    except BrowserFailed:
        await playwright.stop()
        raise


async def _connect(
    playwright: Playwright,
    context: BrowserContext,
    rules: Rules,
    *,
    profile: BrowserProfile | None,
    blocked: BlockLog,
) -> Chromium:
    """A browser that is running, with its tabs known and its guard set up."""
    assert context.browser is not None
    tabs = Tabs(context, blocked, attached=profile is None)
    session = await context.browser.new_browser_cdp_session()
    chromium = Chromium(
        playwright=playwright,
        browser=context.browser,
        context=context,
        tabs=tabs,
        guard=OriginGuard(rules, tabs, session),
        profile=profile,
    )
    context.on("close", lambda _: _mark_ended(chromium))
    context.browser.on("disconnected", lambda _: _mark_ended(chromium))
    if profile is not None:
        await chromium.guard.begin()
    for page in context.pages:
        tabs.adopt(page)
    await tabs.wait_for_arrivals()
    return chromium


def _mark_ended(chromium: Chromium) -> None:
    chromium.has_ended = True


async def _playwright() -> Playwright:
    with extra("browser"):
        from playwright.async_api import async_playwright
    return await async_playwright().start()


def _reason(error: Exception) -> str:
    """The line of a long message that says what happened."""
    lines = [line.strip(" -|╔╗╚╝║═") for line in str(error).splitlines()]
    for line in lines:
        if "error" in line.lower() or "ECONN" in line or "Timeout" in line:
            return line[:LONGEST_REASON]
    for line in lines:
        if line:
            return line[:LONGEST_REASON]
    return "no reason given"


def _whole_address(address: str) -> str:
    """An address with everything that may be left out: 9222, localhost:9222."""
    if address.isdecimal():
        address = f"127.0.0.1:{address}"
    return address if "://" in address else f"http://{address}"
