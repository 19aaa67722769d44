"""Who is at work on this database: a row for each process, and when it was last heard of.

Time is the database's, so that the clocks of the machines need not agree. The row of a process that
is gone stays for a while: one that was only asleep may take up work under its old name before it is
heard of again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from foreword.store.database import Column, Database, select

# A week: a laptop may sleep for days and go on under its old name; its row is all that is kept.
FORGET_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One process."""

    executor: str
    host: str
    pid: int
    silent_seconds: Annotated[int, Column("CAST(? AS bigint) - seen", partial(max, 0))]
    gone: Annotated[bool, Column(read=bool)]  # it said good-bye


def beat(db: Database, *, executor: str, host: str, pid: int) -> None:
    """Say that a process is there."""
    now = clock(db)
    db.rows(
        "INSERT INTO workers (executor, host, pid, started, seen, gone) VALUES (?, ?, ?, ?, ?, 0)"
        " ON CONFLICT (executor) DO UPDATE SET seen = excluded.seen, gone = 0",
        (executor, host, pid, now, now),
    )


def leave(db: Database, executor: str) -> None:
    """Say that a process has gone."""
    db.rows("UPDATE workers SET gone = 1 WHERE executor = ?", (executor,))


def all_workers(db: Database) -> list[Worker]:
    """Every process that is or was at work, and how long ago each was heard of."""
    return select(db, Worker, "FROM workers ORDER BY started, executor", (clock(db),))


def forget(db: Database) -> None:
    """Drop the rows of those who have been gone for long."""
    db.rows("DELETE FROM workers WHERE seen < ?", (clock(db) - FORGET_SECONDS,))


def clock(db: Database) -> int:
    """The database's time, in seconds since 1970."""
    ((now,),) = db.rows("SELECT CURRENT_TIMESTAMP")
    if isinstance(now, str):  # SQLite has no type for times; PostgreSQL gives a datetime
        now = datetime.fromisoformat(now).replace(tzinfo=UTC)
    return int(now.timestamp())
