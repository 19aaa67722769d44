"""Run a flow, go on with it, and say how it stands.

A run that was killed goes on where it was; one that failed or stopped at a gate goes on as a new attempt, in which
nothing that is kept is asked again. What is done in a run is `phases`' business; in which process, that of `runs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from foreword.errors import UnknownName, UsageError
from foreword.runtime.durable import AGENTS, Standing, root_queue
from foreword.runtime.flow_status import FlowStatus, known_runs, seen
from foreword.runtime.phases import ATTEMPTS, KIND, TIMEOUT_SECONDS, Order, order_of
from foreword.runtime.root import project_root
from foreword.runtime.workers import working
from foreword.store import artifacts
from foreword.store.urls import open_database
from foreword.workflow.flow import Flow, waves

LONGEST_TASK = 40
_NOT_IN_A_NAME = re.compile(r"[^\w.]+")
Watch = Callable[[list[Standing]], None]


def run(
    root: str | Path,
    flow: Flow | str,
    task: str,
    model: str,
    db: str | None = None,
    *,
    task_id: str = "",
    diff: str = "",
    diff_source: str = "the diff",
    stop_at_gates: bool = False,
    timeout_seconds: float = TIMEOUT_SECONDS,
    attempts: int = ATTEMPTS,
    watch: Watch | None = None,
    begun: Callable[[str], None] | None = None,
) -> FlowStatus:
    """Run a flow on a task and wait for it; `task_id` names the task, else its first words do."""
    folder = project_root(root)
    objective = task.strip()
    whole = _checked(folder, flow, objective, model, timeout_seconds)
    name = _task_name(task_id, objective)
    _refuse_second(folder, db, name)
    order = Order(
        f"flow-{name}-{uuid4().hex[:6]}", name, objective, model, whole, diff, diff_source, stop_at_gates,
        timeout_seconds, attempts,
    )  # fmt: skip
    with working(db, folder, queues=(AGENTS,)) as engine:
        engine.start(KIND, order.run, order.to_dict(), queue=root_queue(folder))
        if begun:
            begun(order.run)
        engine.wait_for(order.run, watch)
    return status(folder, order.run, db)[0]


def resume(
    root: str | Path,
    task: str = "",
    db: str | None = None,
    *,
    model: str = "",
    stop_at_gates: bool | None = None,
    watch: Watch | None = None,
    begun: Callable[[str], None] | None = None,
) -> FlowStatus:
    """Go on with a flow: that of a task or run, else the newest that is not done; finished phases stay finished."""
    folder = project_root(root)
    with working(db, folder, queues=(AGENTS, root_queue(folder))) as engine:
        last = _unfinished(folder, task, db)
        if begun:
            begun(last.run)
        attempt = last.attempt_id
        if last.status in ("failed", "stopped"):
            attempt = f"{last.run}.{last.attempt + 1}"
            order = order_of(last.order)
            gates = order.stop_at_gates if stop_at_gates is None else stop_at_gates
            order = replace(order, model=model or order.model, stop_at_gates=gates)
            engine.start(KIND, attempt, order.to_dict(), queue=root_queue(folder))
        engine.wait_for(attempt, watch)
    return status(folder, last.run, db)[0]


def status(root: str | Path, task: str = "", db: str | None = None) -> list[FlowStatus]:
    """How flows stand, the newest first: all of this database, or those of one task or run."""
    folder = project_root(root)
    found = known_runs(folder, db)
    mine = [one for one in found if task in ("", one.task, one.run)]
    if task and not mine:
        raise UnknownName("flow", task, list(dict.fromkeys(one.task for one in found)))
    with closing(open_database(db, folder)) as store:
        return [seen(one, artifacts.everything(store, one.run)) for one in mine]


def _checked(root: Path, flow: Flow | str, objective: str, model: str, timeout_seconds: float) -> Flow:
    """The flow, if it can be run like that; nothing has been kept yet."""
    from foreword.models.names import model_named

    if not objective:
        raise UsageError("the task is empty", hint="say what is to be done, or name a file that does")
    if not timeout_seconds > 0:
        raise UsageError(f"a time limit of {timeout_seconds:g} seconds leaves no time to answer")
    if isinstance(flow, str):
        from foreword.runtime.factory import read_flow

        flow = read_flow(root, flow)
    waves(flow)
    model_named(model)
    return flow


def _task_name(given: str, objective: str) -> str:
    """What the task is called in the names of its run and its checkpoints."""
    if not given:
        return _NOT_IN_A_NAME.sub("-", objective.splitlines()[0])[:LONGEST_TASK].strip("-.").lower() or "task"
    name = _NOT_IN_A_NAME.sub("-", given).strip("-.")
    if not name or len(name) > LONGEST_TASK:
        raise UsageError(
            f"{given[:80]!r} can't name a task", hint=f"up to {LONGEST_TASK} letters and digits, as in FEAT-1"
        )
    return name


def _refuse_second(root: Path, db: str | None, task: str) -> None:
    """Two flows of one task would write the same checkpoints."""
    last = next((one for one in known_runs(root, db) if one.task == task and one.status != "done"), None)
    if last is not None:
        raise UsageError(
            f"task {task} has a flow that is {last.status}: {last.run}",
            hint=f"`foreword flow resume {task}` goes on with it; --task-id gives a new one another name",
        )


def _unfinished(root: Path, task: str, db: str | None) -> FlowStatus:
    found = status(root, task, db)
    last = next((one for one in found if one.status != "done"), None)
    if last is None:
        what = f"the flow of {task} is done" if task else "there is no flow that is not done"
        raise UsageError(what, hint="`foreword flow status` shows them all")
    return last
