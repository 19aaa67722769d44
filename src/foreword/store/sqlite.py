"""The store's database in SQLite: one file, write-ahead log, every commit on the disk before it is
acknowledged.

Only a file that says it is a store is written, and what only reads opens it read-only. The file is
trusted: it is in the user's data directory, or the user has named it. Nothing in it is run even so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Self

import apsw

from foreword.errors import StoreError
from foreword.store import private
from foreword.store.database import RESTORE, Row
from foreword.store.locations import is_read_only
from foreword.store.schema import SQLITE, checked_version, create_schema

APPLICATION_ID = int.from_bytes(b"FWRD")
# For another writer. Most hold the lock for milliseconds; an import, which is one transaction, as
# long as it takes. Who waits in vain gets an error, so this is rather too long than too short.
WAIT_MILLISECONDS = 30_000
# Between two tries for the write-ahead log, which takes others a few milliseconds to turn on.
LOOK_SECONDS = 0.01
FOREIGN = (apsw.Error, OSError, OverflowError, UnicodeError)
MEMORY = ":memory:"
WRITABLE = "make it writable, or name another store with --db or FOREWORD_DB"
# How a transaction begins, ends well and ends badly: a whole one, and a part of another.
OUTER = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
INNER = ("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part; RELEASE part")
_TURNS = dict[str, Lock]()  # one for each file that this process has open
_MAKING = Lock()  # a file is made, and closed again, before anybody in this process has it open


class Sqlite:
    """One store file, open, its tables created where it is new; with `read_only`, one that is there
    already and is left as it is."""

    has_word = "search_words MATCH ?"

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._absolute_path = path.absolute()
        self._turn = _TURNS.setdefault(os.path.realpath(path), Lock())
        self._error_translation = _ErrorTranslation(path)
        with self._error_translation, ExitStack() as undo:
            _check_place(path)
            with _MAKING:
                if not read_only:
                    private.make_file(Path(os.path.realpath(path)))
            self._db = _connect(path, read_only=read_only)
            undo.callback(self._db.close)
            self._file = _identity(self._absolute_path)
            self._recognise(read_only)
            if not read_only:
                _write_ahead(self._db)
                self._db.pragma("synchronous", "full")
                self._db.pragma("foreign_keys", 1)
                create_schema(self, SQLITE)
            undo.pop_all()

    @classmethod
    def in_memory(cls) -> Self:
        """Return a store that is gone when it is closed: for those who keep nothing."""
        made = cls.__new__(cls)
        made.path = Path(MEMORY)
        made._absolute_path = made.path
        made.read_only = False
        made._turn = Lock()
        made._error_translation = _ErrorTranslation(made.path)
        made._file = None
        made._db = apsw.Connection(MEMORY)
        create_schema(made, SQLITE)
        return made

    @property
    def name(self) -> str:
        return str(self.path)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        with self._error_translation:
            self._check_write(sql)
            found: list[Row] = self._db.execute(sql, values).fetchall()
        return found

    def _check_write(self, sql: str) -> None:
        """Raise before a statement of its own writes to a file that was removed."""
        if not sql.startswith("SELECT") and not self._db.in_transaction:
            self._refuse_moved()

    def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        with self._error_translation:
            self._check_write(sql)
            self._db.executemany(sql, rows)

    @contextmanager
    def transaction(self, lock: str = "") -> Iterator[None]:
        """All or nothing. SQLite has one writer at a time, so every lock is the same one."""
        with self._error_translation:
            is_outer = not self._db.in_transaction
        begin, end, undo = OUTER if is_outer else INNER
        if is_outer:
            self._take_turn()
        try:
            with self._error_translation:
                self._db.execute(begin)
            try:
                if is_outer:
                    self._refuse_moved()
                yield
                with self._error_translation:
                    self._db.execute(end)
            except BaseException:
                if self._db.in_transaction:  # a full disk may have ended it already
                    self._db.execute(undo)
                raise
        finally:
            if is_outer:
                self._turn.release()

    def _refuse_moved(self) -> None:
        """Raise where the file is no longer under its name: what is written to it would be lost."""
        if self._file is not None and self._file != _identity(self._absolute_path):
            raise StoreError(
                f"{self.path} was removed or replaced while it was open, so nothing is written",
                hint="put it back, or start again with the store that is there now",
            )

    def _take_turn(self) -> None:
        """The writers of one process take turns: SQLite would have those who wait sleep longer
        and longer."""
        with self._error_translation:
            if not self._turn.acquire(timeout=WAIT_MILLISECONDS / 1000):
                raise apsw.BusyError("database is locked")

    def version(self) -> int:
        with self._error_translation:
            return int(self._db.pragma("user_version"))

    def create_schema(self, script: str, version: int) -> None:
        with self._error_translation:
            self._db.execute(script)
            self._db.pragma("application_id", APPLICATION_ID)
            self._db.pragma("user_version", version)

    def close(self) -> None:
        self._db.close()

    def _recognise(self, read_only: bool) -> None:
        """An error where it is somebody else's file, or has a schema of another version."""
        # another process may be creating the tables: all of this is of one moment
        self._db.execute("BEGIN")
        try:
            application = self._db.pragma("application_id")
            is_empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchall()
            if application == 0 and is_empty and not read_only:
                return  # a new file
            if application != APPLICATION_ID or not checked_version(self):
                raise _not_a_store_error(self.path)
        finally:
            self._db.execute("COMMIT")


class _ErrorTranslation:
    """Foreign errors become ours, once, here. A class, since a generator would cost as much as a
    short statement."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if error is None:
            return
        cant_open = isinstance(error, apsw.CantOpenError)
        if cant_open and is_read_only(self.path) and _log_size(self.path):
            what = (
                f"{self.path} can't be read where it is: its last changes are in"
                f" {self.path.name}-wal"
            )
            raise StoreError(
                what, hint="copy both files to a folder that can be written, and name it with --db"
            ) from None
        if isinstance(error, apsw.NotADBError):
            raise _not_a_store_error(self.path) from None
        if isinstance(error, apsw.ReadOnlyError):
            raise StoreError(
                f"{self.path} can't be used for this: it is read-only", hint=WRITABLE
            ) from None
        if isinstance(error, apsw.CorruptError | UnicodeDecodeError):
            raise StoreError(f"{self.path} is damaged: {error}", hint=RESTORE) from None
        if isinstance(error, FOREIGN):
            what = f"{self.path} can't be used: {error}"
            raise StoreError(what, hint="check the folder, its rights and the disk") from None


def _not_a_store_error(path: Path) -> StoreError:
    return StoreError(
        f"{path} is not a Foreword store", hint="name another file, or move this one away"
    )


def _check_place(path: Path) -> None:
    """Raise where there is no directory for the file, or something else in its place: opening a
    pipe may never end."""
    if not path.parent.is_dir():
        raise StoreError(
            f"{path} can't be used: there is no folder {path.parent}", hint="make the folder first"
        )
    if path.exists() and not path.is_file():
        raise StoreError(
            f"{path} can't be used: it is not a regular file", hint="name another file"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file has this name now; None where none has."""
    try:
        about = os.stat(path)  # noqa: PTH116 - at each write; half the time of `Path.stat`
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _write_ahead(db: apsw.Connection) -> None:
    """Turn the write-ahead log on, once for every file; SQLite does not wait for others who do
    the same just now."""
    deadline = monotonic() + WAIT_MILLISECONDS / 1000
    while db.pragma("journal_mode") != "wal":
        try:
            db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if monotonic() > deadline:
                raise
            sleep(LOOK_SECONDS)


def _connect(path: Path, *, read_only: bool) -> apsw.Connection:
    """A connection; a store that can't be written is read without the files SQLite would put
    beside it."""
    mode = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    if read_only:
        mode = apsw.SQLITE_OPEN_READONLY
    uri = path.absolute().as_uri()  # as a URI: apsw takes no name that is not UTF-8
    if read_only and is_read_only(path) and not _log_size(path):
        uri += "?immutable=1"
    connection = apsw.Connection(uri, flags=mode | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(WAIT_MILLISECONDS)
    # Nothing in the file runs, and a damaged page is an error: the user may have named any file.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.pragma("cell_size_check", 1)
    return connection


def _log_size(path: Path) -> int:
    """The bytes of the log beside a store: changes that are not in the file itself yet."""
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0
