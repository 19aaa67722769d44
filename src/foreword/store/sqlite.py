"""The store in SQLite: originals by handle, reports in order, carried items by name.

One file, write-ahead log, one transaction for each save, so that a reader or a killed writer never sees half of it.
Where the file is, is `places`' business.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from foreword.errors import StoreError, UnknownHandle
from foreword.store.places import existing_stores, prepare

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS originals (handle TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
    id INTEGER PRIMARY KEY, created TEXT NOT NULL, recipe TEXT NOT NULL, total_tokens INTEGER NOT NULL,
    budget_tokens INTEGER NOT NULL, report TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS carried (
    name TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (name, kind, title)
) WITHOUT ROWID;
"""
WAIT_MILLISECONDS = 10_000


@dataclass(frozen=True, slots=True)
class Stored:
    """A report as it was kept."""

    number: int
    created: str
    report: dict[str, Any]


class Store:
    """One store file, open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _translated(path):
            prepare(path)
            self._db = apsw.Connection(str(path))
            self._db.set_busy_timeout(WAIT_MILLISECONDS)
            self._db.pragma("journal_mode", "wal")
            self._db.pragma("synchronous", "normal")
            self._migrate()

    def _migrate(self) -> None:
        version = self._db.pragma("user_version")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer Foreword (schema {version}, this one knows {SCHEMA_VERSION})",
                hint="upgrade Foreword, or use another root",
            )
        if version < SCHEMA_VERSION:
            with self._db:
                self._db.execute(SCHEMA)
                self._db.pragma("user_version", SCHEMA_VERSION)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def save(self, originals: Mapping[str, bytes], report: Mapping[str, Any], created: str) -> int:
        """Keep a report and the originals of all that it left out, both or neither; returns the report's id."""
        with _translated(self.path), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO originals VALUES (?, ?)",
                ((handle, zlib.compress(body, 1)) for handle, body in originals.items()),
            )
            self._db.execute(
                "INSERT INTO reports (created, recipe, total_tokens, budget_tokens, report) VALUES (?, ?, ?, ?, ?)",
                (created, report["recipe"], report["total_tokens"], report["budget_tokens"], _dumped(report)),
            )
        return self._db.last_insert_rowid()

    def reports(self, limit: int = 20) -> list[Stored]:
        """The newest reports first."""
        with _translated(self.path):
            rows = self._db.execute("SELECT id, created, report FROM reports ORDER BY id DESC LIMIT ?", (limit,))
            return [Stored(number, created, json.loads(report)) for number, created, report in rows]

    def report(self, number: int) -> Stored | None:
        """One report."""
        with _translated(self.path):
            row = self._db.execute("SELECT id, created, report FROM reports WHERE id = ?", (number,)).fetchone()
        return Stored(row[0], row[1], json.loads(row[2])) if row else None

    def originals(self, handle: str) -> list[tuple[str, bytes]]:
        """What is kept under a handle or a beginning of one; at most two, to tell one from many."""
        with _translated(self.path):
            rows = self._db.execute(
                "SELECT handle, body FROM originals WHERE handle >= ? AND handle < ? LIMIT 2", (handle, handle + "{")
            )
            return [(found, zlib.decompress(body)) for found, body in rows]

    def carried(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name, in a stable order."""
        with _translated(self.path):
            rows = self._db.execute("SELECT item FROM carried WHERE name = ? ORDER BY kind, title", (name,))
            return [json.loads(item) for (item,) in rows]

    def carry(
        self, name: str, items: Mapping[tuple[str, str], Mapping[str, Any]], ended: list[tuple[str, str]]
    ) -> None:
        """Keep items under a name, by kind and title, and forget those that have ended."""
        with _translated(self.path), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO carried VALUES (?, ?, ?, ?)",
                [(name, kind, title, _dumped(item)) for (kind, title), item in items.items()],
            )
            self._db.executemany(
                "DELETE FROM carried WHERE name = ? AND kind = ? AND title = ?",
                [(name, kind, title) for kind, title in ended],
            )


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    try:
        yield
    except apsw.NotADBError:
        raise StoreError(f"{path} is not a Foreword store", hint="move it away; it will be made anew") from None
    except (apsw.Error, OSError) as error:
        raise StoreError(f"{path} can't be used: {error}", hint="check the folder, its rights and the disk") from None


def recall(handle: str, root: Path) -> bytes:
    """The original kept under a handle, from the root's store or any other this user has."""
    stores, ambiguous = existing_stores(root.resolve()), 0
    for path in stores if handle.startswith("fw_") and len(handle) >= 6 else []:
        try:
            store = Store(path)
        except StoreError:
            continue
        try:
            found = store.originals(handle)
        finally:
            store.close()
        if len(found) == 1:
            return found[0][1]
        ambiguous = max(ambiguous, len(found))
    raise UnknownHandle(handle, str(root), matches=ambiguous)
