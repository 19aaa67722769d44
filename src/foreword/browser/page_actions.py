"""What can be done on a page, in one table: how each action is carried out.

What each takes is described by `plan.page_action_shape`, under the same names. `browser` chooses
the tab, keeps the time and tells what else happened; `actions` has the most common ones.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.browser import actions, browser_errors, downloads, pictures
from foreword.browser.actions import Effect
from foreword.browser.chromium import Chromium
from foreword.browser.page_script import LOOK_SECONDS
from foreword.browser.rules import Rules
from foreword.browser.tab import Tab
from foreword.errors import BrowserFailed, UsageError

if TYPE_CHECKING:
    from playwright.async_api import JSHandle, Locator

# Of one scroll to the end. A list of ten thousand at twenty a time; beyond it, a page has no end.
MOST_SCROLLS = 500
# After a scroll, for a page to ask for more, whose coming is waited for apart from this. Half of it
# was taken for the end on a busy machine.
SCROLL_SECONDS = 0.8
# A document as tall as it was, after so many scrolls in a row, has come to its end. With two, a
# page that waits for a second and a half before it asks for more was thought to have.
SAME_HEIGHTS = 3
# Pagers say by a class what buttons say by an attribute.
_LOOKS_DISABLED = """element => [element, element.parentElement].some(
  (one) => one && [...one.classList].some((name) => /(^|[-_])disabled$/.test(name)))"""
_HEIGHT = "box => box.scrollHeight"
_TO = """(box, to) =>
  box.scrollTo({top: to === 'top' ? 0 : box.scrollHeight, behavior: 'instant'})"""
# Many applications fill the window and scroll something inside of it: the largest such is meant.
_SCROLLED = """() => {
  const page = document.scrollingElement || document.documentElement;
  if (page.scrollHeight > page.clientHeight + 1) return page;
  let best = page, largest = 0;
  const look = (root) => { for (const one of root.querySelectorAll('*')) {
    if (one.shadowRoot) look(one.shadowRoot);
    const area = one.clientWidth * one.clientHeight;
    if (area <= largest || one.scrollHeight <= one.clientHeight + 1) continue;
    if (['auto', 'scroll'].includes(getComputedStyle(one).overflowY)) [best, largest] = [one, area];
  } };
  look(document);
  return best;
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionContext:
    """What an action works with beside its tab."""

    chromium: Chromium
    rules: Rules
    effect: Effect
    folder: Path | None = None  # for files that are kept
    has_secret: pictures.HasSecret = bool


Given = Mapping[str, Any]
Perform = Callable[[Tab, Given, ActionContext], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAction:
    """One kind of action."""

    perform: Perform
    done: str = ""  # what it is called once done, of one whose effect may be there for good
    anew: bool = False  # the tab is to go elsewhere, so that a broken one is replaced
    while_loading: bool = False  # it may be begun on a page that is about to be replaced
    awaited: bool = False  # it may make the page ask its server for something, which is waited for


async def _navigate(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await actions.navigate(tab, given["url"], context.rules)


async def _click(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await actions.click(
        tab,
        given["selector"],
        context.rules,
        context.effect,
        button=given.get("button") or "left",
        times=2 if given.get("double") else 1,
        row=given.get("row"),
    )


async def _press(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await actions.press(
        tab,
        given["keys"],
        selector=given.get("selector"),
        rules=context.rules,
        effect=context.effect,
    )


async def _type(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await actions.type_text(
        tab,
        given["selector"],
        given["text"],
        context.rules,
        slowly=bool(given.get("slowly")),
    )


async def _select(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    choices = [str(choice) for choice in given["choices"]]
    return await actions.select_options(tab, given["selector"], choices, context.rules)


async def _hover(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    limit = 1000 * context.rules.action_seconds
    await _on_element(
        tab, given["selector"], context.rules, lambda locator: locator.hover(timeout=limit)
    )
    return {}


async def _drag(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    limit = 1000 * context.rules.action_seconds
    target = actions.locate(tab.page, given["to"])

    async def drag(locator: Locator) -> None:
        await locator.hover(timeout=limit)
        if not await target.count():
            raise BrowserFailed(f"nothing on the page matches {given['to']!r}")
        context.effect.may_have_happened = True
        await locator.drag_to(target, timeout=limit)

    await _on_element(tab, given["selector"], context.rules, drag)
    return {}


async def _scroll(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    selector = given.get("selector")
    to = given.get("to")
    limit = 1000 * context.rules.action_seconds
    if not to:
        if selector is None:
            raise UsageError("scroll needs a selector, or to: top, bottom or end")
        await _on_element(
            tab,
            selector,
            context.rules,
            lambda locator: locator.scroll_into_view_if_needed(timeout=limit),
        )
        return {}
    if selector is not None:
        await _on_element(tab, selector, context.rules, lambda found: found.wait_for(timeout=limit))
        box: Any = await actions.locate(tab.page, selector).element_handle(timeout=limit)
    else:
        await actions.wait_for_answers(tab, context.rules)  # a list that is empty does not scroll
        box = await tab.page.evaluate_handle(_SCROLLED)
    if to == "end":
        return await _scroll_to_end(tab, box, context.rules)
    await box.evaluate(_TO, to)
    return {}


async def _scroll_to_end(tab: Tab, box: JSHandle, rules: Rules) -> dict[str, Any]:
    """Scroll down until the content has not grown for a while."""
    deadline = asyncio.get_running_loop().time() + 3 * rules.page_seconds
    height = int(await box.evaluate(_HEIGHT))
    same = 0
    for scrolls in range(1, MOST_SCROLLS + 1):
        await box.evaluate(_TO, "bottom")
        grown = await _wait_for_growth(tab, box, height, rules)
        same = 0 if grown > height else same + 1
        height = grown
        if same >= SAME_HEIGHTS:
            return {"scrolls": scrolls}
        if asyncio.get_running_loop().time() > deadline:
            break
    return {"scrolls": scrolls, "note": f"there was still more to come after {scrolls} scrolls"}


async def _wait_for_growth(tab: Tab, box: JSHandle, height: int, rules: Rules) -> int:
    """The height once it has changed, or after a while in which the page asks for nothing."""
    latest = asyncio.get_running_loop().time() + rules.page_seconds
    waited = 0.0
    grown = height
    while waited < SCROLL_SECONDS and grown <= height:
        await asyncio.sleep(SCROLL_SECONDS / 8)
        waited += SCROLL_SECONDS / 8
        has_waited = await actions.wait_for_answers(tab, rules)
        if has_waited and asyncio.get_running_loop().time() < latest:
            waited = 0.0  # what has come is drawn now, or is asked for in parts
        grown = int(await box.evaluate(_HEIGHT))
    return grown


async def _next_page(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    """Click what leads to the next page, if it is there and can be used, and wait until the page
    shows something else; `next` says whether there was one."""
    selector = given["selector"]
    rules = context.rules
    locator = actions.locate(tab.page, selector).first
    if not await is_usable(locator):
        return {"next": False}
    before = await _page_digest(tab)
    await actions.click(tab, f"{selector} >> nth=0", rules, context.effect)
    now = asyncio.get_running_loop().time
    deadline = now() + rules.action_seconds
    latest = deadline + rules.page_seconds
    while now() < deadline:
        await actions.wait_for_page(tab, rules)
        # A page may say that it is loading before it shows what has come.
        if await actions.wait_for_answers(tab, rules):
            deadline = min(now() + rules.action_seconds, latest)
        if await _page_digest(tab) != before:
            return {"next": True}
        await asyncio.sleep(LOOK_SECONDS)
    return {"next": False, "note": f"clicking {selector!r} changed nothing, so it was the last"}


async def is_usable(locator: Locator) -> bool:
    """Whether an element is there now, seen and not switched off; nothing is waited for."""
    if not await locator.count() or not await locator.is_visible():
        return False
    return await locator.is_enabled() and not await locator.evaluate(_LOOKS_DISABLED)


async def _page_digest(tab: Tab) -> str:
    from playwright.async_api import Error

    with suppress(Error):
        text = await tab.page.evaluate("() => location.href + document.body.innerText")
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return ""


async def _wait(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    names = ("selector", "gone", "text", "url", "quiet", "seconds")
    awaited = {name: given[name] for name in names if given.get(name) is not None}
    return await actions.wait_for(tab, rules=context.rules, **awaited)


async def _extract(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await actions.extract(
        tab,
        given["selector"],
        fields=given.get("fields"),
        many=bool(given.get("many")),
        rules=context.rules,
    )


async def _upload(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    limit = 1000 * context.rules.action_seconds
    files = [str(path) for path in given["files"]]

    async def upload(locator: Locator) -> None:
        kind = await locator.evaluate("field => field.tagName + ' ' + field.type", timeout=limit)
        context.effect.may_have_happened = True
        if kind.lower() == "input file":
            await locator.set_input_files(files, timeout=limit)
            return
        async with tab.page.expect_file_chooser(timeout=limit) as chooser:
            await locator.click(timeout=limit)
        await (await chooser.value).set_files(files, timeout=limit)

    await _on_element(tab, given["selector"], context.rules, upload)
    return {"files": [Path(path).name for path in files]}


async def _download(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    if context.folder is None:
        raise UsageError("there is no folder for downloads here")
    async with downloads.into(context.chromium, context.folder) as download:
        await _click(tab, given, context)
        path = await download.wait(given.get("timeout") or downloads.DOWNLOAD_SECONDS)
    tab.on_loaded()
    return {"file": path.name, "path": str(path), "bytes": path.stat().st_size}


async def _screenshot(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    if context.folder is None:
        raise UsageError("there is no folder for pictures here")
    selector = given.get("selector")
    element = None
    if selector is not None:
        limit = 1000 * context.rules.action_seconds
        await _on_element(tab, selector, context.rules, lambda found: found.wait_for(timeout=limit))
        element = actions.locate(tab.page, selector).first
    picture = await pictures.take(
        tab.page,
        context.has_secret,
        kind="png",
        whole=bool(given.get("whole")),
        element=element,
    )
    path = downloads.write_new(context.folder, "screenshot.png", picture)
    return {"file": path.name, "path": str(path), "bytes": len(picture)}


async def _back(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await _move(tab, context.rules, tab.page.go_back)


async def _reload(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    return await _move(tab, context.rules, tab.page.reload)


async def _move(tab: Tab, rules: Rules, move: Callable[..., Awaitable[Any]]) -> dict[str, Any]:
    from playwright.async_api import Error

    try:
        response = await move(wait_until="domcontentloaded", timeout=1000 * rules.page_seconds)
    except Error as error:
        raise browser_errors.load_error(error, tab.url, rules) from None
    if response is not None and response.status >= 400:
        return {"status": response.status}
    return {}


async def _http_login(tab: Tab, given: Given, context: ActionContext) -> dict[str, Any]:
    context.rules.check(given["url"])
    await context.chromium.guard.set_credentials(given["url"], given["username"], given["password"])
    return {}


async def _on_element(
    tab: Tab, selector: str, rules: Rules, do: Callable[[Locator], Awaitable[Any]]
) -> None:
    """Do something with an element; what goes wrong is said in words."""
    from playwright.async_api import Error

    locator = actions.locate(tab.page, selector)
    try:
        await do(locator)
    except Error as error:
        raise await browser_errors.action_error(error, locator, selector, rules) from None


PAGE_ACTIONS: dict[str, PageAction] = {
    "navigate": PageAction(perform=_navigate, anew=True),
    "click": PageAction(perform=_click, awaited=True, done="clicked"),
    "press": PageAction(perform=_press, awaited=True, done="pressed"),
    "type": PageAction(perform=_type, awaited=True),
    "select": PageAction(perform=_select, awaited=True),
    "hover": PageAction(perform=_hover),
    "drag": PageAction(perform=_drag, awaited=True, done="dragged"),
    "scroll": PageAction(perform=_scroll),
    "wait": PageAction(perform=_wait, while_loading=True),
    "next_page": PageAction(perform=_next_page, done="clicked"),
    "extract": PageAction(perform=_extract),
    "upload": PageAction(perform=_upload, done="given"),
    "download": PageAction(perform=_download, done="clicked"),
    "screenshot": PageAction(perform=_screenshot),
    "back": PageAction(perform=_back, while_loading=True),
    "reload": PageAction(perform=_reload, while_loading=True),
    "http_login": PageAction(perform=_http_login, while_loading=True),
}
