"""`foreword session recall`: what was said about a question, from all that is kept of a session."""

from __future__ import annotations

import click

from foreword.faces.cli import screen
from foreword.faces.cli.assemble import PACKAGE_FORMAT, show_package
from foreword.faces.cli.command_input import existing_session
from foreword.faces.cli.options import QUIET, store_options


@click.command()
@click.argument("name")
@click.argument("question", nargs=-1, required=True)
@click.option("--budget", metavar="N", help="The most tokens the answer may have.  [default: 1500]")
@PACKAGE_FORMAT
@QUIET
@store_options
def recall(
    name: str,
    question: tuple[str, ...],
    budget: str | None,
    form: str,
    quiet: bool,
    db: str | None,
    root: str,
) -> None:
    """Say what was said about a question.

    From the whole session, whatever was summed up since: word for word, in the order it was said,
    with the numbers and dates of the messages. What lies between is marked, and every mark has a
    handle that `foreword recall` takes.

    \b
    Examples:
      foreword session recall demo "why did we drop the retry loop"
      foreword session recall demo which port does the server use --budget 600 --format json
    """
    with existing_session(db, root, name) as session:
        waiting = session.waiting_messages()
        with screen.progress(f"indexing {waiting:,} messages", waiting) as advance:
            package = session.recall(" ".join(question), budget, progress=advance)
    show_package(package, form, quiet=quiet)
