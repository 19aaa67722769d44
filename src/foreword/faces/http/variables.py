"""Variables: the list hides secrets, only the address of one value gives it whole; every change
is in the trail."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from foreword.faces.http.contexts import Fit
from foreword.faces.http.endpoint import MOST_LISTED, ApiRequest, Endpoint, Nothing
from foreword.faces.http.request_parsing import RequestInput, example
from foreword.faces.http.sessions import ONE
from foreword.operations import operations
from foreword.plan.variables import display

LONGEST_REASON = 10_000  # characters: a reason is read by people, in a list


class VariableBody(RequestInput):
    """A value, and why."""

    model_config = example({"value": "cone 6", "reason": "the clay wants it"})

    value: Any = Field(description="Anything that JSON can hold.")
    reason: str = Field(
        max_length=LONGEST_REASON, description="Why it is set; secrets in it are hidden."
    )


class VariableQuery(RequestInput):
    """Why something is removed."""

    reason: str = Field(
        max_length=LONGEST_REASON, description="Why it is removed; secrets in it are hidden."
    )


class Trail(RequestInput):
    """How much of the trail."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many changes, the newest first.")


class VariableLine(BaseModel):
    """One variable as a context shows it."""

    name: str
    shown: str


class Variables(BaseModel):
    """Every variable, secrets hidden."""

    items: list[VariableLine]


class Value(BaseModel):
    """A whole value; one that is over the budget is a text that fits, with a handle."""

    value: Any = None
    text: str | None = None
    handle: str | None = None
    whole_tokens: int | None = None
    warnings: list[str] | None = None


class VariableAnswer(BaseModel):
    """A variable that was set, as calls show it from now on."""

    name: str
    shown: str


class VariableClearAnswer(BaseModel):
    """The names of variables that were removed."""

    cleared: list[str]


class ChangeLine(BaseModel):
    """One change; values are as a context shows them."""

    name: str
    action: str
    before: str
    after: str
    reason: str
    created: str


class Changes(BaseModel):
    """The trail, the newest first."""

    items: list[ChangeLine]


def list_variables(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """List the variables as a context shows them: secrets are hidden, long values shortened."""
    with request.app_state.state(request.path["workflow"]) as state:
        variables = state.variables
    items = [{"name": name, "shown": display(name, value)} for name, value in variables.items()]
    return {"items": items}


def get_variable(request: ApiRequest[Fit, None]) -> dict[str, Any]:
    """Give the whole value of one variable, secret or not."""
    with request.app_state.state(request.path["workflow"]) as state:
        return operations.get_workflow_variable(
            state, name=request.path["name"], budget=request.query.budget
        )


def of_node(request: ApiRequest[Fit, None]) -> dict[str, Any]:
    """Give the whole values of the variables that belong to a node."""
    with request.app_state.state(request.path["workflow"]) as state:
        return operations.get_workflow_variable(
            state, node=request.path["node"], budget=request.query.budget
        )


def set_variable(request: ApiRequest[Nothing, VariableBody]) -> dict[str, Any]:
    """Set a variable, and write down why; a workflow that is not there yet is made."""
    with request.app_state.session(request.path["workflow"], create=True) as session:
        return operations.set_variable(
            session,
            name=request.path["name"],
            value=request.body.value,
            reason=request.body.reason,
        )


def clear_variable(request: ApiRequest[VariableQuery, None]) -> dict[str, Any]:
    """Remove a variable, and write down why."""
    with request.app_state.session(request.path["workflow"]) as session:
        return operations.clear_variable(
            session, name=request.path["name"], reason=request.query.reason
        )


def clear_all(request: ApiRequest[VariableQuery, None]) -> dict[str, Any]:
    """Remove every variable, and write down why."""
    with request.app_state.session(request.path["workflow"]) as session:
        return operations.clear_all_variables(session, request.query.reason)


def changes(request: ApiRequest[Trail, None]) -> dict[str, Any]:
    """List the changes of variables, the newest first; secrets are hidden."""
    with request.app_state.state(request.path["workflow"]) as state:
        trail = state.variable_changes(request.query.limit)
    return {"items": [asdict(change) for change in trail]}


ENDPOINTS = (
    Endpoint(method="GET", path=f"{ONE}/variables", run=list_variables, answer=Variables),
    Endpoint(
        method="DELETE",
        path=f"{ONE}/variables",
        run=clear_all,
        answer=VariableClearAnswer,
        query=VariableQuery,
    ),
    Endpoint(
        method="GET", path=f"{ONE}/variables/{{name}}", run=get_variable, answer=Value, query=Fit
    ),
    Endpoint(
        method="PUT",
        path=f"{ONE}/variables/{{name}}",
        run=set_variable,
        answer=VariableAnswer,
        body=VariableBody,
    ),
    Endpoint(
        method="DELETE",
        path=f"{ONE}/variables/{{name}}",
        run=clear_variable,
        answer=VariableClearAnswer,
        query=VariableQuery,
    ),
    Endpoint(
        method="GET", path=f"{ONE}/variable-changes", run=changes, answer=Changes, query=Trail
    ),
    Endpoint(
        method="GET", path=f"{ONE}/nodes/{{node}}/variables", run=of_node, answer=Value, query=Fit
    ),
)
