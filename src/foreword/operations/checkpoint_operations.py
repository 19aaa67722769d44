"""Checkpoints of tasks: list them, show one, what a model needs to go on from it, write one.

Reading and comparing them is `work.task_checkpoints`' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from foreword.operations.operation import (
    LONGEST_NAME,
    Operation,
    OperationInput,
    Project,
    example,
)
from foreword.plan.validation import DataShape, Text
from foreword.work import task_checkpoints
from foreword.work.checkpoint import KNOWN, Checkpoint, as_data, as_text, without_secrets

# fields of a checkpoint that are set where it is written, and by its own arguments
_NOT_IN_DATA = ("format", "git", "written_at", "sequence", "previous", "task", "phase")

TaskName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class CheckpointTask(OperationInput):
    """Which checkpoints."""

    task: TaskName | None = Field(None, description="Only those of this task.")


class CheckpointChoice(OperationInput):
    """Which checkpoint of a task."""

    task: TaskName
    phase: TaskName | None = Field(None, description="Of this phase; else the newest.")


class CheckpointData(DataShape):
    """Where a task stands; other fields are kept."""

    model_config = ConfigDict(extra="allow")

    objective: Text = ""
    state: dict[str, Any] = Field({}, description="Whatever the task keeps.")
    decisions: list[Any] = Field([], description="Each with `what` and `why`.")
    findings: list[Any] = Field([])
    artifacts: dict[str, Any] = Field({}, description="References by their names, never content.")
    done: list[Any] = Field([], description="Phases or steps.")
    pending: list[Any] = Field([], description="Phases or steps.")


class CheckpointWriting(OperationInput):
    """Where a task stands."""

    model_config = example(
        {
            "task": "FIRE-1",
            "phase": "1",
            "data": {"objective": "Fire the kiln", "done": ["glaze"], "pending": ["fire"]},
        }
    )

    task: TaskName
    phase: TaskName
    data: CheckpointData | None = Field(
        None,
        description=(
            "objective, state, decisions, findings, artifacts, done, pending; other fields are"
            " kept."
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """One checkpoint in the list."""

    task: str
    phase: str
    number: int
    problem: Annotated[str, Field(description="Why it can't be used, where it can't.")]
    written_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointList:
    """Checkpoints, the newest of each task last."""

    checkpoints: list[CheckpointLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointText:
    """A checkpoint as text and as data."""

    text: str
    checkpoint: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedCheckpoint(CheckpointText):
    """What a model needs to go on."""

    warnings: Annotated[list[str], Field(description="What has changed since.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPlace:
    """Where a checkpoint was written to, inside the root."""

    written: str


def list_checkpoints(project: Project, given: CheckpointTask) -> CheckpointList:
    """List the checkpoints of a task or of all, the newest of each task last; one that can't be
    used says why."""
    listed = []
    for entry in task_checkpoints.checkpoint_entries(project.root, given.task):
        line = CheckpointLine(
            task=entry.task,
            phase=entry.phase,
            number=entry.sequence,
            problem=entry.problem,
            written_at=entry.checkpoint.written_at if entry.checkpoint else "",
        )
        listed.append(line)
    return CheckpointList(checkpoints=listed)


def show_checkpoint(project: Project, given: CheckpointChoice) -> CheckpointText:
    """Show a checkpoint as it was written."""
    checkpoint = _restore(project, given).checkpoint
    return CheckpointText(text=as_text(checkpoint), checkpoint=_shown_data(checkpoint))


def resume_checkpoint(project: Project, given: CheckpointChoice) -> ResumedCheckpoint:
    """Give what a model needs to go on with a task, and what has changed since."""
    restored = _restore(project, given)
    return ResumedCheckpoint(
        text=as_text(restored.checkpoint, restored.changes),
        checkpoint=_shown_data(restored.checkpoint),
        warnings=list(restored.changes),
    )


def _shown_data(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint as its file has it, with secrets hidden: a file may be somebody else's."""
    return as_data(without_secrets(checkpoint))


def write_checkpoint(project: Project, given: CheckpointWriting) -> CheckpointPlace:
    """Keep where a task stands, in place of what was kept for that phase."""
    fields = given.data.model_dump(exclude_unset=True) if given.data else {}
    known = dict[str, Any]()
    extra = dict[str, Any]()
    for name, value in fields.items():
        if name not in KNOWN:
            extra[name] = value
        elif name not in _NOT_IN_DATA:
            known[name] = value
    checkpoint = Checkpoint(task=given.task, phase=given.phase, **known, extra=extra)
    path = task_checkpoints.write(project.root, project.db, checkpoint)
    return CheckpointPlace(written=path.relative_to(project.root).as_posix())


def _restore(project: Project, given: CheckpointChoice) -> task_checkpoints.RestoredCheckpoint:
    """The checkpoint of a phase, or the newest of the task."""
    if given.phase is None:
        return task_checkpoints.newest(project.root, project.db, given.task)
    return task_checkpoints.read(project.root, project.db, given.task, given.phase)


LIST_CHECKPOINTS = Operation(run=list_checkpoints, scope="project")
SHOW_CHECKPOINT = Operation(run=show_checkpoint, scope="project")
RESUME_CHECKPOINT = Operation(run=resume_checkpoint, scope="project")
WRITE_CHECKPOINT = Operation(run=write_checkpoint, scope="project", access="replaces")
