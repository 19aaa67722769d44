"""What the top of every page about a session shows: its name, its conversations, and the way to
its other views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foreword.faces.web import addresses
from foreword.operations.change_vector import has_any, vectors
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState

# Every view with its label, and the kind of event without which it has nothing to show.
VIEWS = {
    "monitor": ("Monitor", ""),
    "chat": ("Chat", ""),
    "workflow": ("Workflow", "workflow"),
    "plan": ("Plan", "plan"),
    "context": ("Context", ""),
    "variables": ("Variables", "variables"),
    "checkpoints": ("Checkpoints", "checkpoint"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """The way to a view."""

    view: str
    label: str
    address: str


def of(state: WorkflowState, view: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """The values for the header; names are those of the workflow's conversations, where the view is
    of one of them. A view that has nothing to show has no tab until its first event."""
    name = state.workflow.name
    conversation = state.conversation.name if isinstance(state, Session) else ""
    numbers = vectors(state.db, [name])[name]
    tabs = list[Tab]()
    awaited = list[str]()
    for key, (label, kind) in VIEWS.items():
        if kind and key != view and not has_any(numbers, kind):
            awaited.append(kind)
            continue
        path = [] if key == "monitor" else [key]
        address = addresses.session(name, *path, conversation=conversation)
        tabs.append(Tab(view=key, label=label, address=address))
    return {
        "workflow": name,
        "conversation": conversation,
        "conversations": names,
        "view": view,
        "tabs": tabs,
        "awaited": awaited,
        "events": addresses.events(name),
    }
