"""`foreword session`: conversations that last.

Here the group, and the commands that make a session, list them and print the context of the next
call. `MODULES` says where the others are. What a session does is `foreword.session`'s business.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import bar
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.assemble import PACKAGE_FORMAT, show_package
from foreword.faces.cli.command_input import read_text, say_if_new
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import QUIET, json_option, store_options
from foreword.tokens import COUNTERS

if TYPE_CHECKING:
    from foreword.operations.workflow_list import WorkflowEntry
    from foreword.session.session import Session

MODULES = {
    "new": "session",
    "list": "session",
    "append": "session_messages",
    "import": "session_messages",
    "context": "session",
    "why": "session_pins",
    "cut": "session_pins",
    "pin": "session_pins",
    "unpin": "session_pins",
    "recall": "session_recall",
    "usage": "session_usage",
    "compress": "session_compress",
    "expand": "session_compress",
    "undo": "session_compress",
}
BAR = 12  # columns


@click.group(cls=Commands, modules=MODULES)
def session() -> None:
    """Keep a conversation, and make the context of its next call.

    A session is the conversation of a workflow, beside its plan and its variables.

    \b
    Examples:
      foreword session import demo talk.jsonl
      foreword session context demo --format anthropic
      foreword session recall demo "why did we drop the retry loop"
      foreword session usage demo
    """


@click.command()
@click.argument("name")
@click.option("--system-prompt", metavar="FILE|-", help="The system prompt to begin with.")
@json_option()
@store_options
def new(name: str, system_prompt: str | None, as_json: bool, db: str | None, root: str) -> None:
    """Begin a session.

    \b
    Examples:
      foreword session new demo
      foreword session new demo --system-prompt prompt.md
    """
    from foreword.operations import conversation_operations
    from foreword.session.session import Session
    from foreword.session.workflow_state import WorkflowState

    prompt = None if system_prompt is None else read_text(system_prompt)
    with WorkflowState.open(db, name, root=root) as state:
        say_if_new(state)
        if conversation_operations.MAIN in conversation_operations.names(state):
            raise UsageError(
                f"there is a session {name!r} already",
                hint=f"`foreword session append {quote(name)}` adds to it",
            )
    with Session.open(db, name, root=root) as made:
        if prompt is not None:
            made.system_prompt = prompt
    screen.say(f"began session {name!r}")
    if as_json:
        screen.show_json({"name": name})


@click.command("list")
@json_option()
@store_options
def list_sessions(as_json: bool, db: str | None, root: str) -> None:
    """List the sessions, the newest first.

    The tokens are those of all that was said; beside them, what is left of it now that older
    messages are summed up.

    \b
    Examples:
      foreword session list
      foreword session list --db postgresql://me@localhost/agents
    """
    from foreword.operations.workflow_list import sessions_by_age
    from foreword.sources.project_root import project_root
    from foreword.store.urls import open_database

    with closing(open_database(db, project_root(root), create=False)) as store:
        found = sessions_by_age(store)
    if not found:
        screen.say(f"no sessions yet in {store.name}")
    if as_json:
        screen.show_json([asdict(one) for one in found])
        return
    if found:
        _show_sessions(found)


def _show_sessions(found: list[WorkflowEntry]) -> None:
    width = len("name")
    largest = 1
    for one in found:
        width = max(width, len(one.name))
        largest = max(largest, one.tokens)
    sizes = f"{'messages':>8} {'tokens':>12} {'now':>9}  {'':<{BAR}}"
    click.echo(f"{'name':<{width}}  {sizes} {'plan':>5} {'variables':>9}  made (UTC)", err=True)
    screen.show_lines(_session_line(one, width, largest) for one in found)


def _session_line(one: WorkflowEntry, width: int, largest: int) -> str:
    drawn = bar(one.tokens / largest, BAR)
    size = f"{one.messages:>8,} {one.tokens:>12,} {one.now_tokens:>9,}  {drawn}"
    plan = f"v{one.plan_version}" if one.plan_version else "-"
    return f"{one.name:<{width}}  {size} {plan:>5} {one.variables:>9,}  {one.created[:19]}"


@click.command()
@click.argument("name")
@click.option(
    "--recipe",
    metavar="NAME|PATH",
    help="chat, workflow, workflow-cached, or your own with a conversation in it; kept from then"
    " on.  [default: as before; else chat, and workflow-cached from the first plan, variable, node"
    " or tab on]",
)
@PACKAGE_FORMAT
@click.option(
    "--budget",
    metavar="N",
    help="The most tokens the context may have; other than the session's own, it is a preview.",
)
@click.option("--keep", is_flag=True, help="Make --budget the session's own from now on.")
@click.option(
    "--window", metavar="N", help="The model's window in tokens; limits are shares of it."
)
@click.option(
    "--model",
    metavar="NAME",
    help="Picks window, counter and margin, as in gpt-5 or claude-sonnet-5-5.",
)
@click.option(
    "--counter",
    metavar="|".join(COUNTERS),
    help="How tokens are counted; kept from then on.  [default: as before, at first o200k]",
)
@QUIET
@click.option(
    "--no-save",
    is_flag=True,
    help="Compress nothing, and leave no report and no line in the usage log.",
)
@store_options
def context(
    name: str,
    recipe: str | None,
    form: str,
    budget: str | None,
    keep: bool,
    window: str | None,
    model: str | None,
    counter: str | None,
    quiet: bool,
    no_save: bool,
    db: str | None,
    root: str,
) -> None:
    """Print the context of the next call.

    System prompt and history within the budget, and from the first plan, variable, node or tab on
    plan, snapshot, variables and browser, too. The text goes to stdout, the report to stderr. The
    call is recorded, and the history compressed where it has to be, unless --no-save or a --budget
    other than the session's own makes it a preview.

    \b
    Examples:
      foreword session context demo
      foreword session context demo --format anthropic --model claude-sonnet-5-5
      foreword session context demo --budget 8000
      foreword session context demo --budget 50000 --keep
    """
    from foreword.session.session import Session

    with screen.patience(f"opening {name}"):
        session = Session.open(
            db,
            name,
            root=root,
            create=False,
            recipe=recipe,
            window=window,
            model=model,
            counter=counter,
        )
    preview = "" if keep else session.preview_note(budget)
    with session, screen.patience(_wait_line(session, no_save or bool(preview))):
        package = session.context(budget=budget, keep=keep, save=not no_save)
    show_package(package, form, quiet=quiet)
    if quiet and preview and not no_save:
        screen.warn(preview)


def _wait_line(session: Session, is_preview: bool) -> str:
    """What a person may have to wait for."""
    name = session.workflow.name
    size = session.size_tokens()
    if is_preview or size <= session.limits.compress_at:
        return f"making the context of {name}"
    return f"compressing the history of {name}, {size:,} tokens"
