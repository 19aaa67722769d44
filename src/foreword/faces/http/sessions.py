"""Sessions: the list, a new one, and how one stands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, Field

from foreword.faces.http.endpoint import MOST_LISTED, ApiRequest, Endpoint, HttpAnswer, Nothing
from foreword.faces.http.problems import ProblemResponse
from foreword.faces.http.request_parsing import RequestInput, example
from foreword.operations import conversations, workflows
from foreword.operations.conversations import MAIN
from foreword.operations.workflows import WorkflowEntry
from foreword.session.limits import Limits
from foreword.session.session import Session

LONGEST_NAME = 200  # characters: what `session.workflow_state` takes for a name


class Search(RequestInput):
    """Which sessions."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many at most.")
    cursor: str | None = Field(
        None, max_length=LONGEST_NAME, description="The `next` of the page before."
    )
    search: str = Field(
        "", max_length=LONGEST_NAME, description="Only those with these letters in their name."
    )


class ConversationQuery(RequestInput):
    """Which conversation of the workflow."""

    conversation: str = Field(
        MAIN, min_length=1, max_length=LONGEST_NAME, description="The conversation's name."
    )


class NewSession(RequestInput):
    """A session to begin."""

    model_config = example({"name": "kiln", "system_prompt": "You plan firings."})

    name: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="The workflow that it is of."
    )
    system_prompt: str | None = Field(None, description="The system prompt to begin with.")


class SystemPromptBody(RequestInput):
    """A system prompt."""

    model_config = example({"text": "You plan firings."})

    text: str


class NodeBody(RequestInput):
    """A node of the workflow."""

    model_config = example({"node": {"id": "1", "position": 1, "type": "http", "config": {}}})

    node: dict[str, Any] = Field(description="`id`, `position`, `type`, `config`, `description`.")


class SessionLine(BaseModel):
    """One session in the list."""

    name: str
    created: str
    changed: str
    messages: int
    tokens: int = Field(description="Of all that was said.")
    now_tokens: int = Field(description="With the summary in place of what it stands for.")
    plan_version: int
    variables: int
    compressions: int
    warned: bool


class SessionPage(BaseModel):
    """A page of sessions, the newest first."""

    items: list[SessionLine]
    next: str | None = Field(description="The cursor of the next page.")


class LimitsBody(BaseModel):
    """Sizes at which something happens, in tokens."""

    window: int
    warn_at: int
    compress_at: int
    compress_to: int


class SessionState(BaseModel):
    """How a session stands."""

    name: str
    conversation: str
    size_tokens: int
    history_tokens: int
    messages: int
    limits: LimitsBody
    state: str = Field(description="`quiet`, `warning` or `full`.")
    compressions: int
    plan_version: int
    variables: int


class Snapshot(BaseModel):
    """The workflow and its nodes as a call shows them, secrets hidden."""

    snapshot: dict[str, Any]


class Done(BaseModel):
    """It is done."""

    done: bool


def list_sessions(request: ApiRequest[Search, None]) -> dict[str, Any]:
    """List the sessions, the newest first, with their sizes."""
    query = request.query
    with request.app_state.store() as db:
        every = workflows.sessions_by_age(db)
    rest = _after(every, query.cursor)
    found = [entry for entry in rest if workflows.name_contains(entry, query.search)]
    page = found[: query.limit]
    is_last = len(found) == len(page)
    return {
        "items": [asdict(entry) for entry in page],
        "next": None if is_last else page[-1].name,
    }


def _after(entries: list[WorkflowEntry], cursor: str | None) -> list[WorkflowEntry]:
    """The sessions behind the last one of the page before; none is ever removed, so it is still
    there."""
    if cursor is None:
        return entries
    for place, entry in enumerate(entries):
        if entry.name == cursor:
            return entries[place + 1 :]
    raise ProblemResponse(400, "bad_request", "query.cursor: no page ended there")


def create_session(request: ApiRequest[Nothing, NewSession]) -> HttpAnswer:
    """Begin a session; where there is one of that name, nothing is changed."""
    name = request.body.name
    with request.app_state.store() as db:
        if conversations.is_begun(db, name):
            raise ProblemResponse(
                409,
                "session_exists",
                f"there is a session {name!r} already",
                "go on with it, or choose another name",
            )
    with request.app_state.session(name, create=True) as session:
        if request.body.system_prompt is not None:
            session.system_prompt = request.body.system_prompt
        return HttpAnswer(
            state_of(session), headers={"location": f"/v1/sessions/{quote(name, safe='')}"}
        )


def show_session(request: ApiRequest[ConversationQuery, None]) -> dict[str, Any]:
    """Say how large a session is, which limits it has, and in which state it is."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        return state_of(session)


def state_of(session: Session) -> dict[str, Any]:
    """How a session stands."""
    size = session.size_tokens()
    limits = session.limits
    usage = session.usage(0)
    plan = session.plan
    return {
        "name": session.workflow.name,
        "conversation": session.conversation.name,
        "size_tokens": size,
        "history_tokens": usage["history_tokens"],
        "messages": conversations.message_count(session),
        "limits": {
            "window": limits.window,
            "warn_at": limits.warn_at,
            "compress_at": limits.compress_at,
            "compress_to": limits.compress_to,
        },
        "state": _size_state(size, limits),
        "compressions": usage["compressions"],
        "plan_version": plan["plan_version"] if plan else 0,
        "variables": len(session.variables),
    }


def _size_state(size: int, limits: Limits) -> str:
    if size >= limits.compress_at:
        return "full"
    return "warning" if size >= limits.warn_at else "quiet"


def set_prompt(request: ApiRequest[ConversationQuery, SystemPromptBody]) -> dict[str, Any]:
    """Replace the system prompt."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        session.system_prompt = request.body.text
    return {"done": True}


def show_snapshot(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Show the workflow and its nodes, secrets hidden."""
    with request.app_state.state(request.path["workflow"]) as state:
        return {"snapshot": state.secrets().value(state.snapshot())}


def put_node(request: ApiRequest[Nothing, NodeBody]) -> dict[str, Any]:
    """Add a node to the workflow, or replace the one with its id."""
    with request.app_state.session(request.path["workflow"]) as session:
        session.put_node(request.body.node)
    return {"done": True}


def drop_node(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Remove a node from the workflow."""
    with request.app_state.session(request.path["workflow"]) as session:
        session.drop_node(request.path["node"])
    return {"done": True}


ONE = "/v1/sessions/{workflow}"
ENDPOINTS = (
    Endpoint(
        method="GET", path="/v1/sessions", run=list_sessions, answer=SessionPage, query=Search
    ),
    Endpoint(
        method="POST",
        path="/v1/sessions",
        run=create_session,
        answer=SessionState,
        body=NewSession,
        status=201,
        problems=(409,),
        gives={"location": "Where the session is."},
    ),
    Endpoint(
        method="GET", path=ONE, run=show_session, answer=SessionState, query=ConversationQuery
    ),
    Endpoint(
        method="PUT",
        path=f"{ONE}/system-prompt",
        run=set_prompt,
        answer=Done,
        query=ConversationQuery,
        body=SystemPromptBody,
    ),
    Endpoint(method="GET", path=f"{ONE}/snapshot", run=show_snapshot, answer=Snapshot),
    Endpoint(
        method="POST",
        path=f"{ONE}/nodes",
        run=put_node,
        answer=Done,
        body=NodeBody,
        problems=(422,),
    ),
    Endpoint(method="DELETE", path=f"{ONE}/nodes/{{node}}", run=drop_node, answer=Done),
)
