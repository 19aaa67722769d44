"""Database files that a stranger has prepared: programs in the schema, planted journals, files
that are no files."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path

import apsw
import pytest

import foreword
from foreword.errors import ForewordError, StoreError
from foreword.store.project_stores import open_existing
from foreword.store.schema import VERSION
from foreword.store.urls import open_database, open_to_read
from foreword.work import dbos_setup
from tests.attacks import sample
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand

pytestmark = pytest.mark.attack

WRITABLE_SCHEMA = "PRAGMA writable_schema = ON;"


def store_of(root: Path) -> Path:
    """A store with a conversation in it."""
    with foreword.Session.open(root=root) as session:
        session.append({"role": "user", "content": "hello"})
        session.set_variable("a", 1, "given")
        session.context()
    return root / ".foreword" / "state.db"


def run_script(path: Path, script: str) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.execute(script)


def rename_table_sql(table: str, then: str) -> str:
    """A table moved away, and something of the same columns in its place."""
    return f"PRAGMA legacy_alter_table = ON; ALTER TABLE {table} RENAME TO real_{table}; {then}"


PROGRAMS = {
    "trigger": (
        "CREATE TRIGGER harm AFTER INSERT ON messages BEGIN UPDATE plans SET reason = 'owned'; END"
    ),
    "trigger on another table": (
        "CREATE TABLE mine (a); CREATE TRIGGER harm INSERT ON mine BEGIN SELECT 1; END"
    ),
    "view": "CREATE VIEW harm AS SELECT * FROM messages",
    "view in the place of a table": rename_table_sql(
        "reports", "CREATE VIEW reports AS SELECT * FROM real_reports"
    ),
    "endless view": rename_table_sql(
        "carried",
        "CREATE VIEW carried AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT 'a' AS name, 'b' AS kind, i AS title, '{}' AS item FROM n",
    ),
    "virtual table": "CREATE VIRTUAL TABLE harm USING fts5(text)",
    "virtual table in the place of a table": rename_table_sql(
        "carried", "CREATE VIRTUAL TABLE carried USING fts5(name, kind, title, item)"
    ),
    "generated column": "ALTER TABLE messages ADD COLUMN harm AS (upper(message))",
    "column more": "ALTER TABLE messages ADD COLUMN harm TEXT",
    "default": "ALTER TABLE plans ADD COLUMN harm TEXT DEFAULT (hex(randomblob(10)))",
    "index on an expression": "CREATE INDEX harm ON messages (upper(message))",
    "index on a condition": "CREATE INDEX harm ON messages (seq) WHERE length(message) > 5",
    "unique index": "CREATE UNIQUE INDEX harm ON messages (created)",
    "index that is not there": "DROP INDEX reports_of",
    "table that is not there": "PRAGMA foreign_keys = OFF; DROP TABLE node_runs",
    "check": (
        WRITABLE_SCHEMA
        + "UPDATE sqlite_master SET sql = replace(sql, 'kind TEXT', 'kind TEXT CHECK (length(kind)"
        " < 99)') WHERE name = 'messages'"
    ),
    "other columns": rename_table_sql("carried", "CREATE TABLE carried (name, kind, title, item)"),
    "comment": (
        WRITABLE_SCHEMA
        + "UPDATE sqlite_master SET sql = replace(sql, 'kind TEXT', 'kind /**/ TEXT') WHERE name ="
        " 'messages'"
    ),
    "disguised view": (
        "CREATE VIEW harm AS SELECT 1;"
        + WRITABLE_SCHEMA
        + "UPDATE sqlite_master SET type = 'table' WHERE name = 'harm'"
    ),
    "version too low": f"PRAGMA user_version = {VERSION - 1}",
    "version too high": f"PRAGMA user_version = {VERSION + 1}",
    "version below zero": "PRAGMA user_version = -5",
    "another program's": "PRAGMA application_id = 7",
}


@pytest.mark.parametrize("script", PROGRAMS.values(), ids=PROGRAMS)
def test_a_store_whose_schema_is_not_ours_is_refused_and_left_alone(
    tmp_path: Path, script: str
) -> None:
    path = store_of(tmp_path)
    run_script(path, script)
    before = path.read_bytes()
    for use in (
        lambda: open_database(None, tmp_path),
        lambda: open_existing(tmp_path),
        lambda: open_to_read(f"sqlite:///{path}", tmp_path),
        lambda: foreword.Session.open(root=tmp_path),
        lambda: foreword.Session.open(f"sqlite:///{path}", root=tmp_path),
    ):
        with pytest.raises(StoreError) as refused:
            use()
        assert refused.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "script", ["CREATE TABLE mine (a PRIMARY KEY, b)", "ANALYZE", "VACUUM", "REINDEX"]
)
def test_what_users_do_to_a_store_of_their_own_does_no_harm(tmp_path: Path, script: str) -> None:
    run_script(store_of(tmp_path), script)
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"a": 1}
        session.append({"role": "user", "content": "more"})


def journal_naming(other: Path, pages: int) -> bytes:
    """A hot journal without a page in it that ends with the name of another journal
    (sqlite.org/fileformat2.html).

    SQLite 3.40, which may be Python's own, removes a file of any such name when it is done.
    """
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(other)
    head = magic + struct.pack(">IIIII", 0, 0x12345678, pages, 512, 4096)
    tail = (
        struct.pack(">I", 0x40000000 // 4096 + 1)
        + name
        + struct.pack(">II", len(name), sum(name))
        + magic
    )
    return head.ljust(512, b"\0") + tail


@pytest.mark.parametrize("where", ["ours", "named", "flows"])
def test_a_planted_journal_does_not_remove_a_file_elsewhere(tmp_path: Path, where: str) -> None:
    root, victim = tmp_path / "project", tmp_path / "victim"
    root.mkdir()
    store = store_of(root)
    dbos_setup.made_url(None, root)
    path = {"ours": store, "named": tmp_path / "mine.db", "flows": store.with_name("flows.db")}[
        where
    ]
    if where == "named":
        path.write_bytes(store.read_bytes())
    run_script(path, "PRAGMA journal_mode = DELETE")
    victim.write_text("precious")
    Path(f"{path}-journal").write_bytes(journal_naming(victim, path.stat().st_size // 4096))
    use = dbos_setup.known_url if where == "flows" else open_database
    with pytest.raises(StoreError, match="names another file"):
        use(None if where == "flows" else f"sqlite:///{path}", root)
    assert victim.read_text() == "precious"


def test_the_journal_of_a_writer_that_was_killed_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = store_of(tmp_path)
    run_script(path, "PRAGMA journal_mode = DELETE")
    Path(f"{path}-journal").write_bytes(bytes.fromhex("d9d505f920a163d7").ljust(512, b"\0"))
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"a": 1}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def endless(path: Path) -> None:
    path.symlink_to(path)


OPENER = """
import sys
from pathlib import Path
from foreword.errors import ForewordError
from foreword.store.project_stores import open_existing, recall
from foreword.store.urls import open_database, open_to_read
from foreword.work import dbos_setup
import foreword

root, url = Path(sys.argv[1]), sys.argv[2] or None
for use in (open_database,
            lambda url, root: open_existing(root, url),
            lambda url, root: recall("fw_123456", root, url),
            lambda url, root: open_to_read(url, root) if url else None, dbos_setup.known_url,
            lambda url, root: foreword.Session.open(url, root=root)):
    try:
        use(url, root)
    except ForewordError as error:
        print(error.message)
"""


ODD_FILES = list(
    product(
        (fifo, folder, device, endless),
        (True, False),
        ("", "-wal", "-shm", "-journal"),
    )
)


@pytest.mark.parametrize(("make", "named", "end"), sample(ODD_FILES, 3))
def test_a_store_that_is_no_file_is_an_error_and_nobody_waits_for_it(
    tmp_path: Path, end: str, make: Callable[[Path], None], named: bool
) -> None:
    path = tmp_path / "mine.db" if named else tmp_path / ".foreword" / "state.db"
    path.parent.mkdir(exist_ok=True)
    make(path.with_name(path.name + end))
    url = f"sqlite:///{path}" if named else ""
    with ForkedCommand([tmp_path, url], program=OPENER) as opener:
        output, errors = opener.communicate(timeout=PATIENCE_SECONDS)
    assert (opener.returncode, errors) == (0, "")
    assert output.splitlines()
    if not named or make is not endless:
        assert "not a regular file" in output or "symbolic link" in output


def test_a_file_of_flows_with_a_program_in_it_is_refused_before_it_runs(tmp_path: Path) -> None:
    store_of(tmp_path)
    dbos_setup.made_url(None, tmp_path)
    path = tmp_path / ".foreword" / "flows.db"
    endless_view = (
        "CREATE VIEW foreword_maker AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM"
        " n) SELECT i AS token FROM n"
    )
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"DROP TABLE foreword_maker; {endless_view}")
    with pytest.raises(StoreError, match="has a view 'foreword_maker'"):
        dbos_setup.known_url(None, tmp_path)


def test_a_file_of_ten_gigabytes_that_are_not_there_is_opened_at_once(tmp_path: Path) -> None:
    path = store_of(tmp_path)
    os.truncate(path, 10 * 1024**3)
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"a": 1}
    sparse = tmp_path / "sparse.db"
    sparse.touch()
    os.truncate(sparse, 10 * 1024**3)
    with pytest.raises(ForewordError, match="is not a Foreword store"):
        open_database(f"sqlite:///{sparse}", tmp_path)
