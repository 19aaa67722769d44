"""How far the history that a client holds is in a conversation: each of its messages by its place
there, its number here, and a digest of all up to it.

Two histories with the same digest at a place are the same up to there, so one row says whether
anything was changed. What a digest is made of is `session.client_history`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foreword.store.database import LARGEST_NUMBER, Database, select


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """A message of the client's history: the how-manieth it is, its number, and the digest."""

    place: int = 0
    seq: int = 0
    chain: str = ""


def places_back(
    db: Database, conversation: int, *, place: int = LARGEST_NUMBER, limit: int = 1
) -> list[ClientPlace]:
    """The newest that are known, from a place on backwards."""
    which = "FROM client_messages WHERE conversation = ? AND place <= ? ORDER BY place DESC LIMIT ?"
    return select(db, ClientPlace, which, (conversation, place, limit))


def add(db: Database, conversation: int, places: Iterable[ClientPlace]) -> None:
    """Remember messages of the client's history; the caller holds the transaction."""
    rows = [(conversation, each.place, each.seq, each.chain) for each in places]
    if rows:
        db.many("INSERT INTO client_messages VALUES (?, ?, ?, ?)", rows)


def drop_after(db: Database, conversation: int, place: int) -> None:
    """Forget what stands behind a place; the caller holds the transaction."""
    db.rows(
        "DELETE FROM client_messages WHERE conversation = ? AND place > ?", (conversation, place)
    )
