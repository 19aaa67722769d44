"""How dbos is set up: where its tables are, what it may read from them, and who hears it.

It opens no port and calls nobody. It is silent unless FOREWORD_LOG names a level (debug, info,
warning). What it keeps is JSON: a row that claims to be a pickle is not read as one.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from foreword.errors import StoreError, UsageError
from foreword.extras import extra
from foreword.secrets.masking import mask
from foreword.store import private
from foreword.store.locations import FILE
from foreword.store.sqlite import WAIT_MILLISECONDS
from foreword.store.urls import open_database, place_of

APPLICATION = "foreword"
# of what runs look like in the database, not of this program: an edit must not orphan them
VERSION = "foreword-1"
SCHEMA = "foreword_flows"
# how dbos names what a row was written with; ours is the second
PICKLE, JSON = "py_pickle", "portable_json"
SCHEMA_VERSION = "SELECT version FROM dbos_migrations"
# The first SQLite with RETURNING, which dbos uses, and with `unixepoch`, which it uses from
# Python 3.12 on; `_Connection` brings the newer argument 'subsec'.
LEAST_SQLITE = (3, 38, 0) if sys.version_info >= (3, 12) else (3, 35, 0)
SUBSEC_SQLITE = (3, 42, 0)  # the first that knows that argument
LOG = "FOREWORD_LOG"
# Of one process to its server, at most. Writes are short, so many threads share them; PostgreSQL
# takes 100 unless it is set up otherwise, which is a dozen workers.
CONNECTIONS = 8
# How often a process looks into its own SQLite file: quick enough for a person, and a query of
# microseconds.
TICK_SECONDS = 0.1
# The same where every process of many asks one server: docs/scaling.md has what it costs.
SHARED_POLL_SECONDS = 0.25


def driver() -> Any:
    """The dbos package."""
    with extra("flows"):
        import dbos
    return dbos


def settings(db: str | None, root: Path, executor: str) -> dict[str, Any]:
    """What dbos is launched with."""
    url = made_url(db, root)
    return {
        "name": APPLICATION,
        "system_database_url": url,
        "db_engine_kwargs": {"connect_args": _connect_arguments(url)},
        "dbos_system_schema": SCHEMA,
        "application_version": VERSION,
        "executor_id": executor,
        "sys_db_pool_size": CONNECTIONS,
        "serializer": driver().DBOSPortableJSONSerializer(),
        "enable_otlp": False,
        "use_listen_notify": False,
        # asks nothing; only how soon it ends
        "notification_listener_polling_interval_sec": TICK_SECONDS,
        "log_level": os.environ.get(LOG, "critical").upper(),
    }


def made_url(db: str | None, root: Path) -> str:
    """Where dbos keeps its tables, made where there are none."""
    place = place_of(db, root)
    if isinstance(place, Path):
        _check_sqlite_version()
        open_database(db, root).close()  # makes the directory, or says why there is none
        if not place.exists():
            raise StoreError(
                f"flows need a store on the disk, and {place} can't be made",
                hint="name one with --db or FOREWORD_DB",
            )
        if not flows_file(place).exists():
            _make_file(flows_file(place))
        return str(known_url(db, root))
    url = str(known_url(db, root))
    with quiet(), translate_errors():
        driver().DBOS.migrate(url, schema=SCHEMA)
    return url


def _check_sqlite_version() -> None:
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        needed = ".".join(str(number) for number in LEAST_SQLITE)
        raise UsageError(
            f"flows and panels need SQLite {needed} or newer, and this Python has"
            f" {sqlite3.sqlite_version}",
            hint="run Foreword with a Python that has a newer SQLite, or name a server with --db"
            " postgresql://...",
        )


def known_url(db: str | None, root: Path) -> str | None:
    """Where dbos keeps its tables, if it has any: the store's server, in a schema of its own, or
    a file beside it."""
    place = place_of(db, root)
    if not isinstance(place, Path):
        return "postgresql://" + place.partition("://")[2]
    path = flows_file(place)
    if not path.exists():
        return None
    _check_version(path)
    return _url(path)


def poll_seconds(db: str | None, root: Path) -> float:
    """How often a process looks whether there is something in a queue."""
    return TICK_SECONDS if isinstance(place_of(db, root), Path) else SHARED_POLL_SECONDS


def flows_file(store: Path) -> Path:
    """The file of dbos beside a store."""
    return store.with_name("flows.db" if store.name == FILE else f"{store.name}.flows")


def _url(path: Path) -> str:
    return f"sqlite:///{path.absolute()}"


def _make_file(path: Path) -> None:
    """Make the file, whole or not at all: dbos makes its tables one by one, and killed on the way
    it would never end.

    Nobody else may read it: it holds what agents are asked, and so whatever is in the project and
    in the change. Here and below with Python's own SQLite, which dbos uses, too. A second SQLite in
    the process would undo the first one's locks each time it closes the file.
    """
    tables, _ = _new_tables()
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    try:
        with translate_errors():
            private.make_file(new)
            new.write_bytes(tables)
        with _open_file(new) as file:
            # readers and the one writer do not wait for each other
            file.execute("PRAGMA journal_mode = wal")
        with suppress(FileExistsError):  # another process was quicker
            path.hardlink_to(new)
    finally:
        new.unlink(missing_ok=True)


def _check_version(path: Path) -> None:
    """Raise where the file has tables that the dbos in use does not know."""
    with _open_file(path) as file:
        versions = _rows(file, SCHEMA_VERSION)
    _, newest = _new_tables()
    if any(not isinstance(version, int) or version > newest for (version,) in versions):
        raise StoreError(
            f"{path} was written by a newer dbos (schema {versions[0][0]}, this one knows"
            f" {newest})",
            hint=(
                "upgrade Foreword and dbos, or move it away; unfinished flows in it are not"
                " continued then"
            ),
        )


@lru_cache(maxsize=1)
def _new_tables() -> tuple[bytes, int]:
    """A file with the tables that the dbos in use makes, and the number that it writes for them:
    some 30 ms, once."""
    with TemporaryDirectory(prefix="foreword-") as folder, quiet(), translate_errors():
        new = Path(folder) / "flows.db"
        driver().DBOS.migrate(_url(new))
        with _open_file(new) as file:
            ((version,),) = _rows(file, SCHEMA_VERSION)
            content = file.serialize()
    return content, int(version)


def _rows(file: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    try:
        return file.execute(query).fetchall()
    except sqlite3.OperationalError:  # no such table
        return []


@contextmanager
def _open_file(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_MILLISECONDS / 1000)) as file, file:
            yield file
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} can't be used: {error}", hint="check its rights, or move it away"
        ) from None


@contextmanager
def quiet() -> Iterator[None]:
    """dbos writes to the terminal unless somebody else listens; keys are hidden from whoever
    does."""
    logger = logging.getLogger("dbos")
    handler = logging.StreamHandler(sys.stderr) if os.environ.get(LOG) else logging.NullHandler()
    handler.setFormatter(_MaskingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _MaskingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


@contextmanager
def open_client(url: str) -> Iterator[Any]:
    """A client of dbos, which takes part in no run."""
    dbos = driver()
    import sqlalchemy

    address = sqlalchemy.make_url(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(address, connect_args=_connect_arguments(url))
    with ExitStack() as undo, quiet(), translate_errors():
        undo.callback(engine.dispose)
        client = dbos.DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            serializer=dbos.DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )
        undo.callback(client.destroy)
        yield client


def _connect_arguments(url: str) -> dict[str, Any]:
    """How a connection for dbos is made: one that gives no pickles.

    A row says how its values were written, and dbos unpickles what claims to be a pickle: that
    runs whatever its writer wanted. We write JSON alone, so each row is read as JSON, and dbos
    takes what is none for damaged.
    """
    if url.startswith("sqlite"):
        return {"factory": _Connection}
    return {"row_factory": _json_rows, "application_name": APPLICATION}


class _Connection(sqlite3.Connection):
    """A connection to SQLite whose rows never claim to hold a pickle.

    On Python 3.12 and newer dbos calls `unixepoch('subsec')`, which SQLite knows from 3.42 on
    (Debian 12 has 3.40) and before that answers with NULL. There it is the clock of Python, and
    any other argument is an error.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.row_factory = _json_row
        if sqlite3.sqlite_version_info < SUBSEC_SQLITE:
            self.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: object) -> float:
    if modifier != "subsec":
        raise ValueError(modifier)
    return round(time.time(), 3)


def _json_row(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
    if PICKLE not in row:
        return row
    return tuple(JSON if value == PICKLE else value for value in row)


def _json_rows(cursor: Any) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Makes the rows of a PostgreSQL cursor, as `_json_row` does for SQLite."""
    return lambda values: _json_row(cursor, tuple(values))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    from dbos import error as foreign
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (foreign.DBOSException, SQLAlchemyError, OSError) as error:
        message = str(error).strip() or type(error).__name__
        first_line = mask(message.splitlines()[0])
        raise StoreError(
            f"the database of flows can't be used: {first_line}",
            hint="check its address and rights",
        ) from None
