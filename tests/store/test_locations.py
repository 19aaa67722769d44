"""Where stores are: one for each project in the user's data directory, never one that came with the
project."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

import foreword
from foreword.coding_agents import hook_log
from foreword.director import browser_files
from foreword.errors import StoreError, UnknownHandle, UnknownName
from foreword.faces.http import token
from foreword.section import handle_of
from foreword.store import private
from foreword.store.locations import project_directory, state_path
from foreword.store.reports import newest_reports, save_report
from foreword.store.sqlite import Sqlite
from foreword.store.urls import open_database, open_to_read, recall
from foreword.work import dbos_setup, task_checkpoints
from foreword.work.checkpoint import Checkpoint
from tests.command import foreword as command
from tests.git_history import write_history
from tests.store.databases import run_at_once
from tests.warm_process import run_program

REPORT = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}
BODY = b"what was cut"
pytestmark = pytest.mark.attack

OTHERS = 0o077


def write_store(root: Path, url: str | None = None) -> Path:
    """A store of the root with one original and one report; its file."""
    root.mkdir(exist_ok=True)
    with closing(open_database(url, root)) as db:
        save_report(db, {handle_of(BODY): BODY}, REPORT)
    return Path(db.name)


def store_names() -> list[str]:
    return [line.split()[0] for line in command("store", "list").out.splitlines()]


def all_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the project and its store --------------------------------------------------------------------


def test_everything_is_kept_in_the_data_directory_and_nothing_in_the_project(
    tmp_path: Path, own_data: Path
) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        session.append({"role": "user", "content": "the password is hunter2"})
        session.context()
        browser_files.prepare(browser_files.place(session))
        token.store_token(tmp_path)
        assert dbos_setup.made_url(None, tmp_path)
    kept = {path.name for path in project_directory(tmp_path).iterdir()}
    assert kept >= {"state.db", "flows.db", "browser", "server-token.sha256"}
    assert project_directory(tmp_path).is_relative_to(own_data / "foreword")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_came_with_a_project_is_not_looked_at(tmp_path: Path) -> None:
    stranger = tmp_path / "clone" / ".foreword"
    stranger.mkdir(parents=True)
    for name, content in (("state.db", b"hostile" * 999), ("flows.db", b"hostile")):
        (stranger / name).write_bytes(content)
    before = all_files(stranger)
    with foreword.Session.open(root=stranger.parent) as session:
        session.append({"role": "user", "content": "mine"})
    assert dbos_setup.known_url(None, stranger.parent) is None
    assert all_files(stranger) == before


def test_a_project_is_the_same_by_a_link_to_it(tmp_path: Path) -> None:
    write_store(tmp_path / "project")
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert state_path(tmp_path / "link") == state_path(tmp_path / "project")


def test_a_home_that_is_a_link_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_store(tmp_path / "project")
    assert recall(handle_of(BODY), tmp_path) == BODY
    assert list((tmp_path / "disk").rglob("state.db"))


def test_without_a_home_nothing_is_kept_and_a_line_says_so(tmp_path: Path, sample: Path) -> None:
    home = "/dev/null"
    ran = command(
        *("assemble", "director", "--agent", "builder", "--root", sample, "--budget", "3000"),
        XDG_DATA_HOME=home,
        cwd=tmp_path,
    )
    assert ran.code == 0
    assert ran.out
    assert "nothing is kept: there is no data directory" in ran.err
    assert "--db or FOREWORD_DB names another store" in ran.err
    named = command("session", "new", "a", "--db", f"sqlite:///{tmp_path}/a.db", XDG_DATA_HOME=home)
    assert (named.code, (tmp_path / "a.db").exists()) == (0, True)


def test_the_root_of_a_strange_name_has_a_store_like_any_other(tmp_path: Path) -> None:
    for name in (os.fsdecode(b"caf\xe9 ?#%"), "two\nlines", "...", "x" * 200):
        assert write_store(tmp_path / name).is_file()
    assert recall(handle_of(BODY), tmp_path) == BODY
    assert len(command("store", "list", "--format", "json").out.splitlines()) > len("[]")


# --- a project that was moved ---------------------------------------------------------------------


@pytest.fixture
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "kilns"
    assert command("demo", "--keep", folder).code == 0
    return folder


def test_a_moved_repository_is_offered_its_store_and_takes_it_only_when_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "kilns").mkdir()
    history = [(datetime(2026, 1, 1, tzinfo=UTC), "first")]
    repository = write_history(tmp_path / "kilns", history, author="Ada <ada@example.com>")
    with foreword.Session.open(root=repository, workflow="talk") as session:
        session.append({"role": "user", "content": "before"})
    moved = repository.rename(tmp_path / "kilns 2")
    (name,) = store_names()
    listed = command("session", "list", "--root", moved)
    offer = f"`foreword store adopt {name} --root '{moved}'`"
    assert (listed.code, offer in listed.err) == (2, True)
    started = command("session", "new", "talk", "--root", moved)
    assert started.code == 0
    assert started.err.count(offer) == 1
    assert offer not in started.out
    assert len(store_names()) == 2
    assert command("store", "adopt", name, "--root", moved).code == 0
    with foreword.Session.open(root=moved, workflow="talk") as session:
        assert [message.text for message in session.history()] == ["before"]
    assert len(store_names()) == 2  # the one that was begun meanwhile is still there
    assert state_path(tmp_path / "kilns") == state_path(moved)


def test_a_repository_that_had_no_commit_yet_is_offered_its_store_too(tmp_path: Path) -> None:
    (tmp_path / "begun").mkdir()
    write_store(tmp_path / "begun")
    history = [(datetime(2026, 1, 1, tzinfo=UTC), "first")]
    begun = write_history(tmp_path / "begun", history, author="Ada <ada@example.com>")
    open_database(None, begun).close()
    moved = begun.rename(tmp_path / "moved")
    (name,) = store_names()
    assert f"`foreword store adopt {name}" in command("session", "list", "--root", moved).err


def test_a_record_that_can_not_be_written_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "record.json" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        private.write_file(tmp_path / "record.json", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_a_store_is_adopted_without_git_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    write_store(tmp_path / "first")
    (tmp_path / "second").mkdir()
    (name,) = store_names()
    with pytest.raises(UnknownName):
        foreword.store.locations.adopt(tmp_path / "second", f"{name}x")
    assert command("store", "adopt", name, "--root", tmp_path / "second").code == 0
    assert state_path(tmp_path / "second") == state_path(tmp_path / "first")


def test_a_store_is_moved_to_the_data_directory_with_what_is_in_its_log(tmp_path: Path) -> None:
    (tmp_path / ".foreword").mkdir()
    source = tmp_path / ".foreword" / "state.db"
    url = f"sqlite:///{source}"
    with foreword.Session.open(url, root=tmp_path) as session:
        session.append({"role": "user", "content": "before"})
        moved = command("store", "move", "--root", tmp_path)
        assert (moved.code, list(source.parent.iterdir())) == (0, [])
        with pytest.raises(StoreError, match="was removed or replaced while it was open"):
            session.append({"role": "user", "content": "would be lost"})
    with foreword.Session.open(root=tmp_path) as session:
        assert [message.text for message in session.history()] == ["before"]
    again = command("store", "move", "--root", tmp_path)
    assert (again.code, "nothing to move: it is in" in again.err) == (0, True)


@pytest.mark.parametrize("what", ["missing", "link", "text", "second"])
def test_what_is_no_store_or_would_replace_one_is_not_moved(tmp_path: Path, what: str) -> None:
    source = tmp_path / "state.db"
    if what == "link":
        source.symlink_to(write_store(tmp_path / "other"))
    elif what == "text":
        source.write_text("no database, whatever its name says")
    elif what == "second":
        write_store(tmp_path, f"sqlite:///{source}")
        write_store(tmp_path)
    before = all_files(tmp_path)
    ran = command("store", "move", source, "--root", tmp_path)
    assert ran.code
    assert ran.err.startswith("error: ")
    assert all_files(tmp_path) == before
    assert state_path(tmp_path).exists() == (what == "second")


# --- looking, recalling ---------------------------------------------------------------------------


def test_recall_finds_an_original_from_anywhere_and_makes_no_store(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    named = tmp_path / "named.db"
    write_store(tmp_path / "project", f"sqlite:///{named}")
    before = named.read_bytes()
    assert recall(handle_of(BODY), elsewhere) == BODY
    assert named.read_bytes() == before
    assert open_to_read(None, elsewhere) is None
    named.unlink()
    with pytest.raises(UnknownHandle):
        recall(handle_of(BODY), elsewhere)


def test_a_damaged_store_keeps_nobody_from_the_originals_of_another(tmp_path: Path) -> None:
    write_store(tmp_path / "first")
    damaged = write_store(tmp_path / "second")
    damaged.write_bytes(b"x" * 5_000)
    assert recall(handle_of(BODY), tmp_path / "second") == BODY


def test_an_empty_file_left_by_a_stopped_writer_holds_nothing(tmp_path: Path) -> None:
    project_directory(tmp_path).mkdir(parents=True)
    state_path(tmp_path).touch()
    assert open_to_read(None, tmp_path) is None
    write_store(tmp_path)
    assert open_to_read(None, tmp_path)


# --- modes, damage, other programs ----------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_all_that_is_kept_is_its_owners_alone_whatever_the_umask(
    tmp_path: Path, own_data: Path, own_cache: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        with foreword.Session.open(root=tmp_path) as session:
            session.append({"role": "user", "content": "the password is hunter2"})
            session.context()
            browser_files.prepare(browser_files.place(session))
            task_checkpoints.write(tmp_path, session.db, Checkpoint(task="TASK-1", phase="1"))
            assert dbos_setup.made_url(None, tmp_path)
            hook_log.note("hook", "failed")
            token.store_token(tmp_path)
            assert state_path(tmp_path).with_name("state.db-wal").exists()
            folders = (own_data / "foreword", own_cache / "foreword", tmp_path / ".checkpoints")
            parts = [part for folder in folders for part in (folder, *folder.rglob("*"))]
            assert not [part for part in parts if part.stat().st_mode & OTHERS]
    finally:
        os.umask(before)


def test_a_named_store_is_closed_to_others_before_anything_is_in_it(tmp_path: Path) -> None:
    """SQLite makes a file as the umask has it: it must find one that is there."""
    modes = list[int]()
    before, path = os.umask(0), tmp_path / "state.db"
    apsw.connection_hooks.append(lambda _: modes.append(path.stat().st_mode))
    try:
        write_store(tmp_path, f"sqlite:///{path}")
    finally:
        apsw.connection_hooks.pop()
        os.umask(before)
    assert [oct(mode & 0o777) for mode in modes[:1]] == ["0o600"]


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE customers (name)", "PRAGMA application_id = 7"]
)
def test_the_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "mine.db"
    with closing(apsw.Connection(str(path))) as db:
        db.execute(statement)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a Foreword store"):
        Sqlite(path)
    assert path.read_bytes() == before


def test_a_program_in_a_store_that_was_named_does_not_run(tmp_path: Path) -> None:
    path = write_store(tmp_path, f"sqlite:///{tmp_path / 'mine.db'}")
    with closing(apsw.Connection(str(path))) as db:
        db.execute(
            "CREATE TRIGGER planted AFTER INSERT ON reports BEGIN DELETE FROM originals; END"
        )
    with closing(Sqlite(path)) as store:
        save_report(store, {}, REPORT)
        assert store.rows("SELECT count(*) FROM originals") == [(1,)]


def test_a_half_written_file_is_an_error_that_names_it_and_stays_as_it_is(tmp_path: Path) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        for number in range(200):
            session.append({"role": "user", "content": f"{number} " * 100})
    path = state_path(tmp_path)
    half = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(half)
    ran = command("session", "list", "--root", tmp_path)
    assert ran.code == 1
    assert f"{path} is damaged" in ran.err.splitlines()[0]
    assert path.read_bytes() == half


def test_a_pipe_in_the_place_of_a_store_is_an_error_and_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    ran = command("session", "list", "--db", f"sqlite:///{tmp_path}/pipe.db")
    assert (ran.code, "it is not a regular file" in ran.err) == (1, True)


@pytest.mark.parametrize("then", ["removed", "replaced"])
def test_nothing_is_acknowledged_that_would_go_into_a_file_without_a_name(
    tmp_path: Path, then: str
) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        session.append({"role": "user", "content": "before"})
        for file in project_directory(tmp_path).iterdir():
            file.unlink()
        if then == "replaced":
            write_store(tmp_path)
        for change in (
            lambda: session.append({"role": "user", "content": "lost"}),
            lambda: session.set_variable("port", 1, "lost"),
        ):
            with pytest.raises(StoreError, match="was removed or replaced while it was open"):
                change()


# --- many processes -------------------------------------------------------------------------------

WRITER = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(0)
try:
    db.execute("BEGIN IMMEDIATE; COMMIT")
    print("wrote")
except apsw.BusyError:
    print("locked")
"""


def test_opening_a_store_again_undoes_no_lock_that_this_process_holds(tmp_path: Path) -> None:
    path = write_store(tmp_path)
    with closing(Sqlite(path)) as held, held.transaction():
        Sqlite(path, read_only=True).close()
        open_database(None, tmp_path).close()
        assert run_program(WRITER, path) == "locked\n"


def test_ten_processes_that_make_the_store_of_a_root_at_once_make_one(tmp_path: Path) -> None:
    program = (
        "import foreword\nwith foreword.Session.open(root=sys.argv[1]) as session:\n"
        "    session.append({'role': 'user', 'content': 'here'})\n"
    )
    run_at_once(program, [(tmp_path,)] * 10)
    assert len(store_names()) == 1
    with foreword.Session.open(root=tmp_path) as session:
        assert len(session.history()) == 10


def test_old_originals_and_reports_are_pruned_when_asked(tmp_path: Path) -> None:
    path = write_store(tmp_path)
    assert command("store", "prune", "--older-than", "90d", "--root", tmp_path).out == ""
    with closing(Sqlite(path)) as db:
        for table in ("originals", "reports"):
            db.rows(f"UPDATE {table} SET created = '2020-01-01'")
        save_report(db, {handle_of(b"new"): b"new"}, REPORT)
    wrong = command("store", "prune", "--older-than", "long", "--root", tmp_path)
    assert (wrong.code, "for example 90d" in wrong.err) == (2, True)
    pruned = command("store", "prune", "--older-than", "90d", "--root", tmp_path)
    assert pruned.out == f"{handle_of(BODY)}\n"
    assert "removed 1 originals and 1 reports" in pruned.err
    with pytest.raises(UnknownHandle):
        recall(handle_of(BODY), tmp_path)
    assert recall(handle_of(b"new"), tmp_path) == b"new"
    with closing(Sqlite(path)) as db:
        assert len(newest_reports(db)) == 1
