"""A browser for tests: real Chromium, and a page that remembers everything that went wrong in
it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.faces.http.running import Address
from tests.patience import PATIENCE_SECONDS

PHONE, DESKTOP = (360, 780), (1280, 860)
PATIENCE_MILLISECONDS = 1_000 * PATIENCE_SECONDS
expect.set_options(timeout=PATIENCE_MILLISECONDS)


@dataclass
class Tab:
    """One open page."""

    page: Page
    address: Address
    wrong: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def go(self, path: str) -> Page:
        """Open an address of the page."""
        self.page.goto(f"http://{self.address.host}:{self.address.port}{path}")
        return self.page

    def live(self, path: str) -> Page:
        """Open an address and wait until changes are heard of."""
        self.go(path).wait_for_selector("#live:not([hidden]):not(.off)")
        return self.page

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        root = "document.documentElement"
        wide: int = self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
        return wide


PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's browser, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, PROGRAMS))), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@contextmanager
def tab(
    browser: Browser,
    address: Address,
    size: tuple[int, int] = DESKTOP,
    *,
    dark: bool = False,
    script: bool = True,
) -> Iterator[Tab]:
    """A page in a context of its own; at its end nothing may have gone wrong in it, or been
    asked of another host."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        java_script_enabled=script,
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    opened = Tab(context.new_page(), address)
    opened.page.on("console", lambda message: _note(opened, message))
    opened.page.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.page.on("request", lambda request: opened.hosts.add(urlsplit(request.url).netloc))
    try:
        yield opened
    finally:
        context.close()
    assert not opened.wrong, opened.wrong
    assert opened.hosts <= {f"{address.host}:{address.port}"}


def _note(opened: Tab, message: ConsoleMessage) -> None:
    """Errors in the console, violations of the content security policy too; a refusal that was
    asked for is none."""
    if (
        message.type in ("error", "warning")
        and "the server responded with a status of 4" not in message.text
    ):
        opened.wrong.append(message.text)
