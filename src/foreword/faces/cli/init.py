"""`foreword init`: what a project and its coding agent need, shown before it is written.

Which files those are and what is in them is `coding_agents.targets`' business.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.coding_agents.agents import AGENTS, DEFAULT
from foreword.engine.report_table import printable
from foreword.errors import UsageError
from foreword.extras import install_command
from foreword.faces.cli import screen
from foreword.faces.cli.options import ROOT, WordChoice, json_option
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.coding_agents.file_writer import FileChange

KINDS = tuple(AGENTS)
COMMAND = "foreword"
STATES = {"new": "new", "add": "added to", "same": "as it is", "other": "in the way"}


@click.command()
@ROOT
@click.option(
    "--for",
    "agents",
    type=WordChoice(KINDS),
    multiple=True,
    default=(DEFAULT,),
    show_default=True,
    help="Which coding agent; repeatable.",
)
@click.option(
    "--yes", is_flag=True, help="Write without asking; a file that is in the way stays as it is."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@json_option("The files and what becomes of each, for programs.")
def init(root: str, agents: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool) -> None:
    """Set a project up for a coding agent.

    Writes a recipe to start from, registers `foreword mcp`, and sets the hooks that the agent has:
    for Claude Code also a skill and a status line. Everything is shown first. What is in your files
    stays: settings are added to them, and a file that is in the way is replaced only if you say so.
    Running it again changes nothing. Where `foreword` is not on your PATH, its own path is written.

    \b
    Examples:
      foreword init
      foreword init --for cursor --for agents-md --dry-run
      foreword init --for codex --yes
    """
    from foreword.coding_agents import file_writer, targets
    from foreword.sources.project_root import project_root

    folder = project_root(root)
    if find_spec("mcp") is None:
        screen.warn(f"the agent's MCP server needs the extra 'mcp': {install_command('mcp')}")
    changes = file_writer.changes(folder, targets.target_files(agents, _command()))
    if as_json:
        screen.show_json([{"path": change.path, "state": change.state} for change in changes])
    else:
        for change in changes:
            _show_change(change)
    pending = [change for change in changes if change.state != "same"]
    if not pending:
        screen.say("everything is there already; nothing to do")
    elif dry_run:
        screen.say("nothing was written")
    else:
        _write(folder, _changes_to_make(pending, yes))


def _command() -> str:
    """How the agent's files start Foreword: by its name, or by its path where the name leads
    nowhere; then the user is told."""
    if shutil.which(COMMAND):
        return COMMAND
    path = str(Path(sys.executable).with_name(COMMAND))
    screen.warn(f"{COMMAND} is not on your PATH, where the agent would look: the files name {path}")
    return path


def _show_change(change: FileChange) -> None:
    click.echo(f"{STATES[change.state]}: {printable(change.path)}")
    for line in change.preview():
        click.echo(printable(f"  {line}"))
    for setting in change.user_settings:
        screen.warn(f"{change.path} has its own {setting}, which stays as it is")


def _changes_to_make(pending: Sequence[FileChange], yes: bool) -> list[FileChange]:
    """All that only add, and of the files in the way those that the user gives up."""
    in_the_way = [change for change in pending if change.state == "other"]
    adding = [change for change in pending if change.state != "other"]
    if yes:
        for change in in_the_way:
            screen.warn(f"{change.path} is not as Foreword writes it, and stays as it is")
        return adding
    if not screen.is_terminal(sys.stdin):
        raise UsageError(
            "nobody is here to say yes, so nothing was written",
            hint="--yes writes, --dry-run only shows",
        )
    accepted = []
    if adding and click.confirm("write this?", err=True):
        accepted += adding
    for change in in_the_way:
        if click.confirm(f"replace {printable(change.path)}?", err=True):
            accepted.append(change)
    return accepted


def _write(folder: Path, changes: Sequence[FileChange]) -> None:
    from foreword.coding_agents import file_writer

    for change in changes:
        file_writer.write_file(folder, change)
    screen.say(f"{quantity(len(changes), 'file')} written in {folder}")
