"""Sessions: the list, how one stands, its system prompt, and the workflow with its nodes as a call
shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from foreword.errors import BadRequest
from foreword.operations import conversation_operations, workflow_list
from foreword.operations.operation import (
    DescribedBy,
    Name,
    NoInput,
    Operation,
    OperationInput,
    example,
)
from foreword.operations.paging import MOST_LISTED
from foreword.operations.workflow_list import WorkflowEntry
from foreword.plan.node_shape import NodeShape
from foreword.session.limits import Limits
from foreword.session.session import Session
from foreword.session.workflow_state import LONGEST_NAME, WorkflowState
from foreword.store.database import Database


class SessionSearch(OperationInput):
    """Which sessions."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many at most.")
    cursor: str | None = Field(
        None, max_length=LONGEST_NAME, description="The `next` of the page before."
    )
    search: str = Field(
        "", max_length=LONGEST_NAME, description="Only those with these letters in their name."
    )


class SystemPrompt(OperationInput):
    """A system prompt."""

    model_config = example({"text": "You plan firings."})

    text: str


class NodeToPut(OperationInput):
    """A node of the workflow."""

    model_config = example({"node": {"id": "1", "position": 1, "type": "http", "config": {}}})

    node: Annotated[dict[str, Any], DescribedBy(NodeShape)]


class NodeChoice(OperationInput):
    """Which node."""

    node: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of sessions, the newest first."""

    items: list[WorkflowEntry]
    next: Annotated[str | None, Field(description="The cursor of the next page.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimits:
    """Sizes at which something happens, in tokens."""

    window: int
    budget: Annotated[int | None, Field(description="Sizes are shares of it, else of the window.")]
    warn_at: int
    compress_at: int
    compress_to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """How a session stands."""

    name: str
    conversation: str
    size_tokens: int
    history_tokens: int
    messages: int
    limits: SizeLimits
    state: Literal["quiet", "warning", "full"]
    compressions: int
    plan_version: int
    variables: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSnapshot:
    """The workflow and its nodes as a call shows them, secrets hidden."""

    snapshot: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """It is done."""

    done: bool


def list_sessions(db: Database, given: SessionSearch) -> SessionPage:
    """List the sessions, the newest first, with their sizes."""
    rest = _after(workflow_list.sessions_by_age(db), given.cursor)
    found = [entry for entry in rest if workflow_list.name_contains(entry, given.search)]
    page = found[: given.limit]
    is_last = len(found) == len(page)
    return SessionPage(items=page, next=None if is_last else page[-1].name)


def _after(entries: list[WorkflowEntry], cursor: str | None) -> list[WorkflowEntry]:
    """The sessions behind the last one of the page before; none is ever removed, so it is still
    there."""
    if cursor is None:
        return entries
    for place, entry in enumerate(entries):
        if entry.name == cursor:
            return entries[place + 1 :]
    raise BadRequest(["cursor: no page ended there"], hint="begin without a cursor")


def get_session(session: Session, given: NoInput) -> SessionState:
    """Say how large a session is, which limits it has, and in which state it is."""
    size = session.size_tokens()
    limits = session.limits
    usage = session.usage(0)
    plan = session.get_current_plan()
    return SessionState(
        name=session.workflow.name,
        conversation=session.conversation.name,
        size_tokens=size,
        history_tokens=usage["history_tokens"],
        messages=conversation_operations.message_count(session),
        limits=SizeLimits(
            window=limits.window,
            budget=limits.budget,
            warn_at=limits.warn_at,
            compress_at=limits.compress_at,
            compress_to=limits.compress_to,
        ),
        state=_size_state(size, limits),
        compressions=usage["compressions"],
        plan_version=plan["plan_version"] if plan else 0,
        variables=len(session.get_workflow_variables()),
    )


def _size_state(size: int, limits: Limits) -> Literal["quiet", "warning", "full"]:
    if size >= limits.compress_at:
        return "full"
    return "warning" if size >= limits.warn_at else "quiet"


def set_system_prompt(session: Session, given: SystemPrompt) -> Confirmation:
    """Replace the system prompt."""
    session.system_prompt = given.text
    return Confirmation(done=True)


def get_snapshot(state: WorkflowState, given: NoInput) -> WorkflowSnapshot:
    """Show the workflow and its nodes, secrets hidden."""
    snapshot = state.secrets().value(state.snapshot())
    assert isinstance(snapshot, dict)
    return WorkflowSnapshot(snapshot=snapshot)


def put_node(state: WorkflowState, given: NodeToPut) -> Confirmation:
    """Add a node to the workflow, or replace the one with its id."""
    state.put_node(given.node)
    return Confirmation(done=True)


def drop_node(state: WorkflowState, given: NodeChoice) -> Confirmation:
    """Remove a node from the workflow."""
    state.drop_node(given.node)
    return Confirmation(done=True)


LIST_SESSIONS = Operation(run=list_sessions, scope="store")
GET_SESSION = Operation(run=get_session, scope="conversation")
SET_SYSTEM_PROMPT = Operation(run=set_system_prompt, scope="conversation", access="replaces")
GET_SNAPSHOT = Operation(run=get_snapshot, scope="workflow")
PUT_NODE = Operation(run=put_node, scope="workflow", access="replaces")
DROP_NODE = Operation(run=drop_node, scope="workflow", access="replaces")
