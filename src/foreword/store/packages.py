"""What the store keeps of contexts: originals by handle, reports in order, carried items by name.

Each save is one transaction, so that a reader or a killed writer never sees half of it. A store may
have been meddled with: what can't be read as what it should be is not used.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.errors import StoreError, UnknownHandle
from foreword.section import handle_of
from foreword.store import messages
from foreword.store.database import (
    LARGEST_NUMBER,
    Database,
    Kinds,
    altered,
    from_json,
    mapping,
    plain,
    stamp,
)
from foreword.store.messages import Range
from foreword.store.paths import existing_stores, is_there, store_path, stores_of
from foreword.store.secret_values import secrets_of
from foreword.store.sqlite import Sqlite
from foreword.store.urls import VARIABLE, open_database, open_to_read

LARGEST_BYTES = 256 * 1024 * 1024
AGAIN = "assemble the context again"
NUMBER = (int, float)
USAGE = mapping(
    recipe=str,
    total_tokens=int,
    budget_tokens=int,
    used=NUMBER,
    parts=dict,
    messages=int,
    image_tokens=int,
    stable_tokens=int,
    reused_tokens=int,
    reuse=NUMBER,
    prefix_break=str,
    milliseconds=NUMBER,
    compression=int,
    prefix=list,
)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report as it was kept."""

    number: int
    created: str
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """An open database, asked for originals, reports and carried items."""

    db: Database

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def save(
        self,
        originals: Mapping[str, bytes],
        report: Mapping[str, Any],
        *,
        conversation: int | None = None,
        usage: Mapping[str, Any] | None = None,
        created: str = "",
    ) -> int:
        """Keep a report and the originals of all that it left out, both or neither; returns the
        report's id."""
        with self.db.transaction():
            self.db.many(
                "INSERT INTO originals VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(handle, zlib.compress(body, 1)) for handle, body in originals.items()],
            )
            sizes = (
                min(report[size], LARGEST_NUMBER) for size in ("total_tokens", "budget_tokens")
            )
            ((number,),) = self.db.rows(
                "INSERT INTO reports (created, recipe, total_tokens, budget_tokens, report,"
                " conversation, usage) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    created or stamp(),
                    report["recipe"],
                    *sizes,
                    _dumped(report),
                    conversation,
                    None if usage is None else _dumped(usage),
                ),
            )
        return int(number)

    def reports(self, limit: int = 20) -> list[StoredReport]:
        """The newest reports first; what can't be read as one is left out."""
        limit = max(0, min(limit, LARGEST_NUMBER))
        rows = self.db.rows(
            "SELECT id, created, report FROM reports ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [stored for row in rows if (stored := _stored(*row))]

    def usage(self, conversation: int, limit: int = 20) -> list[dict[str, Any]]:
        """The newest entries of a conversation's usage log, the newest first."""
        rows = self.db.rows(
            "SELECT id, created, usage FROM reports WHERE conversation = ? AND usage IS NOT NULL"
            " ORDER BY id DESC LIMIT ?",
            (conversation, max(0, min(limit, LARGEST_NUMBER))),
        )
        return [
            {"report": number, "created": created, **self._entry(number, text)}
            for number, created, text in rows
        ]

    def last_usage(self, conversation: int, recipe: str, budget_tokens: int) -> dict[str, Any]:
        """The newest entry of a usage log for a recipe and budget; empty where there is none."""
        rows = self.db.rows(
            "SELECT id, usage FROM reports WHERE conversation = ? AND recipe = ? AND budget_tokens"
            " = ? AND usage IS NOT NULL ORDER BY id DESC LIMIT 1",
            (conversation, recipe, budget_tokens),
        )
        return self._entry(*rows[0]) if rows else {}

    def _entry(self, number: int, text: str) -> dict[str, Any]:
        where = f"the usage of report {number} in {self.db.name}"
        entry: dict[str, Any] = from_json(
            text, where, _is_usage, hint="remove its row from the table reports"
        )
        return entry

    def report(self, number: int) -> StoredReport | None:
        """One report."""
        if abs(number) > LARGEST_NUMBER:
            return None
        rows = self.db.rows("SELECT id, created, report FROM reports WHERE id = ?", (number,))
        stored = _stored(*rows[0]) if rows else None
        if rows and not stored:
            raise altered(f"report {number} in {self.db.name}", hint=AGAIN)
        return stored

    def found(self, handle: str) -> list[tuple[str, object]]:
        """What is kept under a handle or a beginning of one, packed; at most two, to tell one
        from many."""
        within = (handle, handle + "{")
        rows = self.db.rows(
            "SELECT handle, body FROM originals WHERE handle >= ? AND handle < ? LIMIT 2", within
        )
        if self.db.version() > 1:
            rows += [
                (name, Range(*row))
                for name, *row in self.db.rows(
                    "SELECT handle, conversation, first, last FROM ranges WHERE handle >= ? AND"
                    " handle < ? LIMIT 2",
                    within,
                )
            ]
        return [(name, packed) for name, packed in rows]

    def original(self, handle: str, packed: object) -> bytes:
        """The original of what was found: bytes that were kept, or the messages of a range
        without its secrets."""
        if isinstance(packed, Range):
            secrets = secrets_of(self.db, messages.workflow_of(self.db, packed.conversation))
            return secrets.known(messages.as_text(self.db, packed)).encode("utf-8", "surrogatepass")
        return _unpacked(self.db.name, handle, packed)

    def carried(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name, in a stable order; what can't be read as one is left out."""
        rows = self.db.rows("SELECT item FROM carried WHERE name = ? ORDER BY kind, title", (name,))
        return [item for (text,) in rows if (item := _loaded(text, kind=str, title=str, text=str))]

    def carry(
        self,
        name: str,
        items: Mapping[tuple[str, str], Mapping[str, Any]],
        ended: list[tuple[str, str]],
    ) -> None:
        """Keep items under a name, by kind and title, and forget those that have ended."""
        with self.db.transaction():
            self.db.many(
                "INSERT INTO carried VALUES (?, ?, ?, ?)"
                " ON CONFLICT (name, kind, title) DO UPDATE SET item = excluded.item",
                [
                    (name, plain(kind), plain(title), _dumped(item))
                    for (kind, title), item in items.items()
                ],
            )
            self.db.many(
                "DELETE FROM carried WHERE name = ? AND kind = ? AND title = ?",
                [(name, plain(kind), plain(title)) for kind, title in ended],
            )


@dataclass(frozen=True, slots=True)
class PackageStores:
    """The stores of one root, open for reading: its own and, where it is or was read-only, the
    one in the cache."""

    stores: tuple[Store, ...]

    def reports(self, limit: int = 20) -> list[StoredReport]:
        """The newest reports first, of all stores."""
        found = [stored for store in self.stores for stored in store.reports(limit)]
        found.sort(key=lambda stored: stored.created, reverse=True)
        return found[: max(limit, 0)]

    def report(self, number: int) -> StoredReport | None:
        """One report; of two with that number, the one in the store that is in use."""
        return next((stored for store in self.stores if (stored := store.report(number))), None)

    def carried(self, name: str) -> list[dict[str, Any]]:
        """The items kept under a name; where several stores have some, those of the store that
        is in use."""
        return next((items for store in self.stores if (items := store.carried(name))), [])

    def close(self) -> None:
        """Close the files."""
        for store in self.stores:
            store.close()


@contextmanager
def open_store(root: Path, url: str | None = None) -> Iterator[Store]:
    """The store to keep originals and reports of a root in, made where there is none."""
    url = url or os.environ.get(VARIABLE)
    store = Store(open_database(url, root) if url else Sqlite(store_path(root)[0]))
    try:
        yield store
    finally:
        store.close()


def open_existing(root: Path, url: str | None = None) -> PackageStores | None:
    """What is kept for a root, open for reading, or nothing; makes no file."""
    url = url or os.environ.get(VARIABLE)
    if url:
        named = open_to_read(url, root)
        return PackageStores((Store(named),)) if named else None
    with ExitStack() as undo:
        stores = []
        for path in stores_of(root):
            if is_there(path):
                stores.append(Store(Sqlite(path, read_only=True)))
                undo.callback(stores[-1].close)
        undo.pop_all()
    return PackageStores(tuple(stores)) if stores else None


def recall(handle: str, root: Path, url: str | None = None) -> bytes:
    """The original kept under a handle, from the root's store or any other this user has."""
    ambiguous, altered = False, None
    for store in (
        _stores(root.resolve(), url) if handle.startswith("fw_") and len(handle) >= 6 else ()
    ):
        with closing(store):
            try:
                found = store.found(handle)
            except StoreError:
                continue
            ambiguous = ambiguous or len(found) > 1
            try:
                if len(found) == 1:
                    return store.original(*found[0])
            except StoreError as error:
                altered = error
    if altered and not ambiguous:
        raise altered
    raise UnknownHandle(handle, str(root), matches=2 if ambiguous else 0)


def _stores(root: Path, url: str | None) -> Iterator[Store]:
    """Each store that may hold an original, the one that is named first; others that can't be
    read are passed over."""
    url = url or os.environ.get(VARIABLE)
    named = open_to_read(url, root) if url else None
    if named:
        yield Store(named)
    for path in existing_stores(root):
        try:
            store = Store(Sqlite(path, read_only=True))
        except StoreError:
            continue
        yield store


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _loaded(row: object, /, **fields: Kinds) -> dict[str, Any] | None:
    """The mapping a row holds, or nothing where it holds something else or lacks a field."""
    try:
        value: dict[str, Any] = from_json(
            row if isinstance(row, str) else "", "", mapping(**fields)
        )
    except StoreError:
        return None
    return value


def _is_usage(value: Any) -> bool:
    """Whether a value is a line of a usage log, with the fingerprint that the next call compares
    itself with."""
    return USAGE(value) and all(
        isinstance(stretch, list) and [type(part) for part in stretch] == [str, int, str]
        for stretch in value["prefix"]
    )


def _stored(number: int, created: object, text: object) -> StoredReport | None:
    report = _loaded(text, recipe=str, total_tokens=int, budget_tokens=int)
    return StoredReport(number, created, report) if report and isinstance(created, str) else None


def _unpacked(where: str, handle: str, packed: object) -> bytes:
    """The original of a row, if it is the one its handle was made from."""
    unpacking = zlib.decompressobj()
    try:
        body = unpacking.decompress(packed, LARGEST_BYTES) if isinstance(packed, bytes) else b""
    except zlib.error:
        raise altered(f"{handle} in {where}", hint=AGAIN) from None
    if not unpacking.eof or handle_of(body) != handle:
        raise altered(f"{handle} in {where}", hint=AGAIN)
    return body
