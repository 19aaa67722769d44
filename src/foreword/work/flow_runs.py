"""Run a flow, go on with it, and say how it stands.

A run that was killed goes on where it was; one that failed or stopped at a gate goes on as a new
attempt, in which nothing that is kept is asked again. What is done in a run is `phases`' business;
in which process, that of `runs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

from foreword.errors import StoreError, UnknownName, UsageError
from foreword.plan.flow import Flow, waves
from foreword.secrets.masking import mask
from foreword.sources.project_root import project_root
from foreword.store import checkpoint_files
from foreword.store.urls import open_database
from foreword.tokens import Counter, calibrated, counter
from foreword.work import checkpoints, dbos_setup
from foreword.work.flow_status import FlowStatus, by_phase, flow_status, known_runs
from foreword.work.graph import KIND
from foreword.work.panel_runs import member_statuses
from foreword.work.phase import ATTEMPTS, SHAPE, TIMEOUT_SECONDS, Order, foreseen, order_of
from foreword.work.question_queue import AGENTS, RunStatus, root_queue
from foreword.work.workers import run_worker

LONGEST_TASK = 40
LONGEST_MADE = 60  # of a name that is made of the workflow's and the first words of the task
_NOT_IN_A_NAME = re.compile(r"[^\w.]+")
Watch = Callable[[list[RunStatus]], None]
Tell = Callable[[str], None]


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
    begun: Tell | None = None,
    warn: Tell | None = None,
) -> FlowStatus:
    """Run a flow on a task and wait for it; `task_id` names the task, else the workflow and its
    first words do.

    `warn` is told what is amiss with the contexts before anybody is asked; one that can't be made
    is an error now.
    """
    folder = project_root(root)
    objective = task.strip()
    whole = _checked(folder, flow, objective, model, timeout_seconds)
    name = _task_name(folder, db, whole.name, task_id, objective)
    order = Order(
        run=f"flow-{name}-{uuid4().hex[:6]}",
        task=name,
        objective=objective,
        model=model,
        flow=whole,
        diff=diff,
        diff_source=diff_source,
        stop_at_gates=stop_at_gates,
        timeout_seconds=timeout_seconds,
        attempts=attempts,
    )
    _refuse_unwritable(folder)
    _foretell(folder, order, warn)
    with run_worker(db, folder, queues=(AGENTS,)) as engine:
        with (
            closing(open_database(db, folder)) as store,
            store.transaction(f"foreword: flow {name}"),
        ):
            _refuse_second(known_runs(folder, db), name)  # somebody may have been quicker
            engine.start(KIND, order.run, order.to_dict(), queue=root_queue(folder))
        if begun:
            begun(order.run)
        engine.wait_for(order.run, _by_phase(watch, order))
    return status(folder, order.run, db)[0]


def resume(
    root: str | Path,
    task: str = "",
    db: str | None = None,
    *,
    model: str = "",
    diff: str = "",
    diff_source: str = "the diff",
    stop_at_gates: bool | None = None,
    timeout_seconds: float | None = None,
    watch: Watch | None = None,
    begun: Tell | None = None,
    warn: Tell | None = None,
) -> FlowStatus:
    """Go on with a flow: that of a task or run, else the newest that is not done; finished phases
    stay finished.

    What is given here holds for a new attempt, after a failure or at a gate. A run that was killed
    goes on as it was started, and says so where something else was wanted.
    """
    folder = project_root(root)
    last = _unfinished(folder, task, db)
    done = [phase.phase for phase in last.phases if phase.status == "done"]
    order, attempt = order_of(last.order), last.attempt_id
    wanted = _changed(order, model, diff, diff_source, stop_at_gates, timeout_seconds)
    earlier = last.order.get("shape") != SHAPE and last.status in ("interrupted", "waiting")
    again = earlier or last.status in ("failed", "stopped")
    if earlier and warn:
        warn(
            "the flow was begun by an earlier Foreword: it goes on as a new attempt; what is kept"
            " is not asked again"
        )
    if again:
        order, attempt = wanted, f"{last.run}.{last.attempt + 1}"
        if warn:
            _foretell(folder, order, warn, done)
    elif wanted != order and warn:
        warn(
            f"the flow was {last.status}, so it goes on as it was started; options hold after a"
            " failure or a gate"
        )
    with run_worker(db, folder, queues=(AGENTS, root_queue(folder))) as engine:
        if begun:
            begun(last.run)
        if again:
            engine.start(KIND, attempt, order.to_dict(), queue=root_queue(folder))
        engine.wait_for(attempt, _by_phase(watch, order, done))
    return status(folder, last.run, db)[0]


def status(root: str | Path, task: str = "", db: str | None = None) -> list[FlowStatus]:
    """How flows stand, the newest first: all of this database, or those of one task or run."""
    folder = project_root(root)
    found = known_runs(folder, db)
    mine = [one for one in found if task in ("", one.task, one.run)]
    if task and not mine:
        raise UnknownName("flow", task, list(dict.fromkeys(one.task for one in found)))
    if not mine:
        return []
    with closing(open_database(db, folder)) as store:
        return [flow_status(one, store) for one in mine]


def counter_for(root: str | Path, model: str, db: str | None = None) -> Counter:
    """The estimate, corrected by what the provider of a model has charged for the questions of
    this root's flows."""
    usage = [one.usage[model] for one in known_runs(project_root(root), db) if model in one.usage]
    return calibrated(
        counter("estimate"), [(one["counted_tokens"], one["charged_tokens"]) for one in usage]
    )


def _changed(
    order: Order,
    model: str,
    diff: str,
    diff_source: str,
    stop_at_gates: bool | None,
    timeout_seconds: float | None,
) -> Order:
    """The order with what is wanted from here on."""
    from foreword.models.model_names import find_model

    if model:
        find_model(model)
        order = replace(order, model=model)
    if diff:
        order = replace(order, diff=diff, diff_source=diff_source)
    if stop_at_gates is not None:
        order = replace(order, stop_at_gates=stop_at_gates)
    if timeout_seconds is not None:
        order = replace(order, timeout_seconds=_checked_limit(timeout_seconds))
    return order


def _foretell(root: Path, order: Order, warn: Tell | None, done: Sequence[str] = ()) -> None:
    for line in foreseen(root, order, done):
        if warn:
            warn(line)


def _by_phase(watch: Watch | None, order: Order, done: Sequence[str] = ()) -> Watch | None:
    """Tell of every phase in the flow's order, with its title, and then of the members of the
    panels that are asked."""
    if watch is None:
        return None
    panels = [
        phase
        for phase in order.flow.phases
        if phase.panel and order.diff and phase.name not in done
    ]

    def told(standings: list[RunStatus]) -> None:
        agents, phases, members = by_phase(standings), list[RunStatus](), list[RunStatus]()
        for place, phase in enumerate(order.flow.phases, 1):
            asked = agents.get(place, [])
            if phase in panels:  # of two panels it has to be told who sits where
                members += [
                    replace(one, title=phase.title if len(panels) > 1 else "")
                    for one in member_statuses(asked)
                ]
                continue
            known = (
                asked[0]
                if asked
                else RunStatus(
                    run=f"phase {phase.name}", agent=phase.name, status="pending", seconds=0.0
                )
            )
            status = "already done" if phase.name in done else known.status
            phases.append(replace(known, title=phase.title, status=status))
        watch([*phases, *members])

    return told


def _checked(
    root: Path, flow: Flow | str, objective: str, model: str, timeout_seconds: float
) -> Flow:
    """The flow, if it can be run like that; nothing has been kept yet."""
    from foreword.models.model_names import find_model

    dbos_setup.driver()
    if not objective:
        raise UsageError(
            "the task is empty", hint="say what is to be done, or name a file that does"
        )
    _checked_limit(timeout_seconds)
    if isinstance(flow, str):
        from foreword.work.factory_project import read_flow

        flow = read_flow(root, flow)
    waves(flow)
    find_model(model)
    return flow


def _checked_limit(seconds: float) -> float:
    if not seconds > 0:
        raise UsageError(f"a time limit of {seconds:g} seconds leaves no time to answer")
    return seconds


def _task_name(root: Path, db: str | None, flow: str, given: str, objective: str) -> str:
    """What the task is called in the names of its run and its checkpoints; no other work is
    called that."""
    known = known_runs(root, db)
    if given:
        name = _NOT_IN_A_NAME.sub("-", given).strip("-.")
        if not name or len(name) > LONGEST_TASK:
            raise UsageError(
                f"{given[:80]!r} can't name a task",
                hint=f"up to {LONGEST_TASK} letters and digits, as in FEAT-1",
            )
        _refuse_second(known, name)
        if owner := _owner(root, db, name):
            raise UsageError(
                f"task {name} has checkpoints already, of {owner}",
                hint=(
                    "--task-id with another name begins anew; `foreword checkpoint list` shows what"
                    " there is"
                ),
            )
        return name
    words = _NOT_IN_A_NAME.sub("-", f"{flow}-{mask(objective).splitlines()[0]}")
    made = words[:LONGEST_MADE].strip("-.").lower() or "task"
    for number in count(1):
        name = made if number == 1 else f"{made}-{number}"
        _refuse_second(known, name)
        if not _owner(root, db, name):
            return name
    raise AssertionError("numbers do not end")


def _refuse_second(known: Sequence[FlowStatus], task: str) -> None:
    """Two flows of one task would write the same checkpoints."""
    last = next((one for one in known if one.task == task and one.status != "done"), None)
    if last is not None:
        raise UsageError(
            f"task {task} has a flow that is {last.status}: {last.run}",
            hint=(
                f"`foreword flow resume {task}` goes on with it; --task-id gives a new one another"
                " name"
            ),
        )


def _owner(root: Path, db: str | None, task: str) -> str:
    """Whose checkpoints are kept under the name of a task; nobody's where there are none."""
    with closing(open_database(db, root)) as store:
        try:
            found = checkpoints.checkpoint_entries(root, store, task)
        except UnknownName:
            return ""
    last = found[-1].checkpoint
    run = last.state.get("run") if last else None
    return str(run or "work that is no flow")


def _refuse_unwritable(root: Path) -> None:
    """Checkpoints that can't be written are an error before anybody is asked."""
    with checkpoint_files.open_folder(root) as folder:
        try:
            TemporaryFile(dir=folder.path).close()
        except OSError as error:
            raise StoreError(
                f"{folder.path} can't be written: {error.strerror or error}",
                hint="check the rights of the folder",
            ) from None


def _unfinished(root: Path, task: str, db: str | None) -> FlowStatus:
    found = status(root, task, db)
    last = next((one for one in found if one.status != "done"), None)
    if last is None:
        what = f"the flow of {task} is done" if task else "there is no flow that is not done"
        raise UsageError(what, hint="`foreword flow status` shows them all")
    return last
