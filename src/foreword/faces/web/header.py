"""What the top of every page about a session shows: its name, its conversations, and the way to
its other views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foreword.faces.web import addresses
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState

VIEWS = {
    "monitor": "Monitor",
    "chat": "Chat",
    "workflow": "Workflow",
    "plan": "Plan",
    "context": "Context",
    "variables": "Variables",
    "checkpoints": "Checkpoints",
}


def of(state: WorkflowState, view: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """The values for the header; names are those of the workflow's conversations, where the view is
    of one of them."""
    name = state.workflow.name
    conversation = state.conversation.name if isinstance(state, Session) else ""
    tabs = list[tuple[str, str, bool]]()
    for key, label in VIEWS.items():
        path = [] if key == "monitor" else [key]
        address = addresses.session(name, *path, conversation=conversation)
        tabs.append((label, address, key == view))
    return {
        "workflow": name,
        "conversation": conversation,
        "conversations": names,
        "tabs": tabs,
        "events": addresses.events(name),
    }
