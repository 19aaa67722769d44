"""Where the store of a project is, and which stores this user has.

A project's store is `.foreword/state.db` under its root, in a folder that git ignores by itself; where the root can't
be written, a folder of the user's cache. The list of stores lets `recall` find an original from anywhere.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

FOLDER, FILE = ".foreword", "state.db"


def store_path(root: Path) -> tuple[Path, str]:
    """The file to write for this root, and a note where that is not under the root."""
    own = root / FOLDER / FILE
    if _writable(own.parent if own.parent.is_dir() else root):
        return own, ""
    fallback = _cached(root)
    return fallback, f"{root} is read-only: originals and reports are kept in {fallback.parent}"


def existing_stores(root: Path) -> list[Path]:
    """Stores that may hold an original: the root's, those of the folders above it, then all others known."""
    above = [folder / FOLDER / FILE for folder in (root, *root.parents)]
    candidates = [above[0], _cached(root), *above[1:], *_known()]
    return [path for path in dict.fromkeys(candidates) if path.is_file()]


def prepare(path: Path) -> None:
    """Make the folder of a store, invisible to git, and remember the store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ignore = path.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    _remember(path)


def cache_folder() -> Path:
    """The user's cache folder for Foreword."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~").expanduser() / ".cache"
    return Path(base) / "foreword"


def _cached(root: Path) -> Path:
    digest = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache_folder() / digest / FILE


def _writable(folder: Path) -> bool:
    """Whether the folder is meant to be written: its mode counts even for a user who may ignore it."""
    try:
        return bool(folder.stat().st_mode & 0o222) and os.access(folder, os.W_OK)
    except OSError:
        return False


def _known() -> list[Path]:
    try:
        return [Path(line) for line in (cache_folder() / "stores").read_text("utf-8").splitlines() if line]
    except (OSError, UnicodeDecodeError):
        return []


def _remember(path: Path) -> None:
    """A convenience: where the cache can't be written, `recall` needs the root."""
    try:
        known = _known()
        if path.resolve() not in known:
            cache_folder().mkdir(parents=True, exist_ok=True)
            there = [other for other in known if other.is_file()]
            (cache_folder() / "stores").write_text("".join(f"{p}\n" for p in [*there, path.resolve()]), "utf-8")
    except OSError:
        pass
