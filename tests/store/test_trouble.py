"""Addresses that lead nowhere, disks that are full, servers that go away: one clear error, and
nothing lost or told."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from foreword.errors import ForewordError, StoreError, UsageError
from foreword.store import messages, plans, variables, workflows
from foreword.store.database import Database
from foreword.store.reports import newest_reports, save_report
from foreword.store.urls import VARIABLE, open_to_read, recall
from tests.corpus import rows
from tests.postgres import new_database, server
from tests.store.databases import OPEN, conversation_in, open_db, text_message, workflow_in
from tests.warm_process import ForkedCommand

REPORT = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}
SECRET = "hunter2"


def open_error(url: str) -> ForewordError:
    with pytest.raises(ForewordError) as found, open_db(url):
        pass
    return found.value


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "says"), rows("store/no_addresses.jsonl"))
def test_an_address_that_makes_no_sense_says_what_one_looks_like(url: str, says: str) -> None:
    error = open_error(url)
    assert isinstance(error, UsageError)
    assert says in error.message
    assert "postgresql://user@localhost/name" in error.hint


def test_a_file_that_can_not_be_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, I am no database")
    for path, says in (
        (tmp_path / "missing" / "state.db", f"there is no folder {tmp_path / 'missing'}"),
        (tmp_path / "text" / "state.db", f"there is no folder {tmp_path / 'text'}"),
        (Path("~no-such-user/state.db"), "there is no folder ~no-such-user"),
        (tmp_path, "can't be used"),
        (tmp_path / "text", "is not a Foreword store"),
        (tmp_path / ("x" * 300), "can't be used"),
    ):
        error = open_error(f"sqlite:///{path}")
        assert isinstance(error, StoreError)
        assert says in error.message
        assert str(path) in error.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]
    assert (tmp_path / "text").read_text() == "hello, I am no database"


def test_looking_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    assert open_to_read(url, tmp_path) is None
    with pytest.raises(ForewordError):
        recall("fw_00000000000000", tmp_path, url)
    monkeypatch.setenv(VARIABLE, url)
    assert open_to_read(None, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


# --- servers that refuse --------------------------------------------------------------------------


def user_for(url: str, name: str) -> str:
    """The name of a user that no other test has."""
    return f"{name}_{url.rpartition('/')[2]}"


def test_a_password_is_in_no_error_and_in_no_name() -> None:
    url = new_database()
    secret = url.replace("://foreword@", f"://foreword:{SECRET}@")
    with open_db(secret) as kept:
        assert kept.name == url
        with pytest.raises(StoreError) as found:
            kept.rows("SELECT * FROM nothing")
    errors = [found.value, open_error(f"{secret}_that_is_not_there")]
    assert "does not exist" in errors[1].message
    for error in errors:
        assert SECRET not in f"{error.message} {error.hint} {error!r}"


@pytest.mark.parametrize("url", rows("store/passwords.jsonl"))
def test_no_address_tells_its_password(url: str) -> None:
    error = open_error(url)
    assert SECRET not in f"{error.message} {error.hint} {error!r}"


def test_a_server_that_is_not_there_and_a_database_that_is_not_there_are_named() -> None:
    assert open_error("postgresql://me@127.0.0.1:1/x").message.startswith(
        "postgresql://me@127.0.0.1:1/x can't be used: "
    )
    with pytest.raises(StoreError, match="can't be used"):
        recall("fw_00000000000000", Path(), f"{server()}/no_such_database")
    missing = open_error(f"{server()}/no_such_database")
    assert 'database "no_such_database" does not exist' in missing.message
    assert "check the address" in missing.hint


def test_a_user_without_the_right_to_make_a_schema_gets_one_clear_error_and_nothing_is_left() -> (
    None
):
    url = new_database()
    names = user_for(url, "guest"), user_for(url, "reader")
    guest, reader = (url.replace("foreword@", f"{name}@") for name in names)
    with psycopg.connect(url, autocommit=True) as db:
        for name in names:
            db.execute(f"CREATE ROLE {name} LOGIN".encode())
        assert "permission denied for database" in open_error(guest).message
        assert db.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'foreword'").fetchall() == []
        db.execute(f"CREATE SCHEMA foreword AUTHORIZATION {names[0]}".encode())
        with open_db(guest) as kept:
            assert workflows.ensure(kept, "main").name == "main"
        assert "permission denied for schema foreword" in open_error(reader).message
        db.execute(f"GRANT USAGE ON SCHEMA foreword TO {names[1]}".encode())
        db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA foreword TO {names[1]}".encode())
        with open_db(reader) as kept:
            assert workflows.names(kept) == ["main"]
            with pytest.raises(StoreError, match="permission denied for table workflows"):
                workflows.ensure(kept, "mine")


def test_other_settings_of_the_database_change_nothing() -> None:
    url = new_database()
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as db:
        for setting in (
            "default_transaction_isolation = 'serializable'",
            "search_path = 'pg_catalog'",
        ):
            db.execute(f"ALTER DATABASE {name} SET {setting}".encode())
        db.execute("CREATE TABLE public.plans (somebody text, elses text)")

    def update(number: int) -> None:
        with open_db(url) as kept:
            for _ in range(10):
                plans.add(kept, workflow_in(kept), {"goal": number}, reason="at once")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(update, range(4)))
    with open_db(url) as kept:
        assert [plan.version for plan in plans.history(kept, workflow_in(kept))] == list(
            range(1, 41)
        )


# --- servers that go away -------------------------------------------------------------------------


def cut_off(db: Database, url: str) -> None:
    """The server ends the connection."""
    ((backend,),) = db.rows("SELECT pg_backend_pid()")
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", (backend,))


def test_the_call_after_a_dropped_connection_is_an_error_and_the_next_one_works() -> None:
    url = new_database()
    with open_db(url) as db:
        workflow = workflow_in(db)
        plans.add(db, workflow, {"goal": 1}, reason="before")
        cut_off(db, url)
        with pytest.raises(StoreError, match="can't be used"):
            plans.add(db, workflow, {"goal": 2}, reason="lost")
        plans.add(db, workflow, {"goal": 3}, reason="after")
        assert [plan.reason for plan in plans.history(db, workflow)] == ["before", "after"]


def test_a_transaction_is_not_carried_on_by_another_connection() -> None:
    url = new_database()
    with open_db(url) as db:
        workflow = workflow_in(db)

        def go_on_regardless() -> None:
            with db.transaction("lock"):
                variables.set_variable(db, workflow, "first", 1, reason="half")
                cut_off(db, url)
                for name in ("second", "third"):
                    with pytest.raises(StoreError, match="can't be used"):
                        variables.set_variable(db, workflow, name, 1, reason="the other half")

        with pytest.raises(StoreError, match="can't be used"):
            go_on_regardless()
        assert variables.all_variables(db, workflow) == {}
        variables.set_variable(db, workflow, "next", 1, reason="works")
        assert list(variables.all_variables(db, workflow)) == ["next"]


def test_a_transaction_that_the_server_has_given_up_does_not_end_as_if_it_were_done() -> None:
    with open_db(new_database()) as db:
        workflow = workflow_in(db)

        def go_on_regardless() -> None:
            with db.transaction():
                variables.set_variable(db, workflow, "first", 1, reason="half")
                with pytest.raises(StoreError):
                    db.rows("SELECT * FROM nothing")

        with pytest.raises(StoreError, match="an error on the way has undone the transaction"):
            go_on_regardless()
        assert variables.all_variables(db, workflow) == {}


# --- disks ----------------------------------------------------------------------------------------

FILLER = f"""{OPEN}
import resource
from foreword.errors import StoreError

# no file may grow beyond this, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
failed = 0
while failed < 3:
    try:
        batch = [(Message("user", (Text("x" * 5_000),)), 1, False)] * 3
        print(messages.append(db, conversation, batch)[-1].seq)
    except StoreError as error:
        failed += 1
        print(error.message, error.hint, file=sys.stderr)
db.close()
"""


def test_a_full_disk_is_an_error_and_what_was_kept_before_is_whole(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with ForkedCommand([url], program=FILLER) as filler:
        output, errors = filler.communicate()
    acknowledged = [int(line) for line in output.split()]
    assert filler.returncode == 0, errors
    assert len(errors.splitlines()) == 3
    assert all("can't be used" in line and "the disk" in line for line in errors.splitlines())
    with open_db(url) as db:
        assert db.rows("PRAGMA integrity_check") == [("ok",)]
        conversation = conversation_in(db).id
        assert acknowledged
        assert messages.up_to(db, conversation) == messages.Extent(*[acknowledged[-1]] * 3)
        messages.append(db, conversation, [(text_message("there is room again"), 1, False)])


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Without the rights of root, who may write everywhere."""
    me = os.geteuid()
    os.seteuid(me or pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(me)


def test_a_folder_that_can_not_be_written_takes_no_new_store_and_its_own_can_be_read(
    tmp_path: Path,
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        path = Path(name) / "state.db"
        with open_db(f"sqlite:///{path}") as db:
            number = save_report(db, {}, REPORT)
        path.chmod(0o444)
        path.parent.chmod(0o555)
        with as_somebody_else():
            assert "can't be used" in open_error(f"sqlite:///{path.with_name('other.db')}").message
            with (
                open_db(f"sqlite:///{path}") as db,
                pytest.raises(StoreError, match="it is read-only"),
            ):
                save_report(db, {}, REPORT)
            found = open_to_read(f"sqlite:///{path}", tmp_path)
            assert found
            assert [one.number for one in newest_reports(found)] == [number]
            found.close()
        path.parent.chmod(0o755)


def test_a_store_that_others_keep_locked_is_an_error_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foreword.store.sqlite.WAIT_MILLISECONDS", 50)
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with open_db(url) as one, open_db(url) as other:
        workflow = workflow_in(one)
        with one.transaction(), pytest.raises(StoreError, match="database is locked"):
            plans.add(other, workflow, {}, reason="meanwhile")
        assert plans.add(other, workflow, {}, reason="afterwards").version == 1
