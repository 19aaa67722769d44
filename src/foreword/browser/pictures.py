"""Pictures of a page without its secrets: what a field of a secret holds is covered.

A page that shows a secret as text has no picture at all. Taking one changes nothing on the page;
where it stands, and who may ask, is the business of `browser`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from foreword.browser import browser_errors
from foreword.errors import BrowserFailed

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Page

HasSecret = Callable[[str], bool]
PICTURE_SECONDS = 5.0  # a page draws itself in a fraction of one; on a busy machine it takes some
JPEG_QUALITY = 60  # letters of a page can still be read at this, for a fifth of the bytes of PNG
COVER = "#8a8a94"
SHOWS_SECRET = "the page shows a secret, so there is no picture of it"
# Of a page and its frames, looked through for secrets; a page decides how many it has.
MOST_FIELDS = 500
_FIELDS = "input, textarea"
# the fields' values; of a password none, for it is covered whatever it holds
_VALUES = """(fields, most) => fields.slice(0, most).map(
  (field) => field.type === 'password' ? null : String(field.value))"""
_TEXT = "() => document.body ? document.body.innerText : ''"


async def take(
    page: Page,
    has_secret: HasSecret,
    *,
    kind: Literal["jpeg", "png"] = "jpeg",
    whole: bool = False,
    element: Locator | None = None,
) -> bytes:
    """A picture of what is seen of a page, of all of it (`whole`), or of an element."""
    covered: list[Locator] = []
    for frame in page.frames:
        covered += await asyncio.wait_for(
            _secret_fields(frame, has_secret), browser_errors.ANSWER_SECONDS
        )
    quality = JPEG_QUALITY if kind == "jpeg" else None
    if element is not None:
        return await element.screenshot(
            type=kind,
            quality=quality,
            mask=covered,
            mask_color=COVER,
            timeout=1000 * PICTURE_SECONDS,
        )
    return await page.screenshot(
        type=kind,
        quality=quality,
        full_page=whole,
        scale="css",
        mask=covered,
        mask_color=COVER,
        caret="initial",
        timeout=1000 * PICTURE_SECONDS,
    )


async def _secret_fields(frame: Frame, has_secret: HasSecret) -> list[Locator]:
    """The fields of a frame that are covered; an error where its text shows a secret."""
    from playwright.async_api import Error

    fields = frame.locator(_FIELDS)
    try:
        text = await frame.evaluate(_TEXT)
        values = await fields.evaluate_all(_VALUES, MOST_FIELDS)
    except Error:
        if frame.is_detached() or frame.parent_frame is not None:
            return []  # it is going, or may not be looked into
        raise
    if has_secret(str(text)):
        raise BrowserFailed(SHOWS_SECRET)
    covered = [frame.locator("input[type=password]")]
    for number, value in enumerate(values):
        if value and has_secret(value):
            covered.append(fields.nth(number))
    return covered
