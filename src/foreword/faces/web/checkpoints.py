"""Checkpoints: where tasks stood at the end of their phases, and what has changed since."""

from __future__ import annotations

from starlette.responses import Response

from foreword.errors import UnknownName
from foreword.faces.web import header
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.store.database import Database
from foreword.work.checkpoint import as_text
from foreword.work.checkpoints import CheckpointEntry, checkpoint_entries, read


def show(asked: ViewRequest) -> Response:
    """The checkpoints of one session."""
    with asked.state() as state:
        found = _of_task(asked, state.db, state.workflow.name)
        return page(
            "checkpoints.html",
            **header.of(state, "checkpoints"),
            found=found,
            is_session=True,
            title=f"Checkpoints · {state.workflow.name}",
        )


def show_all(asked: ViewRequest) -> Response:
    """The checkpoints of every task."""
    with asked.serving.store() as db:
        found = checkpoint_entries(asked.serving.root(), db)
    return page(
        "checkpoints.html",
        title="Checkpoints",
        found=list(reversed(found)),
        is_session=False,
        tabs=[],
    )


def show_one(asked: ViewRequest) -> Response:
    """One checkpoint as it was written, and what has changed since."""
    task, phase = asked.name("task"), asked.name("phase")
    with asked.serving.store() as db:
        restored = read(asked.serving.root(), db, task, phase)
    return page(
        "checkpoint.html",
        title=f"Checkpoint {restored.checkpoint.name}",
        kept=restored.checkpoint,
        changes=restored.changes,
        source=restored.source,
        text=as_text(restored.checkpoint),
    )


def _of_task(asked: ViewRequest, db: Database, task: str) -> list[CheckpointEntry]:
    try:
        return list(reversed(checkpoint_entries(asked.serving.root(), db, task)))
    except UnknownName:  # a session need not have any
        return []
