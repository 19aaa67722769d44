"""What the top of every page about a session shows: its name, its conversations, and the way to
its other views."""

from __future__ import annotations

from typing import Any

from foreword.faces.web import addresses
from foreword.operations import conversations
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


def of(state: WorkflowState, view: str) -> dict[str, Any]:
    """The values for the header."""
    name = state.workflow.name
    talk = state.conversation.name if isinstance(state, Session) else ""
    tabs = [
        (
            label,
            addresses.session(name, *([] if one == "monitor" else [one]), conversation=talk),
            one == view,
        )
        for one, label in VIEWS.items()
    ]
    known = conversations.names(state) if talk else []
    return {
        "workflow": name,
        "conversation": talk,
        "conversations": known,
        "tabs": tabs,
        "events": addresses.events(name),
    }
