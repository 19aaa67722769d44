"""`foreword hook`: answers the hooks of a coding agent, and never gets in its way."""

from __future__ import annotations

import sys
from io import FileIO

import click


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
    "--budget", metavar="N", default="", help="The most tokens of a tool's result.  [default: 8000]"
)
@click.option("--startup", is_flag=True, help="Also answer the start of a new session.")
@click.option("--timeout", metavar="SECONDS", default="", help="When to give up.  [default: 5]")
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
      foreword hook --budget 4000 --startup
    """
    from foreword.coding_agents import hook_log, hooks, long_results

    if context.args:
        hook_log.note("hook", f"unknown arguments: {' '.join(context.args)}")
    most = _number(budget, "--budget", long_results.BUDGET_TOKENS)
    seconds = _number(timeout, "--timeout", hooks.TIMEOUT_SECONDS)
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
    if not 0 < number <= 1_000_000:
        hook_log.note("hook", f"{option} {text!r} is no number that makes sense")
        return otherwise
    return number
