"""A single original, kept by its content address for whoever asks for it later."""

from __future__ import annotations

import zlib

from foreword.section import handle_of
from foreword.store.database import Database


def keep(db: Database, body: bytes) -> str:
    """Keep an original and return its handle; doing it twice changes nothing."""
    handle = handle_of(body)
    with db.transaction():
        db.rows(
            "INSERT INTO originals VALUES (?, ?) ON CONFLICT DO NOTHING",
            (handle, zlib.compress(body, 1)),
        )
    return handle
