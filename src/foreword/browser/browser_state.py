"""The state of a browser in a file, so that another process can go on where this one stopped.

Cookies, local storage and the open tabs; the file is its owner's alone, since whoever has it is
signed in. The profile of Chromium itself (`profile_folders`) is not kept: it ends with its process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from foreword import regular_file
from foreword.browser import actions
from foreword.browser.chromium import Chromium
from foreword.browser.rules import BLANK, Rules
from foreword.browser.tab import Tab
from foreword.errors import BrowserFailed

VERSION = 1  # of the file: another one is not read
# Local storage has at most 10 MB for each of the origins that were visited, and few fill it; a file
# beyond this was not written here.
LARGEST_BYTES = 64 * 1024 * 1024
_TAB_KEYS = {"name", "url", "active"}
_HINT = "start without it, and sign in again"


async def snapshot(chromium: Chromium, mark: str = "", *, with_tabs: bool = True) -> dict[str, Any]:
    """The state of a browser, as `write` keeps it and `restore` takes it."""
    storage = await chromium.context.storage_state()
    tabs = []
    for listed, tab in zip(chromium.tabs.listing(), chromium.tabs.all(), strict=True):
        is_workflow = tab is chromium.tabs.workflow_tab()
        # a listing shortens long addresses
        if with_tabs:
            tabs.append({**listed, "url": tab.url, "workflow": is_workflow})
    return {"version": VERSION, "mark": mark, "storage": storage, "tabs": tabs}


def write(path: Path, state: Mapping[str, Any]) -> None:
    """Write the file anew; it is there whole or as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.unlink(missing_ok=True)  # of a process that died: its mode would stay
        with open(new, "x", encoding="utf-8", opener=open_private) as file:
            json.dump(state, file)
        new.replace(path)
    except OSError as error:
        raise BrowserFailed(f"the browser can't be saved to {path}: {error.strerror}") from None


async def restore(chromium: Chromium, state: Mapping[str, Any], rules: Rules) -> None:
    """Sign in as it was saved and open the tabs again; a page that does not load is left empty
    under its name."""
    from playwright.async_api import Error

    try:
        await chromium.context.set_storage_state(state["storage"])
    except Error:
        raise BrowserFailed("what was saved is not taken by the browser", hint=_HINT) from None
    active: Tab | None = None
    for index, saved in enumerate(state["tabs"]):
        # A browser that was just started has one tab.
        tab = chromium.tabs.by_name(None) if index == 0 else await chromium.tabs.new()
        chromium.tabs.rename(tab, saved["name"])
        if saved["active"] or active is None:
            active = tab
        if saved.get("workflow"):
            chromium.tabs.set_workflow_tab(tab)
        if rules.allows(saved["url"]):
            with suppress(BrowserFailed):
                await actions.navigate(tab, saved["url"] or BLANK, rules)
    if active is not None:
        await active.page.bring_to_front()
        chromium.tabs.activate(active)


def read(path: Path) -> dict[str, Any]:
    """What was saved in a file."""
    try:
        state = json.loads(regular_file.read_anywhere(path, LARGEST_BYTES))
    except regular_file.Unusable as unusable:
        if unusable.reason == regular_file.MISSING:
            raise BrowserFailed(f"no browser was saved in {path}") from None
        raise _unusable(path) from None
    except (ValueError, RecursionError):
        raise _unusable(path) from None
    if not isinstance(state, dict) or state.get("version") != VERSION:
        raise _unusable(path)
    if not isinstance(state.get("storage"), dict) or not _are_tabs(state.get("tabs")):
        raise _unusable(path)
    return state


def _are_tabs(tabs: object) -> bool:
    if not isinstance(tabs, list):
        return False
    for tab in tabs:
        if not isinstance(tab, dict) or not set(tab) >= _TAB_KEYS:
            return False
    return True


def _unusable(path: Path) -> BrowserFailed:
    return BrowserFailed(f"what was saved in {path} can't be used", hint=_HINT)


def open_private(path: str, flags: int) -> int:
    """An opener for files that nobody else may read; a link is not followed."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
