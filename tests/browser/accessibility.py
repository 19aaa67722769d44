"""The controls that Playwright's own accessibility snapshot sees, to compare with what exploring
gives.

The snapshot of a page holds none of its frames, so each frame is asked by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from foreword.browser import Browser

# The roles of what somebody uses, whichever way they are written on a page.
ROLES = frozenset(
    "button link textbox searchbox combobox checkbox radio switch tab menuitem menuitemcheckbox"
    " menuitemradio option slider spinbutton listbox treeitem".split()
)
ALL = 100_000  # more elements than any page of ours has
_NODE = re.compile(r'(\w+)(?: "((?:[^"\\]|\\.)*)")?')
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
Control = tuple[str, str]


def snapshots(browser: Browser, tab: str | None = None) -> list[str]:
    """Playwright's accessibility snapshot of each frame that is shown."""
    chromium = browser._chromium
    assert chromium is not None
    page = chromium.tabs.by_name(tab).page

    async def take() -> list[str]:
        found = []
        for frame in page.frames:
            if frame.parent_frame is not None:
                holder = await frame.frame_element()
                if not await holder.is_visible():
                    continue
            found.append(await frame.locator("body, frameset").first.aria_snapshot())
        return found

    return browser._thread.run(take(), 60)


def controls_seen(browser: Browser, tab: str | None = None) -> Counter[Control]:
    """Role and name of every control in the snapshots; a list's own options are its own."""
    found: Counter[Control] = Counter()
    for snapshot in snapshots(browser, tab):
        found.update(_controls(yaml.load(snapshot, Loader=yaml.CSafeLoader)))
    return found


def controls_found(browser: Browser, tab: str | None = None) -> Counter[Control]:
    """Role and name of every element that exploring gives."""
    return controls_in(browser.explore("everything", tab=tab, limit=ALL)["elements"])


def controls_in(elements: Sequence[Mapping[str, Any]]) -> Counter[Control]:
    """Role and name of each element of an exploration."""
    return Counter([(element["role"], plain(element["name"])) for element in elements])


def missing(browser: Browser, tab: str | None = None) -> Counter[Control]:
    """What Playwright's snapshot sees and exploring does not."""
    return controls_seen(browser, tab) - controls_found(browser, tab)


def plain(name: str) -> str:
    """A name without the signs of icon fonts, at most as long as a result tells it."""
    return " ".join(_PRIVATE_USE.sub(" ", name).split())[:120].strip()


def _controls(node: Any, parent: str = "") -> list[Control]:
    if isinstance(node, list):
        found = []
        for child in node:
            found += _controls(child, parent)
        return found
    if isinstance(node, str):
        return _control(node, parent)
    if isinstance(node, dict):
        found = []
        for key, below in node.items():
            if key.startswith("/") or key == "text":
                continue
            found += _control(key, parent)
            found += _controls(below, key) if isinstance(below, list) else []
        return found
    return []


def _control(written: str, parent: str) -> list[Control]:
    """The control of one line of a snapshot, if it is one."""
    parts = _NODE.match(written)
    if parts is None or parts[1] not in ROLES:
        return []
    # Exploring tells the options of a list with the list.
    if parts[1] == "option" and parent.startswith(("combobox", "listbox")):
        return []
    name = re.sub(r"\\(.)", r"\1", parts[2] or "")
    return [(parts[1], plain(name))]
