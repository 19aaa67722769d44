"""Which files an event may make us read: regular ones of bounded size, in the user's home or in the
project.

A hook's input names folders and files. Whoever can forge it must not get anything else opened, so
paths are resolved first and checked then, and what is opened is checked once more.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from foreword.coding_agents.hook_events import HookEvent
from foreword.errors import BadSource, OutsideRoot
from foreword.store.locations import is_known

MARKS = ("foreword/recipes", ".foreword", ".checkpoints")  # of a project that wants us
# Of a transcript only the last of it is read, which is more than a window holds.
LARGEST_BYTES = 24 * 1024 * 1024
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def project_of(event: HookEvent, root: str) -> Path | None:
    """The project of an event: the nearest folder at or above where the agent works that has a mark
    of ours.

    `root` is what the user said, if anything; the event's own folder counts only in the user's home
    or below where we were started.
    """
    if root:
        return _nearest_project(_real_path(root))
    base = _real_path(os.environ.get("CLAUDE_PROJECT_DIR") or ".")
    inside = _real_path(event.cwd) if event.cwd else None
    if inside is not None and is_within(inside, [base, home()]):
        return _nearest_project(inside) or _nearest_project(base)
    return _nearest_project(base)


def read_bytes(path: str, project: Path) -> bytes:
    """The bytes of a file that an event names, the last of them where it is very large; or an
    error."""
    return tail(real_path_of(path, project), LARGEST_BYTES)


def real_path_of(path: str, project: Path) -> Path:
    """The real path of a file that an event names, or an error where it may not be read."""
    real = _real_path(path)
    if real is None:
        raise BadSource(path, "not a valid file name")
    if not is_within(real, [project, home()]):
        raise OutsideRoot(path, f"{project} and the user's home")
    return real


def tail(path: Path, most_bytes: int) -> bytes:
    """The last bytes of a regular file, from the beginning of a line on where they are not all
    of it."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError as error:
        raise BadSource(str(path), error.strerror or str(error)) from None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise BadSource(str(path), "not a regular file")
        if about.st_size > most_bytes:
            file.seek(about.st_size - most_bytes)
            file.readline(most_bytes)
        return file.read(most_bytes)


def home() -> Path | None:
    """The user's home; nothing where that would be everything."""
    try:
        folder = Path("~").expanduser().resolve()
    except (RuntimeError, OSError):
        return None
    return folder if folder != Path(folder.anchor) else None


def _nearest_project(folder: Path | None) -> Path | None:
    """Return the nearest folder with a mark or a store; neither home nor one that everybody may
    write to is a project."""
    if folder is None:
        return None
    for candidate in (folder, *folder.parents):
        is_project = _has_mark(candidate) or is_known(candidate)
        if is_project and candidate != home() and not _is_open_to_all(candidate):
            return candidate
    return None


def _has_mark(folder: Path) -> bool:
    return any(_mode(folder / mark) is not None for mark in MARKS)


def _is_open_to_all(folder: Path) -> bool:
    mode = _mode(folder)
    return mode is not None and bool(mode & stat.S_IWOTH)


def _mode(folder: Path) -> int | None:
    """The mode of a folder, or nothing where there is none."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return None
    return mode if stat.S_ISDIR(mode) else None


def _real_path(path: str) -> Path | None:
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def is_within(path: Path, folders: list[Path | None]) -> bool:
    """Whether a path that is resolved lies in one of the folders."""
    return any(folder is not None and path.is_relative_to(folder) for folder in folders)
