"""`foreword session`: conversations that last. Here those that make and list them; the others
have their modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from foreword.engine.table import bar, printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.file_argument import read_text
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import store_options

if TYPE_CHECKING:
    from foreword.store.workflows import WorkflowEntry

MODULES = {
    "new": "session",
    "list": "session",
    "append": "session_messages",
    "import": "session_messages",
    "context": "session_context",
    "usage": "session_context",
    "compress": "session_compress",
    "expand": "session_compress",
    "undo": "session_compress",
}
BAR = 12


@click.group(cls=Commands, modules=MODULES)
def session() -> None:
    """Keep a conversation, and make the context of its next call.

    A session is the conversation of a workflow, beside its plan and its variables.

    \b
    Examples:
      foreword session import talk.jsonl --workflow demo
      foreword session context demo --format anthropic
      foreword session usage demo
    """


@click.command()
@click.argument("name")
@click.option("--system-prompt", metavar="FILE|-", help="The system prompt to begin with.")
@store_options
def new(name: str, system_prompt: str | None, db: str | None, root: str) -> None:
    """Begin a session.

    \b
    Examples:
      foreword session new demo
      foreword session new demo --system-prompt prompt.md
    """
    from foreword.faces.cli.workflow_argument import say_if_new
    from foreword.session.session import Session
    from foreword.session.workflow_state import WorkflowState
    from foreword.store import messages

    prompt = None if system_prompt is None else read_text(system_prompt)
    with WorkflowState.open(db, name, root=root) as state:
        say_if_new(state)
        if messages.find(state.db, state.workflow.id, "main") is not None:
            raise UsageError(
                f"there is a session {name!r} already",
                hint=f"`foreword session append {name}` adds to it",
            )
    with Session.open(db, name, root=root) as made:
        if prompt is not None:
            made.system_prompt = prompt
    screen.say(f"began session {name!r}")


@click.command("list")
@store_options
def list_sessions(db: str | None, root: str) -> None:
    """List the sessions, the newest first.

    The tokens are those of all that was said; beside them, what is left of it now that older
    messages are summed up.

    \b
    Examples:
      foreword session list
      foreword session list --db postgresql://me@localhost/agents
    """
    from foreword.sources.project_root import project_root
    from foreword.store.urls import open_database
    from foreword.store.workflows import list_workflows

    store = open_database(db, project_root(root), create=False)
    try:
        found = list_workflows(store)[::-1]
    finally:
        store.close()
    if not found:
        screen.say(f"no sessions yet in {store.name}")
        return
    width = max(len("name"), *(len(one.name) for one in found))
    largest = max(1, *(one.tokens for one in found))
    sizes = f"{'messages':>8} {'tokens':>12} {'now':>9}  {'':<{BAR}}"
    click.echo(f"{'name':<{width}}  {sizes} {'plan':>5} {'variables':>9}  made (UTC)", err=True)
    for one in found:
        click.echo(printable(_line(one, width, largest)))


def _line(one: WorkflowEntry, width: int, largest: int) -> str:
    size = (
        f"{one.messages:>8,} {one.tokens:>12,} {one.now_tokens:>9,} "
        f" {bar(one.tokens / largest, BAR)}"
    )
    plan = f"v{one.plan_version}" if one.plan_version else "-"
    return f"{one.name:<{width}}  {size} {plan:>5} {one.variables:>9,}  {one.created[:19]}"
