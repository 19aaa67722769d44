"""`foreword statusline`: how full a coding agent's window is, in one line."""

from __future__ import annotations

import sys

import click


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
