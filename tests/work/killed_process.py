"""A flow in a process that is killed at a chosen moment, and born again: `python -m
tests.work.killed_process`.

The process kills itself, as `kill -9` would, around the writes by which dbos remembers a step: just
before the n-th of them (the step has had its effect, and nobody knows) or just after. Lives are
forked from one parent, which has imported all there is, so that many of them are quick.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

MOST_LIVES = 80  # several for each of the 31 steps of the flow: more, and it does not get on
TASK = "members can cancel"
REMEMBERED = re.compile(
    r"INSERT INTO \S*(?:operation_outputs|workflow_output)\S* \(workflow_uuid.*VALUES", re.DOTALL
)
PUT_BACK = re.compile(
    r"UPDATE \S*workflow_status\S* SET status=.*recovery_attempts=\S+, .*completed_at=", re.DOTALL
)


def kill_at(number: int, when: str, statements: re.Pattern[str] = REMEMBERED) -> None:
    """Kill this process just before the n-th of these statements, or just after its transaction."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine
    from sqlalchemy.pool import Pool

    seen = 0
    doomed: int | None = None  # the thread that dies as soon as its transaction is over

    @event.listens_for(Engine, "before_cursor_execute")
    def count(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        nonlocal seen, doomed
        if statements.match(statement):
            seen += 1
            if seen == number and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            if seen == number:
                doomed = threading.get_ident()

    @event.listens_for(Pool, "checkin")
    def end(*rest: Any) -> None:
        if doomed == threading.get_ident():
            os.kill(os.getpid(), signal.SIGKILL)


def fork(live: Callable[[], object]) -> Iterator[bool]:
    """Live again and again; says of each life whether it ended by itself."""
    for _ in range(MOST_LIVES):
        child = os.fork()
        if not child:
            live()
            os._exit(0)
        _, code = os.waitpid(child, 0)
        assert os.WIFSIGNALED(code) or code == 0, f"a life ended with {code}"
        yield not os.WIFSIGNALED(code)
    raise AssertionError("it never ends")


def one_step_each(root: Path, model: str, *, number: int, when: str) -> dict[str, int]:
    """One flow, in which every life gets one step further; on the file beside the project's
    store."""
    from foreword.work import flow_runs

    def live() -> None:
        kill_at(number, when)
        there = flow_runs.status(root)
        if there and there[0].status != "done":
            flow_runs.resume(root)
        elif not there:
            flow_runs.run(root, "feature", TASK, model, task_id="FEAT-7", attempts=1)

    lives = 0
    for ended in fork(live):
        lives += 1
        if ended:
            break
    return {"lives": lives}


def one_flow_each(
    root: Path, db: str, model: str, *, numbers: list[int], when: str
) -> dict[str, int]:
    """A flow for each number, in a process that dies at its n-th step; whoever else is at work
    has to finish it."""
    from foreword.work import flow_runs

    def live(number: int) -> None:
        kill_at(number, when)
        task_id = f"FEAT-{number}"
        flow_runs.run(root, "feature", TASK, model, db, task_id=task_id, attempts=1)

    deaths = 0
    for number in numbers:
        ended = next(fork(partial(live, number)))
        deaths += not ended
    return {"deaths": deaths}


def main(root: str, db: str, model: str, when: str, *numbers: str) -> None:
    """Live and die, and print how often."""
    for module in (
        "dbos",
        "psycopg",
        "pydantic_ai.models.openai",
        "foreword.models",
        "foreword.work.panel_runs",
    ):
        import_module(module)
    chosen = [int(number) for number in numbers]
    if db:
        counts = one_flow_each(Path(root), db, model, numbers=chosen, when=when)
    else:
        counts = one_step_each(Path(root), model, number=chosen[0], when=when)
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
