"""`foreword hook` and `foreword statusline`: what a coding agent starts, dozens of times a session.

Neither ever fails or gets in the agent's way. What is answered is `coding_agents`' business.
"""

from __future__ import annotations

import sys
from io import FileIO

import click

# Past any budget in tokens and any patience in seconds: what is larger is a slip of the keyboard.
LARGEST_NUMBER = 1_000_000


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option(
    "--root",
    metavar="DIR",
    default="",
    help="The project's folder; else found from where the agent works.",
)
@click.option(
    "--recipe",
    metavar="NAME",
    default="",
    help="Whose tier 0 comes back.  [default: coding, else factory]",
)
@click.option(
    "--budget", metavar="N", default="", help="The most tokens of a tool's result.  [default: 3000]"
)
@click.option("--startup", is_flag=True, help="Also answer the start of a new session.")
@click.option(
    "--timeout-seconds",
    "--timeout",
    "timeout",
    metavar="N",
    default="",
    help="When to give up; --timeout is the older name.  [default: 5]",
)
@click.pass_context
def hook(
    context: click.Context, root: str, recipe: str, budget: str, startup: bool, timeout: str
) -> None:
    """Answer a hook of Claude Code or Codex.

    Reads the event as JSON on standard input and answers on standard output. SessionStart after a
    compaction or a resume brings back tier 0 and the newest checkpoint, PreCompact writes a
    checkpoint, PostToolUse shortens a huge result and leaves a handle. Every other event passes.

    On any failure it says nothing and exits with 0, so that the agent goes on; the reason is in
    foreword/hook.log in your cache folder.

    \b
    Examples:
      foreword hook < event.json
      foreword hook --budget 2000 --startup
    """
    from foreword.coding_agents import hook_log, hooks, long_results

    if context.args:
        hook_log.note("hook", problem=f"unknown arguments: {' '.join(context.args)}")
    most = _number(budget, "--budget", long_results.BUDGET_TOKENS)
    seconds = _number(timeout, "--timeout-seconds", hooks.TIMEOUT_SECONDS)
    # no buffer: what can't be written is gone
    with FileIO(sys.stdout.fileno(), "w", closefd=False) as answers:
        hooks.respond(
            hooks.Options(
                root=root,
                recipe=recipe,
                budget_tokens=int(most),
                startup=startup,
                timeout_seconds=seconds,
            ),
            sys.stdin.buffer,
            answers,
        )


def _number(text: str, option: str, otherwise: float) -> float:
    """The number of an option; what is none is noted, and the default holds."""
    from foreword.coding_agents import hook_log

    if not text:
        return otherwise
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= LARGEST_NUMBER:
        hook_log.note("hook", problem=f"{option} {text!r} is no number that makes sense")
        return otherwise
    return number


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def statusline() -> None:
    """Print how full the window is, for a status line.

    Reads what Claude Code gives its status line on standard input. Never fails: where it can't
    tell, it says so.

    \b
    Examples:
      foreword statusline < status.json
    """
    from foreword.coding_agents import window_fill
    from foreword.coding_agents.hook_events import LARGEST_BYTES, read_object

    try:
        text = window_fill.line(read_object(sys.stdin.buffer.read(LARGEST_BYTES + 1)))
    except Exception:  # noqa: BLE001 - a status line has nobody to tell
        text = window_fill.NOTHING
    click.echo(text)
