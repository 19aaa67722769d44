"""`foreword session compress`, `expand` and `undo`: make a history smaller, look behind the
summary, take it back. The summary is written by `foreword.session`.
"""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import bar
from foreword.errors import BadBudget
from foreword.faces.cli import screen
from foreword.faces.cli.command_input import existing_session
from foreword.faces.cli.options import form_option, json_option, store_options

if TYPE_CHECKING:
    from foreword.messages.message import Message
    from foreword.session.compaction import Compaction

BAR = 24  # columns
TARGETS = "for example --to 20000 or --to 10%"


@click.command()
@click.argument("name")
@click.option(
    "--to", metavar="N|N%", help="About how many tokens, or a share of the window.  [default: 10%]"
)
@click.option(
    "--model",
    metavar="NAME",
    help="A model that writes the summary, as in anthropic:claude-sonnet-5-5.",
)
@click.option(
    "--preview", is_flag=True, help="Say what would happen, with the summary; change nothing."
)
@json_option("The same for programs, with the summary.")
@store_options
def compress(
    name: str,
    to: str | None,
    model: str | None,
    preview: bool,
    as_json: bool,
    db: str | None,
    root: str,
) -> None:
    """Put a summary in place of the older messages.

    The first message, the pinned ones and the newest stay whole. The originals are kept: `session
    expand` shows them, `session undo` brings them back.

    \b
    Examples:
      foreword session compress demo --preview
      foreword session compress demo --to 10%
      foreword session compress demo --to 20000 --model openai:gpt-5
    """
    what = f"compressing {name}" + (f", asking {model}" if model and not preview else "")
    with existing_session(db, root, name) as session, screen.patience(what):
        try:
            made = session.compress(to=to, model=model, preview=preview)
        except BadBudget as error:
            raise BadBudget(
                to, "to", problem=error.message.replace("compress-to", "--to"), hint=TARGETS
            ) from None
    if as_json:
        screen.show_json({"workflow": name, **asdict(made), "reached": made.reached})
        return
    screen.show_lines(_compaction_lines(made))
    for note in made.notes:
        screen.say(f"note: {note}")
    if made.applied:
        screen.say(f"`foreword session undo {quote(name)}` takes it back")


def _compaction_lines(made: Compaction) -> list[str]:
    """The sizes before and after; with the summary where nothing was changed."""
    if not made.messages:
        return []
    share = made.tokens_after / max(1, made.tokens_before)
    target = f"the target was {made.target_tokens:,}"
    summary = f"by {_method(made)}, in {made.summary_tokens:,} tokens"
    lines = [
        f"{'before':<9} {made.tokens_before:>9,} tokens  {bar(1.0, BAR)}",
        f"{'after':<9} {made.tokens_after:>9,} tokens  {bar(share, BAR)}  {target}",
        f"{'summed up':<9} {made.messages:>9,} messages, {summary}",
        f"{'whole':<9} {made.kept_messages:>9,} messages",
    ]
    if made.excerpts:
        lines[-1] = f"{'shown':<9} {made.kept_messages:>9,} messages, in part where too large"
    if not made.applied:
        lines.append("")
        lines += made.summary.splitlines()
    return lines


def _method(made: Compaction) -> str:
    from foreword.session.compaction import EXTRACT

    return "the built-in compressor" if made.method == EXTRACT else made.method


@click.command()
@click.argument("name")
@click.argument("number", type=int, required=False, metavar="[N]")
@form_option("text", "json")
@store_options
def expand(name: str, number: int | None, form: str, db: str | None, root: str) -> None:
    """Print the original messages behind a summary.

    N is the number of the compression; without it, the current one. As a model reads them, or as
    JSON in the shape of OpenAI.

    \b
    Examples:
      foreword session expand demo
      foreword session expand demo 2 --format json
    """
    from foreword.messages.openai_chat import to_openai
    from foreword.session.secret_messages import without_secrets

    with existing_session(db, root, name) as session:
        secrets = session.secrets()
        originals = [without_secrets(message, secrets) for message in session.expand(number)]
    if form == "json":
        screen.show_json(to_openai(originals))
    else:
        _show_messages(originals)
    screen.say(f"{len(originals):,} messages")


def _show_messages(messages: list[Message]) -> None:
    from foreword.engine.render import turn_text
    from foreword.origin import Speakers

    speakers = Speakers()
    for message in messages:
        screen.show_bytes(
            f"{turn_text(str(speakers.of(message)), message.text)}\n".encode(
                "utf-8", "surrogatepass"
            )
        )


@click.command()
@click.argument("name")
@json_option()
@store_options
def undo(name: str, as_json: bool, db: str | None, root: str) -> None:
    """Take back the last compression.

    \b
    Example:
      foreword session undo demo
    """
    with existing_session(db, root, name) as session:
        undone = session.undo()
        left = [made for made in session.compressions() if not made.undone]
    first = 1
    still = ""
    if left:
        first = left[-1].last + 1
        still = f"; messages 1-{first - 1:,} are still summed up by compression {left[-1].number}"
    if as_json:
        screen.show_json({"compression": undone.number, "first": first, "last": undone.last})
    screen.say(
        f"undid compression {undone.number}: messages {first:,}-{undone.last:,} are in the history"
        f" again{still}"
    )
