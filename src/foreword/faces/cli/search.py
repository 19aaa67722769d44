"""`foreword search`: what was said and written about a question, in everything there is here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.options import QUIET, json_option, store_options

if TYPE_CHECKING:
    from foreword.search.hit import Hit
    from foreword.search.search import SearchAnswer


@click.command()
@click.argument("question")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--budget", metavar="N", help="The most tokens the answer may have.  [default: 1500]")
@json_option("Hits, text and report as JSON, for programs.", short=True)
@QUIET
@store_options
def search(
    question: str,
    paths: tuple[Path, ...],
    budget: str | None,
    as_json: bool,
    quiet: bool,
    db: str | None,
    root: str,
) -> None:
    """Find what was said and written about a question.

    Looks into the sessions, documents and artifacts of this project, and into the sessions
    that Claude Code, Codex, opencode and Gemini CLI have left on this machine; with PATHS, only
    into the sessions of coding agents that are there. The first search takes in what there is,
    later ones what is new. Each hit says where it is from, with a handle that `foreword recall`
    takes. Nothing leaves this machine, and secrets are hidden.

    \b
    Examples:
      foreword search "why did we drop the retry loop"
      foreword search "which port does the server use" --budget 600 --json
      foreword search "flaky test" ~/.claude/projects
    """
    found = _search_paths(question, paths, budget) if paths else _search(question, budget, db, root)
    if as_json:
        screen.show_json(_as_data(question, found))
    else:
        screen.show(found.package.text, nl=False)
    if not quiet:
        screen.show_report(found.package.report)


def _search_paths(question: str, paths: Sequence[Path], budget: str | None) -> SearchAnswer:
    from foreword.search.search import search as search_for
    from foreword.transcripts.places import places_in

    places = places_in(paths)
    if not places:
        raise UsageError(
            "no session of a coding agent here", hint="give files or folders that have some"
        )
    return search_for(question, db=None, sessions=places, budget=budget, bar=screen.progress)


def _search(question: str, budget: str | None, db: str | None, root: str) -> SearchAnswer:
    from foreword.coding_agents.agents import places_on_machine
    from foreword.search.search import search as search_for
    from foreword.sources.project_root import project_root
    from foreword.store.urls import open_database

    folder = project_root(root)
    with closing(open_database(db, folder)) as store:
        return search_for(
            question,
            db=store,
            root=folder,
            sessions=places_on_machine(),
            budget=budget,
            bar=screen.progress,
        )


def _hit_as_data(hit: Hit) -> dict[str, Any]:
    return {
        "kind": hit.kind,
        "where": hit.where,
        "date": hit.date,
        "handle": hit.handle,
        "score": hit.score,
        "text": hit.text,
    }


def _as_data(question: str, found: SearchAnswer) -> dict[str, Any]:
    return {
        "question": question,
        "hits": [_hit_as_data(hit) for hit in found.hits],
        "text": found.package.text,
        "report": found.package.report.to_dict(),
    }
