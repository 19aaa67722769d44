"""Agents at work, one line for each: redrawn on a terminal, written once when they have ended
anywhere else. `flow` and `panel` give it to a run; it knows nothing of either.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import cut_to, printable
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.work.run_status import RunStatus

ENDED = ("answered", "failed", "late", "invalid", "already done")
_COLOURS = {
    "answered": "green",
    "already done": "green",
    "failed": "red",
    "late": "red",
    "invalid": "red",
    "running": "cyan",
}
_LONGEST_NAME = 40  # columns; leaves half of a narrow terminal to status, time and reason
_SHORTEST_REASON = 20  # columns for why one failed, however narrow the terminal is
_BESIDE_COLUMNS = 24  # of a line that are neither name nor reason: indent, status, time, gaps
_STATUS_CHARS = 8  # of all that an agent can be but `already done`, which has no time behind it


class RunBoard:
    """Shows how agents are doing; give it to whatever watches a run."""

    def __init__(self) -> None:
        self.written: set[str] = set()  # runs whose line is out, where nothing can be redrawn
        self.drawn_lines = 0
        self.width = 0  # of the names; it only grows, so that nothing jumps

    def __call__(self, statuses: Sequence[RunStatus]) -> None:
        names = _names(statuses)
        self.width = min(_LONGEST_NAME, max([self.width, *map(len, names)]))
        rows = list(zip(statuses, names, strict=True))
        if screen.is_terminal(sys.stderr):
            self._redraw([_line(name, status, self.width) for status, name in rows])
            return
        for status, name in rows:
            if status.status in ENDED and status.run not in self.written:
                self.written.add(status.run)
                click.echo(_line(name, status, self.width), err=True)

    def _redraw(self, lines: Sequence[str]) -> None:
        if self.drawn_lines:
            click.echo(f"\x1b[{self.drawn_lines}A", nl=False, err=True)
        for line in lines:
            click.echo(f"\x1b[2K{line}", err=True)
        self.drawn_lines = len(lines)


def _names(statuses: Sequence[RunStatus]) -> list[str]:
    """What each is called: an agent by its name, a phase by its number and its title."""
    width = max((len(one.agent) for one in statuses if one.title), default=0)
    names = []
    for one in statuses:
        name = f"{one.agent:<{width}}  {one.title}" if one.title else one.agent
        names.append(printable(name))
    return names


def _line(name: str, one: RunStatus, width: int) -> str:
    has_time = one.status in ENDED and one.status != "already done"
    seconds = f"{one.seconds:6.1f} s" if has_time else " " * 8
    status = screen.paint(f"{one.status:<{_STATUS_CHARS}}", fg=_COLOURS.get(one.status, "white"))
    room = max(_SHORTEST_REASON, screen.columns(sys.stderr) - width - _BESIDE_COLUMNS)
    reason = cut_to(printable(one.error), room)
    return f"  {cut_to(name, width):<{width}}  {status}  {seconds}  {reason}".rstrip()
