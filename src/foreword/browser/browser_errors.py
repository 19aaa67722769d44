"""Errors of pages and tabs, in words that somebody can act on, with the state of the page.

Playwright's messages hold logs, and in them what was typed; nothing of them is passed on but codes.
Which addresses may not be opened is `rules.origin_error`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from foreword.browser.page_script import READ_SECONDS
from foreword.browser.rules import Rules
from foreword.browser.side_events import short
from foreword.browser.tab import CRASHED, LONGEST_URL, Tab
from foreword.errors import BrowserFailed
from foreword.pattern import lazy_pattern
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from playwright.async_api import Error, Locator

# For a page's title, or whether an element is visible. Less would call a busy page silent; more
# would make every action on a dead one slower, since it asks two or three times.
ANSWER_SECONDS = 2.0
LONGEST_TITLE = 300  # characters: a page chooses its title, and a model reads it with each result
LONGEST_MESSAGE = 200  # characters of a message of Playwright's
SILENT = "does not answer"
RESTLESS = "keeps loading other pages by itself"
SELECTOR_HINT = (
    """for example #id, role=button[name="Sign in"], [data-testid="save"], text=Sign in, or CSS"""
)
_NET_CODE = lazy_pattern(r"net::(ERR_[A-Z0-9_]+)")
_LOAD_MESSAGES = {
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
_HTTP_LOGIN_HINT = "http_login before it answers that, with {{creds.password}} or another variable"


async def state_of(tab: Tab) -> dict[str, Any]:
    """How a page stands, without its content; a page that gives no answer is said to."""
    state: dict[str, Any] = {"tab": tab.name, "url": mask(short(tab.url, LONGEST_URL))}
    if tab.broken_reason and tab.broken_reason != SILENT:
        return {**state, "title": "", "error": f"the tab {tab.broken_reason}"}
    if tab.page.is_closed():
        return {**state, "title": "", "error": "the tab is closed"}
    try:
        title = await asyncio.wait_for(tab.page.title(), ANSWER_SECONDS)
        state["title"] = mask(short(title, LONGEST_TITLE))
        if tab.broken_reason == SILENT:
            tab.broken_reason = ""
    except TimeoutError:
        tab.broken_reason = SILENT
        state |= {"title": "", "error": "the page does not answer"}
    except _playwright_error() as error:
        if "crashed" in str(error):
            tab.broken_reason = CRASHED
        state |= {"title": "", "error": _first_line(error)}
    return state


def broken_tab_error(tab: Tab) -> BrowserFailed:
    """The error for a tab with which nothing can be done."""
    state = {
        "tab": tab.name,
        "url": mask(short(tab.url, LONGEST_URL)),
        "error": f"the tab {tab.broken_reason}",
    }
    hint = "navigate it to an address to go on" if tab.ours else "open another tab to go on"
    return BrowserFailed(f"the tab {tab.name!r} {tab.broken_reason}", hint=hint, state=state)


def still_loading_error(tab: Tab, rules: Rules) -> BrowserFailed:
    """The error for a tab that shows the page before the one it is to show."""
    where = mask(short(tab.requested_url, LONGEST_TITLE))
    return BrowserFailed(
        f"nothing was done: the tab {tab.name!r} is still loading {where}, without an answer for"
        f" {rules.page_seconds:g} s",
        hint="wait for an element or the address of the page that is to come",
    )


def load_error(error: Error, url: str, rules: Rules) -> BrowserFailed:
    """The error for an address that could not be opened."""
    where = mask(short(url, LONGEST_TITLE))
    text = str(error)
    if "Timeout" in text:
        return BrowserFailed(f"{where} did not load within {rules.page_seconds:g} s")
    if "Download is starting" in text:
        return BrowserFailed(f"{where} is a download, and downloads are off")
    code = _NET_CODE.search(text)
    if code is None:
        return BrowserFailed(f"{where} did not load: {_first_line(error)}")
    if code[1].startswith(("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL")):
        return BrowserFailed(f"the certificate of {where} is not trusted ({code[1]})")
    message = _LOAD_MESSAGES.get(code[1], "{where} did not load").format(where=where)
    hint = _HTTP_LOGIN_HINT if code[1] == "ERR_INVALID_AUTH_CREDENTIALS" else ""
    return BrowserFailed(f"{message} ({code[1]})", hint=hint)


def ended_error() -> BrowserFailed:
    """The error for a browser that is not there any more."""
    return BrowserFailed(
        "the browser has ended or crashed", hint="the next action begins with a new one"
    )


def as_browser_failed(error: Exception) -> BrowserFailed:
    """The error for whatever was raised while something was done on a page."""
    if isinstance(error, BrowserFailed):
        return error
    if isinstance(error, TimeoutError):
        return BrowserFailed(f"the page could not be read within {READ_SECONDS:g} s")
    return page_error(error)


async def with_state(error: BrowserFailed, tab: Tab, **more: Any) -> BrowserFailed:
    """The same error with the state of its tab, and what else happened."""
    state = {**await state_of(tab), **more}
    return type(error)(str(error), hint=error.command_hint, state=state)


def page_error(error: Exception) -> BrowserFailed:
    """The error for anything else."""
    return BrowserFailed(f"the page did not do it: {_first_line(error)}")


async def action_error(
    error: Error, locator: Locator, selector: str, rules: Rules
) -> BrowserFailed:
    """The error for an element that was not there, not alone, or not ready."""
    text = str(error)
    if "strict mode violation" in text:
        count = await _match_count(locator)
        return BrowserFailed(
            f"{selector!r} matches {count} elements, and which one is meant is not clear",
            hint=f"name one of them, for example '{selector} >> nth=0'",
        )
    if _is_selector_error(text):
        return BrowserFailed(f"the selector {selector!r} can't be read", hint=SELECTOR_HINT)
    if "Timeout" not in text:
        return BrowserFailed(f"{selector!r}: {_first_line(error)}")
    within = f"within {rules.action_seconds:g} s"
    return BrowserFailed(
        await _not_ready_message(locator, selector=selector, text=text, within=within)
    )


async def _not_ready_message(locator: Locator, *, selector: str, text: str, within: str) -> str:
    """Why an element took no action in its time; `text` is what Playwright says of it."""
    count = await _match_count(locator)
    if count is None:
        return f"the page did not answer {within}"
    if not count:
        return f"nothing on the page matches {selector!r} {within}"
    if not await _holds(locator.first.is_visible):
        return f"{selector!r} is on the page and was not visible {within}"
    if not await _holds(locator.first.is_enabled):
        return f"{selector!r} is disabled and stayed so {within}"
    if "intercepts pointer events" in text:
        return f"{selector!r} is covered by something else on the page and was not free {within}"
    return f"{selector!r} is on the page and did not take it {within}"


async def _match_count(locator: Locator) -> int | None:
    """How many elements there are; None where the page does not say."""
    try:
        return await asyncio.wait_for(locator.count(), ANSWER_SECONDS)
    except (TimeoutError, _playwright_error()):
        return None


async def _holds(claim: Callable[[], Awaitable[bool]]) -> bool:
    """Whether an element is as claimed; a page that does not answer is not blamed for it."""
    try:
        return await asyncio.wait_for(claim(), ANSWER_SECONDS)
    except (TimeoutError, _playwright_error()):
        return True


def _is_selector_error(text: str) -> bool:
    """Whether a selector was at fault, in the words of Playwright and of Chromium."""
    signs = (
        "not a valid selector",
        "Unknown engine",
        "Unexpected token",
        "while parsing",
        "Malformed",
        "Unsupported",
        "InvalidSelectorError",
        "must specify",
    )
    return any(sign in text for sign in signs)


def _first_line(error: Exception) -> str:
    """The first line of a message, without the name of the call."""
    first = str(error).partition("\n")[0]
    if "crashed" in first:
        return "the tab has crashed"
    if "has been closed" in first:
        return "the tab or the browser was closed"
    return mask(first.partition(": ")[2] or first)[:LONGEST_MESSAGE]


def _playwright_error() -> type[Exception]:
    from playwright.async_api import Error

    return Error
