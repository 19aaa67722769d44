"""What went wrong with a page, in words that somebody can act on.

Playwright's messages hold logs, and in them what was typed; nothing of them is passed on but codes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from foreword.browser.rules import Rules
from foreword.browser.side_events import short
from foreword.browser.tabs import CRASHED, LONGEST_URL, Tab
from foreword.errors import BrowserFailed
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from playwright.async_api import Error, Locator

ANSWER_SECONDS = 2.0
LONGEST_TITLE = 300
SILENT = "does not answer"
RESTLESS = "keeps loading other pages by itself"
_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_WORDS = {
    "ERR_CONNECTION_REFUSED": "nothing answers at {where}",
    "ERR_NAME_NOT_RESOLVED": "the host of {where} is not known",
    "ERR_INTERNET_DISCONNECTED": "there is no network to reach {where}",
    "ERR_ADDRESS_UNREACHABLE": "{where} can't be reached",
    "ERR_CONNECTION_TIMED_OUT": "{where} did not answer in time",
    "ERR_CONNECTION_RESET": "{where} broke the connection off",
    "ERR_EMPTY_RESPONSE": "{where} closed the connection without an answer",
    "ERR_TOO_MANY_REDIRECTS": "{where} redirects without end",
    "ERR_UNSAFE_PORT": "Chromium opens no pages at the port of {where}",
    "ERR_INVALID_AUTH_CREDENTIALS": "{where} asks for a name and password of its own",
}


async def state_of(tab: Tab) -> dict[str, Any]:
    """How a page stands, without its content; a page that gives no answer is said to."""
    state: dict[str, Any] = {"tab": tab.name, "url": mask(short(tab.url, LONGEST_URL))}
    if tab.broken and tab.broken != SILENT:
        return {**state, "title": "", "error": f"the tab {tab.broken}"}
    if tab.page.is_closed():
        return {**state, "title": "", "error": "the tab is closed"}
    try:
        state["title"] = mask(
            short(await asyncio.wait_for(tab.page.title(), ANSWER_SECONDS), LONGEST_TITLE)
        )
        if tab.broken == SILENT:
            tab.broken = ""
    except TimeoutError:
        tab.broken = SILENT
        state |= {"title": "", "error": "the page does not answer"}
    except _error() as error:
        if "crashed" in str(error):
            tab.broken = CRASHED
        state |= {"title": "", "error": _plain(error)}
    return state


def broken(tab: Tab) -> BrowserFailed:
    """The error for a tab with which nothing can be done."""
    state = {
        "tab": tab.name,
        "url": mask(short(tab.url, LONGEST_URL)),
        "error": f"the tab {tab.broken}",
    }
    hint = "navigate it to an address to go on" if tab.ours else "open another tab to go on"
    return BrowserFailed(f"the tab {tab.name!r} {tab.broken}", hint=hint, state=state)


def load_error(error: Error, url: str, rules: Rules) -> BrowserFailed:
    """The error for an address that could not be opened."""
    where, text = mask(short(url, LONGEST_TITLE)), str(error)
    if "Timeout" in text:
        return BrowserFailed(f"{where} did not load within {rules.page_seconds:g} s")
    if "Download is starting" in text:
        return BrowserFailed(f"{where} is a download, and downloads are off")
    code = found[1] if (found := _NET.search(text)) else ""
    if code.startswith(("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL")):
        return BrowserFailed(f"the certificate of {where} is not trusted ({code})")
    if code:
        return BrowserFailed(
            _WORDS.get(code, "{where} did not load").format(where=where) + f" ({code})"
        )
    return BrowserFailed(f"{where} did not load: {_plain(error)}")


def other(error: Exception) -> BrowserFailed:
    """The error for anything else."""
    return BrowserFailed(f"the page did not do it: {_plain(error)}")


async def action_error(
    error: Error, locator: Locator, selector: str, rules: Rules
) -> BrowserFailed:
    """The error for an element that was not there, not alone, or not ready."""
    text = str(error)
    if "strict mode violation" in text:
        return BrowserFailed(
            f"{selector!r} matches {await _count(locator)} elements, and which one is meant is not"
            " clear",
            hint=f"name one of them, for example '{selector} >> nth=0'",
        )
    if _is_unreadable(text):
        return BrowserFailed(f"the selector {selector!r} can't be read", hint=SELECTORS)
    if "Timeout" not in text:
        return BrowserFailed(f"{selector!r}: {_plain(error)}")
    return BrowserFailed(
        await _unready(text, locator, selector, f"within {rules.action_seconds:g} s")
    )


SELECTORS = (
    """for example #id, role=button[name="Sign in"], [data-testid="save"], text=Sign in, or CSS"""
)


async def _unready(text: str, locator: Locator, selector: str, within: str) -> str:
    count = await _count(locator)
    if count is None:
        return f"the page did not answer {within}"
    if not count:
        return f"nothing on the page matches {selector!r} {within}"
    for claim, words in (
        (locator.first.is_visible, f"{selector!r} is on the page and was not visible {within}"),
        (locator.first.is_enabled, f"{selector!r} is disabled and stayed so {within}"),
    ):
        if not await _is(claim):
            return words
    if "intercepts pointer events" in text:
        return f"{selector!r} is covered by something else on the page and was not free {within}"
    return f"{selector!r} is on the page and did not take it {within}"


async def _count(locator: Locator) -> int | None:
    try:
        return await asyncio.wait_for(locator.count(), ANSWER_SECONDS)
    except (TimeoutError, _error()):
        return None


async def _is(claim: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await asyncio.wait_for(claim(), ANSWER_SECONDS)
    except (TimeoutError, _error()):
        return True


def _is_unreadable(text: str) -> bool:
    signs = (
        "not a valid selector",
        "Unknown engine",
        "Unexpected token",
        "while parsing",
        "Malformed",
        "Unsupported",
    )
    return any(sign in text for sign in (*signs, "InvalidSelectorError", "must specify"))


def _plain(error: Exception) -> str:
    """The first line of a message, without the name of the call."""
    first = str(error).partition("\n")[0]
    if "crashed" in first:
        return "the tab has crashed"
    if "has been closed" in first:
        return "the tab or the browser was closed"
    return mask(first.partition(": ")[2] or first)[:200]


def _error() -> type[Exception]:
    from playwright.async_api import Error

    return Error
