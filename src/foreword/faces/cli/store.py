"""`foreword store`: where data is kept, and what a user does to a whole store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import ROOT, json_option, store_options

if TYPE_CHECKING:
    from foreword.store.locations import StoreEntry


@click.group(cls=Commands)
def store() -> None:
    """Show where data is kept, and move, adopt or prune a store.

    Each project has a store in your data directory, unless --db or FOREWORD_DB names another.

    \b
    Examples:
      foreword store list
      foreword store prune --older-than 90d
    """


@store.command("list")
@json_option()
def list_stores(as_json: bool) -> None:
    """List the stores in your data directory, each with the projects that use it.

    \b
    Example:
      foreword store list
    """
    from foreword.store import locations

    entries = locations.stores_in_use()
    if as_json:
        screen.show_json([_as_data(entry) for entry in entries])
        return
    if not entries:
        screen.say(f"no stores yet in {locations.data_directory()}")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        size = entry.path.stat().st_size
        roots = ", ".join(entry.roots) or "no project"
        screen.show(f"{entry.name:<{width}}  {size:>13,} bytes  {roots}")


def _as_data(entry: StoreEntry) -> dict[str, object]:
    return {"name": entry.name, "path": str(entry.path), "roots": list(entry.roots)}


@store.command()
@click.argument("name", metavar="STORE")
@json_option()
@ROOT
def adopt(name: str, root: str, as_json: bool) -> None:
    """Use a store for one more project, for example after its directory was moved.

    STORE is a name of `foreword store list`. Projects that use it already go on using it.

    \b
    Example:
      foreword store adopt kilns-3f9c01d7ab52e8aa --root kilns2
    """
    from foreword.sources.project_root import project_root
    from foreword.store import locations

    folder = project_root(root)
    entry = locations.adopt(folder, name)
    if as_json:
        screen.show_json(_as_data(entry))
    screen.say(f"{folder} uses {entry.name} now ({entry.path})")


@store.command()
@click.argument("file", required=False)
@json_option()
@ROOT
def move(file: str | None, root: str, as_json: bool) -> None:
    """Move a store from a project to your data directory.

    FILE is the database, else .foreword/state.db in the project. Move only a store that you trust:
    what is in it is believed from then on. Unfinished flows stay in the file beside it.

    \b
    Examples:
      foreword store move
      foreword store move state.db --root .
    """
    from foreword.sources.project_root import project_root
    from foreword.store import locations, maintenance

    folder = project_root(root)
    source = Path(file) if file else folder / maintenance.IN_PROJECT
    target = locations.state_path(folder)
    is_there = file is None and not source.exists() and locations.is_there(target)
    if not is_there:
        maintenance.move(folder, source)
    if as_json:
        screen.show_json({"path": str(target)})
    screen.say(f"nothing to move: it is in {target}" if is_there else f"moved to {target}")


@store.command()
@click.option(
    "--older-than", metavar="DAYS", required=True, help="What was kept before, for example 90d."
)
@json_option()
@store_options
def prune(older_than: str, db: str | None, root: str, as_json: bool) -> None:
    """Remove old originals and reports; prints the handles that can't be recalled any more.

    Conversations, plans, variables and artifacts stay whole. Nothing is ever removed unasked.

    \b
    Example:
      foreword store prune --older-than 90d
    """
    from foreword.sources.project_root import project_root
    from foreword.store import maintenance
    from foreword.store.urls import open_database

    number = older_than.removesuffix("d")
    if not number.isascii() or not number.isdecimal() or len(number) > len("99999"):
        raise UsageError(
            f"--older-than takes a number of days, not {older_than!r}", hint="for example 90d"
        )
    with closing(open_database(db, project_root(root), create=False)) as database:
        pruned = maintenance.prune(database, int(number))
    if as_json:
        screen.show_json({"handles": list(pruned.handles), "reports": pruned.reports})
    else:
        screen.show_lines(pruned.handles)
    screen.say(f"removed {len(pruned.handles):,} originals and {pruned.reports:,} reports")
