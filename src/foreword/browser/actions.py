"""What can be done on a page: open an address, click, type, wait, read.

Each is async, takes the tab, and returns what it found beside where the tab is then. Which tab, the
time limit over all, and what else happened meanwhile are the business of `browser`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from foreword.browser import browser_errors, click_watch, combobox, page_script
from foreword.browser.combobox import MOST_OPTIONS
from foreword.browser.page_script import LOOK_SECONDS, READ_SECONDS
from foreword.browser.rules import Rules
from foreword.browser.tab import Tab
from foreword.errors import BrowserFailed, UsageError

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Locator, Page, Response

FRAME = "frame="
# Items that one `extract` reads: the page decides how many match, and all of them go to a model.
# Where there are more, the result says so.
MOST_ITEMS = 1_000
# Loads that a tab may begin while it is to go to one address. A redirect by script or two are
# usual; a page that is past this number loads others without end, and its tab is given up.
MOST_LOADS = 4
# How often one navigation is repeated because another one interrupts it: a page that goes elsewhere
# by itself, or after a failed load the browser's error page, and then the interrupted navigation,
# which comes in all the same. Of 300 navigations after a failed load on a busy machine 10 failed
# with one repetition, and none with two.
MOST_INTERRUPTIONS = 2
KEYS_HINT = "for example Enter, Escape, ArrowDown, Control+a, or several: Tab Tab Enter"
# Between two keys that are typed slowly: a fast typist's, so that a page which waits for a pause
# sees none before the end.
KEY_MILLISECONDS = 30
# After a click or a key, for a script to send its first request: many do so by a timer. Fields that
# search while somebody types wait for 0.2 to 0.3 s; with half of it, their old list is read.
BEGIN_SECONDS = 0.35
# After an answer, for a script to ask for what follows from it. A guess: Gradio's chain of two
# requests is seen whole with it.
CHAIN_SECONDS = 0.06
# Of each attempt at a click Playwright's log says: it begins, the mouse is pressed, it is done.
_ATTEMPTING = "attempting click action"
_PERFORMING = "performing click action"
_CLICKED = "click action done"
_CALL_LOG = "Call log:"  # what stands before it
_FIELDS = "input, textarea, select"
_NEXT_PAINT = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"


@dataclass(slots=True, kw_only=True)
class Effect:
    """Whether what is being done to a page may have had its effect by now, and what it is called
    then."""

    done: str
    may_have_happened: bool = False
    invalid_fields: list[str] = field(default_factory=list)  # that kept a form from being sent


def locate(page: Page, selector: str) -> Locator:
    """The element of a selector; `frame=iframe#tides >> ...` looks inside a frame."""
    _, locator = _scope_and_locator(page, selector)
    return locator


def _scope_and_locator(page: Page, selector: str) -> tuple[Page | FrameLocator, Locator]:
    """The page or the frame that an element is in, and the element."""
    if not selector.strip():
        raise BrowserFailed(
            "a selector is needed, not an empty text", hint=browser_errors.SELECTOR_HINT
        )
    scope: Page | FrameLocator = page
    while selector.startswith(FRAME) and " >> " in selector:
        frame, _, selector = selector.partition(" >> ")
        scope = scope.frame_locator(frame.removeprefix(FRAME))
    return scope, scope.locator(selector)


async def navigate(tab: Tab, url: str, rules: Rules) -> dict[str, Any]:
    """Open an address and wait until its document is there."""
    from playwright.async_api import Error

    url = rules.check(url)
    tab.requested_url = url
    loads_before = tab.loads
    try:
        response = await _goto(tab.page, url, rules)
    except Error as error:
        if tab.loads - loads_before > MOST_LOADS:
            tab.broken_reason = browser_errors.RESTLESS
        raise browser_errors.load_error(error, url, rules) from None
    if response is not None and response.status >= 400:
        return {"status": response.status}
    return {}


async def _goto(page: Page, url: str, rules: Rules) -> Response | None:
    """Return the response of an address; a navigation that another one interrupts is repeated."""
    from playwright.async_api import Error

    limit = 1000 * rules.page_seconds
    for _ in range(MOST_INTERRUPTIONS):
        try:
            response = await page.goto(url, wait_until="domcontentloaded", timeout=limit)
            if response is None:
                # Only the fragment differs, for which Chromium loads nothing by itself.
                response = await page.reload(wait_until="domcontentloaded", timeout=limit)
            return response
        except Error as error:
            if "interrupted by another" not in str(error):
                raise
        await asyncio.sleep(LOOK_SECONDS)
    return await page.goto(url, wait_until="domcontentloaded", timeout=limit)


async def click(
    tab: Tab,
    selector: str,
    rules: Rules,
    effect: Effect,
    *,
    button: Literal["left", "middle", "right"] = "left",
    times: int = 1,
    row: str | None = None,
) -> dict[str, Any]:
    """Press an element; what that sets off is not waited for here. Where the element's row does
    not say `row` at the moment of the click, nothing is clicked and BrowserFailed has both texts.
    """
    from playwright.async_api import Error

    scope, locator = _scope_and_locator(tab.page, selector)
    try:
        if row is not None:
            await click_watch.wait_for_row(locator, row, rules)
        await click_watch.begin(scope, row)
        effect.may_have_happened = True
        await locator.click(button=button, click_count=times, timeout=1000 * rules.action_seconds)
    except Error as error:
        # Playwright waits until the next page answers as well, so that a click whose form is being
        # sent for seven seconds ends in an error; its log says that the click itself is done. With
        # `no_wait_after` it would no longer look whether something else took the click.
        _, _, log = str(error).partition(_CALL_LOG)
        last_attempt = log.rpartition(_ATTEMPTING)[2]
        # Without a log nobody knows.
        was_performed = _PERFORMING in last_attempt or not log
        effect.may_have_happened = effect.may_have_happened and was_performed
        # A page may close itself by a click, which is then done; one that is gone with its browser
        # has not.
        has_closed = effect.may_have_happened and _is_closed_alone(tab)
        if not has_closed and _CLICKED not in last_attempt:
            raise await browser_errors.action_error(error, locator, selector, rules) from None
    finally:
        watched = await click_watch.end(scope)
    if watched.changed_row is not None:
        effect.may_have_happened = False
        raise click_watch.row_error(str(row), watched.changed_row)
    effect.invalid_fields = watched.invalid_fields
    return {}


def _is_closed_alone(tab: Tab) -> bool:
    """Whether a tab was closed in a browser that goes on."""
    browser = tab.page.context.browser
    return tab.page.is_closed() and browser is not None and browser.is_connected()


async def press(
    tab: Tab, keys: str, *, selector: str | None, rules: Rules, effect: Effect
) -> dict[str, Any]:
    """Press keys by their names, such as `Enter` or `Control+a`, with spaces between several."""
    from playwright.async_api import Error

    if not keys.split():
        raise BrowserFailed("a key is needed, not an empty text", hint=KEYS_HINT)
    scope: Page | FrameLocator = tab.page
    locator: Locator | None = None
    if selector is not None:
        scope, locator = _scope_and_locator(tab.page, selector)
    try:
        if locator is not None:
            await locator.focus(timeout=1000 * rules.action_seconds)
        await click_watch.begin(scope)
        for key in keys.split():
            effect.may_have_happened = True
            await asyncio.wait_for(tab.page.keyboard.press(key), rules.action_seconds)
    except Error as error:
        if "Unknown key" in str(error):
            effect.may_have_happened = key != keys.split()[0]
            raise BrowserFailed(f"there is no key {key!r}", hint=KEYS_HINT) from None
        if effect.may_have_happened and _is_closed_alone(tab):
            return {}  # by the key
        if locator is None:
            raise
        raise await browser_errors.action_error(error, locator, selector or "", rules) from None
    finally:
        effect.invalid_fields = (await click_watch.end(scope)).invalid_fields
    return {}


async def type_text(
    tab: Tab, selector: str, text: str, rules: Rules, *, slowly: bool
) -> dict[str, Any]:
    """Fill a field, or choose from a list, by its label or its value; `slowly`, key by key behind
    what is there."""
    from playwright.async_api import Error

    scope, locator = _scope_and_locator(tab.page, selector)
    note = ""
    try:
        tag, kind, is_secret = await page_script.read(locator, "kind", seconds=rules.action_seconds)
        if tag == "SELECT":
            await _select_native(locator, selector=selector, choices=[text], rules=rules)
        elif kind in ("checkbox", "radio", "file", "submit", "button"):
            raise BrowserFailed(
                f"nothing can be typed into {selector!r}, a {kind}", hint="click it instead"
            )
        elif slowly:
            await locator.press_sequentially(
                text, delay=KEY_MILLISECONDS, timeout=1000 * rules.page_seconds
            )
            await asyncio.sleep(BEGIN_SECONDS)  # it is a field that watches the keys
        else:
            await locator.fill(text, timeout=1000 * rules.action_seconds)
            if await combobox.is_combobox(locator, rules):
                # The options come by a request.
                await wait_for_effects(tab, rules, begin_seconds=BEGIN_SECONDS)
                await combobox.commit(scope, locator, selector=selector, text=text, rules=rules)
            else:
                note = await _difference(locator, tag=tag, text=text, rules=rules)
    except Error as error:
        raise await browser_errors.action_error(error, locator, selector, rules) from None
    result: dict[str, Any] = {"password": True} if is_secret else {}
    return {**result, "note": note} if note else result


async def _difference(locator: Locator, *, tag: str, text: str, rules: Rules) -> str:
    """How what a field has kept is different from what was typed, without either."""
    if tag not in ("INPUT", "TEXTAREA"):
        return ""
    wanted = text.replace("\r\n", "\n").replace("\r", "\n")
    if await locator.input_value(timeout=1000 * rules.action_seconds) == wanted:
        return ""
    if tag == "INPUT" and "\n" in wanted:
        return "the field has one line, so line ends were left out; press Enter to send it"
    return "the field keeps something else than what was typed"


async def select_options(
    tab: Tab, selector: str, choices: Sequence[str], rules: Rules
) -> dict[str, Any]:
    """Choose the options whose label or value are these texts: of a list of the browser's own no
    others, of a combobox that scripts have built one after the other."""
    from playwright.async_api import Error

    scope, locator = _scope_and_locator(tab.page, selector)
    try:
        tag, _, _ = await page_script.read(locator, "kind", seconds=rules.action_seconds)
        if tag == "SELECT":
            await _select_native(locator, selector=selector, choices=choices, rules=rules)
            return {}
        # An open list hides all else on the page from `role=` selectors, in MUI and Radix.
        locator = await page_script.pinned(scope, locator, seconds=rules.action_seconds)
        for choice in choices:
            await combobox.choose(scope, locator, selector=selector, choice=choice, rules=rules)
    except Error as error:
        raise await browser_errors.action_error(error, locator, selector, rules) from None
    return {}


async def _select_native(
    locator: Locator, *, selector: str, choices: Sequence[str], rules: Rules
) -> None:
    """Choose the first option for each text that is its label or its value, and no others."""
    options = await page_script.read(locator, "options", seconds=rules.action_seconds)
    chosen = list[int]()
    for choice in choices:
        found = [at for at, label_and_value in enumerate(options) if choice in label_and_value]
        if not found:
            labels = ", ".join(label for label, _ in options[:MOST_OPTIONS])
            raise BrowserFailed(f"{selector!r} has no such choice; it has: {labels}")
        chosen.append(found[0])
    await locator.select_option(index=chosen, timeout=1000 * rules.action_seconds)


async def wait_for(
    tab: Tab,
    *,
    rules: Rules,
    selector: str | None = None,
    gone: str | None = None,
    text: str | None = None,
    url: str | None = None,
    quiet: bool | None = None,
    seconds: float | None = None,
) -> dict[str, Any]:
    """Wait for one thing: an element that comes or goes, words, an address (a part of it, or a
    pattern with `*`), a page that loads nothing more, or so many seconds."""
    if [selector, gone, text, url, quiet or None, seconds].count(None) != 5:
        raise UsageError("wait for one thing: a selector, gone, text, an address, quiet or seconds")
    if selector is not None:
        return await _wait_for_element(tab, selector, rules)
    if gone is not None:
        return await _wait_until_gone(tab, gone, rules)
    if text is not None:
        return await _wait_for_text(tab, text, rules)
    if url is not None:
        return await _wait_for_address(tab, url, rules)
    if quiet:
        return await _wait_until_quiet(tab, rules)
    assert seconds is not None
    if not 0 <= seconds <= rules.page_seconds:
        raise UsageError(f"seconds must be between 0 and {rules.page_seconds:g}, not {seconds:g}")
    await asyncio.sleep(seconds)
    return {}


async def _wait_for_element(tab: Tab, selector: str, rules: Rules) -> dict[str, Any]:
    from playwright.async_api import Error

    locator = locate(tab.page, selector)
    # Who waits expects that it takes longer than an element that is to be used at once.
    rules = replace(rules, action_seconds=max(rules.action_seconds, rules.page_seconds))
    try:
        await locator.first.wait_for(state="visible", timeout=1000 * rules.action_seconds)
    except Error as error:
        raise await browser_errors.action_error(error, locator, selector, rules) from None
    return {}


async def _wait_until_gone(tab: Tab, selector: str, rules: Rules) -> dict[str, Any]:
    from playwright.async_api import TimeoutError as LateError

    try:
        await locate(tab.page, selector).first.wait_for(
            state="hidden", timeout=1000 * rules.page_seconds
        )
    except LateError:
        raise BrowserFailed(f"{selector!r} is still there after {rules.page_seconds:g} s") from None
    return {}


async def _wait_for_text(tab: Tab, text: str, rules: Rules) -> dict[str, Any]:
    from playwright.async_api import TimeoutError as LateError

    try:
        fields = tab.page.locator(_FIELDS).locator(page_script.holding(" ".join(text.split())))
        said = tab.page.get_by_text(text).or_(fields).filter(visible=True)
        await said.first.wait_for(timeout=1000 * rules.page_seconds)
    except LateError:
        raise BrowserFailed(
            f"the page does not say {text!r} after {rules.page_seconds:g} s"
        ) from None
    return {}


async def _wait_until_quiet(tab: Tab, rules: Rules) -> dict[str, Any]:
    from playwright.async_api import TimeoutError as LateError

    try:
        await tab.page.wait_for_load_state("networkidle", timeout=1000 * rules.page_seconds)
    except LateError:
        raise BrowserFailed(
            f"the page is still loading something after {rules.page_seconds:g} s",
            hint="wait for an element or a text instead; some pages never stop",
        ) from None
    return {}


async def _wait_for_address(tab: Tab, url: str, rules: Rules) -> dict[str, Any]:
    from playwright.async_api import Error

    def is_there(address: str) -> bool:
        return fnmatchcase(address, url) if "*" in url else url in address

    try:
        await tab.page.wait_for_url(
            is_there, wait_until="domcontentloaded", timeout=1000 * rules.page_seconds
        )
    except Error:
        raise BrowserFailed(
            f"the address did not become {url!r} within {rules.page_seconds:g} s; it is {tab.url}"
        ) from None
    return {}


async def extract(
    tab: Tab,
    selector: str,
    *,
    fields: Mapping[str, Any] | None,
    many: bool,
    rules: Rules,
) -> dict[str, Any]:
    """Read texts or named fields of an element, or of all that match."""
    from playwright.async_api import Error

    scope, locator = _scope_and_locator(tab.page, selector)
    field_specs = None
    if fields is not None:
        field_specs = [[name, _field_spec(name, how)] for name, how in fields.items()]
    try:
        await _wait_until_attached(locator, rules, required=not many)
        count = await locator.count()
        if count > 1 and not many:
            raise BrowserFailed(
                f"{selector!r} matches {count} elements, and one was asked for",
                hint="ask for many, or name one of them",
            )
        found = await asyncio.wait_for(
            page_script.texts(scope, locator, field_specs, MOST_ITEMS), READ_SECONDS
        )
    except Error as error:
        raise await browser_errors.action_error(error, locator, selector, rules) from None
    if not many and not found:
        raise BrowserFailed(f"{selector!r} was there and is no longer")
    if not many:
        return {"found": found[0]}
    result: dict[str, Any] = {"found": found, "count": len(found)}
    if not count:
        result["note"] = f"nothing on the page matches {selector!r}"
    elif count > len(found):
        result["note"] = f"the first {len(found):,} of {count:,} were read"
    return result


async def _wait_until_attached(locator: Locator, rules: Rules, *, required: bool) -> None:
    from playwright.async_api import TimeoutError as LateError

    try:
        await locator.first.wait_for(state="attached", timeout=1000 * rules.action_seconds)
    except LateError:
        if required:
            raise


def _field_spec(name: str, how: Any) -> dict[str, str]:
    """What is read for one field, in the form that `reader.js` takes."""
    if isinstance(how, str):
        return {"selector": how}
    if isinstance(how, Mapping) and set(how) <= {"selector", "attribute"}:
        return {key: str(value) for key, value in how.items()}
    raise UsageError(f"the field {name!r} must be a selector, or have selector and attribute")


async def wait_for_next_page(tab: Tab, rules: Rules) -> bool:
    """Let a page come that an earlier action has set off; False if the tab still shows the one
    before it when its time is over."""
    if tab.shows_last_page:
        with suppress(TimeoutError):
            await asyncio.wait_for(tab.quiet.wait(), rules.page_seconds)
    return not tab.shows_last_page


async def wait_for_answers(tab: Tab, rules: Rules) -> bool:
    """Let the scripts of a page have what they are asking for, and draw it; False if they ask for
    nothing. What takes longer than a page may, such as a connection that brings news, is not waited
    for again while it lasts."""
    if not tab.requests.in_progress():
        return False
    await _wait_until_answered(tab, tab.requests.in_progress, rules.page_seconds)
    await _wait_for_paint(tab)
    return True


async def wait_for_effects(tab: Tab, rules: Rules, *, begin_seconds: float) -> list[str]:
    """Wait for the requests that an action has set off, the first of them within `begin_seconds`,
    and for those that follow from their answers; returns what is still in progress when the time
    of an action is over."""
    now = asyncio.get_running_loop().time
    deadline = now() + rules.action_seconds
    begins_until = now() + begin_seconds
    await _wait_for_paint(tab)
    requests = tab.requests
    while not (requests.of_action() or requests.is_page_replaced) and now() < begins_until:
        await asyncio.sleep(LOOK_SECONDS / 2)
    while requests.of_action():
        in_progress = await _wait_until_answered(tab, requests.of_action, deadline - now())
        if in_progress:
            return in_progress
        await _wait_for_paint(tab)
        await asyncio.sleep(CHAIN_SECONDS)
    return []


async def _wait_until_answered(
    tab: Tab, in_progress: Callable[[], list[str]], seconds: float
) -> list[str]:
    """Wait until no request is in progress; returns those that are when the time is over, which
    are not waited for again while they last."""
    deadline = asyncio.get_running_loop().time() + seconds
    while late := in_progress():
        if asyncio.get_running_loop().time() > deadline:
            tab.requests.give_up()
            return late
        await asyncio.sleep(LOOK_SECONDS / 2)
    return []


async def wait_for_page(tab: Tab, rules: Rules) -> bool:
    """Let the page do what an action has set off; False if it is still loading when its time is
    over."""
    await _wait_for_paint(tab)
    with suppress(TimeoutError):
        await asyncio.wait_for(tab.quiet.wait(), rules.page_seconds)
    return tab.quiet.is_set()


async def _wait_for_paint(tab: Tab) -> None:
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        await asyncio.wait_for(tab.page.evaluate(_NEXT_PAINT), browser_errors.ANSWER_SECONDS)
