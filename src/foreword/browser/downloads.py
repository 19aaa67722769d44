"""Files that a page hands over, kept in a folder: named safely, within a limit, never run.

Downloads are refused but while `into` is open. A page chooses the name of a file, how large it is
and how many there are, so all three are limited here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from foreword.browser.browser_state import open_private
from foreword.browser.chromium import Chromium
from foreword.errors import BrowserFailed
from foreword.pattern import lazy_pattern

# What people take from sites by hand is smaller; a page that sends more fills the disk.
LARGEST_BYTES = 200 * 1024 * 1024
DOWNLOAD_SECONDS = 60.0  # for a file to come, unless the node says more
LONGEST_NAME = 100  # characters; file systems take 255 bytes
_STRANGE = lazy_pattern(r"[^\w.\- ()]+")
_DENY = {"behavior": "deny", "eventsEnabled": True}


class Download:
    """The first file that comes while downloads are let through."""

    def __init__(self, folder: Path, session: Any) -> None:
        self._folder = folder
        self._session = session
        self._guid = ""
        self._name = ""
        self._problem = ""
        self._over = asyncio.Event()
        self._began = asyncio.get_running_loop().time()

    def on_begin(self, event: dict[str, Any]) -> None:
        """A file is about to come; more than one is not taken."""
        if self._guid:
            self._cancel(event["guid"])
            return
        self._guid = event["guid"]
        self._name = safe_name(event.get("suggestedFilename", ""))

    def on_progress(self, event: dict[str, Any]) -> None:
        """Some of it has come, or all."""
        if event["guid"] != self._guid:
            return
        if max(event.get("totalBytes", 0), event.get("receivedBytes", 0)) > LARGEST_BYTES:
            self._problem = f"the file is larger than {LARGEST_BYTES // 1024**2} MB"
            self._cancel(self._guid)
        if event["state"] == "canceled":
            self._problem = self._problem or "the download was broken off"
        if event["state"] != "inProgress":
            self._over.set()

    async def wait(self, seconds: float) -> Path:
        """The file, once all of it is there; it has so many seconds since downloads are let
        through."""
        try:
            async with asyncio.timeout_at(self._began + seconds):
                await self._over.wait()
        except TimeoutError:
            what = f"{self._name!r} did not come to its end" if self._guid else "no file came"
            self._problem = f"{what} within {seconds:g} s"
        if self._problem:
            if self._guid:
                self._cancel(self._guid)
            with suppress(OSError):
                (self._folder / self._guid).unlink(missing_ok=True)
            raise BrowserFailed(self._problem)
        return _keep(self._folder / self._guid, self._name)

    def _cancel(self, guid: str) -> None:
        task = asyncio.ensure_future(self._session.send("Browser.cancelDownload", {"guid": guid}))
        task.add_done_callback(lambda done: done.exception())


@asynccontextmanager
async def into(chromium: Chromium, folder: Path) -> AsyncIterator[Download]:
    """Let a file through into a folder meanwhile."""
    from playwright.async_api import Error

    session = await chromium.browser.new_browser_cdp_session()
    download = Download(folder, session)
    session.on("Browser.downloadWillBegin", download.on_begin)
    session.on("Browser.downloadProgress", download.on_progress)
    chromium.tabs.keeps_downloads = True
    try:
        allow = {"behavior": "allowAndName", "downloadPath": str(folder), "eventsEnabled": True}
        await session.send("Browser.setDownloadBehavior", allow)
        await chromium.guard.save_documents(True)
        yield download
    finally:
        chromium.tabs.keeps_downloads = False
        with suppress(Error):
            await chromium.guard.save_documents(False)
            await session.send("Browser.setDownloadBehavior", _DENY)
            await session.detach()


def safe_name(suggested: str) -> str:
    """A file name that leads nowhere else and is no hidden file."""
    last = suggested.replace("\\", "/").rpartition("/")[2]
    name = _STRANGE.sub("_", last).strip(". ")
    stem, dot, ending = name.rpartition(".")
    if len(name) > LONGEST_NAME and dot and len(ending) < 12:
        name = f"{stem[: LONGEST_NAME - len(ending) - 1]}.{ending}"
    return name[:LONGEST_NAME] or "file"


def write_new(folder: Path, name: str, content: bytes) -> Path:
    """Write a file that nobody has written yet, for its owner alone."""
    path = _free_path(folder, name)
    with open(path, "xb", opener=open_private) as file:
        file.write(content)
    return path


def _keep(arrived: Path, name: str) -> Path:
    """Give a file that has come its name, and take from everybody the right to run it."""
    path = _free_path(arrived.parent, name)
    try:
        arrived.chmod(0o600)
        arrived.rename(path)
    except OSError as error:
        raise BrowserFailed(f"the file could not be kept: {error.strerror}") from None
    return path


def _free_path(folder: Path, name: str) -> Path:
    stem, dot, ending = name.rpartition(".")
    if not dot:
        stem, ending = name, ""
    path = folder / name
    number = 2
    while path.exists() or path.is_symlink():
        path = folder / f"{stem} ({number}){dot}{ending}"
        number += 1
    return path
