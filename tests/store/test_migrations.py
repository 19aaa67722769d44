"""The schema: a new one and one brought up to date are the same, and nothing that was kept is
lost on the way."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

import apsw
import psycopg
import pytest

from foreword.errors import StoreError
from foreword.section import handle_of
from foreword.store import originals, postgres
from foreword.store.carried_items import read_items
from foreword.store.database import Database
from foreword.store.migrations import NEWEST, migrate
from foreword.store.paths import store_path
from foreword.store.project_stores import open_existing, recall
from foreword.store.reports import newest_reports, save_report
from foreword.store.sqlite import Sqlite
from tests.postgres import new_database
from tests.store.databases import KINDS, new_url, open_db, run_at_once

BODY = b"what was cut"
HANDLE = handle_of(BODY)
REPORT = '{"recipe":"r","total_tokens":1,"budget_tokens":2}'
# As it was released.
FIRST_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS originals (handle TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
    id INTEGER PRIMARY KEY, created TEXT NOT NULL, recipe TEXT NOT NULL, total_tokens INTEGER NOT NULL,
    budget_tokens INTEGER NOT NULL, report TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS carried (
    name TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (name, kind, title)
) WITHOUT ROWID;
PRAGMA application_id = 0x46575244;
PRAGMA user_version = 1;
COMMIT
"""  # noqa: E501
FILL = (
    ("INSERT INTO originals VALUES (?, ?)", (HANDLE, zlib.compress(BODY))),
    (
        (
            "INSERT INTO reports (created, recipe, total_tokens, budget_tokens, report) VALUES (?,"
            " ?, ?, ?, ?)"
        ),
        ("then", "r", 1, 2, REPORT),
    ),
    (
        "INSERT INTO carried VALUES (?, ?, ?, ?)",
        ("work", "k", "t", '{"kind":"k","title":"t","text":"kept"}'),
    ),
)


def first_sqlite(path: Path) -> Path:
    """A store of the first release, with something in it."""
    path.parent.mkdir(exist_ok=True)
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute(FIRST_SCHEMA)
    for statement, values in FILL:
        db.execute(statement, values)
    db.close()
    return path


def first_postgres(monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with no more than the first schema, and something in it."""
    url = new_database()
    with monkeypatch.context() as then:
        then.setattr(postgres, "migrate", partial(migrate, most=1))
        with open_db(url) as db:
            assert db.version() == 1
            for statement, values in FILL:
                db.rows(statement, values)
    return url


def schema_of_sqlite(path: Path) -> dict[str, object]:
    """Every table with its columns, its indexes and its foreign keys."""
    db = apsw.Connection(str(path))
    tables = [
        name
        for (name,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
    ]
    found: dict[str, object] = {
        "version": db.pragma("user_version"),
        "application": db.pragma("application_id"),
    }
    for table in tables:
        indexes = sorted(row[1:] for row in db.execute(f"PRAGMA index_list({table})"))
        found[table] = (
            db.execute(f"PRAGMA table_xinfo({table})").fetchall(),
            [
                (index, db.execute(f"PRAGMA index_xinfo({index[0]})").fetchall())
                for index in indexes
            ],
            sorted(row[2:] for row in db.execute(f"PRAGMA foreign_key_list({table})")),
            db.execute(
                "SELECT wr, strict FROM pragma_table_list WHERE name = ?", (table,)
            ).fetchall(),
        )
    db.close()
    return found


def schema_of_postgres(url: str) -> list[list[tuple[object, ...]]]:
    """Every column, index and constraint of our schema, and its version."""
    questions = (
        (
            "SELECT table_name, column_name, ordinal_position, data_type, is_nullable,"
            " column_default, collation_name, is_identity, generation_expression FROM"
            " information_schema.columns WHERE table_schema = 'foreword' ORDER BY table_name,"
            " ordinal_position"
        ),
        (
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'foreword'"
            " ORDER BY indexname"
        ),
        (
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE connamespace = 'foreword'::regnamespace ORDER BY 1, 2"
        ),
        "SELECT version FROM foreword.schema_version",
    )
    with psycopg.connect(url) as db:
        return [db.execute(question).fetchall() for question in map(str.encode, questions)]


def schema_of(url: str) -> object:
    path = url.removeprefix("sqlite:///")
    return schema_of_postgres(url) if path == url else schema_of_sqlite(Path(path))


def holds_what_it_held(db: Database) -> None:
    ((_, packed),) = originals.find(db, HANDLE)
    assert originals.read(db, HANDLE, packed) == BODY
    assert [(one.number, one.created, one.report["recipe"]) for one in newest_reports(db)] == [
        (1, "then", "r")
    ]
    assert [item["text"] for item in read_items(db, "work")] == ["kept"]
    assert save_report(db, {}, {"recipe": "next", "total_tokens": 1, "budget_tokens": 2}) == 2


def test_a_store_of_the_first_release_becomes_what_a_new_one_is(tmp_path: Path) -> None:
    old, new = first_sqlite(tmp_path / "old.db"), tmp_path / "new.db"
    with open_db(f"sqlite:///{old}") as db:
        holds_what_it_held(db)
    Sqlite(new).close()
    assert schema_of_sqlite(old) == schema_of_sqlite(new)


def test_the_first_schema_in_postgresql_becomes_what_a_new_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = first_postgres(monkeypatch), new_database()
    with open_db(old) as db:
        holds_what_it_held(db)
    with open_db(new):
        pass
    assert schema_of_postgres(old) == schema_of_postgres(new)


def test_both_databases_have_the_same_tables_and_columns(tmp_path: Path) -> None:
    url = new_database()
    with open_db(url), open_db(f"sqlite:///{tmp_path / 'store.db'}") as sqlite:
        tables = [
            name for (name,) in sqlite.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        here = set[tuple[str, str]]()
        for table in tables:
            here |= {(table, row[1]) for row in sqlite.rows(f"PRAGMA table_info({table})")}
    there = {(table, column) for table, column, *_ in schema_of_postgres(url)[0]}
    assert {(table, column) for table, column in there - here if column != "data"} == {
        ("schema_version", "version"),
        ("search_words", "rowid"),  # which every table of SQLite has without being told
    }
    # FTS5 keeps its index in tables of its own
    assert {table for table, _ in here - there if not table.startswith("search_words_")} == set()


def test_keys_are_compared_by_their_bytes_whatever_the_language_of_the_database() -> None:
    url = new_database()
    with open_db(url), psycopg.connect(url) as db:
        compared = db.execute(
            "SELECT a.attrelid::regclass::text, a.attname, c.collname FROM pg_index i JOIN"
            " pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) JOIN"
            " pg_collation c ON c.oid = a.attcollation JOIN pg_class t ON t.oid = a.attrelid WHERE"
            " t.relnamespace = 'foreword'::regnamespace"
        ).fetchall()
    assert len(compared) >= 10
    assert {collation for _, _, collation in compared} == {"C"}


@pytest.mark.parametrize("kind", KINDS)
def test_opening_again_changes_nothing(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    with open_db(url):
        before = schema_of(url)
    with open_db(url) as db:
        assert db.version() == NEWEST
    assert schema_of(url) == before


def test_a_newer_schema_in_a_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = first_sqlite(tmp_path / "store.db")
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()
    before = path.read_bytes()
    for read_only in (True, False):
        with pytest.raises(
            StoreError, match=rf"newer Foreword \(schema 99, this one knows {NEWEST}\)"
        ):
            Sqlite(path, read_only=read_only)
    assert path.read_bytes() == before


def test_a_newer_schema_in_postgresql_is_refused_and_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = first_postgres(monkeypatch)
    with psycopg.connect(url) as db:
        db.execute("UPDATE foreword.schema_version SET version = 99")
    before = schema_of_postgres(url)
    with (
        pytest.raises(StoreError, match=rf"newer Foreword \(schema 99, this one knows {NEWEST}\)"),
        open_db(url),
    ):
        pass
    assert schema_of_postgres(url) == before


@pytest.mark.parametrize("kind", KINDS)
def test_ten_processes_that_open_a_new_database_at_once_make_it_once(
    kind: str, tmp_path: Path
) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom foreword.store import postgres, sqlite,"
        " workflows\nfrom foreword.store.urls import"
        " open_database\nprint(flush=True)\nsys.stdin.readline()\ndb = open_database(sys.argv[1],"
        " Path())\nprint(workflows.ensure(db, 'main').id)\ndb.close()\n"
    )
    url, alone = new_url(kind, tmp_path), f"{tmp_path}/alone"
    assert run_at_once(program, [(url,)] * 10) == ["1\n"] * 10
    Path(alone).mkdir()
    other = new_url(kind, Path(alone))
    with open_db(other):
        pass
    assert schema_of(url) == schema_of(other)


def test_a_store_of_the_first_release_can_be_read_without_being_changed(tmp_path: Path) -> None:
    path = first_sqlite(store_path(tmp_path)[0])
    before = path.read_bytes()
    kept = open_existing(tmp_path)
    assert kept
    assert [one.report["recipe"] for one in kept.reports()] == ["r"]
    assert kept.report(1)
    assert [item["text"] for item in kept.carried_items("work")] == ["kept"]
    kept.close()
    assert recall(HANDLE, tmp_path) == BODY
    assert recall(HANDLE, tmp_path, f"sqlite:///{path}") == BODY
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = first_sqlite(tmp_path / "store.db")
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE ranges (somebody, elses)")
    db.close()
    before = schema_of_sqlite(path)
    with pytest.raises(StoreError, match="table ranges already exists"):
        Sqlite(path)
    assert schema_of_sqlite(path) == before


def test_a_schema_that_somebody_else_uses_is_left_as_it_was() -> None:
    url = new_database()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA foreword")
        db.execute("CREATE TABLE foreword.messages (somebody text, elses text)")
    with pytest.raises(StoreError, match='relation "messages" already exists'), open_db(url):
        pass
    with psycopg.connect(url) as db:
        tables = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'foreword'"
        ).fetchall()
    assert tables == [("messages",)]
