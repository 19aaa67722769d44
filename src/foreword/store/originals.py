"""The table `originals`: what contexts left out, packed, each under a handle made from its bytes.

A handle may also stand for a range of messages, which `messages` keeps; both are found here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from foreword.errors import StoreError, UnknownHandle
from foreword.section import handle_of
from foreword.store.database import RESTORE, Database, stamp

PREFIX = "fw_"
# Three digits after the prefix: fewer match by chance as soon as a few dozen originals are kept.
SHORTEST_HANDLE = 6
# The fastest: an original is written with every context and read back rarely.
COMPRESSION_LEVEL = 1


def is_handle(text: str) -> bool:
    """Whether a text can be a handle, or a beginning that is long enough to look for."""
    return text.startswith(PREFIX) and len(text) >= SHORTEST_HANDLE


def keep(db: Database, body: bytes) -> str:
    """Keep an original and return its handle; doing it twice changes nothing."""
    handle = handle_of(body)
    with db.transaction():
        write(db, {handle: body})
    return handle


def write(db: Database, originals: Mapping[str, bytes]) -> None:
    """Write originals by their handles; of one that is there already, note the day on which it was
    last kept. The caller holds the transaction."""
    today = stamp()[: len("2026-11-18")]
    rows = []
    for handle, body in originals.items():
        rows.append((handle, today, zlib.compress(body, COMPRESSION_LEVEL)))
    db.many(
        "INSERT INTO originals (handle, created, body) VALUES (?, ?, ?) ON CONFLICT (handle) DO"
        " UPDATE SET created = excluded.created WHERE originals.created < excluded.created",
        rows,
    )


def find(db: Database, handle: str) -> list[tuple[str, Any]]:
    """What is kept under a handle or a beginning of one: each with its whole handle, and packed.

    At most two of each kind: enough to tell one from many.
    """
    from foreword.store import messages  # not for those who only keep originals

    end = handle + "{"  # the character after "z": greater than whatever begins with the handle
    found: list[tuple[str, Any]] = []
    found += db.rows(
        "SELECT handle, body FROM originals WHERE handle >= ? AND handle < ? LIMIT 2",
        (handle, end),
    )
    found += messages.find_ranges(db, handle, end=end)
    return found


def read_one(db: Database, handle: str) -> bytes:
    """The original under a handle or the beginning of one; an error where that is not one."""
    found = find(db, handle) if is_handle(handle) else []
    if len(found) != 1:
        raise UnknownHandle(handle, db.name, matches=len(found))
    whole_handle, packed = found[0]
    return read(db, whole_handle, packed)


def read(db: Database, handle: str, packed: Any) -> bytes:
    """The original of what `find` found: bytes that were kept, or the messages of a range without
    its secrets."""
    from foreword.store import messages
    from foreword.store.secret_values import secrets_of

    if isinstance(packed, messages.Range):
        secrets = secrets_of(db, messages.workflow_of(db, packed.conversation))
        return secrets.hide_known_values(messages.as_text(db, packed)).encode(
            "utf-8", "surrogatepass"
        )
    return _unpack(handle, packed)


def read_exact(db: Database, handle: str) -> bytes:
    """Return the original under this whole handle."""
    rows = db.rows("SELECT body FROM originals WHERE handle = ?", (handle,))
    if not rows:
        raise UnknownHandle(handle, db.name, matches=0)
    return _unpack(handle, rows[0][0])


def _unpack(handle: str, packed: bytes) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error:
        raise StoreError(f"{handle} in the store is damaged", hint=RESTORE) from None
