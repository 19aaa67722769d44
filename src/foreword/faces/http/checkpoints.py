"""Checkpoints of tasks: list them, show one, what a model needs to go on from it, write one."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from foreword.faces.http.contexts import LONGEST
from foreword.faces.http.endpoint import ApiRequest, Endpoint
from foreword.faces.http.request_parsing import RequestInput, example
from foreword.operations import operations


class Where(RequestInput):
    """Which project."""

    root: str | None = Field(
        None, max_length=LONGEST, description="One of the projects that the server was given."
    )


class OfTask(Where):
    """Which checkpoints."""

    task: str | None = Field(
        None, min_length=1, max_length=LONGEST, description="Only those of this task."
    )


class OfPhase(Where):
    """Which checkpoint of the task."""

    phase: str | None = Field(
        None, min_length=1, max_length=LONGEST, description="Of this phase; else the newest."
    )


class Stand(RequestInput):
    """Where a task stands."""

    model_config = example(
        {"data": {"objective": "Fire the kiln", "done": ["glaze"], "pending": ["fire"]}}
    )

    data: dict[str, Any] = Field(
        description=(
            "objective, state, decisions, findings, artifacts, done, pending; other fields are"
            " kept."
        )
    )


class CheckpointLine(BaseModel):
    """One checkpoint in the list."""

    task: str
    phase: str
    number: int
    problem: str = Field(description="Why it can't be used, where it can't.")
    written_at: str


class Checkpoints(BaseModel):
    """Checkpoints, the newest of each task last."""

    checkpoints: list[CheckpointLine]
    warnings: list[str]


class CheckpointText(BaseModel):
    """A checkpoint as text and as data."""

    text: str
    checkpoint: dict[str, Any]


class ResumeAnswer(CheckpointText):
    """What a model needs to go on."""

    warnings: list[str] = Field(description="What has changed since.")
    source: str


class CheckpointPlace(BaseModel):
    """Where a checkpoint was written to, inside the root."""

    written: str


def list_checkpoints(request: ApiRequest[OfTask, None]) -> dict[str, Any]:
    """List the checkpoints of a task or of all."""
    with request.app_state.store() as db:
        root = request.app_state.root(request.query.root)
        return operations.list_checkpoints(db, root, request.query.task)


def show_checkpoint(request: ApiRequest[OfPhase, None]) -> dict[str, Any]:
    """Show a checkpoint as it was written."""
    with request.app_state.store() as db:
        root = request.app_state.root(request.query.root)
        return operations.show_checkpoint(
            db, root, task=request.path["task"], phase=request.query.phase
        )


def resume(request: ApiRequest[OfPhase, None]) -> dict[str, Any]:
    """Give what a model needs to go on with a task, and what has changed since."""
    with request.app_state.store() as db:
        root = request.app_state.root(request.query.root)
        return operations.resume_checkpoint(
            db, root, task=request.path["task"], phase=request.query.phase
        )


def write_checkpoint(request: ApiRequest[Where, Stand]) -> dict[str, Any]:
    """Keep where a task stands, in place of what was kept for that phase."""
    with request.app_state.store() as db:
        root = request.app_state.root(request.query.root)
        return operations.write_checkpoint(
            db,
            root,
            task=request.path["task"],
            phase=request.path["phase"],
            data=request.body.data,
        )


TASK = "/v1/checkpoints/{task}"
ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/checkpoints",
        run=list_checkpoints,
        answer=Checkpoints,
        query=OfTask,
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path=TASK,
        run=show_checkpoint,
        answer=CheckpointText,
        query=OfPhase,
        problems=(409,),
    ),
    Endpoint(
        method="GET",
        path=f"{TASK}/resume",
        run=resume,
        answer=ResumeAnswer,
        query=OfPhase,
        problems=(409,),
    ),
    Endpoint(
        method="PUT",
        path=f"{TASK}/phases/{{phase}}",
        run=write_checkpoint,
        answer=CheckpointPlace,
        query=Where,
        body=Stand,
        problems=(422,),
    ),
)
