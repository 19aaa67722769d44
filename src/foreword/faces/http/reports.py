"""Reports of contexts: the list, one whole, and what changed from one to another."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from foreword.context.report_diff import SectionDifference
from foreword.faces.http.endpoint import ApiRequest, Endpoint, Nothing, Page
from foreword.faces.http.request_parsing import RequestInput
from foreword.faces.http.sessions import LONGEST_NAME
from foreword.operations import reports
from foreword.store.database import LARGEST_NUMBER

SUGGESTIONS = 5  # numbers that an error names where there is no such report


class ReportPageQuery(Page):
    """Which reports."""

    workflow: str | None = Field(
        None, min_length=1, max_length=LONGEST_NAME, description="Only this one's calls."
    )


class ComparisonQuery(RequestInput):
    """Which report to compare with."""

    before: int = Field(ge=1, le=LARGEST_NUMBER, description="The number of the earlier report.")


class ReportLine(BaseModel):
    """One report in the list."""

    number: int
    created: str
    recipe: str
    total_tokens: int
    budget_tokens: int
    workflow: str | None = Field(description="Whose call it was, if it was a session's.")


class Reports(BaseModel):
    """A page of reports, the newest first."""

    items: list[ReportLine]
    next: int | None = Field(description="The cursor of the next page.")


class ReportAnswer(BaseModel):
    """A whole report: the bill for every token."""

    number: int
    created: str
    report: dict[str, Any]


class SectionChange(BaseModel):
    """A section in both reports, in tokens."""

    tag: str
    before: int
    after: int
    change: int
    word: str = Field(description="same, grew, shrank, appeared or went.")


class ReportChanges(BaseModel):
    """What changed from one report to another, the largest change first."""

    sections: list[SectionChange]
    total: SectionChange
    notes: list[str]


def list_reports(request: ApiRequest[ReportPageQuery, None]) -> dict[str, Any]:
    """List the reports of contexts, the newest first."""
    query = request.query
    with request.app_state.store() as db:
        page = reports.report_page(
            db, workflow=query.workflow, before=query.before, limit=query.limit
        )
    return {"items": [asdict(entry) for entry in page.entries], "next": page.next}


def show_report(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Show one whole report."""
    with request.app_state.store() as db:
        found = reports.existing_report(db, request.number("number"), suggestions=SUGGESTIONS)
    return {"number": found.number, "created": found.created, "report": found.report}


def diff(request: ApiRequest[ComparisonQuery, None]) -> dict[str, Any]:
    """Say which sections grew, shrank, appeared or went since an earlier report."""
    with request.app_state.store() as db:
        before = reports.existing_report(db, request.query.before, suggestions=SUGGESTIONS)
        after = reports.existing_report(db, request.number("number"), suggestions=SUGGESTIONS)
    compared = reports.compare(before, after)
    return {
        "sections": [_section(difference) for difference in compared.sections],
        "total": _section(compared.total),
        "notes": compared.notes,
    }


def _section(difference: SectionDifference) -> dict[str, Any]:
    return {**asdict(difference), "change": difference.change, "word": difference.word}


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/reports",
        run=list_reports,
        answer=Reports,
        query=ReportPageQuery,
        problems=(404,),
    ),
    Endpoint(method="GET", path="/v1/reports/{number}", run=show_report, answer=ReportAnswer),
    Endpoint(
        method="GET",
        path="/v1/reports/{number}/diff",
        run=diff,
        answer=ReportChanges,
        query=ComparisonQuery,
    ),
)
