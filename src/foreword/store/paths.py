"""Where the store of a project is, and which stores this user has.

A project's store is `.foreword/state.db` under its root, in a folder that git ignores by itself;
where the root can't be written, a folder of the user's cache. There, beside a store that can't be
written, are originals and reports only: of what changes (plans, variables, messages) there are
never two. The list of stores lets `recall` find an original from anywhere. A project may come from
a stranger, so no part of a store may be a symbolic link.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from foreword.errors import StoreError
from foreword.store import private

FOLDER, FILE, IGNORE = ".foreword", "state.db", ".gitignore"
_BESIDE = ("-wal", "-shm", "-journal")  # the files SQLite keeps next to its own
# Stores in the list, the oldest half of which is forgotten beyond it: `recall` of an unknown handle
# opens every one of them.
_LONGEST_LIST = 1_000


def state_path(root: Path) -> Path:
    """The file of this root's workflows: its own where there is one, even if that can't be
    written."""
    own = root / FOLDER / FILE
    return own if is_there(own) else store_path(root)[0]


def store_path(root: Path) -> tuple[Path, str]:
    """The file to write originals and reports of this root to, and a note where that is not
    under the root."""
    own = root / FOLDER / FILE
    if writable(own.parent if own.parent.is_dir() else root):
        return own, ""
    fallback = _cache_path(root)
    return fallback, f"{root} is read-only: originals and reports are kept in {fallback.parent}"


def stores_of(root: Path) -> list[Path]:
    """The stores of this root that exist, the one in use first: a root that became read-only has
    two."""
    candidates = [store_path(root)[0], root / FOLDER / FILE, _cache_path(root)]
    return [path for path in dict.fromkeys(candidates) if os.path.lexists(path)]


def existing_stores(root: Path) -> list[Path]:
    """Stores that may hold an original: the root's, those of the folders above it, then all
    others known."""
    above = [folder / FOLDER / FILE for folder in root.parents]
    candidates = [*stores_of(root), *above, *_known_stores()]
    return [path for path in dict.fromkeys(candidates) if os.path.isfile(path)]  # noqa: PTH113 - never raises


def is_ours(path: Path) -> bool:
    """Whether a store is where we put it ourselves; any other file was named by the user."""
    return path.name == FILE and (path.parent.name == FOLDER or cache_folder() in path.parents)


def prepare(path: Path) -> None:
    """Make the folder of a store of ours, invisible to git, and remember the store."""
    if is_ours(path):
        refuse_links(path)
        if cache_folder() in path.parents:
            private.make_folder(cache_folder())
        make_hidden(path.parent)
    elif not path.parent.is_dir():
        raise StoreError(
            f"{path} can't be used: there is no folder {path.parent}", hint="make the folder first"
        )
    _remember(path)


def make_hidden(folder: Path) -> None:
    """Make a folder of ours in a project: its owner's alone, and invisible to git."""
    private.make_folder(folder)
    with suppress(FileExistsError), open(folder / IGNORE, "x", opener=private.opener) as ignore:
        ignore.write("*\n")


def tighten(path: Path) -> None:
    """Close a store to all but its owner, with the files beside it and, where it is ours, its
    folder.

    One that its owner made read-only is left as it is.
    """
    if is_ours(path):
        private.tighten(path.parent)
        private.tighten(path.parent / IGNORE)
    real = Path(os.path.realpath(path))
    for part in (real, *files_beside(real)):
        private.tighten(part)


def files_beside(path: Path) -> list[Path]:
    """The files that SQLite keeps next to its own, whether they are there or not."""
    return [path.with_name(path.name + end) for end in _BESIDE]


def refuse_links(path: Path) -> None:
    """An error where a part of a store is a link, through which we would read or write something
    else."""
    for part in (path.parent, path, path.parent / IGNORE, *files_beside(path)):
        mode = _mode(part, follow_symlinks=False)
        if stat.S_ISLNK(mode):
            raise StoreError(
                f"{part} is a symbolic link, so it is not used",
                hint="remove the link; nothing is lost",
            )
        if part != path.parent and not stat.S_ISREG(mode):
            raise StoreError(
                f"{part} is not a regular file", hint="move it away; it will be made anew"
            )


def refuse_devices(path: Path) -> None:
    """An error where a store, or a file beside it, is a pipe, a device or a folder: opening one
    may never end."""
    for part in (path, *files_beside(path)):
        if not stat.S_ISREG(_mode(part)):
            raise StoreError(
                f"{part} can't be used: it is not a regular file", hint="name another file"
            )


def _mode(path: Path, *, follow_symlinks: bool = True) -> int:
    """What kind of thing is there, as `stat` has it; nothing counts as the file that will be made.

    One look, not two: SQLite removes the files beside a store when the last process closes it, at
    any moment.
    """
    try:
        return path.stat(follow_symlinks=follow_symlinks).st_mode
    except (OSError, ValueError):
        return stat.S_IFREG


def is_there(path: Path) -> bool:
    """Whether there is a store, or a link in its place; a writer that was stopped early leaves
    an empty file."""
    try:
        return path.is_symlink() or bool(path.stat().st_size)
    except OSError:
        return False


def is_read_only(path: Path) -> bool:
    """Whether a store is there and is not meant to be written."""
    is_file = os.path.isfile(path)  # noqa: PTH113 - never raises; a link to nothing is a store still to be made
    return is_file and is_there(path) and not (writable(path.parent) and writable(path))


def writable(path: Path) -> bool:
    """Whether a file or folder is meant to be written: its mode counts even for a user who may
    ignore it."""
    try:
        return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)
    except OSError:
        return False


def cache_folder() -> Path:
    """The user's cache folder for Foreword."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~").expanduser() / ".cache"
    return Path(base) / "foreword"


def _cache_path(root: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    return cache_folder() / digest / FILE


def _known_stores() -> list[Path]:
    try:
        listed = (cache_folder() / "stores").read_bytes()
    except OSError:
        return []
    stores = list[Path]()
    for line in dict.fromkeys(listed.split(b"\n")):
        if line and b"\0" not in line:
            stores.append(Path(os.fsdecode(line)))
    return stores


def _remember(path: Path) -> None:
    """A convenience: where the cache can't be written, `recall` needs the root.

    One line is added in one write, so that many processes may do it at once.
    """
    real = Path(os.path.realpath(path))
    with suppress(OSError):
        private.tighten(cache_folder())
        private.tighten(cache_folder() / "stores")
        known = _known_stores()
        if real in known or "\n" in str(real):
            return
        private.make_folder(cache_folder())
        if len(known) >= _LONGEST_LIST:
            _prune(known)
        with open(cache_folder() / "stores", "ab", buffering=0, opener=private.opener) as listed:
            listed.write(os.fsencode(real) + b"\n")


def _prune(known: Iterable[Path]) -> None:
    """Forget the stores that are gone, and the oldest half of a list that is too long even so."""
    there = [path for path in known if os.path.isfile(path)]  # noqa: PTH113 - never raises
    newest = there[-_LONGEST_LIST // 2 :]
    shorter = cache_folder() / f"stores.{os.getpid()}"
    shorter.unlink(missing_ok=True)
    with open(shorter, "xb", opener=private.opener) as listed:
        listed.writelines(os.fsencode(path) + b"\n" for path in newest)
    shorter.replace(cache_folder() / "stores")
