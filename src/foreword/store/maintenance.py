"""What a user does to a whole store: move it to the data directory, remove what is old."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from foreword.errors import StoreError, UsageError
from foreword.store import locations
from foreword.store.database import Database
from foreword.store.locations import FILE
from foreword.store.sqlite import WAIT_MILLISECONDS, Sqlite

IN_PROJECT = f".foreword/{FILE}"


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed: how many reports, and the handles that lead nowhere now."""

    reports: int
    handles: tuple[str, ...]


def prune(db: Database, days: int) -> Pruned:
    """Remove reports and originals that were last kept more than so many days ago.

    Artifacts keep their texts, and conversations the report of their newest calls, with which the
    next one is compared.
    """
    before = (datetime.now(UTC) - timedelta(days=days)).date().isoformat()
    with db.transaction("foreword: prune"):
        reports = db.rows(
            "DELETE FROM reports WHERE created < ? AND id NOT IN (SELECT MAX(id) FROM reports"
            " WHERE conversation IS NOT NULL GROUP BY conversation, budget_tokens) RETURNING id",
            (before,),
        )
        originals = db.rows(
            "DELETE FROM originals WHERE created < ? AND handle NOT IN (SELECT handle FROM"
            " artifacts) RETURNING handle",
            (before,),
        )
    return Pruned(len(reports), tuple(sorted(handle for (handle,) in originals)))


def move(root: Path, source: Path) -> Path:
    """Move a store to the data directory, as that of a root; returns its new file.

    Whoever has the old file open gets an error at the next write. Nothing is changed where the
    root has a store already, or the file is none.
    """
    target = locations.state_path(root)
    if target.exists():
        raise UsageError(
            f"{root} has a store already: {target}",
            hint="`foreword store list` shows it; nothing was moved",
        )
    if source.is_symlink() or not source.is_file():
        raise UsageError(f"there is no store to move: {source}", hint="name the file")
    Sqlite(source, read_only=True).close()  # an error where it is none
    locations.register(root)
    copy = target.with_name(f"{FILE}.{os.getpid()}.new")
    try:
        with closing(apsw.Connection(str(source))) as writer:
            writer.set_busy_timeout(WAIT_MILLISECONDS)
            writer.execute("BEGIN IMMEDIATE")  # nobody writes what would not be moved
            _copy(source, copy)
            target.hardlink_to(copy)  # an error where another process has made one
            for part in (source, *locations.files_beside(source)):
                part.unlink(missing_ok=True)
    except (apsw.Error, OSError) as error:
        raise StoreError(f"{source} can't be moved: {error}", hint="check the disk") from None
    finally:
        copy.unlink(missing_ok=True)
    return target


def _copy(source: Path, copy: Path) -> None:
    """Write all that is in a store to a new file, and bring it to the disk."""
    with closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as reader:
        reader.execute("VACUUM INTO ?", (str(copy),))
    with copy.open("rb") as file:
        copy.chmod(0o600)
        os.fsync(file.fileno())
