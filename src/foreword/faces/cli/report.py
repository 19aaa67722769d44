"""`foreword report`: the reports of earlier contexts, and what changed from one to another.

Finding and comparing them is `operations.report_operations`' business; here they are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import bar, cut_to
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import ONLY_JSON, json_option, last_option, store_options

if TYPE_CHECKING:
    from foreword.context.report_diff import SectionDifference
    from foreword.operations.report_operations import ReportComparison, StoredReport

BAR = 12  # columns
LONGEST_NAME = 40  # columns of a section's tag


@click.group(cls=Commands)
def report() -> None:
    """Look at reports of earlier contexts.

    They are kept in the project's store, or in the one of --db.

    \b
    Examples:
      foreword report list
      foreword report diff 11 12
    """


@report.command("list")
@last_option(20, "How many, the newest first.")
@json_option()
@store_options
def list_reports(last: int, as_json: bool, db: str | None, root: str) -> None:
    """List earlier contexts, the newest first.

    \b
    Example:
      foreword report list --last 5
    """
    from foreword.operations.report_operations import project_reports
    from foreword.sources.project_root import project_root

    reports = project_reports(project_root(root), db, last)
    if not reports:
        screen.say(f"no reports yet in {_place(db, root)}")
    if as_json:
        screen.show_json([_report_as_json(stored) for stored in reports])
    elif reports:
        _show_reports(reports)


def _report_as_json(stored: StoredReport) -> dict[str, object]:
    """What the line of a report says; `report show` has the whole."""
    from foreword.operations.report_operations import request_of

    report = stored.report
    return {
        "number": stored.number,
        "created": stored.created,
        "recipe": report["recipe"],
        **request_of(report),
        "total_tokens": report["total_tokens"],
        "budget_tokens": report["budget_tokens"],
        "status": report.get("status", ""),
    }


def _show_reports(reports: list[StoredReport]) -> None:
    heading = (
        f"{'no.':>5}  {'when (UTC)':<19}  {'recipe':<15} {'for':<16} {'tokens':>9} of {'budget':>9}"
        "  status"
    )
    click.echo(heading, err=True)
    screen.show_lines(map(_report_line, reports))


def _report_line(stored: StoredReport) -> str:
    from foreword.operations.report_operations import request_of

    report = stored.report
    request = " ".join(map(str, request_of(report).values()))
    what = f"{report['recipe']:<15} {request:<16}"
    size = f"{report['total_tokens']:>9,} of {report['budget_tokens']:>9,}"
    status = report.get("status", "")
    return f"{stored.number:>5}  {stored.created[:19]}  {what} {size}  {status}"


def _place(db: str | None, root: str) -> str:
    """Where reports were looked for; an address may have a password in it."""
    from foreword.sources.project_root import project_root
    from foreword.store.urls import place_of

    folder = project_root(root)
    place = place_of(db, folder) if db else folder
    return "the database" if isinstance(place, str) else str(place)


@report.command("show")
@click.argument("number", type=int)
@ONLY_JSON
@store_options
def show_report(number: int, db: str | None, root: str) -> None:
    """Print one report as JSON.

    \b
    Example:
      foreword report show 12
    """
    stored = _existing_report(db, root, number)
    screen.show_json({"number": stored.number, "created": stored.created, **stored.report})


def _existing_report(db: str | None, root: str, number: int) -> StoredReport:
    from foreword.operations.report_operations import project_report
    from foreword.sources.project_root import project_root

    stored = project_report(project_root(root), db, number)
    if stored is None:
        raise UsageError(
            f"there is no report {number}", hint="`foreword report list` shows those there are"
        )
    return stored


@report.command("diff")
@click.argument("old", type=int)
@click.argument("new", type=int)
@json_option()
@store_options
def diff_reports(old: int, new: int, as_json: bool, db: str | None, root: str) -> None:
    """Say which sections grew, shrank, appeared or went.

    \b
    Example:
      foreword report diff 11 12
    """
    from foreword.operations.report_operations import compare

    before = _existing_report(db, root, old)
    after = _existing_report(db, root, new)
    comparison = compare(before, after)
    screen.say(f"report {old} ({_request(before)}) -> {new} ({_request(after)})")
    if as_json:
        sections = [_difference_as_json(section) for section in comparison.sections]
        total = _difference_as_json(comparison.total)
        screen.show_json({"sections": sections, "total": total, "notes": comparison.notes})
        return
    screen.show_lines(_comparison_lines(comparison))


def _difference_as_json(one: SectionDifference) -> dict[str, object]:
    return {
        "tag": one.tag,
        "before": one.before,
        "after": one.after,
        "change": one.change,
        "word": one.word,
    }


def _request(stored: StoredReport) -> str:
    """What the context was asked for."""
    from foreword.operations.report_operations import request_of

    words = [str(stored.report["recipe"])]
    words += [f"{field} {value}" for field, value in request_of(stored.report).items()]
    return ", ".join(words)


def _comparison_lines(comparison: ReportComparison) -> list[str]:
    """A row for each section, those that changed most first, and one for all."""
    names = ["section", *(section.tag for section in comparison.sections)]
    width = min(LONGEST_NAME, max(map(len, names)))
    largest = comparison.largest_change
    rows = [_row(section, width, largest) for section in comparison.sections]
    head = f"{'section':<{width}}  {'before':>9} {'after':>9} {'change':>9}"
    return [head, *rows, _row(comparison.total, width, 0), *comparison.notes]


def _row(one: SectionDifference, width: int, largest: int) -> str:
    """One section; without a bar where there is no largest change to measure it by."""
    drawn = f"  {one.word:<8}  {bar(abs(one.change) / largest, BAR)}" if largest else ""
    return (
        f"{cut_to(one.tag, width):<{width}}  {one.before:>9,} {one.after:>9,}"
        f" {one.change:>+9,}{drawn}".rstrip()
    )
