"""The plan viewer: phases and tasks as a to-do list, every version of it, and a form that
changes a task's status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from foreword.errors import ForewordError, PlanConflict, UsageError
from foreword.faces.http.problems import status_of
from foreword.faces.web import addresses, header
from foreword.faces.web.rendering import STATUSES, page
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import plan_operations
from foreword.operations.node_operations import stored_nodes
from foreword.operations.plan_operations import Plan
from foreword.plan import plan as planning
from foreword.secrets.masking import hide
from foreword.session.workflow_state import WorkflowState

# from there on, completed phases are folded: a plan is then longer than a screen or two
MANY_TASKS = 40
NO_REASON = "a change needs a reason: it is what the history of the plan is read by"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """A task's new status, as it stands in the form, and what stood in its way."""

    task: str
    status: str
    reason: str
    version: int
    description: str = ""
    was: str = ""
    conflict: tuple[str, ...] = ()  # what somebody else has changed meanwhile
    problem: str = ""
    hint: str = ""


def show(request: ViewRequest) -> Response:
    """The plan in one of its versions; with a `task`, the form that changes it."""
    with request.state() as state:
        newest = plan_operations.newest_version(state)
        form = None
        if request.text("task") and newest:
            form = _form_for(request, state, newest)
        return _page(request, state, newest, form)


def change(request: ViewRequest) -> Response:
    """Write a new version; where somebody was faster, show both and lose nothing."""
    wanted = TaskChange(
        task=request.text("task"),
        status=request.text("status"),
        reason=request.text("reason").strip(),
        version=request.number("version", 0),
    )
    with request.state() as state:
        try:
            made = _write(state, wanted)
        except ForewordError as error:
            newest = plan_operations.newest_version(state)
            form = _form_again(state, wanted, newest, error)
            return _page(request, state, newest, form, status=status_of(error))
        said = "unchanged" if made.version == wanted.version else "saved"
        return go_to(addresses.session(request.workflow, "plan", **{said: made.version}))


def _write(state: WorkflowState, wanted: TaskChange) -> Plan:
    if not wanted.reason:
        raise UsageError(NO_REASON)
    return plan_operations.set_task_status(
        state,
        task=wanted.task,
        status=wanted.status,
        reason=wanted.reason,
        version=wanted.version,
    )


def _form_for(request: ViewRequest, state: WorkflowState, newest: int) -> TaskChange:
    """The form for a task, filled in."""
    found = _task(state, newest, request.text("task"))
    if found is None:
        raise UsageError(
            f"there is no task {request.text('task')[:60]!r} in the newest plan",
            hint="look at the plan again",
        )
    status = request.text("status")
    if status not in STATUSES:
        status = found["status"]
    reason = request.text("reason") or f"Set to {STATUSES[status].lower()} by hand"
    return TaskChange(
        task=str(found["task_id"]),
        status=status,
        reason=reason,
        version=newest,
        description=found["description"],
        was=found["status"],
    )


def _form_again(
    state: WorkflowState, wanted: TaskChange, newest: int, error: ForewordError
) -> TaskChange:
    """The form as it was filled in, on top of the newest version now, and what stopped it."""
    found = _task(state, newest, wanted.task) or {}
    meanwhile: tuple[str, ...] = ()
    if isinstance(error, PlanConflict) and 0 < wanted.version < newest:
        meanwhile = tuple(state.plan_diff(wanted.version, newest)) or ("nothing that can be seen",)
    return TaskChange(
        task=wanted.task,
        status=wanted.status if wanted.status in STATUSES else "pending",
        reason=wanted.reason,
        version=newest,
        description=found.get("description", ""),
        was=found.get("status", ""),
        conflict=meanwhile,
        problem=error.message,
        hint=error.hint,
    )


def _task(state: WorkflowState, version: int, task: str) -> Mapping[str, Any] | None:
    if not version:
        return None
    plan = _hide_secrets(state.plan_version(version).data)
    for _, found in planning.tasks(plan):
        if str(found["task_id"]) == task:
            return found
    return None


def _page(
    request: ViewRequest,
    state: WorkflowState,
    newest: int,
    form: TaskChange | None,
    *,
    status: int = 200,
) -> Response:
    values: dict[str, Any] = {
        **header.of(state, "plan"),
        "title": f"Plan · {state.workflow.name}",
        "newest": newest,
    }
    if not newest:
        return page(
            "plan.html", status, **values, plan=None, version=0, change=None, saved=0, unchanged=0
        )
    version = newest if request.form else request.number("version", newest)
    plan_version = state.plan_version(version)
    plan = _hide_secrets(plan_version.data)
    before = _hide_secrets(state.plan_version(version - 1).data) if version > 1 else None
    return page(
        "plan.html",
        status,
        **values,
        plan=plan,
        plan_version=plan_version,
        version=version,
        change=form,
        differences=state.plan_diff(version - 1, version) if version > 1 else [],
        marks=changed_tasks(before, plan) if before else {},
        removed=_removed_tasks(before, plan) if before else [],
        progress=plan_operations.progress(plan),
        many_tasks=MANY_TASKS,
        nodes=_nodes(state, plan),
        saved=request.number("saved", 0),
        unchanged=request.number("unchanged", 0),
    )


def changed_tasks(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """What became of each task that is not as it was, by its id."""
    old = {str(task["task_id"]): (phase, task) for phase, task in planning.tasks(before)}
    marks = dict[str, str]()
    for phase, task in planning.tasks(after):
        key = str(task["task_id"])
        old_phase, old_task = old.get(key, ("", None))
        if old_task is None:
            marks[key] = "new"
        elif old_task["status"] != task["status"]:
            marks[key] = f"was {STATUSES[old_task['status']].lower()}"
        elif old_task != task:
            marks[key] = "edited"
        elif old_phase != phase:
            marks[key] = "moved"
    return marks


def _removed_tasks(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    remaining = {str(task["task_id"]) for _, task in planning.tasks(after)}
    removed = list[Mapping[str, Any]]()
    for _, task in planning.tasks(before):
        if str(task["task_id"]) not in remaining:
            removed.append(task)
    return removed


def _nodes(state: WorkflowState, plan: Mapping[str, Any]) -> dict[str, str]:
    """The nodes that tasks name, as JSON without secrets; one that is not there has nothing to
    show."""
    known = {str(node["id"]): node for node in stored_nodes(state)}
    texts = dict[str, str]()
    for _, task in planning.tasks(plan):
        for node in task.get("node_ids") or ():
            name = str(node)
            texts[name] = ""
            if name in known:
                texts[name] = json.dumps(hide(known[name]), indent=2, ensure_ascii=False)
    return texts


def _hide_secrets(plan: Mapping[str, Any]) -> dict[str, Any]:
    hidden = hide(plan)
    assert isinstance(hidden, dict)
    return hidden
