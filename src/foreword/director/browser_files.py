"""Where the browser of a workflow is kept while its nodes run, so that another process can go on:
one file for each.

The file is its owner's alone and out of git's sight, since whoever has it is signed in. A project
may come from a stranger, so no folder on the way to it may be a link.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from foreword.errors import StoreError
from foreword.session.workflow_state import WorkflowState
from foreword.store.paths import FOLDER, make_hidden

BROWSERS = "browser"
_DIGEST_DIGITS = 12  # 48 bits: the workflows of one project do not meet by chance


def place(state: WorkflowState) -> Path:
    """The file of a workflow, whether it is there or not."""
    return state.root / FOLDER / BROWSERS / f"workflow-{workflow_digest(state)}.json"


def forget(state: WorkflowState) -> None:
    """Let the next browser begin signed out, and not as a run has left one."""
    place(state).unlink(missing_ok=True)


def login_place(state: WorkflowState) -> Path:
    """The file in which a workflow stays signed in between its runs, where the user wants that."""
    return state.root / FOLDER / BROWSERS / f"login-{workflow_digest(state)}.json"


def workflow_digest(state: WorkflowState) -> str:
    """What tells the files of one workflow from those of others in the same project."""
    owner = f"{state.db.name}\n{state.workflow.name}".encode("utf-8", "replace")
    return hashlib.sha256(owner).hexdigest()[:_DIGEST_DIGITS]


def prepare(path: Path) -> None:
    """Make the folder of the file."""
    for folder in (path.parent.parent, path.parent):
        if folder.is_symlink():
            raise StoreError(
                f"{folder} is a symbolic link, so it is not used", hint="remove the link"
            )
    try:
        make_hidden(path.parent.parent)
        make_hidden(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path.parent} can't be used: {error.strerror}", hint="check the rights of it"
        ) from None
