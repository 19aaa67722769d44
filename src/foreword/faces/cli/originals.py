"""`foreword recall` and `foreword report`: what the store kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from foreword.engine.table import printable
from foreword.errors import UsageError
from foreword.runtime.assembly import project_root
from foreword.store.sqlite import Kept, Stored, open_existing
from foreword.store.sqlite import recall as recall_bytes


@click.command()
@click.argument("handle")
@click.option("--root", metavar="DIR", default=".", show_default=True, help="Where to look first.")
def recall(handle: str, root: str) -> None:
    """Print the original of something that was cut.

    Byte for byte, in this project or any other of yours.

    \b
    Example:
      foreword recall fw_3f9c01d7ab52e8
    """
    sys.stdout.buffer.write(recall_bytes(handle, Path(root)))
    sys.stdout.buffer.flush()


@click.group()
def report() -> None:
    """Look at reports of earlier contexts.

    They are kept in the project's store."""


@report.command("list")
@click.option("--root", metavar="DIR", default=".", show_default=True)
@click.option("--last", metavar="N", default=20, show_default=True, help="How many, the newest first.")
def list_reports(root: str, last: int) -> None:
    """List earlier contexts, the newest first."""
    with _store(root) as store:
        kept = store.reports(last) if store else []
    if not kept:
        click.echo(f"no reports yet in {printable(str(project_root(root)))}", err=True)
        return
    heading = f"{'no.':>5}  {'when (UTC)':<19}  {'recipe':<10} {'for':<16} {'tokens':>9} of {'budget':>9}  status"
    click.echo(heading, err=True)
    for report in kept:
        click.echo(printable(_line(report)))


def _line(kept: Stored) -> str:
    asked = " ".join(str(kept.report[kind]) for kind in ("agent", "skill", "purpose", "phase") if kind in kept.report)
    size = f"{kept.report['total_tokens']:>9,} of {kept.report['budget_tokens']:>9,}"
    when, what = kept.created[:19], f"{kept.report['recipe']:<10} {asked:<16}"
    return f"{kept.number:>5}  {when}  {what} {size}  {kept.report.get('status', '')}"


@contextmanager
def _store(root: str) -> Iterator[Kept | None]:
    """What the project has kept, if anything: looking must not make a store."""
    kept = open_existing(project_root(root))
    try:
        yield kept
    finally:
        if kept is not None:
            kept.close()


@report.command("show")
@click.argument("number", type=int)
@click.option("--root", metavar="DIR", default=".", show_default=True)
def show_report(number: int, root: str) -> None:
    """Print one report as JSON."""
    with _store(root) as store:
        kept = store.report(number) if store else None
    if kept is None:
        raise UsageError(f"there is no report {number}", hint="`foreword report list` shows those there are")
    click.echo(
        json.dumps({"number": kept.number, "created": kept.created, **kept.report}, ensure_ascii=False, indent=2)
    )
