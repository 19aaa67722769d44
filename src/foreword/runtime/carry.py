"""What a package's items become between sessions: some persist, some are read anew, some are discarded.

Only where a name to carry under is given; without one, nothing is kept and nothing comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from foreword.recipe.schema import AcrossSessions
from foreword.sources.items import Item
from foreword.store.places import store_path
from foreword.store.sqlite import Store

ENDED = ("resolved", "closed", "done", "superseded", "withdrawn", "invalid")


def carried(root: Path, name: str | None) -> tuple[Item, ...]:
    """The items kept under a name by an earlier session."""
    path = store_path(root)[0]
    if name is None or not path.exists():
        return ()
    store = Store(path)
    try:
        return tuple(replace(Item(**item), source=f"carried in {name!r}") for item in store.carried(name))
    finally:
        store.close()


def keep(root: Path, name: str, rules: AcrossSessions, items: Sequence[Item]) -> None:
    """Keep what persists; an item whose status says that it has ended is forgotten."""
    lasting = {(item.kind, item.title): asdict(item) for item in items if _persists(item, rules)}
    ended = [(item.kind, item.title) for item in items if item.status.lower() in ENDED or item.validated is False]
    store = Store(store_path(root)[0])
    try:
        store.carry(name, lasting, ended)
    finally:
        store.close()


def _persists(item: Item, rules: AcrossSessions) -> bool:
    if item.status.lower() in ENDED:
        return False
    return item.kind in rules.persist or (item.kind in rules.persist_if_validated and item.validated is True)
