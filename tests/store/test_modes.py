"""What we keep is its owner's alone: modes of every file and folder, from the first moment, new
or old."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import foreword
from foreword.coding_agents import hook_log
from foreword.director import browser_files
from foreword.faces.http import token
from foreword.store import paths
from foreword.store.project_stores import open_existing
from foreword.store.sqlite import Sqlite
from foreword.store.urls import open_database
from foreword.work import dbos_setup, task_checkpoints
from foreword.work.checkpoint import Checkpoint

pytestmark = pytest.mark.attack

OTHERS = 0o077


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(*folders: Path) -> dict[str, str]:
    """Everything in these folders, themselves included, that somebody else could read or write."""
    found = dict[str, str]()
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            mode = path.lstat().st_mode
            if mode & OTHERS:
                found[str(path)] = oct(mode)
    return found


def make_readable_by_all(folder: Path) -> None:
    """As a copy or another program may have left it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def fill_store(root: Path) -> None:
    """A store with a password in it."""
    with foreword.Session.open(root=root) as session:
        session.append({"role": "user", "content": "the password is hunter2"})
        session.set_variable("password", "hunter2", "given")
        session.context()


def test_all_that_is_kept_is_its_owners_alone_whatever_the_umask(
    tmp_path: Path, own_cache: Path, umask: int
) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        session.append({"role": "user", "content": "the password is hunter2"})
        session.context()
        browser_files.prepare(browser_files.place(session))
        task_checkpoints.write(tmp_path, session.db, Checkpoint(task="TASK-1", phase="1"))
        assert dbos_setup.made_url(None, tmp_path)
        hook_log.note("hook", "failed")
        token.store_token(tmp_path)
        assert (tmp_path / ".foreword" / "state.db-wal").exists()
        assert not open_to_others(
            tmp_path / ".foreword", tmp_path / ".checkpoints", own_cache / "foreword"
        )
    readonly = tmp_path / "readonly"
    readonly.mkdir()
    readonly.chmod(0o555)
    with foreword.Session.open(root=readonly) as session:  # in the cache
        assert own_cache in Path(session.db.name).parents
    assert not open_to_others(own_cache / "foreword")
    readonly.chmod(0o755)


def test_a_store_is_closed_to_others_before_anything_is_in_it(tmp_path: Path) -> None:
    """SQLite makes a file as the umask has it: it must find one that is there."""
    modes = list[int]()
    before, path = os.umask(0), tmp_path / "state.db"
    apsw.connection_hooks.append(lambda _: modes.append(path.stat().st_mode))
    try:
        open_database(f"sqlite:///{path}", tmp_path).close()
    finally:
        apsw.connection_hooks.pop()
        os.umask(before)
    assert [oct(mode & 0o777) for mode in modes[:1]] == ["0o600"]


@pytest.mark.parametrize("reading", [False, True])
def test_a_store_that_was_open_to_others_is_closed_when_it_is_opened(
    tmp_path: Path, reading: bool
) -> None:
    fill_store(tmp_path)
    dbos_setup.made_url(None, tmp_path)
    folder = tmp_path / ".foreword"
    with closing(Sqlite(folder / "state.db")):  # so that the files beside it are there
        make_readable_by_all(folder)
        if reading:
            kept = open_existing(tmp_path)
            assert kept
            kept.close()
        else:
            foreword.Session.open(root=tmp_path).close()
        dbos_setup.known_url(None, tmp_path)
        assert not open_to_others(folder)


def test_the_list_of_stores_that_was_open_to_others_is_closed(
    tmp_path: Path, own_cache: Path
) -> None:
    fill_store(tmp_path)
    make_readable_by_all(own_cache)
    foreword.Session.open(root=tmp_path).close()
    assert not open_to_others(own_cache / "foreword")


def test_old_checkpoints_are_closed_to_others_by_their_folder(tmp_path: Path) -> None:
    task_checkpoints.write(tmp_path, None, Checkpoint(task="TASK-1", phase="1"))
    make_readable_by_all(tmp_path / ".checkpoints")
    task_checkpoints.write(tmp_path, None, Checkpoint(task="TASK-1", phase="2"))
    assert not (tmp_path / ".checkpoints").stat().st_mode & OTHERS


@pytest.mark.parametrize("mode", [0o644, 0o666, None])
def test_a_store_that_the_user_named_is_closed_and_its_folder_is_left_as_it_is(
    tmp_path: Path, mode: int | None
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    if mode is not None:
        open_database(f"sqlite:///{shared}/mine.db", tmp_path).close()
        (shared / "mine.db").chmod(mode)
    (tmp_path / "link.db").symlink_to(shared / "mine.db")
    with closing(open_database(f"sqlite:///{tmp_path}/link.db", tmp_path)):
        assert set(open_to_others(shared)) == {str(shared)}


def test_a_store_that_can_not_be_closed_is_used_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_store(tmp_path)
    make_readable_by_all(tmp_path / ".foreword")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # as on files of somebody else's
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"password": "hunter2"}
    assert (tmp_path / ".foreword" / "state.db").stat().st_mode & 0o777 == 0o644


def test_what_its_owner_made_read_only_keeps_its_mode(tmp_path: Path) -> None:
    fill_store(tmp_path)
    folder = tmp_path / ".foreword"
    (folder / "state.db").chmod(0o444)
    folder.chmod(0o555)
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"password": "hunter2"}
    assert (folder / "state.db").stat().st_mode & 0o777 == 0o444
    assert folder.stat().st_mode & 0o777 == 0o555
    folder.chmod(0o755)


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


def test_closing_a_store_to_others_undoes_no_lock_that_this_process_holds(tmp_path: Path) -> None:
    fill_store(tmp_path)
    path = tmp_path / ".foreword" / "state.db"
    with closing(Sqlite(path)) as held, held.transaction():
        make_readable_by_all(path.parent)
        Sqlite(path, read_only=True).close()
        assert not path.stat().st_mode & OTHERS
        done = subprocess.run(
            [sys.executable, "-c", WRITER, path], capture_output=True, text=True, check=True
        )
    assert done.stdout == "locked\n"


def test_a_link_in_the_place_of_a_store_does_not_change_the_mode_of_what_it_leads_to(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    other.chmod(0o644)
    (tmp_path / "state.db-wal").symlink_to(other)
    paths.tighten(tmp_path / "state.db")
    assert other.stat().st_mode & 0o777 == 0o644
