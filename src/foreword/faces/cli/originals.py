"""`foreword recall` and `foreword report`: what the store kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from foreword.errors import UsageError
from foreword.runtime.assembly import project_root
from foreword.store.places import store_path
from foreword.store.sqlite import Store
from foreword.store.sqlite import recall as recall_bytes


@click.command()
@click.argument("handle")
@click.option("--root", metavar="DIR", default=".", show_default=True, help="Where to look first.")
def recall(handle: str, root: str) -> None:
    """Print the original of something that was cut, byte for byte.

    \b
    Example:
      foreword recall fw_3f9c01d7ab52e8
    """
    sys.stdout.buffer.write(recall_bytes(handle, Path(root)))
    sys.stdout.buffer.flush()


@click.group()
def report() -> None:
    """Reports of earlier contexts, kept in the project's store."""


@report.command("list")
@click.option("--root", metavar="DIR", default=".", show_default=True)
@click.option("--last", metavar="N", default=20, show_default=True, help="How many, the newest first.")
def list_reports(root: str, last: int) -> None:
    """One line for each context that was assembled: when, what, tokens of budget, status."""
    store = Store(store_path(project_root(root))[0])
    try:
        for kept in store.reports(last):
            asked = " ".join(
                str(kept.report[kind]) for kind in ("agent", "skill", "purpose", "phase") if kind in kept.report
            )
            size = f"{kept.report['total_tokens']:>9,} of {kept.report['budget_tokens']:>9,}"
            when, what = kept.created[:19], f"{kept.report['recipe']:<10} {asked:<16}"
            click.echo(f"{kept.number:>5}  {when}  {what} {size}  {kept.report['status']}")
    finally:
        store.close()


@report.command("show")
@click.argument("number", type=int)
@click.option("--root", metavar="DIR", default=".", show_default=True)
def show_report(number: int, root: str) -> None:
    """One report as JSON."""
    store = Store(store_path(project_root(root))[0])
    try:
        kept = store.report(number)
    finally:
        store.close()
    if kept is None:
        raise UsageError(f"there is no report {number}", hint="`foreword report list` shows those there are")
    click.echo(
        json.dumps({"number": kept.number, "created": kept.created, **kept.report}, ensure_ascii=False, indent=2)
    )
