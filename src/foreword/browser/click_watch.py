"""What happens on a page while something on it is clicked or a key is pressed.

A row may have moved or changed since it was looked at, so that it is compared at the moment of the
click, by a listener that the page's scripts can't see (`click_watch.js`). The same listener hears
which fields kept a form from being sent.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foreword.browser import page_script
from foreword.browser.browser_errors import ANSWER_SECONDS
from foreword.browser.page_script import LOOK_SECONDS
from foreword.browser.rules import Rules
from foreword.errors import BrowserFailed
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Locator, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickRecord:
    """What was heard of a click."""

    changed_row: str | None = None  # what the row said instead; the click did not reach the page
    invalid_fields: list[str] = field(default_factory=list)  # name and reason of each


async def wait_for_row(locator: Locator, row: str, rules: Rules) -> None:
    """Wait until the row around an element says `row`; BrowserFailed where it does not in the
    time of an action."""
    deadline = asyncio.get_running_loop().time() + rules.action_seconds
    while True:
        texts = await page_script.read(locator, "row", seconds=rules.action_seconds)
        if row in texts["around"]:
            return
        if asyncio.get_running_loop().time() > deadline:
            raise row_error(row, texts["row"])
        await asyncio.sleep(LOOK_SECONDS)


async def begin(scope: Page | FrameLocator, row: str | None = None) -> None:
    """Listen from now on; where there is a `row`, a click in any other reaches nothing."""
    await page_script.read(scope, "watch", seconds=ANSWER_SECONDS, row=row)


async def end(scope: Page | FrameLocator) -> ClickRecord:
    """Stop listening and return what was heard; nothing of a page that is gone by now."""
    from playwright.async_api import Error

    heard = None
    with suppress(Error):
        heard = await page_script.read(scope, "watched", seconds=ANSWER_SECONDS)
    if heard is None:
        return ClickRecord()
    changed = heard["found"] if heard["found"] != heard["row"] else None
    return ClickRecord(changed_row=changed, invalid_fields=heard["invalid"])


def row_error(row: str, found: str) -> BrowserFailed:
    """The error for an element that is in another row than the one that was meant."""
    now = f"says {mask(found)!r} now" if found else "is gone"
    return BrowserFailed(
        f"nothing was clicked: the row said {mask(row)!r} when the node was created, and {now}",
        hint="inspect_tab shows the rows; update_node changes selector and row (null: any row)",
    )
