"""Where the browser of a workflow is kept while its nodes run, so that another process can go on:
one file for each.

The file is its owner's alone, since whoever has it is signed in: it is in the user's data
directory, beside the store of the project.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from foreword.session.workflow_state import WorkflowState
from foreword.store.locations import make_directory, project_directory

BROWSERS = "browser"
_DIGEST_DIGITS = 12  # 48 bits: the workflows of one project do not meet by chance


def place(state: WorkflowState) -> Path:
    """The file of a workflow, whether it is there or not."""
    return project_directory(state.root) / BROWSERS / f"workflow-{workflow_digest(state)}.json"


def forget(state: WorkflowState) -> None:
    """Let the next browser begin signed out, and not as a run has left one."""
    place(state).unlink(missing_ok=True)


def login_place(state: WorkflowState) -> Path:
    """The file in which a workflow stays signed in between its runs, where the user wants that."""
    return project_directory(state.root) / BROWSERS / f"login-{workflow_digest(state)}.json"


def workflow_digest(state: WorkflowState) -> str:
    """What tells the files of one workflow from those of others in the same project, wherever its
    store is moved."""
    owner = f"{state.workflow.created}\n{state.workflow.name}".encode("utf-8", "replace")
    return hashlib.sha256(owner).hexdigest()[:_DIGEST_DIGITS]


def prepare(path: Path) -> None:
    """Make the folder of the file."""
    make_directory(path.parent)


def profiles_folder(root: Path) -> Path:
    """Return the folder for the profiles of browsers that are started here; makes it."""
    return make_directory(project_directory(root) / BROWSERS)
