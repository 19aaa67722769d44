"""Checkpoints: where tasks stood at the end of their phases, and what has changed since."""

from __future__ import annotations

from starlette.responses import Response

from foreword.errors import UnknownName
from foreword.faces.web import header
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.work.checkpoint import as_text
from foreword.work.task_checkpoints import CheckpointEntry, checkpoint_entries, read


def show(request: ViewRequest) -> Response:
    """The checkpoints of one session."""
    with request.state() as state:
        entries = _entries_of_task(request, state.workflow.name)
        return page(
            "checkpoints.html",
            **header.of(state, "checkpoints"),
            entries=entries,
            is_session=True,
            title=f"Checkpoints · {state.workflow.name}",
        )


def show_all(request: ViewRequest) -> Response:
    """The checkpoints of every task."""
    entries = checkpoint_entries(request.app_state.root())
    return page(
        "checkpoints.html",
        title="Checkpoints",
        entries=list(reversed(entries)),
        is_session=False,
        tabs=[],
    )


def show_one(request: ViewRequest) -> Response:
    """One checkpoint as it was written, and what has changed since."""
    task = request.name("task")
    phase = request.name("phase")
    with request.app_state.store() as db:
        restored = read(request.app_state.root(), db, task=task, phase=phase)
    return page(
        "checkpoint.html",
        title=f"Checkpoint {restored.checkpoint.name}",
        checkpoint=restored.checkpoint,
        changes=restored.changes,
        text=as_text(restored.checkpoint),
    )


def _entries_of_task(request: ViewRequest, task: str) -> list[CheckpointEntry]:
    try:
        return list(reversed(checkpoint_entries(request.app_state.root(), task)))
    except UnknownName:  # a session need not have any
        return []
