"""What the rows of a query may hold, by the columns they come from.

SQLite keeps any value in any column, and a file from a stranger may have a text where a number
should be, or nothing at all. So each row is looked at once when it is read, in one place, and
whoever asked gets what the schema says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foreword.store.database import Row

_KINDS: dict[str | None, type] = {"TEXT": str, "INTEGER": int, "BLOB": bytes}
_WORDS: dict[type, str] = {
    str: "a text",
    int: "a number",
    float: "a fraction",
    bytes: "bytes",
    type(None): "nothing",
}
_NULLABLE = {
    ("reports", "conversation"),
    ("reports", "usage"),
    ("compressions", "left_out"),
}
# Where a row is odd, those who read it pass over it or say which one it is.
_ANYTHING = {("reports", "report"), ("carried", "item"), ("originals", "body")}
# limits: below zero they are none; a summary may be larger than what it stands for
_SIGNED = {
    ("conversations", "warned"),
    ("conversations", "quiet_until"),
    ("compressions", "left_out"),
}
_LONGEST_VALUE = 40  # characters of a value in an error, which is one line


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a query: its name, the table it comes from unless it is an expression, and
    what it may hold."""

    name: str
    table: str | None
    kinds: tuple[type, ...]
    signed: bool  # whether a number may be below zero


def columns_of(description: Iterable[Sequence[str | None]]) -> tuple[Column, ...]:
    """The columns of a query as SQLite describes them: name, declared type, database, table,
    name in the table."""
    columns = []
    for name, declared, _, table, origin in description:
        column = Column(
            name=str(origin or name),
            table=table,
            kinds=_kinds_of(declared, table, origin),
            signed=table is None or (table, origin) in _SIGNED,
        )
        columns.append(column)
    return tuple(columns)


def _kinds_of(declared: str | None, table: str | None, name: str | None) -> tuple[type, ...]:
    """What a column may hold; an expression gives a whole number, a text or nothing."""
    if (table, name) in _ANYTHING:
        return tuple(_WORDS)
    if declared not in _KINDS:
        return (int, str, type(None))
    kind = _KINDS[declared]
    return (kind, type(None)) if (table, name) in _NULLABLE else (kind,)


def problem_in(row: Row, columns: Sequence[Column]) -> str:
    """What is wrong with a row, in words; nothing where it holds what it should."""
    for column, value in zip(columns, row, strict=True):
        is_below_zero = type(value) is int and value < 0
        if type(value) not in column.kinds or (is_below_zero and not column.signed):
            place = f"{column.name} in table {column.table}" if column.table else column.name
            what = f"{_WORDS.get(type(value), 'something')} {_short_repr(value)}".rstrip()
            return f"{place} holds {what} (row {columns[0].name} {_short_repr(row[0])})"
    return ""


def _short_repr(value: object) -> str:
    """A value as it may stand in an error: short, and on one line."""
    if isinstance(value, str | bytes):
        value = value[:_LONGEST_VALUE]
    return "" if value is None else repr(value)
