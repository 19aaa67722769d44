"""The workflow that a command names: made on writing, and then said so; wanted on reading."""

from __future__ import annotations

from foreword.errors import did_you_mean
from foreword.faces.cli import screen
from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows


def existing_workflow(db: str | None, root: str, name: str) -> WorkflowState:
    """The workflow of that name; an error with suggestions where there is none, and no file
    where there is no store."""
    return WorkflowState.open(db, name, root=root, create=False)


def workflow_to_write(db: str | None, root: str, name: str) -> WorkflowState:
    """The workflow of that name, made where there is none."""
    state = WorkflowState.open(db, name, root=root)
    say_if_new(state)
    return state


def say_if_new(state: WorkflowState) -> None:
    """A made workflow may be a mistyped one, so it is said, with the name it is near to."""
    if not state.is_new:
        return
    name = state.workflow.name
    screen.say(f"made workflow {name!r} in {state.db.name}")
    near = did_you_mean(name, (other for other in workflows.names(state.db) if other != name))
    if near:
        screen.say(f"note: there is a workflow {near!r} already; did you mean that one?")
