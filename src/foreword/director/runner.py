"""Test a node, run a workflow, and go on with a run that failed or whose process died.

A run happens in the thread that asks for it, since the browser is here: `node_walk` is its way
through the nodes. A heartbeat says that somebody is at it, and rows of the store how far it is:
what is done is not done again. Each attempt at a run has a number of its own, so that nodes may be
repaired in between, and whoever is still at an earlier one changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from foreword.director import browser_files, node_tools, unclear_step
from foreword.director.node_turn import TurnResources, take
from foreword.director.node_walk import NodeWalk, OnStep, WalkStop
from foreword.director.run_files import files_of
from foreword.director.unclear_step import UnclearStep
from foreword.errors import BadNode, UnknownName, UsageError
from foreword.plan import node as kinds
from foreword.plan.node_tree import Tree
from foreword.plan.templates import Scope
from foreword.secrets.known_values import KnownValues
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs
from foreword.store.node_runs import FAILED, RUNNING, STOPPED, SUCCESS, NodeRun
from foreword.work.heartbeat import Identity, heartbeat, living_workers

if TYPE_CHECKING:
    from foreword.browser import Browser

# Of one run: a thousand turns of ten seconds are under three hours, and a loop that nobody meant
# ends before the next morning.
RUN_SECONDS = 4 * 3600.0
LAST_RUN = "last"  # stands for the name of the newest run
LONGEST_NAME = 80  # characters of a run's name in an error; a model may make up any


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
    known = Scope(state.get_workflow_variables(), dict(scope or {}))
    secrets = KnownValues()
    secrets.learn([known.variables])
    resources = TurnResources(browser=browser, secrets=secrets, files=files_of(state))
    tested_in = dict[str, str]()
    if scope is None:
        known, tested_in = _first_turns(tree, name, known, resources)
    node_tools.set_status(state, name, RUNNING)
    try:
        turn = take(found, known, resources)
    except BaseException:
        node_tools.set_status(state, name, None)
        raise
    with state.db.transaction(node_runs.lock(state.workflow.id)):
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
    again: str | None = None,
    skip: str | None = None,
    seconds: float = RUN_SECONDS,
    keep_login: bool = False,
    on_step: OnStep | None = None,
    cancel: Event | None = None,
) -> dict[str, Any]:
    """Run all nodes, or go on with a run, and wait for it; it stops at the first node that fails,
    or by `cancel`. A new run begins in a fresh browser, signed in only with `keep_login`; `resume`
    is the name of a run, or "last".

    A step that may have happened is not repeated: the run stops there with a `question`, until it
    is resumed with that step's key or node as `again` (do it) or `skip` (take it for done).

    After so many `seconds` no further step is begun: the run stops, and can be resumed.

    A run that goes on in another process wants a browser that was started with
    `restore=saved_browser(...)`. `on_step` is told when a turn of a node begins and what came of
    it.
    """
    began = monotonic()
    tree = node_tools.read_tree(state)
    _refuse_unready(tree)
    if resume == LAST_RUN:
        resume = _last_run(state)
    unclear = unclear_step.find(state, tree, resume) if resume is not None else None
    unclear = unclear_step.decide(unclear, again=again, skip=skip)
    me = Identity()
    cancel = cancel or Event()
    with heartbeat(state.url, state.root, me):
        run = _begin_run(state, me.executor, resume)
        walk = NodeWalk(
            state=state,
            resources=TurnResources(
                browser=browser,
                secrets=KnownValues(),
                files=files_of(state, run.run),
            ),
            run=run,
            tree=tree,
            unclear=unclear,
            is_stopped=lambda: cancel.is_set() or monotonic() - began > seconds,
            on_step=on_step,
        )
        end = _walk_to_end(walk, start_anew=resume is None, keep_login=keep_login)
    summary = _run_summary(walk, end)
    if end.status == STOPPED and not cancel.is_set() and not end.question:
        summary["error"] = f"the run was stopped after {seconds:g} s, which is its limit"
    return {**summary, "seconds": round(monotonic() - began, 3)}


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


def unclear_step_of(state: WorkflowState, run: str) -> UnclearStep | None:
    """The step of a run that may have happened, if somebody has to decide about one."""
    step = unclear_step.find(state, node_tools.read_tree(state), run)
    return step if step is not None and step.decision == "ask" else None


def saved_browser(state: WorkflowState) -> Path | None:
    """The browser as it was after the last step of a run, for `Browser.start(restore=...)`; None
    if there was none."""
    path = browser_files.place(state)
    return path if path.is_file() else None


# ---- the run itself ----


@dataclass(frozen=True, slots=True)
class _AttemptEnd:
    """How an attempt ended, and where, unless it came to the end of the workflow."""

    status: str
    key: str = ""
    question: str = ""


def _walk_to_end(walk: NodeWalk, *, start_anew: bool, keep_login: bool) -> _AttemptEnd:
    """Go through the nodes, in a fresh browser if they are to start anew, and write down how that
    ended, whatever ends it."""
    end = _AttemptEnd(STOPPED)
    browser = walk.resources.browser
    try:
        if browser is not None and start_anew:
            browser.start_anew(keep_login=keep_login)
        walk.go()
        end = _AttemptEnd(SUCCESS)
    except WalkStop as stop:
        end = _AttemptEnd(FAILED if stop.failed else STOPPED, stop.key, stop.question)
    finally:
        _note_end(walk, end)
    return end


def _note_end(walk: NodeWalk, end: _AttemptEnd) -> None:
    """Write down how an attempt ended; nothing where another has begun since."""
    state = walk.state
    noted = node_runs.end(
        state.db, state.workflow.id, walk.run, status=end.status, failed_at=end.key
    )
    if noted and end.status == STOPPED:
        _forget_running(state)


def _run_summary(walk: NodeWalk, end: _AttemptEnd) -> dict[str, Any]:
    """What is answered when an attempt is over."""
    run = walk.run.run
    summary: dict[str, Any] = {"run": run, "status": end.status, "steps": walk.steps}
    done_before = sum(one.status == SUCCESS for one in walk.done.values())
    if done_before:
        summary["done_before"] = done_before
    if walk.notes:
        summary["notes"] = walk.notes
    if end.status == SUCCESS:
        return summary
    name = end.key.rpartition("/")[2]
    summary["failed_at" if end.status == FAILED else "stopped_at"] = name
    summary["key"] = end.key
    if end.status == FAILED and walk.steps:
        failure = walk.steps[-1]
        summary |= {key: failure[key] for key in ("error", "hint", "page") if key in failure}
    summary["next"] = f"repair {name} if need be, then run_workflow with resume {run} goes on there"
    if end.question:
        summary["question"] = end.question
        summary["next"] = (
            f"look whether {name} has happened, then run_workflow with resume {run} and skip"
            f" {end.key} where it has, or again {end.key} where it has not"
        )
    return summary


# ---- before it ----


def _begin_run(state: WorkflowState, executor: str, resume: str | None) -> NodeRun:
    """The next attempt at a run, or a new one; nobody else may be at this workflow."""
    workflow_id = state.workflow.id
    with state.db.transaction(node_runs.lock(workflow_id)):
        runs = node_runs.runs_of(state.db, workflow_id)
        _refuse_busy(state, runs)
        if resume is not None:
            _refuse_ended(runs, resume)
        run = node_runs.begin(
            state.db, workflow_id, run=resume or f"run-{uuid4().hex[:10]}", executor=executor
        )
        _forget_running(state)
    return run


def _last_run(state: WorkflowState) -> str:
    """The name of the newest run."""
    runs = node_runs.runs_of(state.db, state.workflow.id)
    if not runs:
        raise UsageError("there is no run to go on with", hint="leave resume away to begin one")
    return runs[0].run


def _refuse_busy(state: WorkflowState, runs: Sequence[NodeRun]) -> None:
    alive = living_workers(state.db)
    for run in runs:
        if run.status == RUNNING and run.executor in alive:
            raise UsageError(
                f"{run.run} of {state.workflow.name!r} is under way",
                hint="wait until it is over, or stop it",
            )


def _refuse_ended(runs: Sequence[NodeRun], name: str) -> None:
    """An error where there is no run of that name, or nothing more of it to do."""
    for run in runs:
        if run.run == name:
            if run.status == SUCCESS:
                raise UsageError(
                    f"{name} has come to its end",
                    hint="leave resume away to run the workflow again",
                )
            return
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
    tree: Tree, name: str, scope: Scope, resources: TurnResources
) -> tuple[Scope, dict[str, str]]:
    """The scope inside the loops around a node in their first turn, as far as their lists are
    known; and, in words, which turn of each loop that is."""
    turns = dict[str, str]()
    for around in tree.ancestors(name):
        if around["type"] != "loop":
            continue
        if around["config"].get("over") is None:
            if around["config"].get("as"):
                scope = scope.inside(str(around["config"]["as"]), 1)
        else:
            turn = take(around, scope, resources)
            if turn.value:
                scope = scope.inside(str(around["config"]["as"]), turn.value[0])
                turns[str(around["id"])] = f"its first turn of {len(turn.value)}"
    return scope, turns
