"""Reports of earlier contexts: a list of them, each as a table with bars, and two side by side."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from foreword.context import report_diff
from foreword.context.report_diff import SectionDifference
from foreword.errors import UnknownName
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.store import reports
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.reports import StoredReport

PAGE = 50
ASKED = ("agent", "skill", "purpose", "phase", "workflow")


def show_all(asked: ViewRequest) -> Response:
    """The reports, the newest first, from one that is older than `before`."""
    with asked.serving.store() as db:
        rows = reports.list_reports(db, before=asked.number("before", LARGEST_NUMBER), limit=PAGE)
    return page(
        "reports.html",
        title="Reports",
        rows=rows,
        older=rows[-1].number if len(rows) == PAGE else 0,
    )


def show(asked: ViewRequest) -> Response:
    """One report."""
    number = asked.request.path_params["number"]
    with asked.serving.store() as db:
        kept = _existing(db, number)
        before = reports.find_report(db, number - 1) if number > 1 else None
    sections = [row for row in kept.report.get("sections", ()) if isinstance(row, dict)]
    largest = max([1, *(int(row.get("tokens", 0)) for row in sections)])
    return page(
        "report.html",
        title=f"Report {number}",
        kept=kept,
        report=kept.report,
        sections=sections,
        largest=largest,
        asked=asked_for(kept),
        before=before,
    )


def compare(asked: ViewRequest) -> Response:
    """Two reports, by their numbers."""
    with asked.serving.store() as db:
        newest = [one.number for one in reports.newest_reports(db, 2)]
        old, new = (
            asked.number("old", newest[-1] if newest else 0),
            asked.number("new", newest[0] if newest else 0),
        )
        values = compare_reports(db, old, new) if newest else None
    return page(
        "compare.html",
        title="Compare reports",
        compared=values,
        calls=[],
        old=old,
        new=new,
        address="/reports/compare",
        is_session=False,
    )


def compare_reports(db: Database, old: int, new: int) -> dict[str, Any]:
    """What two reports have more or less of."""
    before, after = _existing(db, old), _existing(db, new)
    rows = report_diff.sections(before.report, after.report)
    total = SectionDifference("total", before.report["total_tokens"], after.report["total_tokens"])
    return {
        "before": before,
        "after": after,
        "rows": rows,
        "total": total,
        "notes": report_diff.notes(before.report, after.report),
        "largest": max([1, *(abs(row.change) for row in rows)]),
    }


def asked_for(kept: StoredReport) -> str:
    """What a context was made for."""
    return ", ".join(f"{kind} {kept.report[kind]}" for kind in ASKED if kind in kept.report)


def _existing(db: Database, number: int) -> StoredReport:
    kept = reports.find_report(db, number)
    if kept is None:
        known = [str(one.number) for one in reports.newest_reports(db, 10)]
        raise UnknownName("report", str(number), known)
    return kept
