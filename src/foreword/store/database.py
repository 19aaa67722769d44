"""What a database must do for the store: run statements, hold a transaction under a lock, know its
schema's version.

SQLite and PostgreSQL differ in no more than this. Every query is written once, in SQL that both
understand, in the modules named after what they keep (`plans`, `variables`, `messages` ...).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from foreword.errors import StoreError, UsageError
from foreword.pattern import lazy_pattern

Row = tuple[Any, ...]
Kinds = type | tuple[type, ...]
Check = Callable[[Any], bool]
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

    def own_writes(self) -> int | None:
        """How many rows this connection has written; nothing inside a transaction, which may be
        undone, and where the database can't tell who has written."""

    def others_writes(self) -> int:
        """A number that is another one when others have written since, where `own_writes` is one
        too."""

    def version(self) -> int:
        """Return the version of the schema; 0 for a database that is new."""

    def create_schema(self, script: str, version: int) -> None:
        """Create the tables and write the version; the caller holds the transaction."""

    def close(self) -> None:
        """Close the connection."""


def column_list(record: type[Any]) -> str:
    """The columns of a table whose rows become records of that class: one for each field, of its
    name."""
    return ", ".join([field.name for field in fields(record)])


def record_of(record: type[Record], row: Row) -> Record:
    """A row with a value for each field of a record, in their order."""
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    return record(**dict(zip(names, row, strict=True)))


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


def to_ascii_json(value: Mapping[str, Any]) -> str:
    """A mapping of our own making as JSON; in ASCII, so that any text can be in it, half
    characters too."""
    return _ASCII_JSON.encode(value)


def storable_text(text: str) -> str:
    """A remark as any database takes it: NUL and half characters become U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def from_json(text: str, where: str, fits: Check | None = None, *, hint: str = RESTORE) -> Any:
    """The value of a text that `to_json` wrote; one that was altered since, so that it no longer
    fits, is refused."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise altered_error(where, hint=hint) from None
    if fits is not None and not fits(value):
        raise altered_error(where, hint=hint)
    return value


def mapping(**fields: Kinds) -> Check:
    """A check that a value is a mapping with these fields, each of its kind."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        return all(isinstance(value.get(name), kind) for name, kind in fields.items())

    return fits


def mapping_or_none(text: object, /, **fields: Kinds) -> dict[str, Any] | None:
    """The mapping that a text holds, or nothing where it holds something else or lacks a field."""
    if not isinstance(text, str):
        return None
    try:
        value: dict[str, Any] = from_json(text, "", mapping(**fields))
    except StoreError:
        return None
    return value


def is_text(value: object) -> bool:
    """A check that a value is a text."""
    return isinstance(value, str)


def whole_number(value: object, where: str) -> int:
    """A whole number that a query worked out; where rows were altered it may be anything.
    PostgreSQL adds decimals."""
    if not isinstance(value, int | Decimal) or value < 0:
        raise altered_error(where)
    return int(value)


def altered_error(where: str, *, hint: str = RESTORE) -> StoreError:
    """The error for what somebody has changed in the store by other means than ours."""
    return StoreError(f"{where} was altered, so it is not used", hint=hint)
