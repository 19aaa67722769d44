"""Files and folders that are their owner's alone: what we keep holds passwords and other people's
code.

A mode is given when a file is made, so there is no moment at which others could open it, whatever
the umask. What is open to others nevertheless is closed when it is next used. Where a mode can't
be changed (a file of somebody else's, a file system without modes) that is no error: its owner
decides. What the owner made read-only stays as it is.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITE = 0o222  # by anybody
_NO_LINK = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


def opener(path: str, flags: int) -> int:
    """For `open(..., opener=...)`: a new file is its owner's alone; no link is followed, no pipe
    waited for."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, FILE_MODE)


def make_folder(path: Path) -> None:
    """Make a folder of ours and those above it that are missing, or close the one that is there
    to others."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another process was quicker
            folder.mkdir(mode=FOLDER_MODE)
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise
        tighten(path)


def write_file(path: Path, text: str) -> None:
    """Write a file of ours in the place of the one before, which may have been a link."""
    path.unlink(missing_ok=True)
    with open(path, "x", encoding="utf-8", opener=opener) as file:
        file.write(text)


def make_file(path: Path) -> None:
    """Make an empty file where there is none.

    Nobody in this process may have it open: closing a file undoes the locks that SQLite holds on
    it.
    """
    with suppress(FileExistsError):
        os.close(opener(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def tighten(path: Path) -> None:
    """Close a file or folder of this user's to all others; one that is not there, or is a link,
    is left alone."""
    with suppress(OSError):
        about = path.lstat()
        is_open = about.st_mode & _OTHERS and about.st_mode & _WRITE
        if is_open and about.st_uid == os.geteuid() and not stat.S_ISLNK(about.st_mode):
            _change_mode(path, stat.S_IMODE(about.st_mode) & ~_OTHERS)


def _change_mode(path: Path, mode: int) -> None:
    """Change the mode of this very file, even if somebody puts a link in its place meanwhile.

    Linux has no call for that; a descriptor that can only be named (`O_PATH`) does it, and undoes
    no lock of SQLite's when it is closed.
    """
    if os.chmod in os.supports_follow_symlinks:
        path.chmod(mode, follow_symlinks=False)
        return
    descriptor = os.open(path, _NO_LINK)
    try:
        if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
            Path(f"/proc/self/fd/{descriptor}").chmod(mode)
    finally:
        os.close(descriptor)
