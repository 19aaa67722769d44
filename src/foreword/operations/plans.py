"""A workflow's plan in its versions: pages of them, a task set to another status, how far it is.

What a plan is, and what may be in one, is `plan.plan`'s; one is changed as a whole by
`operations.update_plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foreword.errors import PlanConflict
from foreword.plan import plan as planning
from foreword.session.workflow_state import WorkflowState
from foreword.store import plans
from foreword.store.plans import Plan as Plan


@dataclass(frozen=True, slots=True)
class Progress:
    """How many tasks of a plan are completed, of how many."""

    completed: int
    total: int


def newest_version(state: WorkflowState) -> int:
    """The number of the newest version; 0 where there is no plan."""
    return plans.newest_version(state.db, state.workflow.id)


def versions_before(state: WorkflowState, before: int, limit: int) -> list[Plan]:
    """So many versions in front of one, the newest first."""
    first = min(before - 1, newest_version(state))
    last = max(0, first - limit)
    return [state.plan_version(number) for number in range(first, last, -1)]


def set_task_status(
    state: WorkflowState, *, task: str, status: str, reason: str, version: int
) -> Plan:
    """A new version with a task in another status; `PlanConflict` where the newest is not the
    version that the caller has read."""
    newest = newest_version(state)
    if version != newest:
        raise PlanConflict(version, newest, None)
    data = planning.with_status(state.plan_version(newest).data, task, status)
    return state.update_plan(data, reason, newest)


def progress(plan: Mapping[str, Any]) -> Progress:
    """How far a plan is."""
    statuses = [task["status"] for _, task in planning.tasks(plan)]
    return Progress(statuses.count("completed"), len(statuses))
