"""The way in: what Foreword does, shown on the newest call; and every session, how large it is,
in which state."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from foreword.faces.web import addresses
from foreword.faces.web import report_views as reports_view
from foreword.faces.web.rendering import page, shares
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import report_operations, workflow_list
from foreword.operations.report_operations import NewestCall, ReportEntry
from foreword.operations.workflow_list import WorkflowEntry
from foreword.session.limits import Limits, limits_for

# rows of the list, which is loaded again with every change; others are found by name
MOST_SHOWN = 200
STATES = {"ok": "OK", "warned": "Warned", "compressed": "Compressed"}
EXAMPLE = {  # for a store with nothing in it yet
    "system_prompt": 1_246,
    "current_plan": 2_684,
    "workflow_snapshot": 4_120,
    "workflow_variables": 869,
    "browser_state": 2_912,
    "conversation_history": 18_265,
}
EXAMPLE_BUDGET = 40_000  # a quarter is free, so that the bar shows what that looks like

Bars = list[tuple[str, int, float, float]]


@dataclass(frozen=True, slots=True)
class CallPicture:
    """The newest call, as a picture."""

    report: ReportEntry
    bars: Bars
    of_tokens: int  # the window of a session, the budget of any other context
    omitted_tokens: int


def show(request: ViewRequest) -> Response:
    """Every session, the last changed first; `q` is part of a name."""
    wanted = request.text("q").strip()
    with request.app_state.store() as db:
        every = workflow_list.sessions_by_change(db)
        place = db.name
        last = report_operations.newest_call(db)
    found = [entry for entry in every if workflow_list.name_contains(entry, wanted)]
    limits = limits_for(request.app_state.settings.window)
    rows = [(entry, state_of(entry, limits)) for entry in found[:MOST_SHOWN]]
    return page(
        "sessions.html",
        title="Sessions",
        rows=rows,
        found=len(found),
        every=len(every),
        q=wanted,
        limits=limits,
        place=place,
        states=STATES,
        last=_picture(last, limits) if last else None,
        example=shares(EXAMPLE, EXAMPLE_BUDGET),
        example_tokens=sum(EXAMPLE.values()),
        example_budget=EXAMPLE_BUDGET,
    )


def begin(request: ViewRequest) -> Response:
    """Begin a session, or open the one of that name, and talk in it."""
    name = request.text("name").strip()
    with request.app_state.session(name, create=True):
        return go_to(addresses.session(name, "chat"))


def _picture(call: NewestCall, limits: Limits) -> CallPicture:
    of_tokens = reports_view.denominator(call.entry, limits)
    whole = max(of_tokens, call.entry.total_tokens)
    bars = shares(call.section_tokens, whole)
    return CallPicture(call.entry, bars, of_tokens, call.omitted_tokens)


def state_of(entry: WorkflowEntry, limits: Limits) -> str:
    """Warned while it is past the size for that, else compressed if it ever was and still is."""
    if entry.warned or entry.now_tokens >= limits.warn_at:
        return "warned"
    return "compressed" if entry.compressions else "ok"
