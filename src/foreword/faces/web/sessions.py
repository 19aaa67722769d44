"""The way in: what Foreword does, shown on the newest call; and every session, how large it is,
in which state."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from foreword.faces.web import addresses
from foreword.faces.web.rendering import page, shares
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.session.limits import Limits, limits_for
from foreword.store import reports
from foreword.store.database import Database
from foreword.store.workflows import WorkflowEntry, list_workflows

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
EXAMPLE_BUDGET = 40_000

Bars = list[tuple[str, int, float, float]]


@dataclass(frozen=True, slots=True)
class CallPicture:
    """The newest call, as a picture."""

    report: reports.ReportEntry
    bars: Bars
    omitted_tokens: int


def show(asked: ViewRequest) -> Response:
    """Every session, the last changed first; `q` is part of a name."""
    wanted = asked.text("q").strip()
    with asked.serving.store() as db:
        every, place, last = list_workflows(db), db.name, newest_call(db)
    found = [one for one in every if wanted.casefold() in one.name.casefold()]
    found.sort(key=lambda one: one.changed, reverse=True)
    limits = limits_for(asked.serving.settings.window)
    rows = [(one, state_of(one, limits)) for one in found[:MOST_SHOWN]]
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
        last=last,
        example=shares(EXAMPLE, EXAMPLE_BUDGET),
        example_tokens=sum(EXAMPLE.values()),
        example_budget=EXAMPLE_BUDGET,
    )


def begin(asked: ViewRequest) -> Response:
    """Begin a session, or open the one of that name, and talk in it."""
    name = asked.text("name").strip()
    with asked.serving.session(name, create=True):
        return go_to(addresses.session(name, "chat"))


def newest_call(db: Database) -> CallPicture | None:
    """What the newest text for a model was made of, if there is one that can be read."""
    found, kept = reports.list_reports(db, limit=1), reports.newest_reports(db, 1)
    if not found or not kept or found[0].number != kept[0].number:
        return None
    sizes = dict[str, int]()
    for row in kept[0].report.get("sections", ()):
        tag = str(row.get("tag", ""))
        sizes[tag] = sizes.get(tag, 0) + int(row.get("tokens", 0))
    bars = shares(sizes, max(found[0].budget_tokens, found[0].total_tokens))
    return CallPicture(found[0], bars, int(kept[0].report.get("omitted_tokens", 0)))


def state_of(one: WorkflowEntry, limits: Limits) -> str:
    """Warned while it is past the size for that, else compressed if it ever was and still is."""
    if one.warned or one.now_tokens >= limits.warn_at:
        return "warned"
    return "compressed" if one.compressions else "ok"
