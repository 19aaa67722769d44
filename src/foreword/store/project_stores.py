"""The stores of a project: the one to write contexts to, and all that may hold what was written.

A root that is or was read-only has two, its own and one in the cache (`paths`); an original may be
in any store of this user. What is read from each is for `originals`, `reports` and `carried_items`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.errors import StoreError, UnknownHandle
from foreword.store import carried_items, originals, reports
from foreword.store.database import Database
from foreword.store.paths import existing_stores, is_there, store_path, stores_of
from foreword.store.reports import StoredReport
from foreword.store.sqlite import Sqlite
from foreword.store.urls import VARIABLE, open_database, open_to_read, place_of


@dataclass(frozen=True, slots=True)
class ProjectStores:
    """The stores of one root, open for reading, the one that is in use first."""

    databases: tuple[Database, ...]

    def reports(self, limit: int = 20) -> list[StoredReport]:
        """The newest reports first, of all stores."""
        found = []
        for db in self.databases:
            found += reports.newest_reports(db, limit)
        found.sort(key=lambda stored: stored.created, reverse=True)
        return found[: max(limit, 0)]

    def report(self, number: int) -> StoredReport | None:
        """One report; of two with that number, the one in the store that is in use."""
        for db in self.databases:
            stored = reports.find_report(db, number)
            if stored is not None:
                return stored
        return None

    def carried_items(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name; where several stores have some, those of the store that
        is in use."""
        for db in self.databases:
            items = carried_items.read_items(db, name)
            if items:
                return items
        return []

    def close(self) -> None:
        """Close the files."""
        for db in self.databases:
            db.close()


@contextmanager
def open_store(root: Path, url: str | None = None) -> Iterator[Database]:
    """The store to keep originals and reports of a root in, made where there is none."""
    with closing(open_to_write(root, url)) as db:
        yield db


def open_to_write(root: Path, url: str | None = None) -> Database:
    """The store to keep originals and reports of a root in, open; the caller closes it."""
    url = url or os.environ.get(VARIABLE)
    return open_database(url, root) if url else Sqlite(store_path(root)[0])


def place_to_write(root: Path) -> Path | str:
    """Where that store is: its file, or the address of its server."""
    url = os.environ.get(VARIABLE)
    return place_of(url, root) if url else store_path(root)[0]


def open_existing(root: Path, url: str | None = None) -> ProjectStores | None:
    """What is kept for a root, open for reading, or nothing; makes no file."""
    url = url or os.environ.get(VARIABLE)
    if url:
        db = open_to_read(url, root)
        return ProjectStores((db,)) if db else None
    databases = list[Database]()
    with ExitStack() as undo:
        for path in stores_of(root):
            if is_there(path):
                databases.append(Sqlite(path, read_only=True))
                undo.callback(databases[-1].close)
        undo.pop_all()
    return ProjectStores(tuple(databases)) if databases else None


def recall(handle: str, root: Path, url: str | None = None) -> bytes:
    """The original kept under a handle, from the root's store or any other this user has."""
    if not originals.is_handle(handle):
        raise UnknownHandle(handle, str(root), matches=0)
    is_ambiguous = False
    problem: StoreError | None = None
    for db in _databases_to_search(root.resolve(), url):
        with closing(db):
            try:
                found = originals.find(db, handle)
            except StoreError:
                continue
            is_ambiguous = is_ambiguous or len(found) > 1
            if len(found) != 1:
                continue
            whole_handle, packed = found[0]
            try:
                return originals.read(db, whole_handle, packed)
            except StoreError as error:
                problem = error  # another store may have it unharmed
    if problem and not is_ambiguous:
        raise problem
    raise UnknownHandle(handle, str(root), matches=2 if is_ambiguous else 0)


def _databases_to_search(root: Path, url: str | None) -> Iterator[Database]:
    """Each store that may hold an original, the one that is named first; others that can't be
    read are passed over."""
    url = url or os.environ.get(VARIABLE)
    named = open_to_read(url, root) if url else None
    if named:
        yield named
    for path in existing_stores(root):
        try:
            db = Sqlite(path, read_only=True)
        except StoreError:
            continue
        yield db
