"""What a package's items become between sessions: some persist, some are read anew, some are
discarded.

Only where a name to carry under is given; without one, nothing is kept and nothing comes back. The
rows are `store.carried_items`'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from foreword.context.item_sections import end_reason, same_title
from foreword.recipe.schema import AcrossSessions, RecipeSpec
from foreword.section import handle_of
from foreword.sources.items import Item
from foreword.store.carried_items import ItemKey, read_items, write_items
from foreword.store.database import Database
from foreword.store.urls import open_store, open_to_read


def carried_items(root: Path, name: str | None, url: str | None = None) -> tuple[Item, ...]:
    """The items kept under a name by an earlier session."""
    store = open_to_read(url, root) if name is not None else None
    if store is None or name is None:
        return ()
    with closing(store):
        return tuple(_item(row, f"carried in {name!r}") for row in read_items(store, name))


def _item(row: Mapping[str, Any], source: str) -> Item:
    known = {field.name: row[field.name] for field in fields(Item) if field.name in row}
    return Item(**{**known, "source": source})


def save_carried_items(
    root: Path, name: str, recipe: RecipeSpec, items: Sequence[Item], url: str | None
) -> None:
    """Keep what persists; an item whose status says that it has ended is forgotten."""
    titles = Counter((item.kind, same_title(item.title)) for item in items)
    persisting = dict[ItemKey, dict[str, object]]()
    ended = set[ItemKey]()
    for item in items:
        title = same_title(item.title)
        unique_title = title
        if not title or titles[item.kind, title] > 1:
            unique_title = f"{title} {handle_of(item.text.encode())}"
        key = (item.kind, unique_title)
        if end_reason(item, recipe.ended) or item.validated is False:
            ended |= {key, (item.kind, title)}
        elif _persists(item, recipe.across_sessions):
            persisting[key] = asdict(item)
    with open_store(root, url) as db:
        ended |= _other_spellings(db, name, {*persisting, *ended})
        write_items(db, name, persisting, ended=ended - persisting.keys())


def _other_spellings(db: Database, name: str, keys: Set[ItemKey]) -> set[ItemKey]:
    """The keys of rows that these replace, though their titles are written in another way."""
    others = set[ItemKey]()
    for row in read_items(db, name):
        kind = str(row["kind"])
        title = str(row["title"])
        if (kind, same_title(title)) in keys and title != same_title(title):
            others.add((kind, title))
    return others


def _persists(item: Item, rules: AcrossSessions) -> bool:
    if item.kind in rules.persist:
        return True
    return item.kind in rules.persist_if_validated and item.validated is True
