"""Agents at work, one line for each: kept up to date on a terminal, told once when settled anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from foreword.engine.table import cut_to, printable
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.runtime.durable import Standing

SETTLED = ("answered", "failed", "late", "done")
_COLOURS = {"answered": "green", "done": "green", "failed": "red", "late": "red", "running": "cyan"}
_LONGEST_NAME = 40


class Board:
    """Shows how agents stand; give it to whatever watches a run."""

    def __init__(self) -> None:
        self.told: set[str] = set()
        self.drawn = self.width = 0

    def __call__(self, standings: Sequence[Standing]) -> None:
        width = self.width = min(_LONGEST_NAME, max([self.width, *(len(one.agent) for one in standings)]))
        if screen.is_terminal(sys.stderr):
            self._redraw([_line(one, width) for one in standings])
            return
        for one in standings:
            if one.status in SETTLED and one.run not in self.told:
                self.told.add(one.run)
                click.echo(_line(one, width), err=True)

    def _redraw(self, lines: Sequence[str]) -> None:
        if self.drawn:
            click.echo(f"\x1b[{self.drawn}A", nl=False, err=True)
        for line in lines:
            click.echo(f"\x1b[2K{line}", err=True)
        self.drawn = len(lines)


def _line(one: Standing, width: int) -> str:
    seconds = f"{one.seconds:6.1f} s" if one.status in SETTLED else " " * 8
    status = screen.paint(f"{one.status:<8}", fg=_COLOURS.get(one.status, "white"))
    room = max(20, screen.columns(sys.stderr) - width - 24)
    name, error = cut_to(printable(one.agent), width), cut_to(printable(one.error), room)
    return f"  {name:<{width}}  {status}  {seconds}  {error}".rstrip()
