"""Reports of earlier contexts: a list of them, each as a table with bars, and two side by side."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import call_size, report_operations
from foreword.operations.report_operations import ReportComparison, StoredReport
from foreword.store.database import LARGEST_NUMBER, Database

PAGE = 50  # rows on a page of the list
SUGGESTIONS = 10  # numbers that an error names where there is no such report


def show_all(request: ViewRequest) -> Response:
    """The reports, the newest first, from one that is older than `before`."""
    before = request.number("before", LARGEST_NUMBER)
    with request.app_state.store() as db:
        found = report_operations.newest_reports(db, PAGE, before)
    rows = list[tuple[StoredReport, int]]()
    for stored in found:
        shown = with_tools(stored)
        rows.append((shown, call_size.denominator(shown.report)))
    # the first report is number 1; one that can't be read is not among those that were found
    older = found[-1].number if found and found[-1].number > 1 else None
    return page("reports.html", title="Reports", rows=rows, older=older)


def with_tools(stored: StoredReport) -> StoredReport:
    """A report with its tools as a section."""
    return replace(stored, report=call_size.with_tools(stored.report))


def show(request: ViewRequest) -> Response:
    """One report."""
    number = request.path_param("number")
    with request.app_state.store() as db:
        stored = with_tools(report_operations.existing_report(db, number, suggestions=SUGGESTIONS))
        before = report_operations.find_report(db, number - 1) if number > 1 else None
    made_for = report_operations.request_of(stored.report)
    return page(
        "report.html",
        title=f"Report {number}",
        stored=stored,
        report=stored.report,
        denominator=call_size.denominator(stored.report),
        sections=stored.report.get("sections", ()),
        made_for=", ".join(f"{field} {value}" for field, value in made_for.items()),
        before=before,
    )


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
    return report_operations.compare(with_tools(before), with_tools(after))
