"""What flows refuse to run or read, and what they keep to themselves."""

from __future__ import annotations

import base64
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import foreword
from foreword.errors import StoreError, UsageError
from foreword.store.locations import project_directory
from foreword.testing import fake_provider
from foreword.work import dbos_setup, flow_runs, run_status, runs
from foreword.work.worker_process import run_worker
from tests.attacks import sample
from tests.store.databases import KINDS, new_url
from tests.warm_process import run_program
from tests.work.flow_scene import PHASES, Agent, artifact_texts, project
from tests.work.test_flows_killed import command, until

pytestmark = pytest.mark.attack

# Says which sockets of the internet the process has while a flow is under way.
SOCKETS = """
import os, sys
from contextlib import suppress
from pathlib import Path
from foreword.work import flow_runs
def look(standings):
    mine = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # closed in the meantime
            mine.add(os.readlink(f"/proc/self/fd/{number}"))
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        lines = [line.split() for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
        found.extend(line[1] for line in lines if f"socket:[{line[9]}]" in mine)
found = []
done = flow_runs.run(sys.argv[1], "feature", "cancel", "test", watch=look)
assert done.status == "done"
print(found)
"""
IMPORTED = """
import sys, foreword.faces.cli.flow, foreword.faces.cli.worker, foreword.work.flow_runs
print("dbos" in sys.modules)
"""


class Trap:
    """What a pickle can do to whoever reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (os.mkdir, (str(self.path),))


def change(path: Path, db: str, sql: str, *values: str) -> None:
    """Change what dbos has in its file, or on a server."""
    if db.startswith("postgresql"):
        with psycopg.connect(db) as server:
            server.execute(f"SET search_path TO {dbos_setup.SCHEMA}")
            server.execute(sql.replace("?", "%s").encode(), values)
        return
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(sql, values)


@pytest.mark.parametrize("kind", sample(KINDS, 1))
def test_a_pickle_in_the_database_is_never_read(kind: str, tmp_path: Path) -> None:
    root = project(tmp_path)
    db = new_url(kind, tmp_path)
    file = dbos_setup.flows_file(tmp_path / "store.db")
    sprung = tmp_path / "sprung"
    done = flow_runs.run(root, "feature", "cancel", "test", db, task_id="FEAT-7")
    trap = base64.b64encode(pickle.dumps({"args": (Trap(sprung),), "kwargs": {}})).decode()
    for table, column in (("workflow_input", "inputs"), ("workflow_output", "output")):
        change(file, db, f"UPDATE {table} SET {column} = ?", trap)
    change(
        file,
        db,
        "UPDATE workflow_status SET serialization = 'py_pickle', status = 'ENQUEUED',"
        " queue_name = ?",
        runs.AGENTS,
    )
    with run_worker(db, root):
        until(lambda: set(run_status.statuses([done.run]).values()) == {"ERROR"})
    assert flow_runs.status(root, db=db) == []
    assert not sprung.exists()


def test_of_dbos_only_what_it_documents_is_used() -> None:
    package = Path(dbos_setup.__file__).parents[1]
    inside = re.compile(r"\bdbos\._|from dbos import _")
    users = [path.name for path in package.rglob("*.py") if inside.search(path.read_text("utf-8"))]
    assert users == []


def test_flows_that_came_with_a_project_are_not_looked_at(tmp_path: Path) -> None:
    root = project(tmp_path)
    flow_runs.run(root, "feature", "cancel", "test")
    assert flow_runs.status(root)
    stranger = project(tmp_path / "stranger")
    shutil.copytree(project_directory(root), stranger / ".foreword")
    assert not flow_runs.status(stranger)


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    root = project(tmp_path)
    foreword.Session.open(root=root).close()
    (project_directory(root) / "flows.db").write_bytes(
        b"this is no database, and long enough to be told from one" * 20
    )
    with pytest.raises(StoreError, match=r"flows\.db can't be used"):
        flow_runs.run(root, "feature", "cancel", "test")


def test_a_flow_opens_no_port_and_calls_nobody(tmp_path: Path) -> None:
    assert run_program(SOCKETS, project(tmp_path)).strip() == "[]"


def test_two_terminals_can_run_flows_of_the_same_project(tmp_path: Path) -> None:
    root = project(tmp_path)
    agent = Agent()
    with fake_provider(agent) as provider:
        options = ("--model", provider.openai, "--root", root, "--task", "cancel", "--task-id")
        with (
            command("flow", "run", "feature", *options, "ONE") as one,
            command("flow", "run", "feature", *options, "TWO") as two,
        ):
            for process in (one, two):
                _, errors = process.communicate()
                assert process.returncode == 0, errors
    assert agent.asked == dict.fromkeys(PHASES, 2)
    texts = [
        set(artifact_texts(root, None, flow_runs.status(root, task)[0].run).values())
        for task in ("ONE", "TWO")
    ]
    assert texts[0].isdisjoint(texts[1])


def test_a_second_engine_in_one_process_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path)
    with (
        run_worker(None, root),
        pytest.raises(UsageError, match="running in this process already"),
        run_worker(None, root),
    ):
        pass


def test_dbos_is_imported_only_on_use() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
