"""A workflow's plan in its versions: the newest, a new one, a page of them, what changed.

What a plan is, and what may be in one, is said by `plan.plan_shape`; what a plan means, by
`plan.plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from foreword.errors import PlanConflict
from foreword.operations.fitted_values import FittedText, WholeValue, fit_value
from foreword.operations.operation import (
    DescribedBy,
    Operation,
    OperationInput,
    Reason,
    Tokens,
    Version,
    example,
)
from foreword.operations.paging import Page, PageInput
from foreword.plan import plan as planning
from foreword.plan.plan_shape import PlanShape
from foreword.recipe.budget import whole_number
from foreword.session.workflow_state import WorkflowState
from foreword.store import plans
from foreword.store.database import LARGEST_NUMBER
from foreword.store.plans import Plan as Plan

PlanData = Annotated[dict[str, Any], DescribedBy(PlanShape)]
FIRST_PLAN = {
    "overall_goal": "Fire the kiln",
    "phases": [
        {
            "phase_name": "Glaze",
            "status": "pending",
            "tasks": [{"task_id": 1, "description": "Mix the glaze", "status": "pending"}],
        }
    ],
}


class PlanUpdate(OperationInput):
    """A new version of the plan."""

    model_config = example({"plan": FIRST_PLAN, "reason": "the first plan"})

    plan: PlanData
    reason: Reason
    expected_version: Version | None = Field(
        None, description="The newest version, if it must be that; 0 where there is none yet."
    )


class PlanBudget(OperationInput):
    """How large the answer may be."""

    budget: Tokens | None = Field(
        None, description="The most tokens; without it, the plan is whole."
    )


class PlanNumber(OperationInput):
    """Which version."""

    version: Version


class PlanPair(OperationInput):
    """Two versions."""

    old: int = Field(ge=1, le=LARGEST_NUMBER)
    new: int = Field(ge=1, le=LARGEST_NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlanVersion:
    """A version that was made."""

    version: int
    warnings: Annotated[list[str], Field(description="What is odd about it and still allowed.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPlan:
    """The plan as it is now."""

    version: Annotated[int, Field(description="0 where there is none yet.")]
    plan: PlanData | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPlan(FittedText):
    """What fits of a plan that is over the budget."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One version in the list."""

    version: int
    reason: str
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanVersion(PlanEntry):
    """One version."""

    plan: PlanData


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChanges:
    """What changed, a line for each; secrets are hidden."""

    lines: list[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """How many tasks of a plan are completed, of how many."""

    completed: int
    total: int


def update_plan(state: WorkflowState, given: PlanUpdate) -> NewPlanVersion:
    """Replace the plan by a new version, with expected_version only if the newest is that one.
    Earlier versions and fields of your own are kept."""
    stored = state.update_plan(given.plan, given.reason, given.expected_version)
    return NewPlanVersion(version=stored.version, warnings=list(planning.warnings(stored.data)))


def get_current_plan(state: WorkflowState, given: PlanBudget) -> CurrentPlan | FittedPlan:
    """Show the newest plan, or null. One larger than budget tokens comes shortened, with a handle
    for recall."""
    plan = state.get_current_plan()
    version = int(plan["plan_version"]) if plan else 0
    fitted = fit_value(state.db, "plan", plan, whole_number(given.budget, "budget"))
    if isinstance(fitted, WholeValue):
        return CurrentPlan(version=version, plan=fitted.value)
    return FittedPlan(
        version=version,
        text=fitted.text,
        handle=fitted.handle,
        whole_tokens=fitted.whole_tokens,
        warnings=fitted.warnings,
    )


def list_plan_versions(state: WorkflowState, given: PageInput) -> Page[PlanEntry]:
    """List the versions of the plan, the newest first."""
    versions = versions_before(state, given.before, given.limit)
    is_last = not versions or versions[-1].version == 1
    items = [_plan_entry(plan) for plan in versions]
    return Page(items=items, next=None if is_last else versions[-1].version)


def _plan_entry(plan: Plan) -> PlanEntry:
    return PlanEntry(version=plan.version, reason=plan.reason, created=plan.created)


def get_plan_version(state: WorkflowState, given: PlanNumber) -> PlanVersion:
    """Show one version of the plan."""
    found = state.plan_version(given.version)
    return PlanVersion(
        version=found.version, reason=found.reason, created=found.created, plan=found.data
    )


def diff_plan(state: WorkflowState, given: PlanPair) -> PlanChanges:
    """Say what changed from one version of the plan to another."""
    return PlanChanges(lines=state.plan_diff(given.old, given.new))


UPDATE_PLAN = Operation(run=update_plan, scope="workflow", access="adds", makes_workflow=True)
GET_CURRENT_PLAN = Operation(run=get_current_plan, scope="workflow")
LIST_PLAN_VERSIONS = Operation(run=list_plan_versions, scope="workflow")
GET_PLAN_VERSION = Operation(run=get_plan_version, scope="workflow")
DIFF_PLAN = Operation(run=diff_plan, scope="workflow")


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
    """A new version with a task in another status, or the newest where it has that status already;
    `PlanConflict` where the newest is not the version that the caller has read."""
    newest = newest_version(state)
    if version != newest:
        raise PlanConflict(version, newest, None)
    current = state.plan_version(newest)
    data = planning.with_status(current.data, task, status)
    if data == current.data:
        return current
    return state.update_plan(data, reason, newest)


def progress(plan: Mapping[str, Any]) -> Progress:
    """How far a plan is."""
    statuses = [task["status"] for _, task in planning.tasks(plan)]
    return Progress(statuses.count("completed"), len(statuses))
