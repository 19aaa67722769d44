"""The chat with a workflow's director, and its tools by hand: what is said, what is done, and what
it works on.

Every address is a whole page, as everywhere. While something is under way `director.js` listens to
it; without scripts the page is loaded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from foreword.director.tools import TOOLS
from foreword.director.turn_lock import is_waiting
from foreword.errors import UnknownName
from foreword.faces.http.director import workflow_name
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.web import addresses, header, tool_form, transcript
from foreword.faces.web.paging import page_of_text
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import conversations, plans
from foreword.operations.conversations import MAIN
from foreword.operations.nodes import stored_nodes
from foreword.plan import plan as planning
from foreword.secrets.masking import hide, mask
from foreword.session.session import Session
from foreword.store.database import LARGEST_NUMBER

SOON_SECONDS = 0.5  # for something quick to be done before the page is shown again
FEW = 6  # of anything beside the chat
PAGES = {"chat", "workflow"}


def show(asked: ViewRequest) -> Response:
    """The conversation, the newest at its end; `before` is an older page of it, `tool` the form
    of one."""
    stands = director_status(asked)  # first: what is over has said all it has to say
    with asked.session() as session:
        said = transcript.read(session, asked.number("before", LARGEST_NUMBER))
        nodes = stored_nodes(session)
        is_main = session.conversation.name == MAIN
        talks = is_main and stands["model"] and not stands["running"]
        return page(
            "chat.html",
            **header.of(session, "chat"),
            **stands,
            blocked=asked.serving.desks.blocked(session),
            title=f"Chat · {session.workflow.name}",
            talk=said,
            is_main=is_main,
            is_waiting=talks and is_waiting(session),
            is_old=bool(asked.text("before")),
            beside=_beside(session, nodes),
            tools=TOOLS,
            tool=_tool(asked),
            fields=_fields(asked, nodes),
            prefix=tool_form.PREFIX,
        )


def message(asked: ViewRequest) -> Response:
    """All of one message, in pages."""
    seq = asked.request.path_params["seq"]
    with asked.session() as session:
        found = conversations.existing_message(session, seq)
        text = page_of_text(
            session.secrets().text(transcript.words_of(found.message)), asked.number("page", 1)
        )
        address = addresses.session(
            asked.workflow, f"chat/message/{seq}", conversation=session.conversation.name
        )
        return page(
            "original.html",
            **header.of(session, "chat"),
            title=f"Message {seq}",
            text=text,
            name=f"Message {seq}",
            address=address,
        )


def director_status(asked: ViewRequest) -> dict[str, Any]:
    """How the director of the path stands: whether it has a model, what it is at, which tabs it
    has open."""
    desks = asked.serving.desks
    work = desks.work(asked.workflow)
    return {
        "model": bool(asked.serving.settings.model),
        "work": work,
        "running": work.id if work and not work.is_over else "",
        "open_tabs": [_tab(one) for one in desks.tabs(asked.workflow) or ()],
        "director_events": addresses.director_events(asked.workflow),
    }


def _tab(tab: dict[str, Any]) -> tuple[str, str, bool]:
    return str(tab.get("name", "")), mask(str(tab.get("url", ""))), bool(tab.get("active"))


# --- what the forms do ----------------------------------------------------------------------------


def say(asked: ViewRequest) -> Response:
    """Say something to the director."""
    return _begun(
        asked, lambda name: asked.serving.desks.say(name, asked.text("text").replace("\r\n", "\n"))
    )


def go_on(asked: ViewRequest) -> Response:
    """Have it go on with a turn that has no answer."""
    return _begun(asked, asked.serving.desks.go_on)


def stop(asked: ViewRequest) -> Response:
    """Stop what it is doing."""
    work = asked.serving.desks.work(asked.workflow)
    asked.serving.desks.stop(workflow_name(asked.serving, asked.workflow))
    if work is not None:
        work.ended.wait(SOON_SECONDS)
    return go_to(_back(asked))


def call(asked: ViewRequest) -> Response:
    """ToolUse a tool by hand."""
    tool = TOOLS.get(asked.text("tool"))
    if tool is None:
        raise UnknownName("tool", asked.text("tool")[:80], TOOLS)
    given = tool_form.arguments(tool, asked.form)
    return _begun(asked, lambda name: asked.serving.desks.call(name, tool.name, given))


def test(asked: ViewRequest) -> Response:
    """Test one node."""
    node = asked.text("node")
    return _begun(
        asked, lambda name: asked.serving.desks.call(name, "test_single_node", {"node": node})
    )


def run(asked: ViewRequest) -> Response:
    """Run the nodes; with `resume`, go on with a run where it stopped."""
    given = {"resume": asked.text("resume")} if asked.text("resume") else {}
    return _begun(asked, lambda name: asked.serving.desks.call(name, "run_workflow", given))


def _begun(asked: ViewRequest, begin: Callable[[str], DirectorJob]) -> Response:
    begin(workflow_name(asked.serving, asked.workflow)).ended.wait(SOON_SECONDS)
    return go_to(_back(asked))


def _back(asked: ViewRequest) -> str:
    """The page that the form was on."""
    where = asked.text("back", "chat")
    return addresses.session(
        asked.workflow, where if where in PAGES else "chat", tool=asked.text("tool")
    )


# --- what the page shows --------------------------------------------------------------------------


def _tool(asked: ViewRequest) -> Any:
    """The tool whose form is shown: the one that was asked for, or the first."""
    return TOOLS.get(asked.text("tool")) or next(iter(TOOLS.values()))


def _fields(asked: ViewRequest, nodes: Sequence[dict[str, Any]]) -> list[tool_form.Field]:
    return tool_form.fields(_tool(asked), tuple(str(node["id"]) for node in nodes))


def _beside(session: Session, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the director works on, each in a few words."""
    plan = hide(session.plan) if session.plan else None
    variables = list(session.variables)
    return {
        "plan": plan,
        "progress": plans.progress(plan) if isinstance(plan, dict) else None,
        "now": _task_in_progress(plan) if isinstance(plan, dict) else "",
        "size": session.size_tokens,
        "limits": session.limits,
        "nodes": len(nodes),
        "statuses": Counter(str(node.get("status") or "") for node in nodes),
        "variables": [mask(name) for name in variables[:FEW]],
        "more_variables": max(0, len(variables) - FEW),
    }


def _task_in_progress(plan: Mapping[str, Any]) -> str:
    for _, task in planning.tasks(plan):
        if task["status"] == "in_progress":
            return str(task["description"])
    return ""
