"""Processes that share a database: who is alive, and who takes over from whom, once."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from foreword.store import workers as rows
from foreword.store.urls import open_database
from foreword.testing import Reply, fake_provider
from foreword.work import heartbeat, run_status, runs
from tests.command import run_in_process
from tests.postgres import new_database
from tests.store.databases import KINDS, new_url
from tests.warm_process import ForkedCommand
from tests.work.test_flows_killed import SOAK, command, until

AGENTS = [f"agent-{number:02}" for number in range(6)]
# Takes over what the dead held, and dies as soon as dbos has written that down.
DYING_RESCUER = """
import sys
from pathlib import Path
from threading import Event
from foreword.work.worker_process import run_worker
from tests.work.killed_process import PUT_BACK, kill_at
kill_at(1, sys.argv[2], PUT_BACK)
with run_worker(sys.argv[1], Path("."), queues=["foreword-agents"], take_over_all=True):
    Event().wait()
"""


class Slow:
    """A provider that says nothing to anyone who asks for the first time."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.lock = Lock()

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        match = re.search(r"I am (agent-\d+)", json.dumps(body))
        assert match
        agent = match[1]
        with self.lock:
            self.asked[agent] += 1
            return Reply(f"hello {agent}", hangs=self.asked[agent] == 1)


@contextmanager
def worker(db: str) -> Iterator[ForkedCommand]:
    with command("worker", "--db", db) as process:
        assert "is at work" in process.stderr.readline()
        yield process


def submit(db: str, model: str) -> None:
    """Put a question of every agent into the queue."""
    with runs.launch_engine(db, Path(), "submitter", queues=()) as engine:
        for agent in AGENTS:
            question = {
                "agent": agent,
                "model": model,
                "instructions": "",
                "request": f"I am {agent}",
                "timeout_seconds": 600,
                "attempts": 1,
            }
            engine.submit("answer", agent, question, queue=runs.AGENTS)


def all_are_over() -> bool:
    states = run_status.statuses(AGENTS).values()
    return not any(state in run_status.ACTIVE for state in states)


def answers(db: str) -> dict[str, str]:
    with runs.launch_engine(db, Path(), "reader", queues=()):
        until(all_are_over)
        return {agent: str(run_status.outcome(agent)["text"]) for agent in AGENTS}


@pytest.mark.parametrize("dies", ["", "before", "after"] if SOAK else ["after"])
def test_what_a_dead_worker_held_is_taken_over_once(dies: str) -> None:
    """Two who notice at the same time, and one before them who died while taking over, ask
    nothing a third time."""
    db = new_database()
    slow = Slow()
    with fake_provider(slow) as provider:
        with worker(db) as doomed:
            submit(db, provider.openai)
            until(lambda: len(slow.asked) == len(AGENTS))
            doomed.send_signal(signal.SIGKILL)
            doomed.wait()
        if dies:
            with ForkedCommand([db, dies], program=DYING_RESCUER) as rescuer:
                assert rescuer.wait() == -signal.SIGKILL
        # none waits for the other
        with command("worker", "--db", db), command("worker", "--db", db):
            assert answers(db) == {agent: f"hello {agent}" for agent in AGENTS}
    assert slow.asked == dict.fromkeys(AGENTS, 2)


def test_a_worker_that_is_told_to_stop_ends_what_it_has_begun() -> None:
    db = new_database()
    with fake_provider(Reply("in time", delay_seconds=1.5)) as provider:
        with worker(db) as leaving:
            submit(db, provider.openai)
            until(lambda: len(provider.requests) == len(AGENTS))
            leaving.send_signal(signal.SIGTERM)
            assert leaving.wait() == 0
        with runs.launch_engine(db, Path(), "reader", queues=()):
            assert set(run_status.statuses(AGENTS).values()) == {"SUCCESS"}
        assert len(provider.requests) == len(AGENTS)
    with closing(open_database(db, Path())) as store:
        assert all(one.gone for one in rows.all_workers(store))


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_is_alive_while_it_is_heard_of(kind: str, tmp_path: Path) -> None:
    with closing(open_database(new_url(kind, tmp_path), Path())) as store:
        me = heartbeat.Identity()
        rows.beat(store, executor="near", host=me.host, pid=me.pid)
        rows.beat(store, executor="far", host="elsewhere:1", pid=1)
        rows.beat(store, executor="silent", host="elsewhere:1", pid=2)
        store.rows("UPDATE workers SET seen = seen - 60 WHERE executor = 'silent'")
        ended = ForkedCommand([], program="pass")
        ended.communicate()
        rows.beat(store, executor="ended", host=me.host, pid=ended.pid)
        rows.beat(store, executor="left", host=me.host, pid=me.pid)
        rows.leave(store, "left")
        assert heartbeat.living_workers(store) == {"near", "far"}
        rows.beat(store, executor="silent", host="elsewhere:1", pid=2)
        assert "silent" in heartbeat.living_workers(store)
        store.rows(
            "UPDATE workers SET seen = seen - ? WHERE executor = 'far'", (rows.FORGET_SECONDS + 60,)
        )
        rows.forget(store)
        assert {one.executor for one in rows.all_workers(store)} == {
            "ended",
            "left",
            "near",
            "silent",
        }


def test_a_worker_needs_a_database_that_others_reach() -> None:
    ran = run_in_process("worker", "--db", "sqlite:///store.db")
    assert ran.code == 2
    assert "a worker needs a database that others reach, too" in ran.err
