"""The table `carried`: items that outlive a session, under a name, by kind and title.

What is worth carrying is the caller's to say (`context.item_lifetimes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foreword.store.database import Database, from_json, storable_text, to_ascii_json

ItemKey = tuple[str, str]  # kind and title


def read_items(db: Database, name: str) -> list[dict[str, Any]]:
    """The items kept under a name, in a stable order."""
    rows = db.rows("SELECT item FROM carried WHERE name = ? ORDER BY kind, title", (name,))
    return [from_json(text) for (text,) in rows]


def write_items(
    db: Database,
    name: str,
    items: Mapping[ItemKey, Mapping[str, Any]],
    *,
    ended: Iterable[ItemKey] = (),
) -> None:
    """Keep items under a name, each in place of an older one, and forget those that have ended."""
    new_rows = []
    for (kind, title), item in items.items():
        new_rows.append((name, storable_text(kind), storable_text(title), to_ascii_json(item)))
    ended_keys = [(name, storable_text(kind), storable_text(title)) for kind, title in ended]
    with db.transaction():
        db.many(
            "INSERT INTO carried VALUES (?, ?, ?, ?)"
            " ON CONFLICT (name, kind, title) DO UPDATE SET item = excluded.item",
            new_rows,
        )
        db.many("DELETE FROM carried WHERE name = ? AND kind = ? AND title = ?", ended_keys)
