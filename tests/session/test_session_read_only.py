"""A store that can't be written is read all the same: contexts are made, nothing is kept, and
the report says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import foreword
from foreword.errors import StoreError
from foreword.store.locations import project_directory, state_path
from tests.command import run_in_process
from tests.sessions import fill_session, numbered_message
from tests.store.test_trouble import as_somebody_else
from tests.warm_process import ForkedCommand

pytestmark = pytest.mark.attack

READING = (
    ("session", "context", "main"),
    ("session", "context", "main", "--format", "anthropic"),
    ("session", "context", "main", "--budget", "900"),
    ("session", "usage", "main"),
    ("session", "list"),
    ("session", "expand", "main"),
    ("plan", "show", "main"),
    ("plan", "history", "main"),
    ("variable", "list", "main"),
    ("variable", "get", "main", "current_page"),
    ("report", "list"),
    ("report", "show", "1"),
)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a session, and a data directory that every user can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setenv("XDG_DATA_HOME", f"{name}/data")
        with foreword.Session.open(root=folder) as session:
            fill_session(session)
            for number in range(60):
                session.append(numbered_message(number, 60))
            session.compress(to=600)
            session.context()
        for path in (folder / "data").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (folder / "data").chmod(0o755)
        yield folder
        project_directory(folder).chmod(0o755)


def locked(root: Path, what: str) -> None:
    """A file, a folder or both that nobody may write, and everybody may read."""
    store = project_directory(root)
    (store / "state.db").chmod(0o644 if what == "folder" else 0o444)
    store.chmod(0o755 if what == "file" else 0o555)


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", ["file", "folder", "both"])
def test_everything_that_reads_works_on_a_store_that_can_not_be_written(
    root: Path, what: str
) -> None:
    locked(root, what)
    before = files_of(root)
    with as_somebody_else():
        for command in READING:
            ran = run_in_process(*command, "--root", root)
            assert ran.code == 0, (command, ran.err)
            assert ran.out.strip()
            if command[:2] == ("session", "context"):
                assert "state.db is read-only: this call is not in its usage log" in ran.err
    assert files_of(root) == before


@pytest.mark.parametrize("url", [None, "sqlite:///{store}"])
def test_a_context_of_a_store_that_can_not_be_written_is_the_same_and_warns(
    root: Path, url: str | None
) -> None:
    with foreword.Session.open(root=root) as session:
        expected = session.context(budget=900, save=False)
        calls = len(session.usage()["log"])
    locked(root, "both")
    with (
        as_somebody_else(),
        foreword.Session.open(url and url.format(store=state_path(root)), root=root) as session,
    ):
        package = session.context(budget=900)
        assert package.text == expected.text
        (warning,) = set(package.report.warnings) - set(expected.report.warnings)
        assert "read-only" in warning
        assert session.context(budget=900, save=False).report.warnings == expected.report.warnings
        assert len(session.usage()["log"]) == calls
        with pytest.raises(StoreError, match="it is read-only"):
            session.append({"role": "user", "content": "more"})


def test_a_history_past_its_limit_is_not_compressed_where_nothing_can_be_written(
    root: Path,
) -> None:
    locked(root, "both")
    with foreword.Session.open(root=root, compress_at=500, warn_at=400, compress_to=200) as session:
        assert session.context(budget=900).report.total_tokens <= 900


def test_another_counter_is_refused_in_words_where_nothing_can_be_written(root: Path) -> None:
    locked(root, "both")
    with pytest.raises(StoreError, match="is read-only and was counted by") as refused:
        foreword.Session.open(root=root, counter="estimate")
    assert "leave the counter" in refused.value.hint


KILLED = """
import os, sys, foreword
session = foreword.Session.open(root=sys.argv[1])
session.append({"role": "user", "content": "written, and not yet in the file itself"})
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_writer_left_in_the_log_is_read_as_well(root: Path) -> None:
    with ForkedCommand([root], program=KILLED) as killed:
        killed.communicate()
    store = project_directory(root)
    assert (store / "state.db-wal").stat().st_size
    for end in ("", "-wal", "-shm"):
        (store / f"state.db{end}").chmod(0o444)
    locked(root, "folder")
    with as_somebody_else(), foreword.Session.open(root=root) as session:
        assert session.history()[-1].text == "written, and not yet in the file itself"
        assert "not yet in the file itself" in session.context().text
    store.chmod(0o755)
    (store / "state.db-shm").unlink()
    store.chmod(0o555)
    with (
        as_somebody_else(),
        pytest.raises(StoreError, match=r"its last changes are in state\.db-wal"),
    ):
        foreword.Session.open(root=root)
