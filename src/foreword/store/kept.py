"""The store in SQLite: originals by handle, reports in order, carried items by name.

One file, write-ahead log, one transaction for each save, so that a reader or a killed writer never sees half of it.
Only a file that says it is a store is written, and what only reads opens it read-only. Where the file is, is `places`'
business.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from foreword.errors import StoreError, UnknownHandle
from foreword.model import handle_of
from foreword.store.places import existing_stores, prepare, refuse_links, stores_of, writable

APPLICATION = int.from_bytes(b"FWRD")
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
TABLES = {"originals", "reports", "carried"}
WAIT_MILLISECONDS = 10_000
LARGEST_BYTES = 256 * 1024 * 1024
LARGEST_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Stored:
    """A report as it was kept."""

    number: int
    created: str
    report: dict[str, Any]


class Store:
    """One store file, open; with `read_only`, one that is there already and is left as it is."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        with _translated(path), ExitStack() as undo:
            if read_only:
                refuse_links(path)
                _refuse_strangers(path)
            else:
                prepare(path)
            self._db = _connected(path, read_only)
            undo.callback(self._db.close)
            done = self._recognise(read_only)
            if not read_only:
                self._db.pragma("journal_mode", "wal")
                self._db.pragma("synchronous", "normal")
                self._migrate(done)
            undo.pop_all()

    def _recognise(self, read_only: bool) -> bool:
        """Whether it is a store in today's form; an error where it is somebody else's, or of a newer Foreword."""
        application, version = self._db.pragma("application_id"), self._db.pragma("user_version")
        names = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if application not in (0, APPLICATION) or (not names >= TABLES and (names or read_only)):
            raise StoreError(f"{self.path} is not a Foreword store", hint="move it away; it will be made anew")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer Foreword (schema {version}, this one knows {SCHEMA_VERSION})",
                hint="upgrade Foreword, or use another root",
            )
        return bool(application == APPLICATION and version == SCHEMA_VERSION)

    def _migrate(self, done: bool) -> None:
        if not done:
            self._db.execute(
                f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
            )

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
            sizes = (min(report[size], LARGEST_NUMBER) for size in ("total_tokens", "budget_tokens"))
            self._db.execute(
                "INSERT INTO reports (created, recipe, total_tokens, budget_tokens, report) VALUES (?, ?, ?, ?, ?)",
                (created, report["recipe"], *sizes, _dumped(report)),
            )
        return self._db.last_insert_rowid()

    def reports(self, limit: int = 20) -> list[Stored]:
        """The newest reports first; what can't be read as one is left out."""
        limit = max(-1, min(limit, LARGEST_NUMBER))
        with _translated(self.path):
            rows = self._db.execute("SELECT id, created, report FROM reports ORDER BY id DESC LIMIT ?", (limit,))
            return [stored for row in rows if (stored := _stored(*row))]

    def report(self, number: int) -> Stored | None:
        """One report."""
        if abs(number) > LARGEST_NUMBER:
            return None
        with _translated(self.path):
            row = self._db.execute("SELECT id, created, report FROM reports WHERE id = ?", (number,)).fetchone()
        stored = _stored(*row) if row else None
        if row and not stored:
            raise _altered(self.path, f"report {number}")
        return stored

    def originals(self, handle: str) -> list[tuple[str, bytes]]:
        """What is kept under a handle or a beginning of one; at most two, to tell one from many."""
        return [(found, _unpacked(self.path, found, packed)) for found, packed in self.packed(handle)]

    def packed(self, handle: str) -> list[tuple[str, object]]:
        """The same as it lies in the file, unchecked."""
        with _translated(self.path):
            rows = self._db.execute(
                "SELECT handle, body FROM originals WHERE handle >= ? AND handle < ? LIMIT 2", (handle, handle + "{")
            )
            return [(found, body) for found, body in rows]

    def carried(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name, in a stable order; what can't be read as one is left out."""
        with _translated(self.path):
            rows = self._db.execute("SELECT item FROM carried WHERE name = ? ORDER BY kind, title", (name,))
            return [item for (text,) in rows if (item := _loaded(text, kind=str, title=str, text=str))]

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


@dataclass(frozen=True, slots=True)
class Kept:
    """The stores of one root, open for reading: its own and, where it is or was read-only, the one in the cache."""

    stores: tuple[Store, ...]

    def reports(self, limit: int = 20) -> list[Stored]:
        """The newest reports first, of all stores."""
        found = [stored for store in self.stores for stored in store.reports(limit)]
        found.sort(key=lambda stored: stored.created, reverse=True)
        return found[: max(limit, 0)]

    def report(self, number: int) -> Stored | None:
        """One report; of two with that number, the one in the store that is in use."""
        return next((stored for store in self.stores if (stored := store.report(number))), None)

    def carried(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name; where several stores have some, those of the store that is in use."""
        return next((items for store in self.stores if (items := store.carried(name))), [])

    def close(self) -> None:
        """Close the files."""
        for store in self.stores:
            store.close()


def open_existing(root: Path) -> Kept | None:
    """What is kept for a root, open for reading, or nothing; makes no file."""
    with ExitStack() as undo:
        stores = []
        for path in stores_of(root):
            if path.is_symlink() or path.stat().st_size:  # an empty file: a writer was stopped before it began
                stores.append(Store(path, read_only=True))
                undo.callback(stores[-1].close)
        undo.pop_all()
    return Kept(tuple(stores)) if stores else None


def recall(handle: str, root: Path) -> bytes:
    """The original kept under a handle, from the root's store or any other this user has."""
    stores, ambiguous, altered = existing_stores(root.resolve()), False, None
    for path in stores if handle.startswith("fw_") and len(handle) >= 6 else []:
        try:
            found = _looked_up(path, handle)
        except StoreError:
            continue
        try:
            if len(found) == 1:
                return _unpacked(path, *found[0])
        except StoreError as error:
            altered = error
        ambiguous = ambiguous or len(found) > 1
    if altered and not ambiguous:
        raise altered
    raise UnknownHandle(handle, str(root), matches=2 if ambiguous else 0)


def _looked_up(path: Path, handle: str) -> list[tuple[str, object]]:
    store = Store(path, read_only=True)
    try:
        return store.packed(handle)
    finally:
        store.close()


def _connected(path: Path, read_only: bool) -> apsw.Connection:
    """A connection; a store in a folder that can't be written is read without the files SQLite would put there."""
    mode = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    uri = path.absolute().as_uri()  # as a URI: apsw takes no name that is not UTF-8
    log = path.with_name(f"{path.name}-wal")
    if read_only and not writable(path.parent) and not (log.exists() and log.stat().st_size):
        uri += "?immutable=1"
    connection = apsw.Connection(uri, flags=mode | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(WAIT_MILLISECONDS)
    return connection


def _refuse_strangers(path: Path) -> None:
    """What another user put there is not ours to hand on; root's is trusted, and root may read everyone's."""
    owner = path.stat().st_uid
    if owner not in (os.getuid(), 0) and os.getuid():
        raise StoreError(f"{path} belongs to another user (id {owner})", hint="use a root of your own")


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _loaded(row: object, /, **fields: type) -> dict[str, Any] | None:
    """The mapping a row holds, or nothing where it holds something else or lacks a field."""
    try:
        value = json.loads(row) if isinstance(row, str) else None
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in fields.items()):
        return value
    return None


def _stored(number: int, created: object, text: object) -> Stored | None:
    report = _loaded(text, recipe=str, total_tokens=int, budget_tokens=int)
    return Stored(number, created, report) if report and isinstance(created, str) else None


def _unpacked(path: Path, handle: str, packed: object) -> bytes:
    """The original of a row, if it is the one its handle was made from."""
    unpacking = zlib.decompressobj()
    try:
        body = unpacking.decompress(packed, LARGEST_BYTES) if isinstance(packed, bytes) else b""
    except zlib.error:
        raise _altered(path, handle) from None
    if not unpacking.eof or handle_of(body) != handle:
        raise _altered(path, handle)
    return body


def _altered(path: Path, what: str) -> StoreError:
    return StoreError(f"{what} in {path} was altered, so it is not used", hint="assemble the context again")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    try:
        yield
    except apsw.NotADBError:
        raise StoreError(f"{path} is not a Foreword store", hint="move it away; it will be made anew") from None
    except (apsw.Error, OSError, OverflowError, UnicodeError) as error:
        raise StoreError(f"{path} can't be used: {error}", hint="check the folder, its rights and the disk") from None
