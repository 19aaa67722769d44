"""The table `originals`: what contexts left out, packed, each under a handle made from its bytes.

A handle may also stand for a range of messages, which `messages` keeps; both are found here. A
store may have been meddled with: bytes that don't fit their handle are refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from foreword.errors import UnknownHandle
from foreword.section import handle_of
from foreword.store.database import Database, altered_error

# Unpacked. A source file may have a quarter of it (`sources.files`), several of them make one
# original; without a limit, a small row in a stranger's store could fill the memory.
LARGEST_BYTES = 256 * 1024 * 1024
PREFIX = "fw_"
# Three digits after the prefix: fewer match by chance as soon as a few dozen originals are kept.
SHORTEST_HANDLE = 6
# The fastest: an original is written with every context and read back rarely.
COMPRESSION_LEVEL = 1
HINT = "assemble the context again"


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
    """Write originals by their handles, those that are there already excepted; the caller holds
    the transaction."""
    rows = []
    for handle, body in originals.items():
        rows.append((handle, zlib.compress(body, COMPRESSION_LEVEL)))
    db.many("INSERT INTO originals VALUES (?, ?) ON CONFLICT DO NOTHING", rows)


def find(db: Database, handle: str) -> list[tuple[str, object]]:
    """What is kept under a handle or a beginning of one: each with its whole handle, and packed.

    At most two of each kind: enough to tell one from many.
    """
    from foreword.store import messages  # not for those who only keep originals

    end = handle + "{"  # the character after "z": greater than whatever begins with the handle
    found: list[tuple[str, object]] = []
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


def read(db: Database, handle: str, packed: object) -> bytes:
    """The original of what `find` found: bytes that were kept, or the messages of a range without
    its secrets."""
    from foreword.store import messages
    from foreword.store.secret_values import secrets_of

    if isinstance(packed, messages.Range):
        secrets = secrets_of(db, messages.workflow_of(db, packed.conversation))
        return secrets.hide_known_values(messages.as_text(db, packed)).encode(
            "utf-8", "surrogatepass"
        )
    return _unpack(db.name, handle, packed)


def read_exact(db: Database, handle: str) -> bytes:
    """The original under this whole handle."""
    rows = db.rows("SELECT body FROM originals WHERE handle = ?", (handle,))
    packed = rows[0][0] if rows else None
    return _unpack(db.name, handle, packed)


def _unpack(where: str, handle: str, packed: object) -> bytes:
    """The original of a row, if it is the one its handle was made from."""
    unpacking = zlib.decompressobj()
    try:
        body = unpacking.decompress(packed, LARGEST_BYTES) if isinstance(packed, bytes) else b""
    except zlib.error:
        raise altered_error(f"{handle} in {where}", hint=HINT) from None
    if not unpacking.eof or handle_of(body) != handle:
        raise altered_error(f"{handle} in {where}", hint=HINT)
    return body
