"""The page's addresses: which view answers which path.

Every address is a whole page, so all of it can be read without scripts; htmx picks from the same
page what has changed. Views are plain functions of a `ViewRequest`; they run in threads.
"""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from foreword.faces.serving.app_state import Lane
from foreword.faces.web import (
    chat,
    checkpoint_views,
    context_monitor,
    context_view,
    node_editing,
    plan_view,
    recipe_views,
    report_views,
    session_views,
    variable_views,
    workflow,
)
from foreword.faces.web.view_request import View, form_view, not_found_page, read_view

STATIC = Path(__file__).parent / "static"
READ: dict[str, View] = {
    "/": session_views.show,
    "/sessions/{workflow}": context_monitor.show,
    "/sessions/{workflow}/compress": context_monitor.preview,
    "/sessions/{workflow}/compressions/{number:int}": context_monitor.summary,
    "/sessions/{workflow}/chat": chat.show,
    "/sessions/{workflow}/chat/message/{seq:int}": chat.message,
    "/sessions/{workflow}/workflow": workflow.show,
    "/sessions/{workflow}/workflow/picture": workflow.picture,
    "/sessions/{workflow}/workflow/file": workflow.file,
    "/sessions/{workflow}/plan": plan_view.show,
    "/sessions/{workflow}/context": context_view.show,
    "/sessions/{workflow}/context/section/{place:int}": context_view.section,
    "/sessions/{workflow}/context/original/{handle}": context_view.original,
    "/sessions/{workflow}/compare": context_view.compare,
    "/sessions/{workflow}/variables": variable_views.show,
    "/sessions/{workflow}/checkpoints": checkpoint_views.show,
    "/checkpoints": checkpoint_views.show_all,
    "/checkpoints/{task}/{phase}": checkpoint_views.show_one,
    "/reports": report_views.show_all,
    "/reports/compare": report_views.compare,
    "/reports/{number:int}": report_views.show,
    "/recipes": recipe_views.show_all,
    "/recipes/{name}": recipe_views.show,
}
WRITE: dict[str, View] = {
    "/sessions": session_views.begin,
    "/sessions/{workflow}/compress": context_monitor.compress,
    "/sessions/{workflow}/undo": context_monitor.undo,
    "/sessions/{workflow}/plan": plan_view.change,
    "/sessions/{workflow}/variables": variable_views.set_variable,
    "/sessions/{workflow}/chat": chat.say,
    "/sessions/{workflow}/chat/go-on": chat.go_on,
    "/sessions/{workflow}/chat/stop": chat.stop,
    "/sessions/{workflow}/workflow/node": workflow.save,
    "/sessions/{workflow}/workflow/move": node_editing.move,
    "/sessions/{workflow}/workflow/test": chat.test,
    "/sessions/{workflow}/workflow/run": chat.run,
}

# Views that make a context to show it: they wait for one another, not others for them.
COMPUTING = frozenset(
    (
        context_monitor.show,
        context_monitor.preview,
        context_monitor.compress,
        context_view.show,
        context_view.section,
        context_view.compare,
        workflow.picture,
    )
)


def routes() -> list[BaseRoute]:
    """Every address of the page, to stand behind all others: the last one answers whatever is
    not there."""
    made: list[BaseRoute] = [Mount("/static", StaticFiles(directory=STATIC), name="static")]
    for path, view in READ.items():
        lane: Lane = "computing" if view in COMPUTING else "reading"
        made.append(Route(path, read_view(view, lane), methods=["GET"]))
    for path, view in WRITE.items():
        lane = "computing" if view in COMPUTING else "writing"
        made.append(Route(path, form_view(view, lane), methods=["POST"]))
    made.append(Route("/{rest:path}", not_found_page, methods=["GET"]))
    return made
