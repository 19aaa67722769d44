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

MARKS = ("foreword/recipes", ".foreword", ".checkpoints")  # of a project that wants us
LARGEST_BYTES = 24 * 1024 * 1024
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def project_of(event: HookEvent, root: str = "") -> Path | None:
    """The project of an event: the nearest folder at or above where the agent works that has a mark
    of ours.

    `root` is what the user said; the event's own folder counts only in the user's home or below
    where we were started.
    """
    if root:
        return _marked(_resolved(root))
    base = _resolved(os.environ.get("CLAUDE_PROJECT_DIR") or ".")
    inside = _resolved(event.cwd) if event.cwd else None
    if inside is not None and _is_within(inside, [base, home()]):
        return _marked(inside) or _marked(base)
    return _marked(base)


def read_bytes(path: str, project: Path) -> bytes:
    """The bytes of a file that an event names, the last of them where it is very large; or an
    error."""
    real = _resolved(path)
    if real is None:
        raise BadSource(path, "not a valid file name")
    if not _is_within(real, [project, home()]):
        raise OutsideRoot(path, f"{project} and the user's home")
    return tail(real, LARGEST_BYTES)


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


def _marked(folder: Path | None) -> Path | None:
    """The nearest folder with a mark; one that everybody may write to is nobody's project, and
    home is no project."""
    above = [folder, *folder.parents] if folder is not None else []
    marked = (each for each in above if any(_mode(each / mark) is not None for mark in MARKS))
    return next(
        (each for each in marked if each != home() and not (_mode(each) or 0) & stat.S_IWOTH), None
    )


def _mode(folder: Path) -> int | None:
    """The mode of a folder, or nothing where there is none."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return None
    return mode if stat.S_ISDIR(mode) else None


def _resolved(path: str) -> Path | None:
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_within(path: Path, folders: list[Path | None]) -> bool:
    return any(folder is not None and path.is_relative_to(folder) for folder in folders)
