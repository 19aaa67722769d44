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
    conversation = state.conversation.name if isinstance(state, Session) else ""
    tabs = list[tuple[str, str, bool]]()
    for key, label in VIEWS.items():
        path = [] if key == "monitor" else [key]
        address = addresses.session(name, *path, conversation=conversation)
        tabs.append((label, address, key == view))
    return {
        "workflow": name,
        "conversation": conversation,
        "conversations": conversations.names(state) if conversation else [],
        "tabs": tabs,
        "events": addresses.events(name),
    }
