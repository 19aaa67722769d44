"""Flows whose process is killed at every step: they finish, and nothing has its effect twice.

FOREWORD_SOAK=1 has every step, just before and just after it is remembered, on both databases;
without it there is every fourth one on SQLite, and a few on PostgreSQL.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import psycopg
import pytest

from foreword.store.urls import open_database
from foreword.testing import Reply, fake_provider
from foreword.work import flow_runs
from tests.patience import PATIENCE_SECONDS
from tests.postgres import new_database
from tests.warm_process import ForkedCommand, run_module
from tests.work.flow_scene import ARTIFACTS, PHASES, Agent, artifact_texts, checkpoints, project

SOAK = bool(os.environ.get("FOREWORD_SOAK"))
# that a flow of five phases has remembered when it is done; one more where 3a and 3b end apart
STEPS = 31


def until(what: Callable[[], object]) -> None:
    """Wait for something that will be so."""
    deadline = monotonic() + PATIENCE_SECONDS
    while not what():
        assert monotonic() < deadline, "it never came"
        sleep(0.2)


def lives(root: Path, db: str, model: str, when: str, *numbers: int) -> dict[str, int]:
    """What became of a flow, or several, in processes that were killed."""
    arguments = (root, db, model, when, *numbers)
    counts: dict[str, int] = json.loads(run_module("tests.work.killed_process", *arguments))
    return counts


@contextmanager
def command(*arguments: object) -> Iterator[ForkedCommand]:
    """A `foreword` command at work."""
    with ForkedCommand(arguments) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.communicate()


@contextmanager
def worker(db: str, root: Path) -> Iterator[ForkedCommand]:
    """A worker that has said that it is at work."""
    with command("worker", "--db", db, "--root", root) as process:
        assert "is at work" in process.stderr.readline()
        yield process


def check_flow(root: Path, db: str | None, task: str, agent: Agent) -> None:
    """Every phase is done, has had its effect once, and its checkpoint is whole."""
    (flow,) = flow_runs.status(root, task, db)
    assert [phase.status for phase in flow.phases] == ["done"] * 5
    texts = artifact_texts(root, db, flow.run)
    assert sorted(texts) == sorted(ARTIFACTS.values())
    assert all(texts[ARTIFACTS[phase]] in agent.texts[phase] for phase in PHASES)
    written = checkpoints(root, task)
    assert sorted(one["sequence"] for one in written.values()) == [1, 2, 3, 4, 5]
    for phase in PHASES:
        assert phase in written[phase]["done"]
        assert {*written[phase]["done"], *written[phase]["pending"]} == set(PHASES)
    handles = {phase.artifact: phase.handle for phase in flow.phases}
    assert {name: one["handle"] for name, one in written["4"]["artifacts"].items()} == handles


@pytest.mark.parametrize(
    ("number", "when"), [(2, "before"), (1, "after"), (3, "before")] if SOAK else [(5, "before")]
)
def test_a_flow_that_is_killed_at_every_step_finishes_with_each_effect_once(
    tmp_path: Path, number: int, when: str
) -> None:
    root = project(tmp_path)
    agent = Agent()
    with fake_provider(agent) as provider:
        counts = lives(root, "", provider.openai, when, number)
    assert counts["lives"] >= STEPS // max(1, number - 1)
    check_flow(root, None, "FEAT-7", agent)
    # Asked again is only what was in the middle of being asked when its process died.
    assert all(1 <= agent.asked[phase] <= 3 for phase in PHASES)


@pytest.mark.parametrize("when", ["before", "after"] if SOAK else ["before"])
def test_a_worker_finishes_what_another_process_was_killed_at(tmp_path: Path, when: str) -> None:
    root = project(tmp_path)
    agent = Agent()
    db = new_database()
    numbers = range(1, STEPS + 2) if SOAK else (4, 22)
    with fake_provider(agent) as provider, worker(db, root):
        counts = lives(root, db, provider.openai, when, *numbers)
        assert counts["deaths"] > 0
        for number in numbers:
            task = f"FEAT-{number}"
            until(lambda: flow_runs.status(root, task, db)[0].status == "done")  # noqa: B023
    for number in numbers:
        check_flow(root, db, f"FEAT-{number}", agent)


def test_a_process_that_was_only_asleep_changes_nothing_when_it_wakes(tmp_path: Path) -> None:
    root = project(tmp_path)
    db = new_database()
    asked = Event()
    go_on = Event()

    def slowly() -> str:
        if agent.asked["2"] == 1:
            asked.set()
            go_on.wait(PATIENCE_SECONDS)
            return "what the sleeper was told"
        return "what the other one was told"

    agent = Agent({"2": slowly})
    with ExitStack() as block:
        provider = block.enter_context(fake_provider(agent))
        options = ("--model", provider.openai, "--db", db, "--root", root, "--task-id", "FEAT-7")
        sleeper = block.enter_context(
            command("flow", "run", "feature", "--task", "cancel", *options)
        )
        assert asked.wait(PATIENCE_SECONDS)
        sleeper.send_signal(signal.SIGSTOP)
        with psycopg.connect(db, autocommit=True) as clock:
            clock.execute("UPDATE foreword.workers SET seen = seen - 60")
        block.enter_context(worker(db, root))
        until(lambda: flow_runs.status(root, "FEAT-7", db)[0].status == "done")
        before = (
            artifact_texts(root, db, flow_runs.status(root, "FEAT-7", db)[0].run),
            checkpoints(root, "FEAT-7"),
        )
        go_on.set()
        sleeper.send_signal(signal.SIGCONT)
        output, errors = sleeper.communicate(timeout=PATIENCE_SECONDS)
        assert sleeper.returncode == 0, errors
        assert "done" in output
    (flow,) = flow_runs.status(root, "FEAT-7", db)
    assert (artifact_texts(root, db, flow.run), checkpoints(root, "FEAT-7")) == before
    assert before[0]["FEAT-2"] == "what the other one was told"
    assert agent.asked == {**dict.fromkeys(PHASES, 1), "2": 2}


def test_a_flow_whose_process_nobody_remembers_is_gone_on_with(tmp_path: Path) -> None:
    root = project(tmp_path)
    agent = Agent()
    replies: Iterator[str | Reply] = iter([Reply(hangs=True), "later"])
    agent.replies["2"] = lambda: next(replies)
    with fake_provider(agent) as provider:
        words = [
            "flow",
            "run",
            "feature",
            "--root",
            str(root),
            "--task",
            "t",
            "--task-id",
            "FEAT-7",
        ]
        process = ForkedCommand([*words, "--model", provider.openai])
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not agent.asked["2"] and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
        process.communicate()
        with closing(open_database(None, root)) as store:
            store.rows("UPDATE workers SET seen = 0")  # long ago: the next one to come forgets it
        done = flow_runs.resume(root)
    assert done.status == "done"
    assert agent.asked["1"] == 1
