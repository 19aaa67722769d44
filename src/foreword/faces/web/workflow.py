"""A workflow as a list to read: what each node does, how it stands, what it gave last; made,
changed, moved, tested, run, and run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import FileResponse, Response

from foreword.director import runner
from foreword.director.run_files import files_of
from foreword.faces.web import header, node_editing, node_form
from foreword.faces.web.chat import director_status
from foreword.faces.web.node_editing import NodeEdit
from foreword.faces.web.rendering import page
from foreword.faces.web.transcript import pretty
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import node_operations
from foreword.operations.node_operations import NodeEntry, NodeRun, Result
from foreword.plan.node import TYPES

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
    parent: str
    branch: str
    is_editable: bool
    is_first: bool  # of those that stand in one place
    is_last: bool
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
    file: str = ""  # that was kept


def show(request: ViewRequest) -> Response:
    """Every node from top to bottom, the runs, and the tabs of the browser; with `edit` or `add`,
    the form of a node."""
    return _page(request, None)


def picture(request: ViewRequest) -> Response:
    """What the browser shows now; nothing where there is none."""
    found = request.app_state.directors.picture(request.workflow)
    headers = {"cache-control": "no-store"}
    if found is None:
        return Response(status_code=204, headers=headers)
    return Response(found, headers=headers, media_type="image/jpeg")


def file(request: ViewRequest) -> Response:
    """A file that a node has kept: a picture is shown, all else is for saving."""
    with request.state() as state:
        files = files_of(state, root=request.app_state.settings.root)
    path = files.find_file(request.text("path"))
    is_picture = path.suffix == ".png"
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    if not is_picture:
        headers["content-disposition"] = f"attachment; filename*=UTF-8''{quote(path.name)}"
    media_type = "image/png" if is_picture else "application/octet-stream"
    return FileResponse(path, headers=headers, media_type=media_type)


def save(request: ViewRequest) -> Response:
    """Make or change a node; the form again, with what is wrong, where that can't be."""
    made = node_editing.save(request)
    return _page(request, made, http_status=400) if isinstance(made, NodeEdit) else made


def _page(request: ViewRequest, edit: NodeEdit | None, http_status: int = 200) -> Response:
    status = director_status(request)  # first: what is over has written all it has to write
    with request.state() as state:
        entries = node_operations.node_entries(state)
        edit = edit or node_editing.edit_of(request, entries)
        open_run = runner.unfinished_run(state)
        runs = node_operations.runs(state)[:MOST_RUNS]
        unclear = runner.unclear_step_of(state, open_run) if open_run else None
        return page(
            "workflow.html",
            http_status,
            **header.of(state, "workflow"),
            **status,
            blocked=request.app_state.directors.blocked_lines(state),
            title=f"Workflow · {state.workflow.name}",
            rows=_rows(entries),
            edit=edit,
            prefix=node_form.PREFIX,
            node_kinds=node_form.kinds(),
            saved=request.text("saved"),
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


def _rows(entries: Sequence[NodeEntry]) -> list[NodeRow]:
    places = [(entry.around[-1] if entry.around else "", entry.branch) for entry in entries]
    rows = list[NodeRow]()
    for number, entry in enumerate(entries):  # a hundred at most, so that looking twice is cheap
        place = places[number]
        is_first = place not in places[:number]
        is_last = place not in places[number + 1 :]
        rows.append(_row(entry, is_first=is_first, is_last=is_last))
    return rows


def _row(entry: NodeEntry, *, is_first: bool, is_last: bool) -> NodeRow:
    return NodeRow(
        parent=entry.around[-1] if entry.around else "",
        branch=entry.branch,
        is_editable=entry.type in TYPES,
        is_first=is_first,
        is_last=is_last,
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
    result_fields = output.get("result")
    given = result_fields if isinstance(result_fields, dict) else {}
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
        file=str(given.get("path") or ""),
    )
