"""The workflows of a store: which there are and how large, and one of them to be read.

Looking makes none: a workflow is made by writing to it (`session.workflow_state`).
"""

from __future__ import annotations

from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows
from foreword.store.database import Database
from foreword.store.workflows import WorkflowEntry as WorkflowEntry


def sessions_by_age(db: Database) -> list[WorkflowEntry]:
    """Every session with its sizes, the last made first."""
    return workflows.list_workflows(db)[::-1]


def sessions_by_change(db: Database) -> list[WorkflowEntry]:
    """Every session with its sizes, the last changed first."""
    return sorted(workflows.list_workflows(db), key=lambda entry: entry.changed, reverse=True)


def name_contains(entry: WorkflowEntry, letters: str) -> bool:
    """Whether letters are in its name, large or small."""
    return letters.casefold() in entry.name.casefold()


def names(db: Database) -> list[str]:
    """The names of all workflows, in order."""
    return workflows.names(db)


def names_with_plans(db: Database) -> list[str]:
    """The names of those that have a plan, the first made first."""
    return [entry.name for entry in workflows.list_workflows(db) if entry.plan_version]


def stored_name(db: Database, name: str) -> str:
    """The name of a workflow as it is kept; an error where there is none."""
    return workflows.find_workflow(db, name).name


def existing_state(db: Database, name: str) -> WorkflowState:
    """A workflow's plan, variables and nodes; an error where there is none."""
    return WorkflowState(db, workflows.find_workflow(db, name))


def drop_if_empty(state: WorkflowState) -> None:
    """Forget a workflow that was only just made and holds nothing."""
    workflows.drop_empty(state.db, state.workflow.id)
