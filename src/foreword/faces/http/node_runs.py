"""The nodes of a workflow in words, with what each gave last, and the runs of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from foreword.errors import UnknownName
from foreword.faces.http.endpoint import Ask, Endpoint, Nothing, Page
from foreword.faces.http.sessions import ONE
from foreword.plan.node_sentences import sentence
from foreword.plan.node_tree import Tree
from foreword.secrets.known_values import KnownValues
from foreword.store import node_results, node_runs, workflows
from foreword.store.node_results import Result
from foreword.store.node_runs import Run


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


def list_nodes(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """List the nodes of a workflow from top to bottom: what each does, how it stands, what it
    gave last."""
    with ask.serving.state(ask.path["workflow"]) as state:
        tree = Tree(workflows.nodes(state.db, state.workflow.id))
        newest = node_results.newest(state.db, state.workflow.id)
        secrets = state.secrets()
    return {"items": [_node(tree, one, newest.get(str(one["id"])), secrets) for one in tree.read()]}


def _node(
    tree: Tree, node: dict[str, Any], last: Result | None, secrets: KnownValues
) -> dict[str, Any]:
    name = str(node["id"])
    return {
        "id": name,
        "type": str(node["type"]),
        "does": secrets.text(sentence(node)),
        "description": secrets.text(str(node.get("description") or "")),
        "status": str(node.get("status") or ""),
        "inside": [str(one["id"]) for one in tree.around(name)],
        "branch": str(node.get("branch") or ""),
        "last": last and _result(last, secrets),
    }


def _result(one: Result, secrets: KnownValues) -> dict[str, Any]:
    told = secrets.value(one.told)
    return {
        "run": one.run,
        "key": one.key,
        "status": one.status,
        "created": one.created,
        "told": told,
    }


def list_runs(ask: Ask[Page, None]) -> dict[str, Any]:
    """List the runs of a workflow's nodes, the newest first."""
    begin = ask.query.cursor or 0
    with ask.serving.state(ask.path["workflow"]) as state:
        every = node_runs.runs_of(state.db, state.workflow.id)
    page = every[begin : begin + ask.query.limit]
    end = begin + len(page)
    return {"items": [_run(one) for one in page], "next": end if end < len(every) else None}


def show_run(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """Show one run, with everything its nodes gave, in order."""
    with ask.serving.state(ask.path["workflow"]) as state:
        found = node_runs.find(state.db, state.workflow.id, ask.path["run"])
        if found is None:
            known = [one.run for one in node_runs.runs_of(state.db, state.workflow.id)]
            raise UnknownName("run", ask.path["run"][:80], known)
        results = node_results.of_run(state.db, state.workflow.id, found.run)
        secrets = state.secrets()
    return {**_run(found), "results": [_result(one, secrets) for one in results.values()]}


def _run(one: Run) -> dict[str, Any]:
    return {
        "run": one.run,
        "attempt": one.attempt,
        "status": one.status,
        "stopped_at": one.failed_at,
        "started": one.started,
        "updated": one.updated,
    }


ENDPOINTS = (
    Endpoint(method="GET", path=f"{ONE}/nodes", run=list_nodes, answer=Nodes),
    Endpoint(method="GET", path=f"{ONE}/runs", run=list_runs, answer=Runs, query=Page),
    Endpoint(method="GET", path=f"{ONE}/runs/{{run}}", run=show_run, answer=RunState),
)
