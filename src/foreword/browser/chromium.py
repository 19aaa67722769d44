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
from foreword.browser.blocked import BlockedRequests
from foreword.browser.origin_guard import OriginGuard
from foreword.browser.profile import BrowserProfile, program
from foreword.browser.proxy import RefusingProxy
from foreword.browser.rules import Rules
from foreword.browser.tabs import Tabs
from foreword.errors import BrowserFailed, UsageError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

START_SECONDS = 60.0
CLOSE_SECONDS = 10.0
# Playwright's own choice, with which a page can keep the whole browser busy by changing its address
# without end.
_UNPROTECTED = "--disable-ipc-flooding-protection"
INSTALL = "pip install 'foreword[browser]'"


@dataclass(slots=True, eq=False, kw_only=True)
class Chromium:
    """One browser that is reached, with its tabs and their guard."""

    playwright: Playwright
    browser: Browser
    context: BrowserContext
    tabs: Tabs
    guard: OriginGuard
    blocked: BlockedRequests
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
    path: str | Path | None,
    headless: bool,
    folder: Path | None,
    blocked: BlockedRequests,
) -> Chromium:
    """Start a Chromium of our own; connections to other places than the rules allow end at a
    proxy."""
    executable = program(path)
    playwright = await _playwright()
    profile = BrowserProfile(folder)
    refusing = RefusingProxy(blocked.connection) if rules.are_limits else None
    try:
        limits = (
            proxy.own_switches(rules)
            if refusing is None
            else proxy.switches(rules, await refusing.start())
        )
        await page_script.prepare(playwright)
        context = await playwright.chromium.launch_persistent_context(
            profile.data,
            executable_path=executable,
            headless=headless,
            args=limits,
            accept_downloads=False,
            ignore_default_args=[_UNPROTECTED],
            # A sandbox needs a user who is not root.
            chromium_sandbox=os.getuid() != 0,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            viewport={"width": 1280, "height": 860} if headless else None,
            no_viewport=None if headless else True,
            timeout=1000 * START_SECONDS,
        )
    except _error() as error:
        await playwright.stop()
        profile.remove()
        if refusing is not None:
            refusing.close()
        raise BrowserFailed(f"{executable} did not start: {_why(error)}") from None
    found = await _reached(playwright, context, rules, profile, blocked)
    found.proxy = refusing
    return found


async def attach_chromium(address: str, rules: Rules, blocked: BlockedRequests) -> Chromium:
    """Reach a Chromium that was started with `--remote-debugging-port`; nothing in it is
    changed."""
    address = _whole(address)
    playwright = await _playwright()
    try:
        browser = await playwright.chromium.connect_over_cdp(
            address, no_defaults=True, timeout=1000 * START_SECONDS / 4
        )
        await page_script.prepare(playwright)
        if not browser.contexts:
            raise BrowserFailed(f"the browser at {address} has no window")
        return await _reached(playwright, browser.contexts[0], rules, None, blocked)
    except _error() as error:
        await playwright.stop()
        raise BrowserFailed(
            f"no browser answers at {address}"
            + ("" if "ECONNREFUSED" in str(error) else f": {_why(error)}"),
            hint=(
                "`foreword browser start` starts one and says its address; yours needs"
                " --remote-debugging-port=9222"
            ),
        ) from None
    except BrowserFailed:
        await playwright.stop()
        raise


async def _reached(
    playwright: Playwright,
    context: BrowserContext,
    rules: Rules,
    profile: BrowserProfile | None,
    blocked: BlockedRequests,
) -> Chromium:
    assert context.browser is not None
    tabs = Tabs(context, blocked, attached=profile is None)
    session = await context.browser.new_browser_cdp_session()
    found = Chromium(
        playwright=playwright,
        browser=context.browser,
        context=context,
        tabs=tabs,
        guard=OriginGuard(rules, tabs, session),
        blocked=blocked,
        profile=profile,
    )
    context.on("close", lambda _: _over(found))
    context.browser.on("disconnected", lambda _: _over(found))
    if profile is not None:
        await found.guard.begin()
    for page in context.pages:
        tabs.adopt(page)
    await tabs.settled()
    return found


def _over(found: Chromium) -> None:
    found.has_ended = True


async def _playwright() -> Playwright:
    try:
        from playwright.async_api import async_playwright
    except ModuleNotFoundError:
        raise UsageError(
            "the browser needs a package that is not installed", hint=INSTALL
        ) from None
    return await async_playwright().start()


def _error() -> type[Exception]:
    from playwright.async_api import Error

    return Error


def _why(error: Exception) -> str:
    """The line of a long message that says what happened."""
    lines = [line.strip(" -|╔╗╚╝║═") for line in str(error).splitlines()]
    telling = [
        line for line in lines if "error" in line.lower() or "ECONN" in line or "Timeout" in line
    ]
    return next(iter(telling), next(filter(None, lines), "no reason given"))[:200]


def _whole(address: str) -> str:
    """An address with everything that may be left out: 9222, localhost:9222."""
    address = f"127.0.0.1:{address}" if address.isdecimal() else address
    return address if "://" in address else f"http://{address}"
