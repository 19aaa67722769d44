"""A database file that may come from a stranger: what its schema and its journal may not hold.

A schema can hold programs: triggers and views run when a table is used, checks and indexes call
functions, a virtual table is code of its own. A store of ours has none of them but its search
index, and its tables are those of `schema`, word for word. A journal left beside a file can
name another file, which SQLite removes when it is done: ours never do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import apsw

from foreword.errors import StoreError
from foreword.pattern import lazy_pattern
from foreword.store.schema import SQLITE, TABLES, in_dialect

# type, name, sql: a row of sqlite_master, nothing of it to be trusted
SchemaObject = tuple[object, object, object]

OBJECTS = "SELECT type, name, sql FROM sqlite_master"
# as SQLite itself writes it, whoever made it
_PLAIN = lazy_pattern(r"CREATE (?:TABLE|INDEX|UNIQUE INDEX) ")
# at its end: the name of another journal is in front of it
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_LONGEST_NAME = 60  # characters of a name in an error; a stranger may choose any
# What SQLite itself takes for the indexes of a table, whatever the rows of sqlite_master say.
_TABLES = (
    "SELECT name, sql FROM (SELECT name, 0 AS place, '' AS own, sql FROM sqlite_master WHERE type ="
    " 'table' UNION ALL SELECT t.name, 1, i.name, (SELECT sql FROM sqlite_master WHERE name ="
    " i.name) FROM sqlite_master t, pragma_index_list(t.name) i WHERE t.type = 'table') ORDER BY"
    " name, place, own"
)


def harden(db: apsw.Connection) -> None:
    """Let nothing in the file run, and let a damaged page be an error; before the first
    statement."""
    db.enable_load_extension(False)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    db.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    db.pragma("cell_size_check", 1)


def refuse_foreign_journal(path: Path) -> None:
    """An error where the journal beside a file names another one: SQLite would read that one,
    and then remove it."""
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as journal:
            journal.seek(max(0, os.fstat(journal.fileno()).st_size - len(_JOURNAL_MAGIC)))
            is_foreign = journal.read() == _JOURNAL_MAGIC
    except FileNotFoundError:
        return
    if is_foreign:
        raise StoreError(
            f"{path}-journal names another file, so it is not used", hint="move it away"
        )


def refuse_programs(path: Path, objects: Iterable[SchemaObject]) -> None:
    """An error where a schema holds anything but tables, indexes and the search index."""
    for kind, name, sql in objects:
        is_plain = isinstance(sql, str) and (_PLAIN.match(sql) or sql == SQLITE["search_words"])
        is_automatic = sql is None and str(name).startswith("sqlite_autoindex_")
        if not is_plain and not is_automatic:
            what = f"a {kind}" if kind in ("trigger", "view") else "a virtual table or the like"
            raise _foreign_error(path, f"{what} {_short_name(name)}, which may run programs")


def check_schema(db: apsw.Connection, path: Path) -> None:
    """Raise `StoreError` where a table of ours is missing or another one; further tables are the
    user's own."""
    refuse_programs(path, db.execute(OBJECTS))
    tables = _schema(db)
    for name, expected in _expected_schema().items():
        if tables.get(name) != expected:
            raise _foreign_error(path, f"another table {_short_name(name)} than Foreword")


def _schema(db: apsw.Connection) -> dict[str, tuple[str, ...]]:
    """Every table by its name: its SQL, then that of each of its indexes."""
    tables = dict[str, tuple[str, ...]]()
    for name, sql in db.execute(_TABLES):
        tables[name] = (*tables.get(name, ()), " ".join(str(sql).split()))
    return tables


@cache
def _expected_schema() -> dict[str, tuple[str, ...]]:
    """Every table of a new store."""
    memory = apsw.Connection(":memory:")
    memory.execute(in_dialect(TABLES, SQLITE))
    tables = _schema(memory)
    memory.close()
    return tables


def _foreign_error(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path} has {what}, so it is not used",
        hint="move it away, or remove what is not Foreword's",
    )


def _short_name(name: object) -> str:
    return repr(str(name)[:_LONGEST_NAME])
