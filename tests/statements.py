"""Counts the statements that run on either database, whoever opened the connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import apsw
import psycopg


@contextmanager
def statements() -> Iterator[list[str]]:
    """Every statement from here on that runs on a connection made in here, in order.

    SQLite's have the beginnings and ends of transactions among them; PostgreSQL's are sent by the
    driver itself, and are not seen.
    """
    seen = list[str]()

    def traced(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        seen.append(sql)
        return True

    def trace(connection: apsw.Connection) -> None:
        connection.exec_trace = traced

    execute = psycopg.Cursor.execute

    def counted(self: psycopg.Cursor[Any], query: Any, *args: Any, **more: Any) -> Any:
        seen.append(str(query))
        return execute(self, query, *args, **more)

    apsw.connection_hooks.append(trace)
    try:
        with mock.patch.object(psycopg.Cursor, "execute", counted):
            yield seen
    finally:
        apsw.connection_hooks.remove(trace)
