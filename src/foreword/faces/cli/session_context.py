"""`foreword session context` and `foreword session usage`: the next call, and what the calls so
far have cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from foreword.faces.cli import progress, screen
from foreword.faces.cli.assemble import FORMATS, format_package
from foreword.faces.cli.options import AT_LEAST_ONE, store_options
from foreword.tokens import COUNTERS

if TYPE_CHECKING:
    from foreword.session.session import Session


@click.command()
@click.argument("name")
@click.option(
    "--recipe",
    metavar="NAME|PATH",
    default="workflow",
    show_default=True,
    help="workflow, workflow-cached, or your own with a conversation in it.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="xml",
    show_default=True,
    help="What goes to stdout.",
)
@click.option("--budget", metavar="N", help="The most tokens the context may have.")
@click.option(
    "--window", metavar="N", help="The model's window in tokens; limits are shares of it."
)
@click.option(
    "--model",
    metavar="NAME",
    help="Picks window, counter and margin, as in gpt-4o or claude-sonnet-4.",
)
@click.option(
    "--counter",
    metavar="|".join(COUNTERS),
    help="How tokens are counted; kept from then on.  [default: as before, at first o200k]",
)
@click.option("--quiet", "-q", is_flag=True, help="No report on stderr.")
@click.option(
    "--no-save",
    is_flag=True,
    help="Compress nothing, and leave no report and no line in the usage log.",
)
@store_options
def context(
    name: str,
    recipe: str,
    form: str,
    budget: str | None,
    window: str | None,
    model: str | None,
    counter: str | None,
    quiet: bool,
    no_save: bool,
    db: str | None,
    root: str,
) -> None:
    """Print the context of the next call.

    Six parts within the budget: system prompt, plan, snapshot, variables, browser and history. The
    text goes to stdout, the report to stderr.

    \b
    Examples:
      foreword session context demo
      foreword session context demo --format anthropic --model claude-sonnet-4
      foreword session context demo --recipe workflow-cached --budget 50000 --no-save
    """
    from foreword.session.session import Session

    with progress.patience(f"opening {name}"):
        session = Session.open(
            db,
            name,
            root=root,
            create=False,
            recipe=recipe,
            budget=budget,
            window=window,
            model=model,
            counter=counter,
            auto_compress=not no_save,
        )
    with session, progress.patience(_what(session, no_save)):
        package = session.context(save=not no_save)
    screen.show(format_package(package, form), nl=False)
    if not quiet:
        screen.show_report(package.report)


def _what(session: Session, no_save: bool) -> str:
    """What a person may have to wait for."""
    name, size = session.workflow.name, session.size_tokens
    if no_save or size <= session.limits.compress_at:
        return f"making the context of {name}"
    return f"compressing the history of {name}, {size:,} tokens"


@click.command()
@click.argument("name")
@click.option(
    "--last",
    metavar="N",
    type=AT_LEAST_ONE,
    default=20,
    show_default=True,
    help="How many calls, the newest first.",
)
@click.option("--json", "as_json", is_flag=True, help="The same for programs.")
@store_options
def usage(name: str, last: int, as_json: bool, db: str | None, root: str) -> None:
    """Say how large a session is and what its calls cost.

    Its size against the limits, how much of each call a prompt cache could take from the one
    before, how much of the budget was used, and what broke the common beginning.

    \b
    Examples:
      foreword session usage demo
      foreword session usage demo --last 100 --json
    """
    from foreword.faces.cli.session_usage import draw
    from foreword.session.session import Session

    with Session.open(db, name, root=root, create=False) as session:
        used = session.usage(last)
    if as_json:
        screen.show_json(used)
    else:
        click.echo(draw(used, screen.columns(sys.stdout)))
