"""Folders for the profiles of browsers that we start: one for each, closed to others, gone when its
process is.

The process that uses a folder holds a lock on a file in it; a lock that can be had means that
nobody does, whatever became of the process. What is removed is found below a folder that was opened
and checked, never by a path or a link that somebody may have put there. The user's own profile is
never touched.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from foreword.errors import BrowserFailed, UsageError

PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
_PREFIX = "profile-"
_LOCK = "in-use"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# A FIFO in the place of the file would keep whoever opens it waiting, so it is opened without.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
# Between a folder and the lock in it is one system call; a minute is long even for a machine that
# swaps.
_NEW_SECONDS = 60.0
# Pages that are loaded in advance come past the guard, so nothing is.
_PREFERENCES = {"net": {"network_prediction_options": 2}}


class BrowserProfile:
    """One folder, in use until `remove`."""

    def __init__(self, base: Path | None = None) -> None:
        base = base or _cache_folder()
        self._is_alone = base is None  # in a folder whose name nobody can know
        base = base or Path(tempfile.mkdtemp(prefix="foreword-browser-"))
        self._base = _open_base(base)
        try:
            _remove_stale(self._base)
            self.folder, self._lock = _make_folder(base)
            default = self.data / "Default"
            default.mkdir(parents=True)
            (default / "Preferences").write_text(json.dumps(_PREFERENCES))
        except OSError as error:
            os.close(self._base)
            raise _unusable(base, error) from None

    @property
    def data(self) -> Path:
        """What the browser itself keeps."""
        return self.folder / "data"

    def remove(self) -> None:
        """Remove the folder; what a browser that is still ending writes into it is left to the
        next start."""
        shutil.rmtree(self.folder.name, ignore_errors=True, dir_fd=self._base)
        os.close(self._lock)
        os.close(self._base)
        if self._is_alone:
            with suppress(OSError):
                self.folder.parent.rmdir()


def _cache_folder() -> Path | None:
    """A folder in the user's cache, if nobody else can write on the way to it."""
    with suppress(OSError, RuntimeError):  # there may be no home
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        base = cache / "foreword" / "browser"
        if not base.is_absolute():
            return None
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        way = [base, *base.resolve().parents]
        if all(_is_closed(folder) for folder in way):
            return base
    return None


def _is_closed(folder: Path) -> bool:
    """Whether a folder is no link, and nobody but the user and root can put something else in
    its place."""
    found = folder.lstat()
    is_shared = bool(found.st_mode & 0o022) and not found.st_mode & stat.S_ISVTX
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.getuid()) and not is_shared


def _open_base(base: Path) -> int:
    """The folder for profiles, made where there is none; an error where it is a link or others
    can write in it."""
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(base, _FOLDER)
    except OSError as error:
        if base.is_symlink():
            raise BrowserFailed(
                f"{base} is a symbolic link, so it is not used", hint="remove the link"
            ) from None
        raise _unusable(base, error) from None
    found = os.fstat(folder)
    is_open_to_all = found.st_mode & 0o002 and not found.st_mode & stat.S_ISVTX
    if is_open_to_all or found.st_uid not in (0, os.getuid()):
        os.close(folder)
        raise BrowserFailed(
            f"{base} can be changed by others, so no browser is kept in it",
            hint=f"chmod 700 {base}, or name another",
        )
    return folder


def _make_folder(base: Path) -> tuple[Path, int]:
    """A new folder, and the lock on it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = os.open(folder / _LOCK, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        # Another process that looks for folders without a user may have come in between; then there
        # is another one.
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return folder, lock
        os.close(lock)


def _unusable(base: Path, error: OSError) -> BrowserFailed:
    return BrowserFailed(f"no folder for the browser can be made in {base}: {error.strerror}")


def _remove_stale(base: int) -> None:
    """Remove the folders of processes that have ended: ours alone, and no links."""
    for name in _names(base):
        if name.startswith(_PREFIX) and _is_abandoned(base, name):
            shutil.rmtree(name, ignore_errors=True, dir_fd=base)


def _is_abandoned(base: int, name: str) -> bool:
    try:
        folder = os.open(name, _FOLDER, dir_fd=base)
    except OSError:
        return False
    try:
        found = os.fstat(folder)
        if found.st_uid != os.getuid():
            return False
        inside = _names(folder)
        if _LOCK in inside:
            return _is_free(folder)
        # One that is just being made has nothing in it yet; one with something in it and no lock
        # was not made here.
        return not inside and time.time() - found.st_mtime > _NEW_SECONDS
    except OSError:
        return False
    finally:
        os.close(folder)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _is_free(folder: int) -> bool:
    """Whether nobody holds the lock in a folder."""
    lock = os.open(_LOCK, _FILE, dir_fd=folder)
    try:
        found = os.fstat(lock)
        if not stat.S_ISREG(found.st_mode):
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def program(path: str | Path | None = None) -> str:
    """The browser to start: the one that was named, or the first that the system has."""
    if path is not None:
        found = shutil.which(path) or ""
        if not found:
            raise UsageError(
                f"there is no browser at {path}",
                hint="name the program itself, for example /usr/bin/chromium",
            )
        return found
    for name in PROGRAMS:
        found = shutil.which(name) or ""
        if found:
            return found
    raise UsageError(
        "no Chromium was found on this system",
        hint="install it (apt install chromium), or name one with --browser PATH",
    )
