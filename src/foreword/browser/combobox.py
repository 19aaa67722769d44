"""Choose in a list that scripts have built: a combobox as ARIA describes it, and as React, Vue,
MUI, Radix and Gradio build it.

It is opened by a click, or by the arrow key where its element takes no click; its options have the
role `option`. What it shows afterwards is compared with what was chosen.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from foreword.browser import page_script
from foreword.browser.page_script import LOOK_SECONDS
from foreword.browser.rules import Rules
from foreword.errors import BrowserFailed
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Locator, Page

MOST_OPTIONS = 12  # that an error names: enough to see what they look like
# For a list to open by a click before the arrow key is tried, for what was chosen to be shown, and
# for a list to close, which one of several choices need not. Those with an animation take 0.2 to
# 0.3 s.
OPEN_SECONDS = 1.0
_OPTION = "[role=option]:visible"


async def is_combobox(locator: Locator, rules: Rules) -> bool:
    """Whether a field offers a list of its own, which may change what is typed."""
    return bool((await _facts(locator, rules))["is_combobox"])


async def choose(
    scope: Page | FrameLocator, locator: Locator, *, selector: str, choice: str, rules: Rules
) -> None:
    """Choose the option with this label; BrowserFailed where there is none, or where the element
    does not show it afterwards."""
    options = await _open(scope, locator, selector=selector, rules=rules)
    option = _option(options, choice)
    labels = await _labels(options)
    facts = await _facts(locator, rules)
    if not await option.count() and facts["is_editable"]:
        await locator.fill(choice, timeout=1000 * rules.action_seconds)  # long lists are filtered
        await _wait_for(option, "visible", rules.action_seconds)
    if not await option.count():
        if facts["is_editable"]:
            await locator.fill(facts["value"], timeout=1000 * rules.action_seconds)
        await locator.page.keyboard.press("Escape")
        await locator.blur(timeout=1000 * rules.action_seconds)
        await _wait_for(options, "hidden", OPEN_SECONDS)
        raise BrowserFailed(f"{selector!r} has no such choice; it has: {labels}")
    await option.click(timeout=1000 * rules.action_seconds)
    if not await _shows(locator, choice, rules):
        raise BrowserFailed(
            f"{selector!r} does not show what was chosen",
            hint="look with inspect_tab, and choose by clicks",
        )
    await _wait_for(options, "hidden", OPEN_SECONDS)  # one that is closing takes no choice


async def commit(
    scope: Page | FrameLocator, locator: Locator, *, selector: str, text: str, rules: Rules
) -> None:
    """Make a combobox keep the text that was typed into it: the option of that name is chosen,
    where it is offered, and the field is left, since many take another option then. The focus
    comes back, for a key to be pressed, unless that opens the list again, which would cover what
    is clicked next. BrowserFailed where the field keeps something else."""
    options = await _options(scope, locator, rules)
    option = _option(options, text)
    labels = await _labels(options)
    if await option.count() == 1:
        await option.click(timeout=1000 * rules.action_seconds)
    await locator.blur(timeout=1000 * rules.action_seconds)
    if not await _shows(locator, text, rules):
        offered = f"; it offers: {labels}" if labels else ""
        raise BrowserFailed(
            f"{selector!r} does not keep what was typed when it is left{offered}",
            hint="select chooses one of its options; type with slowly: true leaves the list open",
        )
    await _wait_for(options, "hidden", OPEN_SECONDS)
    await locator.focus(timeout=1000 * rules.action_seconds)
    if await (await _options(scope, locator, rules)).count():
        await locator.blur(timeout=1000 * rules.action_seconds)


async def _open(
    scope: Page | FrameLocator, locator: Locator, *, selector: str, rules: Rules
) -> Locator:
    """The options of a list, once it is open."""
    from playwright.async_api import Error

    await locator.wait_for(state="attached", timeout=1000 * rules.action_seconds)
    options = await _options(scope, locator, rules)
    if await options.count():
        return options
    with suppress(Error):  # something lies over it, as over the field of many lists
        await locator.click(timeout=1000 * OPEN_SECONDS)
    for opening in (None, "ArrowDown"):
        if opening:
            await locator.press(opening, timeout=1000 * rules.action_seconds)
        deadline = asyncio.get_running_loop().time() + OPEN_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            options = await _options(scope, locator, rules)
            if await options.count():
                return options
            await asyncio.sleep(LOOK_SECONDS)
    raise BrowserFailed(
        f"{selector!r} shows no options to choose from",
        hint="select is for a <select> or a combobox; click what opens the list, then an option",
    )


async def _options(scope: Page | FrameLocator, locator: Locator, rules: Rules) -> Locator:
    """The options that are shown: of the list that the element names as its own, else all."""
    for list_id in (await _facts(locator, rules))["lists"]:
        own = scope.locator(f"[id={json.dumps(list_id)}]").locator(_OPTION)
        if await own.count():
            return own
    return scope.locator(_OPTION)


def _option(options: Locator, label: str) -> Locator:
    return options.and_(options.page.get_by_role("option", name=label, exact=True))


async def _labels(options: Locator) -> str:
    """The options that are shown, as an error names them."""
    labels = (await options.all_inner_texts())[:MOST_OPTIONS]
    return ", ".join(mask(" ".join(label.split())) for label in labels)


async def _wait_for(options: Locator, state: Literal["hidden", "visible"], seconds: float) -> None:
    from playwright.async_api import TimeoutError as LateError

    with suppress(LateError):
        await options.first.wait_for(state=state, timeout=1000 * seconds)


async def _shows(locator: Locator, text: str, rules: Rules) -> bool:
    """Whether an element shows a text: as its value, or, where it has none, in it or beside it."""
    deadline = asyncio.get_running_loop().time() + OPEN_SECONDS
    wanted = " ".join(text.split())
    while True:
        facts = await _facts(locator, rules)
        if facts["value"] == wanted:
            return True
        if not facts["value"] and any(wanted in around for around in facts["around"]):
            return True
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(LOOK_SECONDS)


async def _facts(locator: Locator, rules: Rules) -> dict[str, Any]:
    facts: dict[str, Any] = await page_script.read(
        locator, "combobox", seconds=rules.action_seconds
    )
    return facts
