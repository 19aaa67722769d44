"""Reports of earlier contexts: pages of them, one by its number, two side by side.

For every face that shows reports; each writes them in its own way. A report is made with its
context (`engine.report`) and kept by the store; nothing here makes or changes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from foreword.context import report_diff
from foreword.context.report_diff import SectionDifference
from foreword.errors import UnknownName
from foreword.operations.operation import Operation, OperationInput
from foreword.operations.paging import Page, PageInput
from foreword.session.workflow_state import LONGEST_NAME
from foreword.store import reports, workflows
from foreword.store.database import LARGEST_NUMBER, Database, storable_text
from foreword.store.reports import ReportEntry as ReportEntry
from foreword.store.reports import StoredReport as StoredReport
from foreword.store.urls import open_to_read

# What a context may have been made for, in the order in which it is read out.
REQUEST_FIELDS = ("agent", "skill", "purpose", "phase", "workflow")


SUGGESTIONS = 5  # numbers that an error names where there is no such report

ReportNumber = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class ReportPageInput(PageInput):
    """Which reports."""

    workflow: str | None = Field(
        default=None, min_length=1, max_length=LONGEST_NAME, description="Only this one's calls."
    )


class ReportChoice(OperationInput):
    """Which report."""

    number: ReportNumber


class ReportPair(OperationInput):
    """Which report to compare with which."""

    number: ReportNumber
    before: int = Field(ge=1, le=LARGEST_NUMBER, description="The number of the earlier report.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChange:
    """A section in both reports, in tokens."""

    tag: str
    before: int
    after: int
    change: int
    word: Annotated[str, Field(description="same, grew, shrank, appeared or went.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportChanges:
    """What changed from one report to another, the largest change first."""

    sections: list[SectionChange]
    total: SectionChange
    notes: list[str]


def list_reports(db: Database, given: ReportPageInput) -> Page[ReportEntry]:
    """List the reports of contexts, the newest first."""
    if given.workflow is not None:
        workflows.find_workflow(db, storable_text(given.workflow))
    found = reports.list_reports(
        db, workflow=given.workflow, before=given.before, limit=given.limit + 1
    )
    entries = found[: given.limit]
    is_last = len(found) == len(entries)
    return Page(items=entries, next=None if is_last else entries[-1].number)


def get_report(db: Database, given: ReportChoice) -> StoredReport:
    """Show one whole report: the bill for every token."""
    return existing_report(db, given.number, suggestions=SUGGESTIONS)


def diff_reports(db: Database, given: ReportPair) -> ReportChanges:
    """Say which sections grew, shrank, appeared or went since an earlier report."""
    before = existing_report(db, given.before, suggestions=SUGGESTIONS)
    after = existing_report(db, given.number, suggestions=SUGGESTIONS)
    compared = compare(before, after)
    return ReportChanges(
        sections=[_section_change(section) for section in compared.sections],
        total=_section_change(compared.total),
        notes=compared.notes,
    )


def _section_change(difference: SectionDifference) -> SectionChange:
    return SectionChange(
        tag=difference.tag,
        before=difference.before,
        after=difference.after,
        change=difference.change,
        word=difference.word,
    )


LIST_REPORTS = Operation(run=list_reports, scope="store")
GET_REPORT = Operation(run=get_report, scope="store")
DIFF_REPORTS = Operation(run=diff_reports, scope="store")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportComparison:
    """Two reports side by side: the sections that changed most first."""

    before: StoredReport
    after: StoredReport
    sections: list[SectionDifference]
    total: SectionDifference
    notes: list[str]

    @property
    def largest_change(self) -> int:
        """The tokens of the largest change, at least 1: what bars are measured by."""
        return max([1, *(abs(section.change) for section in self.sections)])


def newest_reports(db: Database, limit: int, before: int = LARGEST_NUMBER) -> list[StoredReport]:
    """So many whole reports in front of one, the newest first."""
    return reports.newest_reports(db, limit, before)


def find_report(db: Database, number: int) -> StoredReport | None:
    """The report of that number, if there is one."""
    return reports.find_report(db, number)


def existing_report(db: Database, number: int, *, suggestions: int) -> StoredReport:
    """The report of that number; an error that names so many of the newest where there is none."""
    found = reports.find_report(db, number)
    if found is None:
        known = reports.list_reports(db, limit=suggestions)
        raise UnknownName("report", str(number), [str(entry.number) for entry in known])
    return found


def compare(before: StoredReport, after: StoredReport) -> ReportComparison:
    """What the later of two reports has more or less of."""
    total = SectionDifference("total", before.report["total_tokens"], after.report["total_tokens"])
    return ReportComparison(
        before=before,
        after=after,
        sections=report_diff.sections(before.report, after.report),
        total=total,
        notes=report_diff.notes(before.report, after.report),
    )


def request_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a context was made for, by kind: its agent, its skill and so on."""
    return {field: report[field] for field in REQUEST_FIELDS if field in report}


def project_reports(root: Path, url: str | None, limit: int) -> list[StoredReport]:
    """Return so many reports from a project's store, the newest first; makes no store."""
    store = open_to_read(url, root)
    if store is None:
        return []
    with closing(store):
        return reports.newest_reports(store, limit)


def project_report(root: Path, url: str | None, number: int) -> StoredReport | None:
    """Return one report from a project's store, if there is one of that number; makes no store."""
    store = open_to_read(url, root)
    if store is None:
        return None
    with closing(store):
        return reports.find_report(store, number)
