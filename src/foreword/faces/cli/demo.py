"""`foreword demo`: the main job on a built-in sample, with no key and no network.

First recipes (`demo_recipes`), then a conversation that grows past its limits, and the page on it.
Everything goes through `Session` and the server, as it does for everyone; the store is in a
temporary folder.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.errors import UsageError
from foreword.extras import extra
from foreword.faces.cli import screen
from foreword.faces.cli.options import port_option

if TYPE_CHECKING:
    from foreword.demos.invoice_conversation import Step
    from foreword.session.session import Session

# So many that the conversation passes the warning once and is compressed once; a test says so.
TURNS = 320
MODEL = "claude-sonnet-5-5"
COUNTER = "o200k"
RECIPE = "workflow-cached"

INTRO = """\
Now a conversation that lasts. An agent builds a workflow that copies invoices from a mailbox into \
a table; {turns} of its turns are played into a session, one after the other. Every call has six \
parts (system prompt, plan, workflow, variables, browser, history), always fresh, always inside \
the budget."""

DONE = """\
{messages:,} messages in the store, {size:,} tokens in the next call. {reuse:.0%} of each call \
could come from a prompt cache. The password that was set on the way is in none of them."""


@click.command()
@click.option(
    "--sample",
    type=click.Choice(["kilnbook", "factory"]),
    default="kilnbook",
    show_default=True,
    help=(
        "A planned project with its notes and a conversation, or one with personas, panels and"
        " workflows."
    ),
)
@click.option(
    "--keep",
    metavar="DIR",
    help="Lay the sample out in this new or empty folder, and leave it there.",
)
@click.option(
    "--once",
    is_flag=True,
    envvar="FOREWORD_ONCE",
    show_envvar=True,
    help="End before the page is served.",
)
@port_option("Of the page; 0 picks a free one.")
def demo(sample: str, keep: str | None, once: bool, port: int) -> None:
    """Show recipes, a session and the page at work.

    Recipes on a sample at a roomy and at a tight budget; then a conversation that grows past its
    limits, and, in a terminal, the page that shows it, until ctrl-C. With --keep the sample stays,
    to try commands on, and nothing is served.

    \b
    Examples:
      foreword demo
      foreword demo --once
      foreword demo --keep sample
      foreword demo --sample factory --keep tidepool
    """
    from foreword.demos.samples import KILNBOOK
    from foreword.faces.cli import demo_recipes

    if keep is not None and not _is_free(Path(keep)):
        raise UsageError(
            f"{keep} is not an empty folder", hint="name a folder that does not exist yet"
        )
    folder = None if keep is None else Path(keep)
    has_session = keep is None and sample == KILNBOOK
    # Whoever reads a pipe waits for the end of it: there is nobody to press ctrl-C.
    has_page = has_session and not once and sys.stdout.isatty()
    demo_recipes.run(
        click.echo,
        screen.columns(sys.stdout),
        keep=folder,
        sample=sample,
        then=_show_session if has_session else None,
        last=partial(_serve, port=port) if has_page else None,
    )


def _show_session(root: Path) -> None:
    """A conversation grows past its limits."""
    from foreword.faces.cli import demo_recipes

    width = min(screen.columns(sys.stdout), demo_recipes.WIDTH)
    click.echo("\n" + " 4. a session ".center(width, "─"))
    for line in play_session(root):
        click.echo("\n" + demo_recipes.prose(line, width))


def play_session(root: Path) -> Iterator[str]:
    """Play the conversation into a session of the root's store; yields what there is to say, as
    it happens."""
    from foreword.demos.invoice_conversation import WORKFLOW, conversation
    from foreword.session.session import Session

    yield INTRO.format(turns=TURNS)
    # a model has a price; its counter would have a margin, and the story is told in plain counts
    with Session.open(
        None, WORKFLOW, root=root, recipe=RECIPE, model=MODEL, counter=COUNTER
    ) as session:
        with screen.progress("playing", TURNS) as advance:
            for turn, step in enumerate(conversation(TURNS), 1):
                for warning in _play_turn(session, step):
                    yield f"Turn {turn}: {warning}."
                advance(turn)
        usage = session.usage()
    yield DONE.format(
        messages=usage["messages"], size=usage["size_tokens"], reuse=usage["reuse"] or 0.0
    )


def _play_turn(session: Session, step: Step) -> list[str]:
    """One turn, and what Foreword warns of on the way."""
    warnings: list[str] = []
    for message in step.messages:
        warnings += session.append(message).warnings
    if step.plan is not None:
        plan, reason = step.plan
        session.update_plan(plan, reason)
    for name, value in step.variables.items():
        session.set_variable(name, value, "found on the way")
    if step.node is not None:
        session.put_node(step.node)
    session.context()
    return warnings


def _serve(root: Path, port: int) -> None:
    """The page on that conversation, until ctrl-C."""
    try:
        with extra("serve"):
            from foreword.faces.http import http_server
            from foreword.faces.serving.app_state import Settings
    except UsageError as missing:
        screen.say(f"the page is not shown: {missing.message}; {missing.hint}")
        return
    listening = http_server.listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    ready = f"\nThe page on that conversation, until ctrl-C:\n\n  {address}\n"
    http_server.run(Settings(root=root, recipe=RECIPE), listening, lambda: click.echo(ready))


def _is_free(folder: Path) -> bool:
    """Whether it is an empty folder, or a name that nothing has; a broken link has it."""
    if folder.exists():
        return folder.is_dir() and not any(folder.iterdir())
    return not folder.is_symlink()
