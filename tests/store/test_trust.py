"""The store in a project that comes from a stranger, or that somebody has meddled with."""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import apsw
import pytest

import foreword
from foreword.errors import StoreError, UnknownHandle
from foreword.section import handle_of
from foreword.store import originals
from foreword.store.carried_items import write_items
from foreword.store.paths import refuse_devices, refuse_links, store_path
from foreword.store.project_stores import open_existing, recall
from foreword.store.reports import find_report, newest_reports, save_report
from foreword.store.sqlite import Sqlite
from tests.warm_process import ForkedCommand

pytestmark = pytest.mark.attack

REPORT = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}
BODY = b"what was cut"


def write_store(root: Path, created: str = "now") -> Path:
    """A store of the root with one original and one report."""
    root.mkdir(exist_ok=True)
    path = store_path(root)[0]
    db = Sqlite(path)
    save_report(db, {handle_of(BODY): BODY}, REPORT, created=created)
    db.close()
    return path


def run_sql(path: Path, statement: str, *values: object) -> None:
    db = apsw.Connection(str(path))
    db.execute(statement, values)
    db.close()


@pytest.mark.parametrize("name", ["", "state.db", "state.db-wal", "state.db-shm", ".gitignore"])
def test_a_store_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(
    tmp_path: Path, name: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    link = root / ".foreword" / name if name else root / ".foreword"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / name if name else outside)
    with pytest.raises(StoreError, match=f"{link} is a symbolic link"):
        Sqlite(store_path(root)[0])
    assert list(outside.iterdir()) == []


def test_a_link_to_another_store_is_neither_read_nor_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, root = write_store(tmp_path / "other"), tmp_path / "root"
    (root / ".foreword").mkdir(parents=True)
    (root / ".foreword" / "state.db").symlink_to(other)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    with pytest.raises(UnknownHandle):
        recall(handle_of(BODY), root)
    with pytest.raises(StoreError, match="is a symbolic link"):
        open_existing(root)


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE customers (name)", "PRAGMA application_id = 7"]
)
def test_the_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, statement: str
) -> None:
    path = store_path(tmp_path)[0]
    path.parent.mkdir()
    run_sql(path, statement)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a Foreword store"):
        Sqlite(path)
    assert path.read_bytes() == before


def test_recall_changes_no_byte_of_a_store_and_makes_none(tmp_path: Path) -> None:
    path = write_store(tmp_path)
    before = path.read_bytes()
    assert recall(handle_of(BODY), tmp_path) == BODY
    assert path.read_bytes() == before
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert recall(handle_of(BODY), elsewhere) == BODY
    assert open_existing(elsewhere) is None
    assert list(elsewhere.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from foreword.section import handle_of
from foreword.store.reports import save_report
from foreword.store.sqlite import Sqlite
report = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}
db = Sqlite(Path(sys.argv[1]))
save_report(db, {handle_of(b"in the log"): b"in the log"}, report, created="")
os.kill(os.getpid(), 9)
"""


def test_recall_leaves_a_log_where_it_is_although_it_could_be_written_back(tmp_path: Path) -> None:
    path = write_store(tmp_path)
    with ForkedCommand([path], program=KILLED) as killed:
        assert killed.wait() == -signal.SIGKILL
    log = path.with_name("state.db-wal")
    before = path.read_bytes(), log.read_bytes()
    assert before[1]
    assert recall(handle_of(b"in the log"), tmp_path) == b"in the log"
    assert (path.read_bytes(), log.read_bytes()) == before


def test_a_root_that_became_read_only_still_gives_back_what_it_kept(tmp_path: Path) -> None:
    root = tmp_path / "root"
    path = write_store(root, "2024-01-01")
    for folder in (path.parent, root):
        folder.chmod(0o555)
    try:
        db = Sqlite(store_path(root)[0])
        save_report(db, {}, {**REPORT, "recipe": "later"}, created="2024-01-02")
        db.close()
        before = sorted(path.parent.iterdir())
        assert recall(handle_of(BODY), root) == BODY
        found = open_existing(root)
        assert found
        assert [stored.report["recipe"] for stored in found.reports()] == ["later", "r"]
        assert len(found.reports(1)) == 1
        found.close()
        assert sorted(path.parent.iterdir()) == before
    finally:
        for folder in (root, path.parent):
            folder.chmod(0o755)


@contextmanager
def read_only_folders(path: Path) -> Iterator[None]:
    """A store in a root that is read-only for a while."""
    folders = (path.parent, path.parent.parent)
    for folder in folders:
        folder.chmod(0o555)
    try:
        yield
    finally:
        for folder in reversed(folders):
            folder.chmod(0o755)


def files_in(*folders: Path) -> dict[Path, bytes]:
    contents = dict[Path, bytes]()
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                contents[path] = path.read_bytes()
    return contents


def test_a_root_that_became_read_only_keeps_its_workflows_and_gets_no_second_ones(
    tmp_path: Path, own_cache: Path
) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        session.append({"role": "user", "content": "before"})
        session.set_variable("port", 8080, "seen")
    path = tmp_path / ".foreword" / "state.db"
    with read_only_folders(path):
        before = files_in(tmp_path, own_cache)
        with foreword.Session.open(root=tmp_path) as session:
            assert [message.text for message in session.history()] == ["before"]
            assert session.get_workflow_variables() == {"port": 8080}
            assert "before" in session.context().text
            for change in (
                lambda: session.append({"role": "user", "content": "later"}),
                lambda: session.set_variable("port", 1, "changed"),
            ):
                with pytest.raises(
                    StoreError, match=f"{path} can't be used for this: it is read-only"
                ) as refused:
                    change()
                assert (
                    refused.value.command_hint
                    == "make it writable, or name another store with --db or FOREWORD_DB"
                )
                assert "with url=... or FOREWORD_DB" in refused.value.hint
        with pytest.raises(StoreError, match="it is read-only"):
            foreword.Session.open(root=tmp_path, workflow="new")
        assert files_in(tmp_path, own_cache) == before
    with foreword.Session.open(root=tmp_path) as session:
        assert session.append({"role": "user", "content": "later"}).seq == 2


def test_a_read_only_root_without_a_store_has_one_in_the_cache(
    tmp_path: Path, own_cache: Path
) -> None:
    tmp_path.chmod(0o555)
    with foreword.Session.open(root=tmp_path) as session:
        session.append({"role": "user", "content": "kept"})
    with foreword.Session.open(root=tmp_path, create=False) as session:
        assert [message.text for message in session.history()] == ["kept"]
    assert own_cache in Path(session.db.name).parents
    assert list(tmp_path.iterdir()) == []
    tmp_path.chmod(0o755)


def test_the_store_of_another_user_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_store(tmp_path)
    if os.getuid() == 0:
        os.chown(path, 12_345, -1)
    owner = path.stat().st_uid
    assert recall(handle_of(BODY), tmp_path) == BODY
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(UnknownHandle):
        recall(handle_of(BODY), tmp_path)
    with pytest.raises(StoreError, match=f"belongs to another user \\(id {owner}\\)"):
        open_existing(tmp_path)


@pytest.mark.parametrize(
    "body", [b"no zlib", zlib.compress(b"something else"), zlib.compress(BODY)[:-3], "text", 5]
)
def test_an_original_that_was_altered_is_never_handed_out(tmp_path: Path, body: object) -> None:
    run_sql(write_store(tmp_path), "UPDATE originals SET body = ?", body)
    with pytest.raises(StoreError, match="was altered"):
        recall(handle_of(BODY), tmp_path)


def test_an_altered_original_is_found_in_another_store_that_has_it_whole(tmp_path: Path) -> None:
    write_store(tmp_path / "other")
    run_sql(
        write_store(tmp_path / "root"),
        "UPDATE originals SET body = ?",
        zlib.compress(b"something else"),
    )
    assert recall(handle_of(BODY), tmp_path / "root") == BODY


def test_an_original_that_would_fill_the_memory_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals, "LARGEST_BYTES", len(BODY) - 1)
    write_store(tmp_path)
    with pytest.raises(StoreError, match="was altered"):
        recall(handle_of(BODY), tmp_path)


def test_numbers_beyond_what_a_database_holds_are_numbers_of_nothing(tmp_path: Path) -> None:
    db = Sqlite(write_store(tmp_path))
    assert find_report(db, 10**20) is find_report(db, -(10**20)) is None
    assert len(newest_reports(db, 10**20)) == 1
    save_report(db, {}, {**REPORT, "budget_tokens": 10**20}, created="now")
    assert newest_reports(db)[0].report["budget_tokens"] == 10**20
    db.close()


def test_twelve_processes_in_twelve_roots_are_all_remembered(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom foreword.store.sqlite import Sqlite\n"
        "print(flush=True)\nsys.stdin.read()\nSqlite(Path(sys.argv[1])).close()\n"
    )
    paths = [tmp_path / str(number) / ".foreword" / "state.db" for number in range(12)]
    running = [ForkedCommand([path], program=script) for path in paths]
    for process in running:
        process.stdout.readline()
    for process in running:
        process.stdin.close()
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * 12
    listed = (Path(os.environ["XDG_CACHE_HOME"]) / "foreword" / "stores").read_text().split("\n")
    assert sorted(listed) == sorted(["", *map(str, paths)])


def test_a_root_whose_name_is_no_text_has_a_store_and_harms_no_list(tmp_path: Path) -> None:
    write_store(tmp_path / "first")
    odd = tmp_path / os.fsdecode(b"caf\xe9 ?#%")
    (odd / "deeper").mkdir(parents=True)
    (odd / "NOTES.md").write_text("notes")
    path = write_store(odd)
    run_sql(tmp_path / "first" / ".foreword" / "state.db", "DELETE FROM originals")
    assert path.is_file()
    assert foreword.recall(handle_of(BODY), tmp_path) == BODY.decode()
    for name in ("two\nlines", "one\u2028line"):
        assert write_store(tmp_path / name).is_file()
    listed = (Path(os.environ["XDG_CACHE_HOME"]) / "foreword" / "stores").read_bytes().split(b"\n")
    assert len(listed) == 4


def test_a_name_that_is_no_text_is_an_error_in_words(tmp_path: Path) -> None:
    db = Sqlite(write_store(tmp_path))
    with pytest.raises(StoreError, match="can't be used"):
        write_items(db, "\udcff", {("a", "b"): {}})
    db.close()


def test_an_empty_file_left_by_a_stopped_writer_holds_nothing(tmp_path: Path) -> None:
    path = store_path(tmp_path)[0]
    path.parent.mkdir()
    path.touch()
    assert open_existing(tmp_path) is None
    Sqlite(path).close()
    assert open_existing(tmp_path)


def test_a_log_that_another_process_removes_meanwhile_is_no_device(tmp_path: Path) -> None:
    log, done = tmp_path / ".foreword" / "state.db-wal", Event()
    log.parent.mkdir()

    def come_and_go() -> None:
        while not done.is_set():
            log.touch()
            log.unlink()

    other = Thread(target=come_and_go)
    other.start()
    try:
        for _ in range(3_000):  # with two looks at the file instead of one, some of a hundred fail
            refuse_links(log.with_name("state.db"))
            refuse_devices(log.with_name("state.db"))
    finally:
        done.set()
        other.join()
