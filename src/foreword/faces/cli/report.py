"""`foreword report`: the reports of earlier contexts, and what changed from one to another.

What a difference is, `context.report_diff` says; here it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from foreword.context.report_diff import SectionDifference, notes, sections
from foreword.engine.table import bar, cut_to, printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import AT_LEAST_ONE, store_options

if TYPE_CHECKING:
    from foreword.store.project_stores import ProjectStores
    from foreword.store.reports import StoredReport

BAR = 12  # columns
LONGEST_NAME = 40  # columns of a section's tag
REQUEST_FIELDS = ("agent", "skill", "purpose", "phase", "workflow")


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
@click.option(
    "--last",
    metavar="N",
    type=AT_LEAST_ONE,
    default=20,
    show_default=True,
    help="How many, the newest first.",
)
@store_options
def list_reports(last: int, db: str | None, root: str) -> None:
    """List earlier contexts, the newest first.

    \b
    Example:
      foreword report list --last 5
    """
    with _store(db, root) as store:
        reports = store.reports(last) if store else []
    if not reports:
        screen.say(f"no reports yet in {_place(db, root)}")
        return
    heading = (
        f"{'no.':>5}  {'when (UTC)':<19}  {'recipe':<15} {'for':<16} {'tokens':>9} of {'budget':>9}"
        "  status"
    )
    click.echo(heading, err=True)
    for stored in reports:
        click.echo(printable(_report_line(stored)))


def _report_line(stored: StoredReport) -> str:
    report = stored.report
    request = " ".join(str(report[name]) for name in REQUEST_FIELDS if name in report)
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


@contextmanager
def _store(db: str | None, root: str) -> Iterator[ProjectStores | None]:
    """What was kept, if anything: looking must not make a store."""
    from foreword.sources.project_root import project_root
    from foreword.store.project_stores import open_existing

    store = open_existing(project_root(root), db)
    try:
        yield store
    finally:
        if store is not None:
            store.close()


@report.command("show")
@click.argument("number", type=int)
@store_options
def show_report(number: int, db: str | None, root: str) -> None:
    """Print one report as JSON.

    \b
    Example:
      foreword report show 12
    """
    with _store(db, root) as store:
        stored = _existing_report(store, number)
    screen.show_json({"number": stored.number, "created": stored.created, **stored.report})


def _existing_report(store: ProjectStores | None, number: int) -> StoredReport:
    stored = store.report(number) if store else None
    if stored is None:
        raise UsageError(
            f"there is no report {number}", hint="`foreword report list` shows those there are"
        )
    return stored


@report.command("diff")
@click.argument("old", type=int)
@click.argument("new", type=int)
@store_options
def diff_reports(old: int, new: int, db: str | None, root: str) -> None:
    """Say which sections grew, shrank, appeared or went.

    \b
    Example:
      foreword report diff 11 12
    """
    with _store(db, root) as store:
        before = _existing_report(store, old)
        after = _existing_report(store, new)
    screen.say(f"report {old} ({_request(before)}) -> {new} ({_request(after)})")
    for line in _difference_lines(before.report, after.report):
        click.echo(printable(line))


def _request(stored: StoredReport) -> str:
    """What the context was asked for."""
    report = stored.report
    fields = [f"{name} {report[name]}" for name in REQUEST_FIELDS if name in report]
    return ", ".join([str(report["recipe"]), *fields])


def _difference_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A row for each section, those that changed most first, and one for all."""
    differences = sections(before, after)
    largest = 1
    width = len("section")
    for one in differences:
        largest = max(largest, abs(one.change))
        width = max(width, len(one.tag))
    width = min(LONGEST_NAME, width)
    rows = [_row(one, width, largest) for one in differences]
    head = f"{'section':<{width}}  {'before':>9} {'after':>9} {'change':>9}"
    total = SectionDifference("total", before["total_tokens"], after["total_tokens"])
    return [head, *rows, _row(total, width, 0), *notes(before, after)]


def _row(one: SectionDifference, width: int, largest: int) -> str:
    drawn = f"  {one.word:<8}  {bar(abs(one.change) / largest, BAR)}" if largest else ""
    return (
        f"{cut_to(one.tag, width):<{width}}  {one.before:>9,} {one.after:>9,}"
        f" {one.change:>+9,}{drawn}".rstrip()
    )
