"""What a database must do for the store: run statements, hold a transaction under a lock, know its
schema's version.

SQLite and PostgreSQL differ in no more than this. Every query is written once, in SQL that both
understand, in the modules named after what they keep (`plans`, `variables`, `messages` ...).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeVar, get_type_hints

from foreword.errors import StoreError, UsageError
from foreword.pattern import lazy_pattern

Row = tuple[Any, ...]
Record = TypeVar("Record")
RESTORE = "restore the database from a copy"
LARGEST_NUMBER = 2**63 - 1  # that a column of either database holds
_ASCII_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_LONE = lazy_pattern("[\ud800-\udfff]")  # half a character: JSON can say it, UTF-8 can not
_UNSTORABLE = lazy_pattern("[\0\ud800-\udfff]")


class Database(Protocol):
    """An open database."""

    @property
    def name(self) -> str:
        """What errors and notes call it; never with a password."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written to it."""

    @property
    def has_word(self) -> str:
        """The condition that an entry of the search index has a word, `?` for it."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement, `?` for each value, and return its rows."""

    def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement for each row of values."""

    def transaction(self, lock: str = "") -> AbstractContextManager[None]:
        """All or nothing, and alone: nobody else is in a transaction with the same lock.

        One inside another is a part of it that can fail by itself.
        """

    def version(self) -> int:
        """Return the version of the schema; 0 for a database that is new."""

    def create_schema(self, script: str, version: int) -> None:
        """Create the tables and write the version; the caller holds the transaction."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class Column:
    """How a field of a record is kept: the column or expression it is selected as, if that is not
    the name of the field, what makes its value of that of the row, and the row's of its value."""

    sql: str = ""
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None


class _Table(NamedTuple):
    """How the fields of a record are kept, in their order."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    selected: str
    readers: tuple[tuple[str, Callable[[Any], Any]], ...]


_TABLES = dict[type[Any], _Table]()  # each takes 50 us


def _table(record: type[Any]) -> _Table:
    """Return how the fields of a record are kept, as in `Annotated[bool, Column(...)]`."""
    if record in _TABLES:
        return _TABLES[record]
    hints = get_type_hints(record, include_extras=True)
    names = tuple(field.name for field in fields(record))
    columns = list[Column]()
    readers = list[tuple[str, Callable[[Any], Any]]]()
    for name in names:
        known = getattr(hints[name], "__metadata__", ())
        column = next((each for each in known if isinstance(each, Column)), Column())
        columns.append(Column(column.sql or name, column.read, column.write))
        if column.read:
            readers.append((name, column.read))
    selected = ", ".join(column.sql for column in columns)
    _TABLES[record] = _Table(names, tuple(columns), selected, tuple(readers))
    return _TABLES[record]


def column_list(record: type[Any]) -> str:
    """Return what to select for `record_of`: a column for each field, in their order."""
    return _table(record).selected


def record_of(record: type[Record], row: Row) -> Record:
    """Return the record of a row of `column_list`; raise `StoreError` where it can't be read."""
    table = _table(record)
    values = dict(zip(table.names, row, strict=True))
    for name, read in table.readers:
        try:
            values[name] = read(values[name])
        except (ValueError, TypeError):
            raise _damaged_error(f"the {name} of {record.__name__} {row[0]!r}") from None
    return record(**values)


def select(
    db: Database, record: type[Record], rest: str, values: Sequence[object] = ()
) -> list[Record]:
    """Return the records that are selected; `rest` is the statement from FROM on."""
    rows = db.rows(f"SELECT {column_list(record)} {rest}", values)
    return [record_of(record, row) for row in rows]


def select_first(
    db: Database, record: type[Record], rest: str, values: Sequence[object] = ()
) -> Record | None:
    """Return the first record that is selected, or None."""
    rows = db.rows(f"SELECT {column_list(record)} {rest} LIMIT 1", values)
    return record_of(record, rows[0]) if rows else None


def insert(db: Database, table: str, record: Any, **others: object) -> None:
    """Add a row: the fields of a record, and columns that it has no field for."""
    kept = _table(type(record))
    row = dict(others)
    for name, column in zip(kept.names, kept.columns, strict=True):
        value = getattr(record, name)
        row[column.sql] = column.write(value) if column.write else value
    places = ", ".join("?" * len(row))
    db.rows(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))


def update(db: Database, table: str, which: Mapping[str, object], **changes: object) -> None:
    """Change columns of the rows that have these values in other columns."""
    assigned = ", ".join(f"{column} = ?" for column in changes)
    condition = " AND ".join(f"{column} = ?" for column in which)
    values = (*changes.values(), *which.values())
    db.rows(f"UPDATE {table} SET {assigned} WHERE {condition}", values)


def stamp() -> str:
    """The time now, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def to_json(value: object, what: str) -> str:
    """A value as JSON in the author's order; `what` names it where it is no JSON.

    The depth has a limit of its own: that of Python's encoder differs between its versions.
    """
    # masks what it quotes, and loads every pattern of a secret: not for those who only read
    from foreword.plan.value_words import depth_problems

    try:
        if too_deep := depth_problems(value):
            raise ValueError(too_deep[0])
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{what} can't be kept: {error}", hint="give a value that JSON can hold"
        ) from None
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def to_ascii_json(value: Mapping[str, Any] | list[str]) -> str:
    """A value of our own making as JSON; in ASCII, so that any text can be in it, half
    characters too."""
    return _ASCII_JSON.encode(value)


def storable_text(text: str) -> str:
    """A remark as any database takes it: NUL and half characters become U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def from_json(text: str) -> Any:
    """Return the value of a text that `to_json` wrote; raise `StoreError` where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged_error("a value") from None


def _damaged_error(what: str) -> StoreError:
    return StoreError(f"{what} in the store is damaged", hint=RESTORE)
