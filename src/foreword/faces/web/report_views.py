"""Reports of earlier contexts: a list of them, each as a table with bars, and two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import report_operations
from foreword.operations.report_operations import ReportComparison, ReportEntry, ReportPageInput
from foreword.session.limits import Limits, limits_for
from foreword.store.database import LARGEST_NUMBER, Database

PAGE = 50  # rows on a page of the list
SUGGESTIONS = 10  # numbers that an error names where there is no such report


def show_all(request: ViewRequest) -> Response:
    """The reports, the newest first, from one that is older than `before`."""
    before = request.number("before", LARGEST_NUMBER)
    with request.app_state.store() as db:
        found = report_operations.list_reports(db, ReportPageInput(cursor=before, limit=PAGE))
    limits = limits_for(request.app_state.settings.window)
    rows = [(entry, denominator(entry, limits)) for entry in found.items]
    return page("reports.html", title="Reports", rows=rows, older=found.next)


def denominator(entry: ReportEntry, limits: Limits) -> int:
    """What a context is shown as a share of: the call of a session of its window, as everywhere;
    any other of its budget."""
    return limits.window if entry.workflow else max(1, entry.budget_tokens)


def show(request: ViewRequest) -> Response:
    """One report."""
    number = request.path_param("number")
    with request.app_state.store() as db:
        stored = report_operations.existing_report(db, number, suggestions=SUGGESTIONS)
        before = report_operations.find_report(db, number - 1) if number > 1 else None
    sections = [row for row in stored.report.get("sections", ()) if isinstance(row, dict)]
    largest = max([1, *(int(row.get("tokens", 0)) for row in sections)])
    made_for = report_operations.request_of(stored.report)
    return page(
        "report.html",
        title=f"Report {number}",
        stored=stored,
        report=stored.report,
        of_tokens=_whole(stored.report, is_session="workflow" in made_for),
        sections=sections,
        largest=largest,
        made_for=", ".join(f"{field} {value}" for field, value in made_for.items()),
        before=before,
    )


def _whole(report: Mapping[str, Any], *, is_session: bool) -> int:
    window = report.get("window_tokens") if is_session else None
    return max(1, int(window or report.get("budget_tokens") or 0))


def compare(request: ViewRequest) -> Response:
    """Two reports, by their numbers; without a choice, the last two."""
    with request.app_state.store() as db:
        newest = [report.number for report in report_operations.newest_reports(db, 2)]
        old = request.number("old", newest[-1] if newest else 0)
        new = request.number("new", newest[0] if newest else 0)
        compared = compare_reports(db, old, new) if newest else None
    return page(
        "compare.html",
        title="Compare reports",
        compared=compared,
        calls=[],
        old=old,
        new=new,
        address="/reports/compare",
        is_session=False,
    )


def compare_reports(db: Database, old: int, new: int) -> ReportComparison:
    """What two reports have more or less of, by their numbers."""
    before = report_operations.existing_report(db, old, suggestions=SUGGESTIONS)
    after = report_operations.existing_report(db, new, suggestions=SUGGESTIONS)
    return report_operations.compare(before, after)
