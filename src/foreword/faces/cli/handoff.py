"""`foreword handoff`: the work of one agent's session, packed for another agent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.coding_agents import agents
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.options import DB, ROOT, WordChoice, json_option
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.transcripts.places import SessionPlace

# By the command that starts each.
AGENTS = {agent.start[0]: agent for agent in agents.AGENTS.values() if agent.start}
# Enough for what is wanted, decided and open in a long session, and a small part of the window of
# the agent that reads it.
BUDGET_TOKENS = 4_000
MOST_TRIED = 20  # of an agent's newest sessions: those of other folders are passed over


@click.command()
@click.option(
    "--from",
    "source",
    metavar="AGENT|FILE",
    required=True,
    help="Whose newest session of this project, or which file: claude, codex, opencode, gemini.",
)
@click.option("--to", type=WordChoice(tuple(AGENTS)), required=True, help="Who goes on with it.")
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(1),
    default=BUDGET_TOKENS,
    show_default=True,
    help="The most tokens, by o200k.",
)
@DB
@ROOT
@json_option("The text in an object, with its handle.")
@click.option("--start", is_flag=True, help="Start the agent with it instead of printing it.")
def handoff(
    source: str, to: str, budget: int, db: str | None, root: str, as_json: bool, start: bool
) -> None:
    """Hand the work of one agent's session to another.

    Prints where the work stands: what is wanted and was asked last, what is open, what was decided
    and learnt, commands, files with what was done to them, and the names in play, inside the
    budget. The whole conversation is kept in the project's store, under the handle that the text
    names. The words are the conversation's own; no model is asked, and secrets are hidden.

    \b
    Examples:
      foreword handoff --from claude --to codex
      foreword handoff --from session.jsonl --to claude --budget 2000 > handoff.md
      foreword handoff --from codex --to claude --start
    """
    from foreword.coding_agents.handoff import make_handoff
    from foreword.sources.project_root import project_root
    from foreword.transcripts.reader import UNREADABLE

    folder = project_root(root)
    place = _place(source, folder)
    with place.open() as session:
        if session is None:
            raise UsageError(
                f"{place.path} is no session of a coding agent that is known",
                hint="--from takes a session file of Claude Code, Codex, opencode or Gemini CLI",
            )
        package = make_handoff(session, budget, folder, db)
        unreadable = session.skipped[UNREADABLE]
    screen.say(
        f"{quantity(package.messages, 'message')} of {package.agent} for {to}:"
        f" {package.tokens:,} of {budget:,} tokens; the conversation is {package.handle}"
    )
    if unreadable:
        screen.say(f"left out: {quantity(unreadable, 'line')} that can't be read")
    if start:
        sys.exit(_start(to, package.text, folder))
    if as_json:
        screen.show_json(asdict(package))
    else:
        screen.show(package.text, nl=False)


def _place(source: str, folder: Path) -> SessionPlace:
    from foreword.transcripts.places import places_below

    if source not in AGENTS:
        path = Path(source)
        if not path.is_file():
            known = ", ".join(AGENTS)
            raise UsageError(
                f"{source!r} is no agent and no file", hint=f"--from takes {known}, or a file"
            )
        places = places_below(path)
    else:
        places = agents.places_on_machine(AGENTS[source].name)
    if not places:
        raise UsageError(f"no session of {source} on this machine", hint="name a file: --from FILE")
    return places[-1] if source not in AGENTS else _newest_of(folder, places, source)


def _newest_of(folder: Path, places: Sequence[SessionPlace], agent: str) -> SessionPlace:
    """The newest session that was about this folder, else the newest that does not say."""
    newest = places[: -MOST_TRIED - 1 : -1]
    folders = [_folder_of(place) for place in newest]
    for wanted in (folder, None):
        if wanted in folders:
            return newest[folders.index(wanted)]
    raise UsageError(
        f"none of the newest sessions of {agent} is of {folder}: the last is of {folders[0]}",
        hint="name that folder with --root, or a file: --from FILE",
    )


def _folder_of(place: SessionPlace) -> Path | None:
    """The folder that a session was about, where its first lines tell."""
    from foreword.transcripts.events import SessionHead

    with place.open() as session:
        for event in session.events if session is not None else ():
            if isinstance(event, SessionHead):
                return Path(event.folder).resolve() if event.folder else None
    return None


def _start(agent: str, text: str, folder: Path) -> int:
    program, *options = AGENTS[agent].start
    found = shutil.which(program)
    if found is None:
        raise UsageError(f"{program} is not on your PATH", hint="without --start it is printed")
    return subprocess.run([found, *options, text], cwd=folder, check=False).returncode
