"""The chat with a workflow's director: what is said, what is done, and what it works on.

Every address is a whole page, as everywhere. While something is under way `director.js` listens to
it; without scripts the page is loaded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from foreword.director.turn_lock import is_turn_open
from foreword.faces.http.director_endpoints import workflow_name
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.web import addresses, header, transcript
from foreword.faces.web.rendering import page
from foreword.faces.web.text_pages import page_of_text
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import conversation_operations, plan_operations
from foreword.operations.conversation_operations import MAIN
from foreword.plan import plan as planning
from foreword.secrets.masking import hide, mask
from foreword.session.session import Session, StateOverview
from foreword.store.database import LARGEST_NUMBER

SOON_SECONDS = 0.5  # for something quick to be done before the page is shown again
FEW = 6  # variables beside the chat: one line each, in a narrow card
PAGES = {"chat", "workflow"}  # with forms that lead back to them


def show(request: ViewRequest) -> Response:
    """The conversation, the newest at its end; `before` is an older page of it."""
    status = director_status(request)  # first: what is over has said all it has to say
    with request.session() as session:
        before = request.number("before", LARGEST_NUMBER)
        state = session.state()
        found = transcript.read(session, before, state.secrets)
        is_main = session.conversation.name == MAIN
        can_talk = is_main and status["model"] and not status["running"]
        return page(
            "chat.html",
            **header.of(session, "chat", request.conversations),
            **status,
            blocked=request.app_state.directors.blocked_lines(session),
            title=f"Chat · {session.workflow.name}",
            transcript=found,
            is_main=is_main,
            # said below the newest messages alone
            is_waiting=can_talk and is_turn_open(found.read),
            is_old=bool(request.text("before")),
            beside=_beside(session, state),
        )


def message(request: ViewRequest) -> Response:
    """All of one message, in pages."""
    seq = request.path_param("seq")
    with request.session() as session:
        stored = conversation_operations.existing_message(session, seq)
        text = session.secrets().text(transcript.words_of(stored.message))
        address = addresses.session(
            request.workflow, f"chat/message/{seq}", conversation=session.conversation.name
        )
        return page(
            "original.html",
            **header.of(session, "chat", request.conversations),
            title=f"Message {seq}",
            text=page_of_text(text, request.number("page", 1)),
            name=f"Message {seq}",
            address=address,
        )


def director_status(request: ViewRequest) -> dict[str, Any]:
    """How the director of the path stands: whether it has a model, what it is at, which tabs it
    has open."""
    directors = request.app_state.directors
    job = directors.job(request.workflow)
    tabs = directors.tabs(request.workflow) or ()
    return {
        "model": bool(request.app_state.settings.model),
        "job": job,
        "running": job.id if job and not job.is_over else "",
        "open_tabs": [_tab(tab) for tab in tabs],
        "director_events": addresses.director_events(request.workflow),
    }


def _tab(tab: dict[str, Any]) -> tuple[str, str, bool]:
    return str(tab.get("name", "")), mask(str(tab.get("url", ""))), bool(tab.get("active"))


# --- what the forms do ----------------------------------------------------------------------------


def say(request: ViewRequest) -> Response:
    """Say something to the director."""
    text = request.text("text").replace("\r\n", "\n")
    return _wait_a_moment(request, request.app_state.directors.say(stored_workflow(request), text))


def go_on(request: ViewRequest) -> Response:
    """Have it go on with a turn that has no answer."""
    return _wait_a_moment(request, request.app_state.directors.go_on(stored_workflow(request)))


def stop(request: ViewRequest) -> Response:
    """Stop what it is doing."""
    directors = request.app_state.directors
    job = directors.job(request.workflow)
    directors.stop(stored_workflow(request))
    return _wait_a_moment(request, job)


def test(request: ViewRequest) -> Response:
    """Test one node."""
    return _call_tool(request, "test_single_node", {"node": request.text("node")})


def run(request: ViewRequest) -> Response:
    """Run the nodes; with `resume`, go on with a run where it stopped, and with `again` or `skip`
    past a step that may have happened."""
    given = {name: request.text(name) for name in ("resume", "again", "skip")}
    arguments = {name: value for name, value in given.items() if value}
    return _call_tool(request, "run_workflow", arguments)


def _call_tool(request: ViewRequest, tool: str, arguments: dict[str, Any]) -> Response:
    directors = request.app_state.directors
    job = directors.call(stored_workflow(request), tool=tool, arguments=arguments)
    return _wait_a_moment(request, job)


def stored_workflow(request: ViewRequest) -> str:
    """The name of the workflow in the path, which must be there."""
    return workflow_name(request.app_state, request.workflow)


def _wait_a_moment(request: ViewRequest, job: DirectorJob | None) -> Response:
    """Back to the page that the form was on, after what is quick has ended."""
    if job is not None:
        job.ended.wait(SOON_SECONDS)
    where = request.text("back", "chat")
    view = where if where in PAGES else "chat"
    return go_to(addresses.session(request.workflow, view))


# --- what the page shows --------------------------------------------------------------------------


def _beside(session: Session, state: StateOverview) -> dict[str, Any]:
    """What the director works on, each in a few words."""
    plan = hide(state.plan) if state.plan else None
    return {
        "plan": plan,
        "progress": plan_operations.progress(plan) if isinstance(plan, dict) else None,
        "now": _task_in_progress(plan) if isinstance(plan, dict) else "",
        "size": state.size_tokens,
        "is_due": state.is_compression_due,
        "limits": session.limits,
        "nodes": len(state.node_statuses),
        "statuses": Counter(state.node_statuses.values()),
        "variables": [mask(name) for name in state.variables[:FEW]],
        "more_variables": max(0, len(state.variables) - FEW),
    }


def _task_in_progress(plan: Mapping[str, Any]) -> str:
    for _, task in planning.tasks(plan):
        if task["status"] == "in_progress":
            return str(task["description"])
    return ""
