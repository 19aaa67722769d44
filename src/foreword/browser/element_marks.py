"""What an element is known by besides its selector, so that it is found again when that no longer
leads to it.

Role and name are those of Playwright's accessibility tree; the place is the part of the page around
it. An element is taken for the same only where one alone has all of them: a wrong click is worse
than none.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from foreword.browser import actions
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from foreword.browser.tab import Tab

Marks = dict[str, str]
# For all of it: an element that was just found answers in milliseconds, and at a load of 20 in less
# than a second; at half of this some were not known the next time.
MARK_SECONDS = 2.0
MOST_CANDIDATES = 8  # elements of one role and name; of more, no place tells one from all others
LONGEST_NAME = 120  # characters of a name that is still one; longer ones are texts, which change
_ROLE_AND_NAME = lazy_pattern(r"""^- '?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?""")
# Attributes that say which of several fields it is, the most lasting first.
_ATTRIBUTES = ("data-testid", "name", "placeholder", "aria-label")
_READ = """(element, names) => {
  const around = element.closest('form, dialog, nav, main, header, footer, aside, table, section');
  const label = (one) => one ? one.tagName.toLowerCase() + '#' + (one.id
    || one.getAttribute('aria-label') || one.getAttribute('name') || '') : '';
  const marks = {place: label(around)};
  const value = (name) => element.getAttribute(name);
  for (const name of names) if (value(name)) marks[name] = value(name);
  return marks;
}"""


async def read(locator: Locator) -> Marks:
    """The marks of an element; none where it can't be said quickly."""
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        async with asyncio.timeout(MARK_SECONDS):
            if await locator.count() != 1:
                return {}
            marks: Marks = await locator.evaluate(_READ, list(_ATTRIBUTES))
            snapshot = await locator.aria_snapshot(timeout=1000 * MARK_SECONDS)
            found = _ROLE_AND_NAME.match(snapshot)
            if found and found[2] and len(found[2]) <= LONGEST_NAME:
                marks |= {"role": found[1], "label": found[2].replace('\\"', '"')}
            return marks
    return {}


async def find_again(tab: Tab, selector: str, marks: Marks) -> str:
    """A selector that leads to the one element which has these marks; blank where none does."""
    prefix, _, _ = (
        selector.rpartition(" >> ") if selector.startswith(actions.FRAME) else ("", "", "")
    )
    among_others = ""
    for candidate in _candidates(marks):
        whole = f"{prefix} >> {candidate}" if prefix else candidate
        found = await _in_place(tab, whole, marks)
        if found == whole:
            return found
        among_others = among_others or found
    return among_others


def _candidates(marks: Marks) -> list[str]:
    candidates = list[str]()
    if marks.get("data-testid"):
        candidates.append(f"[data-testid={_quote(marks['data-testid'])}]")
    if marks.get("role") and marks.get("label"):
        candidates.append(f"role={marks['role']}[name={_quote(marks['label'])}]")
    for name in _ATTRIBUTES[1:]:
        if marks.get(name):
            candidates.append(f"[{name}={_quote(marks[name])}]")
    return candidates


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


async def _in_place(tab: Tab, candidate: str, marks: Marks) -> str:
    """A selector for the one of these elements that is in the same place and of the same role and
    name; blank where that is none, or more than one."""
    from playwright.async_api import Error

    fitting = list[int]()
    with suppress(Error, TimeoutError):
        found = actions.locate(tab.page, candidate)
        count = await found.count()
        for number in range(min(count, MOST_CANDIDATES)):
            one = found.nth(number)
            now = await read(one) if await one.is_visible() else {}
            # Test ids alone will not do: all of Streamlit's buttons have the same.
            if all(now.get(mark, "") == marks.get(mark, "") for mark in ("role", "label", "place")):
                fitting.append(number)
        if len(fitting) == 1 and count <= MOST_CANDIDATES:
            return candidate if count == 1 else f"{candidate} >> nth={fitting[0]}"
    return ""
