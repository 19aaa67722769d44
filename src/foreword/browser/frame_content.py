"""What the frames of a page show, each read by itself, with the way that leads into it.

`reader.js` reads one frame; here is which frames there are, how many are read, and which selector
leads to an element of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foreword.browser import page_script
from foreword.browser.dom import Dom, read
from foreword.browser.page_script import READ_SECONDS

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

MOST_FRAMES = 20  # in a page; a frame has what is left of it, since each is read by itself


@dataclass(slots=True)
class FrameContent:
    """What one frame shows."""

    frame: Frame
    prefix: str  # the way into it: `frame=... >> `
    facts: dict[str, Any]
    inside: list[FrameContent] = field(default_factory=list)

    async def selectors(self, numbers: Sequence[int]) -> list[str]:
        """For each element of these numbers the first selector that leads to it alone."""
        if not numbers:
            return []
        tries = await page_script.read(
            self.frame, "selectors", seconds=READ_SECONDS, at=list(numbers)
        )
        pairs = zip(numbers, tries, strict=True)
        found = await asyncio.gather(*(self._selector(at, choices) for at, choices in pairs))
        return [self.prefix + selector if selector else "" for selector in found]

    async def _selector(self, at: int, tries: Sequence[str]) -> str:
        from playwright.async_api import Error

        for selector in tries:
            with suppress(Error):
                if await page_script.is_alone(self.frame, selector, at):
                    return selector
        return ""


async def frame_contents(page: Page) -> list[FrameContent]:
    """What a page and the frames in it show, a frame before those in it."""
    return _with_inner_frames(await _frame_content(page.main_frame, "", MOST_FRAMES))


async def _frame_content(frame: Frame, prefix: str, most: int) -> FrameContent:
    """What a frame shows, and the frames in it, at most so many; one that does not answer is left
    out."""
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    facts = await _read(frame, "explore")
    content = FrameContent(frame, prefix, facts)
    for index, element in enumerate(facts["elements"]):
        child = children[element["frame"]] if element["frame"] >= 0 else None
        if child is None:
            continue
        with suppress(Error, TimeoutError):
            [selector] = await content.selectors([index])
            inner_prefix = f"{prefix}frame={selector.removeprefix(prefix)} >> "
            inner = await _frame_content(child, inner_prefix, most - len(children))
            content.inside.append(inner)
    return content


def _with_inner_frames(content: FrameContent) -> list[FrameContent]:
    frames = [content]
    for inner in content.inside:
        frames.extend(_with_inner_frames(inner))
    return frames


async def dom_of(page: Page) -> Dom:
    """The elements of a page and of the frames in it."""
    return await _dom(page.main_frame, MOST_FRAMES)


async def _dom(frame: Frame, most: int) -> Dom:
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    raw = await _read(frame, "dom")
    inside = []
    for child in children:
        dom = Dom(None)
        with suppress(Error, TimeoutError):
            if child:
                dom = await _dom(child, most - len(children))
        inside.append(dom)
    return Dom(read(raw["tree"], inside), raw["left"] + sum(dom.unread for dom in inside))


async def _read(frame: Frame, what: str) -> dict[str, Any]:
    """What the reader says of a frame, within its time."""
    found: dict[str, Any] = await asyncio.wait_for(
        page_script.read(frame, what, seconds=2 * READ_SECONDS), READ_SECONDS
    )
    return found
