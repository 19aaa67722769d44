"""Flows on a disk that is full, begun twice at once, or with a database that is not for this
program or these eyes."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from foreword.errors import StoreError, UsageError
from foreword.store.locations import project_directory
from foreword.store.urls import open_database
from foreword.testing import fake_provider
from foreword.work import dbos_setup, flow_runs
from foreword.work.worker_process import run_worker
from tests.postgres import new_database
from tests.warm_process import ForkedCommand
from tests.work.flow_scene import PHASES, Agent, artifact_texts, checkpoints, project
from tests.work.test_flows_killed import SOAK, check_flow, command, until

BYTES = 4096  # as far as files may be written on a disk that is full
# `foreword` that gives up sooner on a run whose end the database does not take.
IMPATIENT = """
import sys
from foreword.__main__ import main
from foreword.work import runs
runs.RECORD_SECONDS = 0.5
sys.argv[0] = "foreword"
main()
"""


@contextmanager
def on_a_disk_that_fills_up(
    root: Path, agent: Agent, phase: str, program: str = ""
) -> Iterator[tuple[ForkedCommand, Agent]]:
    """A flow whose disk is full as soon as a phase is answered; it tells what dbos logs."""
    words = ["flow", "run", "feature", "--root", str(root), "--task", "t", "--task-id", "FEAT-7"]

    def filled() -> str:
        agent.replies.clear()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (BYTES, resource.RLIM_INFINITY))
        return "the last words"

    agent.replies[phase] = filled
    with (
        fake_provider(agent) as provider,
        ForkedCommand(
            [*words, "--model", provider.openai],
            program=program,
            environment={**os.environ, "FOREWORD_LOG": "error"},
        ) as process,
    ):
        yield process, agent


def test_a_disk_that_is_full_is_an_error_and_the_flow_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    with on_a_disk_that_fills_up(root, Agent(), "2", IMPATIENT) as (process, agent):
        output, errors = process.communicate()
        assert (process.returncode, output) == (1, "")
        lines = [line for line in errors.splitlines() if line.startswith(("error: ", "hint: "))]
        assert "broke off: (sqlite3.OperationalError) " in lines[0]
        assert "`foreword flow resume` goes on" in lines[1]
        assert flow_runs.status(root)[0].status == "interrupted"
        assert flow_runs.resume(root).status == "done"
    check_flow(root, None, "FEAT-7", agent)
    assert agent.asked == {**dict.fromkeys(PHASES, 1), "2": 2}


@pytest.mark.skipif(not SOAK, reason="it waits for what dbos tries again")
def test_a_disk_that_was_full_for_a_moment_costs_one_more_question(tmp_path: Path) -> None:
    root = project(tmp_path)
    with on_a_disk_that_fills_up(root, Agent(), "2") as (process, agent):
        assert any(
            "Exception encountered in background workflow" in line for line in process.stderr
        )
        resource.prlimit(
            process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        )
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    check_flow(root, None, "FEAT-7", agent)
    assert agent.asked == {**dict.fromkeys(PHASES, 1), "2": 2}


def test_of_two_flows_of_one_task_that_begin_at_once_one_is_refused(tmp_path: Path) -> None:
    """Both are let go only when both have found that there is none yet."""
    root = project(tmp_path)
    agent = Agent()
    db = new_database()
    with ExitStack() as block:
        provider = block.enter_context(fake_provider(agent))
        with run_worker(db, root):
            pass  # dbos makes its tables, which waits for every transaction
        store = block.enter_context(closing(open_database(db, root)))
        watch = block.enter_context(psycopg.connect(db, autocommit=True))
        options = (
            "--model",
            provider.openai,
            "--db",
            db,
            "--root",
            root,
            "--task",
            "t",
            "--task-id",
            "FEAT-7",
        )
        with store.transaction("foreword: flow FEAT-7"):
            both = [
                block.enter_context(command("flow", "run", "feature", *options)) for _ in range(2)
            ]
            until(lambda: _waiting(watch) == 2)
        ended = [(*process.communicate(), process.returncode) for process in both]
    assert {code for *_, code in ended} == {0, 2}
    refusal = next(errors for _, errors, code in ended if code == 2)
    assert "error: task FEAT-7 has a flow that is running: flow-FEAT-7-" in refusal
    check_flow(root, db, "FEAT-7", agent)
    assert agent.asked == dict.fromkeys(PHASES, 1)


def _waiting(watch: psycopg.Connection[tuple[int]]) -> int:
    mine = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    query = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND {mine}"
    row = watch.execute(query).fetchone()
    return row[0] if row else 0


def test_a_file_of_a_newer_dbos_is_left_alone(tmp_path: Path) -> None:
    root = project(tmp_path)
    done = flow_runs.run(root, "feature", "t", "test", task_id="FEAT-7")
    path = project_directory(root) / "flows.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE dbos_migrations SET version = version + 1")

    def kept() -> tuple[object, ...]:
        texts = artifact_texts(root, None, done.run)
        return texts, checkpoints(root, "FEAT-7"), path.read_bytes()

    before = kept()
    newer = r"flows\.db was written by a newer dbos \(schema \d+, this one knows \d+\)"
    for use in (
        flow_runs.status,
        flow_runs.resume,
        lambda root: flow_runs.run(root, "feature", "u", "test"),
    ):
        with pytest.raises(StoreError, match=newer):
            use(root)
        assert kept() == before


def test_nobody_else_may_read_what_agents_were_asked(tmp_path: Path) -> None:
    root = project(tmp_path)
    modes: set[tuple[str, int]] = set()

    def look() -> str:
        files = project_directory(root).glob("flows.db*")
        modes.update((file.name, stat.S_IMODE(file.stat().st_mode)) for file in files)
        return "seen"

    with fake_provider(Agent({"2": look})) as provider:
        flow_runs.run(root, "feature", "t", provider.openai)
    assert modes == {(name, 0o600) for name in ("flows.db", "flows.db-wal", "flows.db-shm")}


def test_the_clock_of_dbos_works_with_every_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = dbos_setup.settings(None, project(tmp_path), "one")["db_engine_kwargs"]
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    began = time.time()
    with closing(sqlite3.connect(":memory:", **factory["connect_args"])) as file:
        ((now,),) = file.execute("SELECT unixepoch('subsec')").fetchall()
        with pytest.raises(sqlite3.OperationalError):
            file.execute("SELECT unixepoch('2026-01-01')").fetchall()
    assert began - 0.001 <= now <= time.time() + 0.001
    assert now == round(now, 3)


def test_a_sqlite_that_knows_the_clock_of_dbos_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = dbos_setup.settings(None, project(tmp_path), "one")["db_engine_kwargs"]
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 42, 0))
    query = "SELECT unixepoch('2026-01-01')"
    with closing(sqlite3.connect(":memory:")) as plain:
        expected = plain.execute(query).fetchall()
    with closing(sqlite3.connect(":memory:", **factory["connect_args"])) as file:
        assert file.execute(query).fetchall() == expected


def test_a_sqlite_that_is_too_old_is_named_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    needed = ".".join(str(number) for number in dbos_setup.LEAST_SQLITE)
    with pytest.raises(UsageError, match=f"need SQLite {needed} or newer.* has 3.34.1"):
        flow_runs.run(root, "feature", "t", "test")
    assert list(project_directory(root).glob("flows.db*")) == []
