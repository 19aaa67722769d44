"""Folders for the profiles of browsers that we start: one for each, closed to others, gone when its process is.

The process that uses a folder holds a lock on a file in it; a lock that can be had means that nobody does, whatever
became of the process. The user's own profile is never touched.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from foreword.errors import BrowserFailed, UsageError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PREFIX, _LOCK = "profile-", "in-use"
# Pages that are loaded in advance come past the guard, so nothing is.
_PREFERENCES = {"net": {"network_prediction_options": 2}}


class Profile:
    """One folder, in use until `remove`."""

    def __init__(self, base: Path | None = None) -> None:
        base = base or Path(tempfile.gettempdir()) / f"foreword-browser-{os.getuid()}"
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            remove_stale(base)
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
            self._lock: IO[bytes] = (self.folder / _LOCK).open("wb")
            (self.data / "Default").mkdir(parents=True)
            (self.data / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES))
        except OSError as error:
            raise BrowserFailed(f"no folder for the browser can be made in {base}: {error.strerror}") from None
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def data(self) -> Path:
        """What the browser itself keeps."""
        return self.folder / "data"

    def remove(self) -> None:
        """Remove the folder; what a browser that is still ending writes into it is left to the next start."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def remove_stale(base: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in base.glob(f"{_PREFIX}*"):
        if not folder.is_symlink() and folder.is_dir() and not _is_used(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)


def _is_used(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # Not there yet, or no longer: a folder that is just being made must not be taken away.
        return _is_new(lock.parent)
    return False


def _is_new(folder: Path) -> bool:
    import time

    try:
        return time.time() - folder.stat().st_mtime < 60
    except OSError:
        return True


def program(path: str | Path | None = None) -> str:
    """The browser to start: the one that was named, or the first that the system has."""
    if path is not None:
        found = shutil.which(path) or ""
        if not found:
            raise UsageError(
                f"there is no browser at {path}", hint="name the program itself, for example /usr/bin/chromium"
            )
        return found
    if named := next(filter(None, map(shutil.which, PROGRAMS)), None):
        return named
    raise UsageError(
        "no Chromium was found on this system",
        hint="install it (apt install chromium), or name one with --browser PATH",
    )
