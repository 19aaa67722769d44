"""What a terminal can take: how wide it is, whether it has colour, and what must not reach it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TextIO

import click

from foreword.engine.report import Report
from foreword.engine.table import WIDTH, draw, printable

HEADINGS = re.compile(r"^(?:section .*|left out.*|not there|self-check|warnings)$", re.MULTILINE)
HANDLE = re.compile(r"\bfw_[0-9a-f]{14}\b")


def columns(stream: TextIO | None) -> int:
    """The width of a terminal, or of what is no terminal."""
    return shutil.get_terminal_size().columns if is_terminal(stream) else WIDTH


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sits at the other end."""
    return stream is not None and stream.isatty()


def paint(text: str, **style: str | bool) -> str:
    """The text in a style, where stderr is a terminal and nobody objects to colour."""
    plain = os.environ.get("NO_COLOR") or not is_terminal(sys.stderr)
    return text if plain else click.style(text, **style)  # type: ignore[arg-type]


def show_report(report: Report) -> None:
    """The table of a report, on stderr."""
    table = HEADINGS.sub(lambda found: paint(found[0], bold=True), draw(report, columns(sys.stderr)))
    click.echo("\n" + HANDLE.sub(lambda found: paint(found[0], dim=True), table), err=True)


def say_reading() -> None:
    """Tell a person at a terminal that it is their turn to type."""
    if is_terminal(sys.stdin):
        click.echo("reading standard input (end with ctrl-D)", err=True)


def show_error(message: str, hint: str = "") -> None:
    """One line that says what happened, one that says what to do."""
    try:
        click.echo(f"{paint('error:', fg='red', bold=True)} {printable(message)}", err=True)
        if hint:
            click.echo(f"{paint('hint:', fg='cyan')} {printable(hint)}", err=True)
    except OSError:
        pass  # there is nowhere left to say it; the exit code does
