"""A workflow as a list to read: what each node does, how it stands, what it gave last; test,
run, and run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from foreword.director import runner
from foreword.faces.web import header
from foreword.faces.web.chat import director_status
from foreword.faces.web.rendering import page
from foreword.faces.web.transcript import pretty
from foreword.faces.web.view_request import ViewRequest
from foreword.plan.node import BRANCHES
from foreword.plan.node_sentences import sentence
from foreword.plan.node_tree import Tree
from foreword.secrets.known_values import KnownValues
from foreword.store import node_results, node_runs, workflows
from foreword.store.node_results import Result
from foreword.store.node_runs import Run

STATUSES = {
    "": "Not run yet",
    "running": "Running",
    "success": "Worked",
    "failed": "Failed",
    "stopped": "Stopped",
}
TONES = {
    "running": "state-warned",
    "success": "state-ok",
    "failed": "state-bad",
    "stopped": "state-warned",
}
MOST_RUNS = 8
DEEPEST = 6  # levels that are indented


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """One node in the list."""

    id: str
    does: str
    description: str
    kind: str
    status: str
    depth: int
    is_otherwise: bool  # the first node of a condition's other way
    config: str
    last: NodeOutput | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutput:
    """What a node gave last."""

    run: str
    key: str
    status: str
    created: str
    seconds: float | None
    error: str
    hint: str
    variables: dict[str, str]
    rest: str


def show(asked: ViewRequest) -> Response:
    """Every node from top to bottom, the runs, and the tabs of the browser."""
    stands = director_status(asked)  # first: what is over has written all it has to write
    with asked.state() as state:
        tree = Tree(workflows.nodes(state.db, state.workflow.id))
        newest = node_results.newest(state.db, state.workflow.id)
        secrets = state.secrets()
        open_run = runner.unfinished_run(state)
        runs = node_runs.runs_of(state.db, state.workflow.id)[:MOST_RUNS]
        return page(
            "workflow.html",
            **header.of(state, "workflow"),
            **stands,
            blocked=asked.serving.desks.blocked(state),
            title=f"Workflow · {state.workflow.name}",
            rows=list(_rows(tree, newest, secrets)),
            runs=runs,
            open_run=open_run,
            stopped_at=_stopped_at(runs, open_run),
            statuses=STATUSES,
            tones=TONES,
        )


def _stopped_at(runs: list[Run], open_run: str | None) -> str:
    """The node at which the run stopped that can go on."""
    return next(
        (one.failed_at.rpartition("/")[2].partition("[")[0] for one in runs if one.run == open_run),
        "",
    )


def _rows(tree: Tree, newest: dict[str, Result], secrets: KnownValues) -> Iterator[NodeRow]:
    for node in tree.read():
        name = str(node["id"])
        around = tree.around(name)
        last = newest.get(name)
        yield NodeRow(
            id=name,
            does=secrets.text(sentence(node)),
            description=secrets.text(str(node.get("description") or "")),
            kind=str(node["type"]),
            status=str(node.get("status") or ""),
            depth=min(len(around), DEEPEST),
            is_otherwise=bool(around) and _is_otherwise(tree, name, str(around[-1]["id"])),
            config=pretty(secrets.value(node.get("config") or {})),
            last=_last(last, secrets) if last else None,
        )


def _is_otherwise(tree: Tree, name: str, parent: str) -> bool:
    if BRANCHES[1] not in tree.branches(parent):
        return False
    first = next(iter(tree.children(parent, BRANCHES[1])), None)
    return first is not None and str(first["id"]) == name


def _last(result: Result, secrets: KnownValues) -> NodeOutput:
    told: Any = secrets.value(result.told)
    rest = {key: value for key, value in told.items() if key in ("result", "page")}
    return NodeOutput(
        run=result.run,
        key=result.key,
        status=result.status,
        created=result.created,
        seconds=told.get("seconds"),
        error=str(told.get("error") or ""),
        hint=str(told.get("hint") or ""),
        variables={str(k): str(v) for k, v in (told.get("variables") or {}).items()},
        rest=pretty(rest) if rest else "",
    )
