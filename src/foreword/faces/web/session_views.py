"""The way in: what Foreword does, shown on the newest call; and every session, how large it is,
in which state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from foreword.faces.web import addresses
from foreword.faces.web.rendering import page, shares
from foreword.faces.web.report_views import with_tools
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import call_size, report_operations, workflow_list
from foreword.operations.report_operations import StoredReport
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPicture:
    """The newest call, as a picture."""

    stored: StoredReport
    session: str  # whose call it was, if it was a session's
    bars: Bars
    denominator: int


def show(request: ViewRequest) -> Response:
    """Every session, the last changed first; `q` is part of a name."""
    wanted = request.text("q").strip()
    with request.app_state.store() as db:
        every = workflow_list.sessions_by_change(db)
        place = db.name
        newest = report_operations.newest_reports(db, 1)
    found = [entry for entry in every if workflow_list.name_contains(entry, wanted)]
    window = request.app_state.settings.window
    rows = [_row(entry, window) for entry in found[:MOST_SHOWN]]
    return page(
        "sessions.html",
        title="Sessions",
        rows=rows,
        found=len(found),
        every=len(every),
        q=wanted,
        place=place,
        states=STATES,
        last=_picture(newest[0], every) if newest else None,
        example=shares(EXAMPLE, EXAMPLE_BUDGET),
        example_tokens=sum(EXAMPLE.values()),
        example_budget=EXAMPLE_BUDGET,
    )


def begin(request: ViewRequest) -> Response:
    """Begin a session, or open the one of that name, and talk in it."""
    name = request.text("name").strip()
    with request.app_state.session(name, create=True):
        return go_to(addresses.session(name, "chat"))


def _picture(newest: StoredReport, every: Sequence[WorkflowEntry]) -> CallPicture:
    stored = with_tools(newest)
    workflow = stored.report.get("workflow")
    is_session = any(entry.name == workflow for entry in every)
    sizes = Counter[str]()
    for section in stored.report.get("sections", ()):
        sizes[section["tag"]] += section["tokens"]
    denominator = call_size.denominator(stored.report)
    return CallPicture(
        stored=stored,
        session=str(workflow) if is_session else "",
        bars=shares(sizes, max(denominator, sizes.total())),
        denominator=denominator,
    )


def _row(entry: WorkflowEntry, window: int | None) -> tuple[WorkflowEntry, Limits, str]:
    """A session of the list with its limits; the window of the server is that of its sessions."""
    settings = entry.settings
    limits = limits_for(window or settings.get("window"), budget=settings.get("budget"))
    return entry, limits, _state(entry, limits)


def _state(entry: WorkflowEntry, limits: Limits) -> str:
    """Warned while it is past the size for that, else compressed if it ever was and still is."""
    if entry.warned or entry.history_tokens >= limits.warn_at:
        return "warned"
    return "compressed" if entry.compressions else "ok"
