"""A workflow's variables: the list hides secrets, only one value by its name is given whole; every
change is in the trail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from foreword.operations.fitted_values import FittedText, WholeValue, fit_value
from foreword.operations.operation import (
    Name,
    NoInput,
    Operation,
    OperationInput,
    Reason,
    Tokens,
    example,
)
from foreword.operations.paging import MOST_LISTED, Listing
from foreword.plan.variable_text import display
from foreword.recipe.budget import whole_number
from foreword.session.workflow_state import WorkflowState
from foreword.store.variables import VariableChange


class VariableChoice(OperationInput):
    """Which variables, and how large the answer may be."""

    name: Name | None = Field(None, description='The variable, or "all".')
    node: Name | int | None = Field(None, description="A node: all its variables.")
    budget: Tokens | None = Field(
        None, description="The most tokens; without it, the value is whole."
    )


class VariableSetting(OperationInput):
    """A value, and why."""

    model_config = example({"name": "cone", "value": "cone 6", "reason": "the clay wants it"})

    name: Name
    value: Any = Field(description="Anything that JSON can hold.")
    reason: Reason


class VariableRemoval(OperationInput):
    """Which variable is removed, and why."""

    name: Name
    reason: Reason


class RemovalReason(OperationInput):
    """Why something is removed."""

    reason: Reason


class TrailLength(OperationInput):
    """How much of the trail."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many changes, the newest first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayedVariable:
    """A variable as calls show it."""

    name: str
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedVariables:
    """The names of variables that were removed."""

    cleared: list[str]


def list_variables(state: WorkflowState, given: NoInput) -> Listing[DisplayedVariable]:
    """List the variables as a context shows them: secrets are hidden, long values shortened."""
    variables = state.get_workflow_variables()
    return Listing(items=[_displayed_variable(name, value) for name, value in variables.items()])


def _displayed_variable(name: str, value: object) -> DisplayedVariable:
    return DisplayedVariable(name=name, shown=display(name, value))


def get_workflow_variable(state: WorkflowState, given: VariableChoice) -> WholeValue | FittedText:
    """Give the whole value of a variable; of all of a node (node: "7"); or of every one (name:
    "all"). One larger than budget tokens comes shortened, with a handle for recall."""
    value = state.get_workflow_variable(given.name, node=given.node)
    budget = whole_number(given.budget, "budget")
    return fit_value(state.db, given.name or f"node {given.node}", value, budget)


def set_variable(state: WorkflowState, given: VariableSetting) -> DisplayedVariable:
    """Set a variable; the reason goes into the trail. Contexts show long values by their
    beginning, secrets never."""
    state.set_variable(given.name, given.value, given.reason)
    return _displayed_variable(given.name, given.value)


def clear_variable(state: WorkflowState, given: VariableRemoval) -> ClearedVariables:
    """Remove a variable, and write down why."""
    state.clear_variable(given.name, given.reason)
    return ClearedVariables(cleared=[given.name])


def clear_all_variables(state: WorkflowState, given: RemovalReason) -> ClearedVariables:
    """Remove every variable of the workflow, and write down why."""
    return ClearedVariables(cleared=state.clear_all_variables(given.reason))


def list_variable_changes(state: WorkflowState, given: TrailLength) -> Listing[VariableChange]:
    """List the changes of variables, the newest first; secrets are hidden."""
    return Listing(items=state.variable_changes(given.limit))


LIST_VARIABLES = Operation(run=list_variables, scope="workflow")
GET_WORKFLOW_VARIABLE = Operation(run=get_workflow_variable, scope="workflow")
SET_VARIABLE = Operation(run=set_variable, scope="workflow", access="replaces", makes_workflow=True)
CLEAR_VARIABLE = Operation(run=clear_variable, scope="workflow", access="replaces")
CLEAR_ALL_VARIABLES = Operation(run=clear_all_variables, scope="workflow", access="replaces")
LIST_VARIABLE_CHANGES = Operation(run=list_variable_changes, scope="workflow")
