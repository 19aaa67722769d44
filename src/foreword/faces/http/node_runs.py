"""The nodes of a workflow in words, with what each gave last, and the runs of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from foreword.faces.http.endpoint import ApiRequest, Endpoint, Nothing, Page
from foreword.faces.http.sessions import ONE
from foreword.operations import nodes
from foreword.operations.nodes import NodeEntry, Result, Run


class LastResult(BaseModel):
    """What a node gave last."""

    run: str = Field(description="The run it was in; `test` for a single test.")
    key: str = Field(description="Which turn of the node, as in `node5[2]/node6`.")
    status: str
    created: str
    told: dict[str, Any] = Field(
        description="`result`, `variables`, `error`, `page`, `seconds`: whatever there is."
    )


class NodeLine(BaseModel):
    """One node."""

    id: str
    type: str
    does: str = Field(description="What it does, in words.")
    description: str
    status: str = Field(description="Blank, `running`, `success` or `failed`.")
    inside: list[str] = Field(
        description="The loops and conditions around it, the outermost first."
    )
    branch: str
    last: LastResult | None


class Nodes(BaseModel):
    """Every node, from top to bottom."""

    items: list[NodeLine]


class RunLine(BaseModel):
    """One run."""

    run: str
    attempt: int
    status: str = Field(description="`running`, `success`, `failed` or `stopped`.")
    stopped_at: str = Field(description="The turn of the node at which it stopped, or blank.")
    started: str
    updated: str


class Runs(BaseModel):
    """A page of runs, the newest first."""

    items: list[RunLine]
    next: int | None = Field(description="The cursor of the next page.")


class RunState(RunLine):
    """One run with everything its nodes gave."""

    results: list[LastResult]


def list_nodes(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """List the nodes of a workflow from top to bottom: what each does, how it stands, what it
    gave last."""
    with request.app_state.state(request.path["workflow"]) as state:
        entries = nodes.node_entries(state)
    return {"items": [_node(entry) for entry in entries]}


def _node(entry: NodeEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "type": entry.type,
        "does": entry.does,
        "description": entry.description,
        "status": entry.status,
        "inside": list(entry.around),
        "branch": entry.branch,
        "last": _result(entry.last) if entry.last else None,
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "run": result.run,
        "key": result.key,
        "status": result.status,
        "created": result.created,
        "told": result.output,
    }


def list_runs(request: ApiRequest[Page, None]) -> dict[str, Any]:
    """List the runs of a workflow's nodes, the newest first."""
    begin = request.query.cursor or 0
    with request.app_state.state(request.path["workflow"]) as state:
        every = nodes.runs(state)
    page = every[begin : begin + request.query.limit]
    end = begin + len(page)
    return {"items": [_run(run) for run in page], "next": end if end < len(every) else None}


def show_run(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Show one run, with everything its nodes gave, in order."""
    with request.app_state.state(request.path["workflow"]) as state:
        run = nodes.existing_run(state, request.path["run"])
        results = nodes.results_of(state, run)
    return {**_run(run), "results": [_result(result) for result in results]}


def _run(run: Run) -> dict[str, Any]:
    return {
        "run": run.run,
        "attempt": run.attempt,
        "status": run.status,
        "stopped_at": run.failed_at,
        "started": run.started,
        "updated": run.updated,
    }


ENDPOINTS = (
    Endpoint(method="GET", path=f"{ONE}/nodes", run=list_nodes, answer=Nodes),
    Endpoint(method="GET", path=f"{ONE}/runs", run=list_runs, answer=Runs, query=Page),
    Endpoint(method="GET", path=f"{ONE}/runs/{{run}}", run=show_run, answer=RunState),
)
