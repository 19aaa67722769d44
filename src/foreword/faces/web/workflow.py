"""A workflow as a list to read: what each node does, how it stands, what it gave last; test,
run, and run on."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from foreword.director import runner
from foreword.faces.web import header
from foreword.faces.web.chat import director_status
from foreword.faces.web.rendering import page
from foreword.faces.web.transcript import pretty
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import nodes
from foreword.operations.nodes import NodeEntry, NodeRun, Result

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
MOST_RUNS = 8  # beside the nodes: those that anybody still asks about
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


def show(request: ViewRequest) -> Response:
    """Every node from top to bottom, the runs, and the tabs of the browser."""
    status = director_status(request)  # first: what is over has written all it has to write
    with request.state() as state:
        entries = nodes.node_entries(state)
        open_run = runner.unfinished_run(state)
        runs = nodes.runs(state)[:MOST_RUNS]
        unclear = runner.unclear_step_of(state, open_run) if open_run else None
        return page(
            "workflow.html",
            **header.of(state, "workflow"),
            **status,
            blocked=request.app_state.directors.blocked(state),
            title=f"Workflow · {state.workflow.name}",
            rows=[_row(entry) for entry in entries],
            runs=runs,
            open_run=open_run,
            unclear=unclear,
            stopped_at=unclear.node if unclear else _stopped_at(runs, open_run),
            statuses=STATUSES,
            tones=TONES,
        )


def _stopped_at(runs: list[NodeRun], open_run: str | None) -> str:
    """The node at which the run stopped that can go on."""
    for run in runs:
        if run.run == open_run:
            innermost = run.failed_at.rpartition("/")[2]
            return innermost.partition("[")[0]
    return ""


def _row(entry: NodeEntry) -> NodeRow:
    return NodeRow(
        id=entry.id,
        does=entry.does,
        description=entry.description,
        kind=entry.type,
        status=entry.status,
        depth=min(len(entry.around), DEEPEST),
        is_otherwise=entry.begins_else,
        config=pretty(entry.config),
        last=_output(entry.last) if entry.last else None,
    )


def _output(result: Result) -> NodeOutput:
    output = result.output
    rest = {key: value for key, value in output.items() if key in ("result", "page")}
    variables = output.get("variables") or {}
    return NodeOutput(
        run=result.run,
        key=result.key,
        status=result.status,
        created=result.created,
        seconds=output.get("seconds"),
        error=str(output.get("error") or ""),
        hint=str(output.get("hint") or ""),
        variables={str(name): str(value) for name, value in variables.items()},
        rest=pretty(rest) if rest else "",
    )
