"""The store's database in PostgreSQL: a schema of its own, so that it can live beside other tables.

psycopg is an extra (`postgres`), imported on use. A connection that the
server has dropped is made anew at the next call; what was under way when it dropped is an error,
and is not done by halves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from foreword.errors import StoreError, UsageError
from foreword.extras import extra
from foreword.pattern import lazy_pattern
from foreword.store.database import Row
from foreword.store.schema import POSTGRES, create_schema

if TYPE_CHECKING:
    import psycopg

SCHEMA = "foreword"
# A server that is there answers in far less; a host that drops packets would else hold up a command
# for minutes. The address may say otherwise (connect_timeout).
CONNECT_SECONDS = 10
PORTS = lazy_pattern(r"[\d,]*")  # of several servers, with commas


class Postgres:
    """A connection to one database, its schema created where there is none."""

    has_word = "words @@ CAST(? AS tsquery)"

    def __init__(self, url: str) -> None:
        self._settings = _settings(url)
        self.name = _address_without_password(self._settings)
        self.read_only = False
        self._depth = 0  # of transactions
        self._open = True
        with self._translate_errors():
            self._db = self._connect()
        with ExitStack() as undo:
            undo.callback(self.close)
            create_schema(self, POSTGRES)
            undo.pop_all()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        with self._translate_errors(ValueError):
            cursor = self._connection().execute(_driver_sql(sql), values)
            return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        with self._translate_errors(ValueError), self._connection().cursor() as cursor:
            cursor.executemany(_driver_sql(sql), rows)

    @contextmanager
    def transaction(self, lock: str = "") -> Iterator[None]:
        """All or nothing; whoever asks for the same lock waits until it is over."""
        with self._translate_errors(), self._connection().transaction():
            if lock:
                self._db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (lock,))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            self._check_transaction()

    def version(self) -> int:
        # Not to_regclass: it may answer from before the lock that it has waited for.
        table = (SCHEMA, "schema_version")
        if not self.rows("SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?", table):
            return 0
        ((version,),) = self.rows(f"SELECT COALESCE(MAX(version), 0) FROM {SCHEMA}.schema_version")
        return int(version)

    def create_schema(self, script: str, version: int) -> None:
        if not self.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", (SCHEMA,)):
            # only then: IF NOT EXISTS asks for the right to make one anyway
            self.rows(f"CREATE SCHEMA {SCHEMA}")
        self.rows("CREATE TABLE schema_version (version bigint NOT NULL)")
        self.rows("INSERT INTO schema_version VALUES (?)", (version,))
        for statement in filter(str.strip, script.split(";\n")):
            self.rows(statement)

    def close(self) -> None:
        self._open = False
        self._db.close()

    def _connection(self) -> psycopg.Connection[Row]:
        """The connection, made anew if it was dropped; never inside a transaction, half of which
        would be lost."""
        if self._db.closed and self._open and not self._depth:
            self._db = self._connect()
        return self._db

    def _check_transaction(self) -> None:
        """An error where the server has given up the transaction; the driver would end it
        without a word."""
        driver = _driver()
        if self._db.info.transaction_status != driver.pq.TransactionStatus.INTRANS:
            raise driver.OperationalError("an error on the way has undone the transaction")

    def _connect(self) -> psycopg.Connection[Row]:
        driver = _driver()
        from psycopg.types.json import set_json_loads

        connection: psycopg.Connection[Row] = driver.connect(autocommit=True, **self._settings)
        set_json_loads(_as_text, connection)
        connection.execute(f"SET search_path TO {SCHEMA}")
        # after a lock, what is new is seen
        connection.execute("SET default_transaction_isolation TO 'read committed'")
        return connection

    @contextmanager
    def _translate_errors(self, *also: type[Exception]) -> Iterator[None]:
        """Foreign errors become ours, once, here."""
        psycopg = _driver()
        try:
            yield
        except (psycopg.Error, *also) as error:
            what = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise StoreError(
                f"{self.name} can't be used: {what}",
                hint="check the address, the rights and that the server runs",
            ) from None


def _settings(url: str) -> dict[str, Any]:
    """What an address says; an address that can't be read is not repeated, since a password may
    be anywhere in it."""
    driver = _driver()
    from psycopg.conninfo import conninfo_to_dict

    try:
        settings: dict[str, Any] = conninfo_to_dict(url)
    except driver.Error:
        settings = {"port": "none"}
    has_stray_at = "@" in settings.get("host", "") + settings.get("dbname", "")
    if has_stray_at or not PORTS.fullmatch(settings.get("port", "")):
        raise UsageError(
            "the address of the PostgreSQL database can't be read",
            hint=(
                "it is postgresql://user:password@host:port/name; in a password @ is %40, / is %2F,"
                " % is %25"
            ),
        )
    defaults = {"connect_timeout": CONNECT_SECONDS, "application_name": "foreword"}
    return {**defaults, **settings, "client_encoding": "utf8"}


def _address_without_password(settings: Mapping[str, Any]) -> str:
    """An address as it may be shown."""
    user = f"{settings['user']}@" if "user" in settings else ""
    port = f":{settings['port']}" if settings.get("port") else ""
    return f"postgresql://{user}{settings.get('host', '')}{port}/{settings.get('dbname', '')}"


@lru_cache(maxsize=256)  # there are about half as many statements
def _driver_sql(sql: str) -> bytes:
    """Our placeholders as the driver wants them."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


def _as_text(data: str | bytes) -> str:
    return data if isinstance(data, str) else bytes(data).decode()


def _driver() -> Any:
    with extra("postgres"):
        import psycopg
    return psycopg
