"""Read from a page in a world beside its own, where nothing that its scripts have done to
JavaScript is to be seen.

Playwright runs what it is given to evaluate in the page's own world. Its selector engines may run
in another one, so `reader.js` is such an engine, and what it has read comes back as an attribute of
an element that is in no document.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page, Playwright

ENGINE = "foreword"
# For one reading of a page or frame. The largest pages take seconds in the browser itself; at half,
# a busy machine fails on them.
READ_SECONDS = 15.0
LOOK_SECONDS = 0.1  # between two looks at a page that is about to change
_PROGRAMS = tuple(
    "flat_tree accessible selectors rows obstacles errors click_watch dom explore".split()
)


async def prepare(playwright: Playwright) -> None:
    """Make the reader known: before a browser is started, or after one is reached, whose window
    is there already."""
    await playwright.selectors.register(ENGINE, _source(), content_script=True)


async def read(
    scope: Page | Frame | FrameLocator | Locator, what: str, *, seconds: float, **more: Any
) -> Any:
    """What the reader says of a document, or of an element."""
    request = scope.locator(_selector(what=what, **more))
    found = await request.get_attribute("value", timeout=1000 * seconds)
    return json.loads(found or "null")


async def pinned(scope: Page | FrameLocator, locator: Locator, *, seconds: float) -> Locator:
    """A locator of the element that another one finds, even once its selector finds it no
    longer."""
    await read(locator, "pin", seconds=seconds)
    return locator.or_(scope.locator(_selector(what="pinned")))


def holding(text: str) -> str:
    """A selector of the fields, among those of a locator, that hold a text; never of a secret."""
    return _selector(what="holds", text=text)


async def texts(
    scope: Page | FrameLocator, locator: Locator, fields: Sequence[Any] | None, most: int
) -> list[Any]:
    """The texts or the named fields of all elements that a locator finds."""
    await read(scope, "taken", seconds=READ_SECONDS)
    await locator.locator(_selector(what="take", fields=fields, most=most)).count()
    found: list[Any] = await read(scope, "taken", seconds=READ_SECONDS)
    return found


async def frames(frame: Frame, most: int) -> list[Frame | None]:
    """The frames in a frame, in the order in which the reader knows them."""
    elements = await frame.locator(_selector(what="frames", most=most)).element_handles()
    return [await element.content_frame() for element in elements]


async def is_alone(frame: Frame, selector: str, at: int) -> bool:
    """Whether a selector leads to the element of that number, as `explore` has found it, and to
    no other."""
    # One that is another is counted twice.
    return await frame.locator(selector).locator(_selector(what="is", at=at)).count() == 1


def _selector(**what: Any) -> str:
    """A request to the reader, as a selector of its engine."""
    return f"{ENGINE}={quote(json.dumps(what), safe='')}"


@cache
def _source() -> str:
    """The reader, with the programs that it is made of in their places."""
    folder = files("foreword.browser")
    source = (folder / "reader.js").read_text(encoding="utf-8")
    for name in _PROGRAMS:
        program = (folder / f"{name}.js").read_text(encoding="utf-8").strip()
        # The opening comment would hide what stands behind it on its line.
        source = source.replace(f"${name.upper()}$", f"\n{program}\n", 1)
    return source
