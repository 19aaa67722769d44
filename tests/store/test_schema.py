"""The schema: equal in both databases, created once, and left alone where it is not ours."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from foreword.errors import StoreError
from foreword.store.database import select
from foreword.store.schema import VERSION
from foreword.store.sqlite import Sqlite
from foreword.store.workflows import Workflow
from tests.postgres import new_database
from tests.store.databases import KINDS, OPEN, new_url, open_db, run_at_once
from tests.warm_process import ForkedCommand


def schema_of_sqlite(path: Path) -> list[object]:
    """Every statement that made a table or an index, and the versions."""
    with closing(apsw.Connection(str(path))) as db:
        made = db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        return [db.pragma("user_version"), db.pragma("application_id"), *made]


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


def test_both_databases_have_the_same_tables_and_columns(tmp_path: Path) -> None:
    url = new_database()
    with open_db(url), open_db(f"sqlite:///{tmp_path / 'store.db'}") as sqlite:
        tables = [
            name for (name,) in sqlite.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        here = set[tuple[str, str]]()
        for table in tables:
            here |= {(table, row[1]) for row in sqlite.rows(f"PRAGMA table_info({table})")}
    columns = [row[:2] for row in schema_of_postgres(url)[0]]
    there = {(table, column) for table, column in columns if table != "director_plans"}
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
        assert db.version() == VERSION
    assert schema_of(url) == before


@pytest.mark.parametrize("version", [-3, 13, 99])
@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_of_another_version_is_refused_and_left_alone(
    kind: str, version: int, tmp_path: Path
) -> None:
    url = new_url(kind, tmp_path)
    change: Any = {
        "sqlite": f"PRAGMA user_version = {version}",
        "postgresql": f"UPDATE schema_version SET version = {version}",
    }[kind]
    with open_db(url) as db:
        db.rows(change)
    before = schema_of(url)
    problem = rf"another Foreword \(schema {version}, this one knows {VERSION}\)"
    with pytest.raises(StoreError, match=problem), open_db(url):
        pass
    if kind == "sqlite":
        with pytest.raises(StoreError, match=problem):
            Sqlite(tmp_path / "store.db", read_only=True)
    assert schema_of(url) == before


KILLED = """
import os, sys
from pathlib import Path
from foreword.store.postgres import Postgres
from foreword.store.sqlite import Sqlite
from foreword.store.workflows import Workflow
from foreword.store.urls import open_database

for kind in (Postgres, Sqlite):
    def create_and_exit(self, script, version, create=kind.create_schema):
        create(self, script, version)
        print("created", flush=True)
        os._exit(9)

    kind.create_schema = create_and_exit
open_database(sys.argv[1], Path())
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_that_is_killed_while_it_creates_the_schema_leaves_nothing_of_it(
    kind: str, tmp_path: Path
) -> None:
    url = new_url(kind, tmp_path)
    with ForkedCommand([url], program=KILLED) as process:
        output, _ = process.communicate()
    assert (process.returncode, output) == (9, "created\n")
    (tmp_path / "other").mkdir()
    other = new_url(kind, tmp_path / "other")
    with open_db(url), open_db(other):
        assert schema_of(url) == schema_of(other)


@pytest.mark.parametrize("kind", KINDS)
def test_ten_processes_that_open_a_new_database_at_once_make_it_once(
    kind: str, tmp_path: Path
) -> None:
    url, alone = new_url(kind, tmp_path), f"{tmp_path}/alone"
    printed = set(run_at_once(f"{OPEN}print(workflow)", [(url,)] * 10))
    # Not always 1: in PostgreSQL an INSERT that finds the name taken has used up a number before.
    with open_db(url) as db:
        assert printed == {
            f"{workflow.id}\n" for workflow in select(db, Workflow, "FROM workflows")
        }
    Path(alone).mkdir()
    other = new_url(kind, Path(alone))
    with open_db(other):
        pass
    assert schema_of(url) == schema_of(other)


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
