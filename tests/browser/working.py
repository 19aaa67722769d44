"""What tests of the browser do again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from subprocess import DEVNULL, Popen
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

from foreword.browser import Browser
from foreword.browser.actions import locate
from foreword.browser.profile_folders import program
from foreword.demos.site import NAME, PASSWORD, Site
from tests.patience import PATIENCE_SECONDS


def sign_in(
    browser: Browser, desk: Site, onward: str = "/dashboard", tab: str | None = None
) -> dict[str, Any]:
    browser.navigate(f"{desk.url}/login?next={onward}", tab=tab)
    browser.type("#name", NAME, tab=tab)
    browser.type("#password", PASSWORD, tab=tab)
    return browser.click('role=button[name="Sign in"]', tab=tab)


def until(claim: Callable[[], object]) -> None:
    """Wait until something is so; that is looked at again and again, and not for ever."""
    end = monotonic() + PATIENCE_SECONDS
    while not claim():
        assert monotonic() < end, "it did not become so"
        sleep(0.02)


def in_the_page(browser: Browser, script: str, tab: str | None = None) -> Any:
    """Run a script in a page, as somebody at the screen or the page itself could."""
    chromium = browser._chromium
    assert chromium is not None
    return browser._thread.run(chromium.tabs.by_name(tab).page.evaluate(script), 10)


def counts(browser: Browser, selectors: Sequence[str]) -> list[int]:
    """How many elements each selector leads to on the page as it is."""
    chromium = browser._chromium
    assert chromium is not None
    page = chromium.tabs.by_name(None).page

    async def count() -> list[int]:
        return [await locate(page, selector).count() for selector in selectors]

    return browser._thread.run(count(), PATIENCE_SECONDS)


def by_protocol(browser: Browser, method: str, **values: Any) -> None:
    """Something that only the debugging protocol can do, such as a crash; no answer is awaited."""
    chromium = browser._chromium
    assert chromium is not None
    session = chromium.guard._session
    if method.startswith("Page."):
        page_session = chromium.tabs.by_name(None).session
        assert page_session is not None
        session = page_session

    async def send() -> None:
        import asyncio
        from contextlib import suppress

        from playwright.async_api import Error

        with suppress(Error, asyncio.TimeoutError):
            await asyncio.wait_for(session.send(method, values), 3)

    browser._thread.run(send(), 10)


@contextmanager
def users_own(folder: Path, *addresses: str) -> Iterator[str]:
    """A Chromium that somebody else has started, and the address at which it can be debugged."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        f"--remote-debugging-port={port}",
        f"--user-data-dir={folder}",
    ]
    with Popen([program(), *flags, addresses[0]], stdout=DEVNULL, stderr=DEVNULL) as process:
        try:
            until(lambda: _answers(f"http://127.0.0.1:{port}/json/version"))
            for address in addresses[1:]:
                new_tab = Request(f"http://127.0.0.1:{port}/json/new?{address}", method="PUT")
                urlopen(new_tab, timeout=PATIENCE_SECONDS).close()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):
            return True
    except OSError:
        return False
