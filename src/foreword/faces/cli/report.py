"""`foreword report`: the reports of earlier contexts, and what changed from one to another."""

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

BAR, LONGEST_NAME = 12, 40
ASKED = ("agent", "skill", "purpose", "phase", "workflow")


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
        kept = store.reports(last) if store else []
    if not kept:
        screen.say(f"no reports yet in {_place(db, root)}")
        return
    heading = (
        f"{'no.':>5}  {'when (UTC)':<19}  {'recipe':<15} {'for':<16} {'tokens':>9} of {'budget':>9}"
        "  status"
    )
    click.echo(heading, err=True)
    for report in kept:
        click.echo(printable(_line(report)))


def _line(kept: StoredReport) -> str:
    asked = " ".join(str(kept.report[kind]) for kind in ASKED if kind in kept.report)
    size = f"{kept.report['total_tokens']:>9,} of {kept.report['budget_tokens']:>9,}"
    when, what = kept.created[:19], f"{kept.report['recipe']:<15} {asked:<16}"
    return f"{kept.number:>5}  {when}  {what} {size}  {kept.report.get('status', '')}"


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

    kept = open_existing(project_root(root), db)
    try:
        yield kept
    finally:
        if kept is not None:
            kept.close()


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
        kept = _existing(store, number)
    screen.show_json({"number": kept.number, "created": kept.created, **kept.report})


def _existing(store: ProjectStores | None, number: int) -> StoredReport:
    kept = store.report(number) if store else None
    if kept is None:
        raise UsageError(
            f"there is no report {number}", hint="`foreword report list` shows those there are"
        )
    return kept


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
        before, after = _existing(store, old), _existing(store, new)
    screen.say(f"report {old} ({_asked(before)}) -> {new} ({_asked(after)})")
    for line in _changes(before.report, after.report):
        click.echo(printable(line))


def _asked(kept: StoredReport) -> str:
    asked = (f"{kind} {kept.report[kind]}" for kind in ASKED if kind in kept.report)
    return ", ".join([str(kept.report["recipe"]), *asked])


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A row for each section, those that changed most first, and one for all."""
    found = sections(before, after)
    largest = max([1, *(abs(one.change) for one in found)])
    width = min(LONGEST_NAME, max([len("section"), *(len(one.tag) for one in found)]))
    rows = [_row(one, width, largest) for one in found]
    head = f"{'section':<{width}}  {'before':>9} {'after':>9} {'change':>9}"
    total = SectionDifference("total", before["total_tokens"], after["total_tokens"])
    return [head, *rows, _row(total, width, 0), *notes(before, after)]


def _row(one: SectionDifference, width: int, largest: int) -> str:
    drawn = f"  {one.word:<8}  {bar(abs(one.change) / largest, BAR)}" if largest else ""
    return (
        f"{cut_to(one.tag, width):<{width}}  {one.before:>9,} {one.after:>9,}"
        f" {one.change:>+9,}{drawn}".rstrip()
    )
