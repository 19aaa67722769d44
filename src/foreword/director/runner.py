"""Test a node, run a workflow, and go on with a run that failed or whose process died.

A run happens in this process, since the browser is here, on the durable engine: `node_walk` is its
way through the nodes. What is done is not done again. Each attempt at a run is of its own there, so
that nodes may be repaired in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from foreword.director import browser_files, node_tools
from foreword.director.node_turn import take
from foreword.director.node_walk import NodeWalk, OnStep, WalkStop
from foreword.director.run_engine import QUEUE, run_engine
from foreword.errors import BadNode, UnknownName, UsageError
from foreword.plan import node as kinds
from foreword.plan.node_tree import Tree
from foreword.plan.templates import Scope
from foreword.secrets.known_values import KnownValues
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs
from foreword.store.node_runs import FAILED, RUNNING, STOPPED, SUCCESS, Run
from foreword.work.run_status import ACTIVE, statuses
from foreword.work.runs import Engine, workflow
from foreword.work.workers import living_workers

if TYPE_CHECKING:
    from foreword.browser import Browser

KIND = "nodes"
LONGEST_NAME = 80  # characters of a run's name in an error; a model may make up any
# How often it is looked whether a run that says nothing is still there; one that ends says so at
# once.
LOOK_SECONDS = 1.0


def test_single_node(
    state: WorkflowState,
    browser: Browser | None,
    node: str,
    scope: Mapping[str, Any] | None = None,  # noqa: PT028
) -> dict[str, Any]:
    """Carry out one node in the browser as it stands; of a loop or a condition only what it
    decides.

    `scope` has what the loops around it give; without it, each gives the first element of its list.
    """
    tree = node_tools.read_tree(state)
    found = tree.get(node)
    name = str(found["id"])
    known = Scope(state.variables, dict(scope or {}))
    secrets = KnownValues()
    secrets.learn([known.variables])
    tested_in = dict[str, str]()
    if scope is None:
        known, tested_in = _first_turns(tree, name, known, secrets)
    node_tools.set_status(state, name, RUNNING)
    try:
        turn = take(found, known, browser, secrets)
    except BaseException:
        node_tools.set_status(state, name, None)
        raise
    with state.db.transaction(f"foreword: node results {state.workflow.id}"):
        node_results.keep_test(
            state.db, state.workflow.id, node=name, status=turn.status, output=turn.output
        )
        for variable, value in turn.variables.items():
            state.set_variable(variable, value, f"test of {name}")
        node_tools.set_status(state, name, turn.status)
    result = {"node": name, "status": turn.status, **turn.output}
    if tested_in:
        result["tested_in"] = tested_in
    return result


def run_workflow(
    state: WorkflowState,
    browser: Browser | None,
    *,
    resume: str | None = None,
    on_step: OnStep | None = None,
    cancel: Event | None = None,
) -> dict[str, Any]:
    """Run all nodes, or go on with a run, and wait for it; it stops at the first node that fails,
    or by `cancel`.

    A run that goes on in another process wants a browser that was started with
    `restore=saved_browser(...)`. `on_step` is told, in the thread of the run, when a turn of a node
    begins and what came of it.
    """
    began = monotonic()
    tree = node_tools.read_tree(state)
    _refuse_unready(tree)
    with run_engine(state.url, state.root) as engine:
        run = _begin_run(state, engine, resume)
        job = _RunJob(
            state=state,
            browser=browser,
            run=run,
            tree=tree,
            cancel=cancel or Event(),
            on_step=on_step,
        )
        attempt = _attempt(run)
        _jobs[attempt] = job
        try:
            engine.start(
                KIND, attempt, {"workflow": state.workflow.name, "run": run.run}, queue=QUEUE
            )
            while not job.over.wait(LOOK_SECONDS) and statuses([attempt]).get(attempt) in ACTIVE:
                pass
            engine.result(attempt)
        except BaseException:
            job.left.set()
            raise
        finally:
            _jobs.pop(attempt, None)
    return {**_run_summary(job), "seconds": round(monotonic() - began, 3)}


def unfinished_run(state: WorkflowState) -> str | None:
    """The newest run, if it has not come to its end and nobody is at it."""
    runs = node_runs.runs_of(state.db, state.workflow.id)
    if not runs:
        return None
    newest = runs[0]
    if newest.status == SUCCESS:
        return None
    if newest.status == RUNNING and newest.executor in living_workers(state.db):
        return None
    return newest.run


def saved_browser(state: WorkflowState) -> Path | None:
    """The browser as it was after the last step of a run, for `Browser.start(restore=...)`; None
    if there was none."""
    path = browser_files.place(state)
    return path if path.is_file() else None


# ---- the run itself ----


@dataclass(slots=True, kw_only=True)
class _RunJob:
    """What a run needs that can't be kept in a database."""

    state: WorkflowState
    browser: Browser | None
    run: Run
    tree: Tree
    cancel: Event
    on_step: OnStep | None
    over: Event = field(default_factory=Event)
    left: Event = field(default_factory=Event)  # whoever waited for it is gone
    status: str = STOPPED
    key: str = ""  # where it stopped
    walk: NodeWalk | None = None

    def is_stopped(self) -> bool:
        """Whether somebody said stop."""
        return self.cancel.is_set() or self.left.is_set()


_jobs: dict[str, _RunJob] = {}


@workflow(KIND)
def _conduct(payload: dict[str, Any]) -> dict[str, Any]:
    """One attempt at a run, in the thread of the engine."""
    from dbos import DBOS

    job = _jobs[str(DBOS.workflow_id)]
    opened = WorkflowState.open(
        job.state.url, job.state.workflow.name, root=job.state.root, create=False
    )
    with closing(opened) as state:
        job.walk = NodeWalk(
            state=state,
            browser=job.browser,
            run=job.run.run,
            tree=job.tree,
            is_stopped=job.is_stopped,
            on_step=job.on_step,
        )
        try:
            job.walk.go()
            job.status = SUCCESS
        except WalkStop as stop:
            job.status = FAILED if stop.failed else STOPPED
            job.key = stop.key
        finally:
            _end_attempt(state, job)
    return {"status": job.status}


def _end_attempt(state: WorkflowState, job: _RunJob) -> None:
    """Write down how an attempt ended; nothing where another has begun since."""
    try:
        noted = node_runs.end(
            state.db, state.workflow.id, job.run, status=job.status, failed_at=job.key
        )
        if noted and job.status == STOPPED:
            _forget_running(state)
    finally:
        job.over.set()


def _run_summary(job: _RunJob) -> dict[str, Any]:
    """What is answered when an attempt is over."""
    walk = job.walk
    assert walk
    summary: dict[str, Any] = {"run": job.run.run, "status": job.status, "steps": walk.steps}
    done_before = sum(one.status == SUCCESS for one in walk.done.values())
    if done_before:
        summary["done_before"] = done_before
    if walk.notes:
        summary["notes"] = walk.notes
    if job.status == SUCCESS:
        return summary
    name = job.key.rpartition("/")[2]
    summary["failed_at" if job.status == FAILED else "stopped_at"] = name
    summary["key"] = job.key
    if job.status == FAILED and walk.steps:
        failure = walk.steps[-1]
        summary |= {key: failure[key] for key in ("error", "hint", "page") if key in failure}
    summary["next"] = (
        f"repair {name} if need be, then run_workflow with resume {job.run.run} goes on there"
    )
    return summary


# ---- before it ----


def _begin_run(state: WorkflowState, engine: Engine, resume: str | None) -> Run:
    """The next attempt at a run, or a new one; nobody else may be at this workflow."""
    from dbos import DBOS

    workflow_id = state.workflow.id
    with state.db.transaction(f"foreword: node run {workflow_id}"):
        runs = node_runs.runs_of(state.db, workflow_id)
        _refuse_busy(state, runs)
        before = None if resume is None else _resumable(runs, resume)
        run = node_runs.begin(
            state.db, workflow_id, run=resume or f"run-{uuid4().hex[:10]}", executor=engine.executor
        )
        _forget_running(state)
    if before is not None and before.status == RUNNING:
        # its process is gone, or was asleep and ends at its next step
        DBOS.cancel_workflows([_attempt(before)])
    return run


def _refuse_busy(state: WorkflowState, runs: Sequence[Run]) -> None:
    alive = living_workers(state.db)
    for run in runs:
        if run.status == RUNNING and run.executor in alive:
            raise UsageError(
                f"{run.run} of {state.workflow.name!r} is under way",
                hint="wait until it is over, or stop it",
            )


def _resumable(runs: Sequence[Run], name: str) -> Run:
    """The run of that name, if there is more of it to do."""
    for run in runs:
        if run.run == name:
            if run.status == SUCCESS:
                raise UsageError(
                    f"{name} has come to its end",
                    hint="leave resume away to run the workflow again",
                )
            return run
    raise UnknownName("run", str(name)[:LONGEST_NAME], [run.run for run in runs])


def _forget_running(state: WorkflowState) -> None:
    """No node is being run now, whatever a process that died has left."""
    for name, node in node_tools.read_tree(state).nodes.items():
        if node.get("status") == RUNNING:
            node_tools.set_status(state, name, None)


def _refuse_unready(tree: Tree) -> None:
    if not tree.nodes:
        raise UsageError("the workflow has no nodes", hint="create_node makes one")
    problems = list[str]()
    for name, node in tree.nodes.items():
        description = node.get("description") or ""
        found = kinds.problems(node["type"], node.get("config"), description)
        problems += [f"{name}: {problem}" for problem in found]
    if problems:
        raise BadNode(problems, "workflow")


def _first_turns(
    tree: Tree, name: str, scope: Scope, secrets: KnownValues
) -> tuple[Scope, dict[str, str]]:
    """The scope inside the loops around a node in their first turn, as far as their lists are
    known; and, in words, which turn of each loop that is."""
    turns = dict[str, str]()
    for around in tree.ancestors(name):
        if around["type"] == "loop":
            turn = take(around, scope, None, secrets)
            if turn.value:
                scope = scope.inside(str(around["config"]["as"]), turn.value[0])
                turns[str(around["id"])] = f"its first turn of {len(turn.value)}"
    return scope, turns


def _attempt(run: Run) -> str:
    return f"{run.run}.{run.attempt}"
