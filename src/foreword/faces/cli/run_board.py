"""Agents at work, one line for each: kept up to date on a terminal, told once when settled
anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from foreword.engine.table import cut_to, printable
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.work.question_queue import RunStatus

SETTLED = ("answered", "failed", "late", "nonsense", "already done")
_COLOURS = {
    "answered": "green",
    "already done": "green",
    "failed": "red",
    "late": "red",
    "nonsense": "red",
    "running": "cyan",
}
_LONGEST_NAME = 40
_STATUS_CHARS = 8  # of all that an agent can be but `already done`, which has no time behind it


class RunBoard:
    """Shows how agents stand; give it to whatever watches a run."""

    def __init__(self) -> None:
        self.told: set[str] = set()
        self.drawn = self.width = 0

    def __call__(self, standings: Sequence[RunStatus]) -> None:
        names = _names(standings)
        width = self.width = min(_LONGEST_NAME, max([self.width, *map(len, names)]))
        lines = [_line(name, one, width) for name, one in zip(names, standings, strict=True)]
        if screen.is_terminal(sys.stderr):
            self._redraw(lines)
            return
        for one, line in zip(standings, lines, strict=True):
            if one.status in SETTLED and one.run not in self.told:
                self.told.add(one.run)
                click.echo(line, err=True)

    def _redraw(self, lines: Sequence[str]) -> None:
        if self.drawn:
            click.echo(f"\x1b[{self.drawn}A", nl=False, err=True)
        for line in lines:
            click.echo(f"\x1b[2K{line}", err=True)
        self.drawn = len(lines)


def _names(standings: Sequence[RunStatus]) -> list[str]:
    """What each is called: an agent by its name, a phase by its number and its title."""
    width = max((len(one.agent) for one in standings if one.title), default=0)
    return [
        printable(f"{one.agent:<{width}}  {one.title}" if one.title else one.agent)
        for one in standings
    ]


def _line(name: str, one: RunStatus, width: int) -> str:
    seconds = (
        f"{one.seconds:6.1f} s"
        if one.status in SETTLED and one.status != "already done"
        else " " * 8
    )
    status = screen.paint(f"{one.status:<{_STATUS_CHARS}}", fg=_COLOURS.get(one.status, "white"))
    room = max(20, screen.columns(sys.stderr) - width - 24)
    return (
        f"  {cut_to(name, width):<{width}}  {status}  {seconds} "
        f" {cut_to(printable(one.error), room)}".rstrip()
    )
