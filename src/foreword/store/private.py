"""Files and directories that are their owner's alone: what we keep holds passwords and other
people's code.

A mode is given when a file is made, so there is no moment at which others could open it, whatever
the umask.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def opener(path: str, flags: int) -> int:
    """For `open(..., opener=...)`: a new file is its owner's alone; no link is followed, no pipe
    waited for."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, FILE_MODE)


def make_folder(path: Path) -> None:
    """Make a directory of ours and those above it that are missing."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another process was quicker
            folder.mkdir(mode=FOLDER_MODE)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(path))


def write_file(path: Path, text: str) -> None:
    """Write a file of ours in the place of the one before, which may have been a link: whole and on
    the disk, or not at all."""
    new = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    try:
        with open(new, "w", encoding="utf-8", opener=opener) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file where there is none.

    Nobody in this process may have it open: closing a file undoes the locks that SQLite holds on
    it.
    """
    with suppress(FileExistsError):
        os.close(opener(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
