"""A browser kept in a file, so that another process can go on where this one stopped.

Cookies, local storage and the open tabs; the file is its owner's alone, since whoever has it is
signed in.
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
from foreword.browser.rules import Rules
from foreword.browser.tabs import Tab
from foreword.errors import BrowserFailed

VERSION = 1
# local storage has at most 10 MB for each of the origins that were visited
LARGEST_BYTES = 64 * 1024 * 1024
_TAB = {"name", "url", "active"}
_WITHOUT = "start without it, and sign in again"


async def save(here: Chromium, path: Path) -> bool:
    """Write the file anew, unless the browser is the user's own; it is there whole or as it was."""
    if here.profile is None:
        return False
    state = await here.context.storage_state()
    tabs = [
        {**told, "url": tab.url}
        for told, tab in zip(here.tabs.listing(), here.tabs.all(), strict=True)
    ]
    kept = {"version": VERSION, "storage": state, "tabs": tabs}
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.unlink(missing_ok=True)  # of a process that died: its mode would stay
        with open(new, "x", encoding="utf-8", opener=_private) as file:
            json.dump(kept, file)
        new.replace(path)
    except OSError as error:
        raise BrowserFailed(f"the browser can't be saved to {path}: {error.strerror}") from None
    return True


async def restore(here: Chromium, kept: Mapping[str, Any], rules: Rules) -> None:
    """Sign in as it was kept and open the tabs again; a page that does not load is left empty
    under its name."""
    from playwright.async_api import Error

    try:
        await here.context.set_storage_state(kept["storage"])
    except Error:
        raise BrowserFailed("what was saved is not taken by the browser", hint=_WITHOUT) from None
    active: Tab | None = None
    for at, was in enumerate(kept["tabs"]):
        tab = here.tabs.named(None) if at == 0 else await here.tabs.new()
        here.tabs.rename(tab, was["name"])
        active = tab if was["active"] or active is None else active
        if rules.allows(was["url"]):
            with suppress(BrowserFailed):
                await actions.navigate(tab, was["url"] or "about:blank", rules)
    if active is not None:
        await active.page.bring_to_front()
        here.tabs.activate(active)


def read(path: Path) -> dict[str, Any]:
    """What was saved in a file."""
    try:
        kept = json.loads(regular_file.read_anywhere(path, LARGEST_BYTES))
    except regular_file.Unusable as unusable:
        if unusable.reason == regular_file.MISSING:
            raise BrowserFailed(f"no browser was saved in {path}") from None
        raise _unusable(path) from None
    except (ValueError, RecursionError):
        raise _unusable(path) from None
    if (
        not isinstance(kept, dict)
        or kept.get("version") != VERSION
        or not isinstance(kept.get("storage"), dict)
    ):
        raise _unusable(path)
    tabs = kept.get("tabs")
    if not isinstance(tabs, list) or not all(
        isinstance(tab, dict) and set(tab) >= _TAB for tab in tabs
    ):
        raise _unusable(path)
    return kept


def _unusable(path: Path) -> BrowserFailed:
    return BrowserFailed(f"what was saved in {path} can't be used", hint=_WITHOUT)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
