"""Run a flow, go on with it, and say how far it is.

A run that was killed goes on where it was; one that failed or stopped at a gate goes on as a new
attempt, in which nothing that is kept is asked again. What is done in a run is the business of
`graph` and `phase`; in which process, that of `runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

from foreword.errors import StoreError, UnknownName, UsageError
from foreword.pattern import lazy_pattern
from foreword.plan.flow import Flow, Phase, waves
from foreword.secrets.masking import mask
from foreword.sources.library import RECIPE
from foreword.sources.project_root import project_root
from foreword.store import artifacts, checkpoint_files
from foreword.store.database import Database
from foreword.store.urls import open_database
from foreword.work import dbos_setup, task_checkpoints
from foreword.work.flow_status import (
    FlowStatus,
    agents_by_phase,
    flow_status,
    known_runs,
    runs_listed_by,
)
from foreword.work.graph import KIND
from foreword.work.order import ATTEMPTS, TIMEOUT_SECONDS, Order, to_json
from foreword.work.phase import find_changes, find_warnings, settle_tier_1
from foreword.work.run_status import RunStatus
from foreword.work.runs import AGENTS, Engine, root_queue
from foreword.work.worker_process import run_worker

# Characters of the name of a task, which is part of the names of files and runs: as somebody gives
# it, and as it is made of the workflow's name and the first words of the task.
LONGEST_TASK = 40
LONGEST_MADE = 60
_NOT_IN_A_NAME = lazy_pattern(r"[^\w.]+")
Watch = Callable[[list[RunStatus]], None]
Notify = Callable[[str], None]


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
    recipe: str = RECIPE,
    default_rules: bool = False,
    facts: Mapping[str, object] | None = None,
    watch: Watch | None = None,
    begun: Notify | None = None,
    warn: Notify | None = None,
) -> FlowStatus:
    """Run a flow on a task and wait for it; `task_id` names the task, else the workflow and its
    first words do.

    `begun` is called with the name of the run; `warn` with what is amiss with the contexts before
    anybody is asked. A context that can't be made is an error now.
    """
    folder = project_root(root)
    objective = task.strip()
    flow = _check_flow(
        folder,
        flow,
        objective=objective,
        model=model,
        timeout_seconds=timeout_seconds,
        recipe=recipe,
    )
    with closing(open_database(db, folder)) as store:
        name = _task_name(
            folder,
            store,
            known_runs(folder, db, store),
            flow=flow.name,
            wanted=task_id,
            objective=objective,
        )
        order = Order(
            run=f"flow-{name}-{uuid4().hex[:6]}",
            task=name,
            objective=objective,
            model=model,
            flow=flow,
            diff=diff,
            diff_source=diff_source,
            stop_at_gates=stop_at_gates,
            timeout_seconds=timeout_seconds,
            attempts=attempts,
            recipe=recipe,
            default_rules=default_rules,
            facts=dict(facts or {}),
        )
        _refuse_unwritable(folder)
        order = settle_tier_1(folder, order)
        for warning in find_warnings(folder, order):
            if warn:
                warn(warning)
        with run_worker(db, folder, queues=(AGENTS,)) as engine:
            with store.transaction(f"foreword: flow {name}"):
                # somebody may have been quicker
                flows = runs_listed_by(dbos_setup.driver().DBOS, folder, store)
                _refuse_second(flows, name)
                _start(engine, order.run, order)
            if begun:
                begun(order.run)
            engine.wait_for(order.run, _watch_phases(watch, order))
            _tell_changes(folder, order, warn)
            return _status_of(order.run, engine, store)


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
    begun: Notify | None = None,
    warn: Notify | None = None,
) -> FlowStatus:
    """Go on with a flow: that of a task or run, else the newest that is not done; finished phases
    stay finished.

    What is given here holds for a new attempt, after a failure or at a gate. A run that was killed
    goes on as it was started, and says so where something else was wanted.
    """
    folder = project_root(root)
    last = _newest_open_flow(folder, task, db)
    done = [phase.phase for phase in last.phases if phase.status == "done"]
    order = last.order
    attempt = last.attempt_id
    changed = _change_order(
        order,
        model=model,
        diff=diff,
        diff_source=diff_source,
        stop_at_gates=stop_at_gates,
        timeout_seconds=timeout_seconds,
    )
    new_attempt = last.status in ("failed", "stopped")
    if new_attempt:
        order = settle_tier_1(folder, changed)
        attempt = f"{last.run}.{last.attempt + 1}"
        if warn:
            for warning in find_warnings(folder, order, done):
                warn(warning)
    elif changed != order and warn:
        warn(
            f"the flow was {last.status}, so it goes on as it was started; options hold after a"
            " failure or a gate"
        )
    with run_worker(db, folder, queues=(AGENTS, root_queue(folder))) as engine:
        if begun:
            begun(last.run)
        if new_attempt:
            _start(engine, attempt, order)
        engine.wait_for(attempt, _watch_phases(watch, order, done))
        _tell_changes(folder, order, warn)
        with engine.store.use() as store:
            return _status_of(last.run, engine, store)


def status(root: str | Path, task: str = "", db: str | None = None) -> list[FlowStatus]:
    """How far flows are, the newest first: all of this database, or those of one task or run."""
    folder = project_root(root)
    if dbos_setup.known_url(db, folder) is None:
        return _wanted_flows([], task)
    with closing(open_database(db, folder)) as store:
        wanted = _wanted_flows(known_runs(folder, db, store), task)
        return [flow_status(flow, store) for flow in wanted]


def _wanted_flows(flows: Sequence[FlowStatus], task: str) -> list[FlowStatus]:
    wanted = [flow for flow in flows if task in ("", flow.task, flow.run)]
    if task and not wanted:
        raise UnknownName("flow", task, list(dict.fromkeys(flow.task for flow in flows)))
    return wanted


def _tell_changes(root: Path, order: Order, warn: Notify | None) -> None:
    if warn:
        for change in find_changes(root, order):
            warn(change)


def _start(engine: Engine, attempt: str, order: Order) -> None:
    """Start an attempt at a flow in this process."""
    queue = root_queue(engine.root)
    engine.start(KIND, attempt, to_json(order), queue=queue, value=order)


def _status_of(run: str, engine: Engine, store: Database) -> FlowStatus:
    """How far one flow is, while its engine is still there."""
    flows = runs_listed_by(dbos_setup.driver().DBOS, engine.root, store)
    (flow,) = _wanted_flows(flows, run)
    return flow_status(flow, store)


def _change_order(
    order: Order,
    *,
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
        _refuse_no_time(timeout_seconds)
        order = replace(order, timeout_seconds=timeout_seconds)
    return order


def _watch_phases(watch: Watch | None, order: Order, done: Sequence[str] = ()) -> Watch | None:
    """Show every phase in the flow's order, with its title, and then the members of the panels
    that are asked."""
    if watch is None:
        return None
    panels: list[Phase] = []
    for phase in order.flow.phases:
        if order.diff and phase.panel and phase.name not in done:
            panels.append(phase)

    def watch_phases(statuses: list[RunStatus]) -> None:
        agents = agents_by_phase(statuses)
        phases: list[RunStatus] = []
        members: list[RunStatus] = []
        for place, phase in enumerate(order.flow.phases, 1):
            if phase in panels:
                # of two panels one has to know which member belongs to which
                title = phase.title if len(panels) > 1 else ""
                members += [replace(member, title=title) for member in agents.get(place, [])]
            else:
                phases.append(_phase_line(phase, agents.get(place, []), phase.name in done))
        watch([*phases, *members])

    return watch_phases


def _phase_line(phase: Phase, agents: Sequence[RunStatus], already_done: bool) -> RunStatus:
    agent = RunStatus(run=f"phase {phase.name}", agent=phase.name, status="pending", seconds=0.0)
    if agents:
        agent = agents[0]
    status = "already done" if already_done else agent.status
    return replace(agent, title=phase.title, status=status)


def _check_flow(
    root: Path,
    flow: Flow | str,
    *,
    objective: str,
    model: str,
    timeout_seconds: float,
    recipe: str,
) -> Flow:
    """The flow, if it can be run like that; nothing has been kept yet."""
    from foreword.models.model_names import find_model

    dbos_setup.driver()
    if not objective:
        raise UsageError(
            "the task is empty", hint="say what is to be done, or name a file that does"
        )
    _refuse_no_time(timeout_seconds)
    if isinstance(flow, str):
        from foreword.work.factory_project import read_flow

        flow = read_flow(root, flow, recipe)
    waves(flow)
    find_model(model)
    return flow


def _refuse_no_time(seconds: float) -> None:
    if not seconds > 0:
        raise UsageError(f"a time limit of {seconds:g} seconds leaves no time to answer")


def _task_name(
    root: Path,
    store: Database,
    known: Sequence[FlowStatus],
    *,
    flow: str,
    wanted: str,
    objective: str,
) -> str:
    """What the task is called in the names of its run and its checkpoints; no other work is
    called that."""
    if wanted:
        return _wanted_name(root, store, wanted, known)
    words = _NOT_IN_A_NAME.sub("-", f"{flow}-{mask(objective).splitlines()[0]}")
    made = words[:LONGEST_MADE].strip("-.").lower() or "task"
    for number in count(1):
        name = made if number == 1 else f"{made}-{number}"
        _refuse_second(known, name)
        if not _owner(root, store, name):
            return name
    raise AssertionError("numbers do not end")


def _wanted_name(root: Path, store: Database, wanted: str, known: Sequence[FlowStatus]) -> str:
    name = _NOT_IN_A_NAME.sub("-", wanted).strip("-.")
    if not name or len(name) > LONGEST_TASK:
        raise UsageError(
            f"{wanted[:80]!r} can't name a task",
            hint=f"up to {LONGEST_TASK} letters and digits, as in FEAT-1",
        )
    _refuse_second(known, name)
    owner = _owner(root, store, name)
    if owner:
        raise UsageError(
            f"task {name} has checkpoints already, of {owner}",
            hint=(
                "--task-id with another name begins anew; `foreword checkpoint list` shows what"
                " there is"
            ),
        )
    return name


def _refuse_second(known: Sequence[FlowStatus], task: str) -> None:
    """Two flows of one task would write the same checkpoints."""
    for flow in known:
        if flow.task == task and flow.status != "done":
            raise UsageError(
                f"task {task} has a flow that is {flow.status}: {flow.run}",
                hint=(
                    f"`foreword flow resume {task}` goes on with it; --task-id gives a new one"
                    " another name"
                ),
            )


def _owner(root: Path, store: Database, task: str) -> str:
    """Return who has used the name of a task, or an empty string; another folder may have used
    it in the same store."""
    try:
        entries = task_checkpoints.checkpoint_entries(root, task)
    except UnknownName:
        return "work whose files are not here" if artifacts.of_task(store, task) else ""
    last = entries[-1].checkpoint
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


def _newest_open_flow(root: Path, task: str, db: str | None) -> FlowStatus:
    for flow in status(root, task, db):
        if flow.status != "done":
            return flow
    what = f"the flow of {task} is done" if task else "there is no flow that is not done"
    raise UsageError(what, hint="`foreword flow status` shows them all")
