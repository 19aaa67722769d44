"""Everything that is written to a terminal or a pipe: data on stdout, the rest on stderr.

How wide a terminal is, whether it has colour, what must not reach it, and what a person sees while
something takes more than a second. What is drawn (tables, bars) is `engine.report_table`'s.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, TextIO

import click

from foreword.engine.report_table import WIDTH, draw, printable
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from foreword.engine.report import Report

# Before a person wonders; a command that answers sooner is not to flicker.
PATIENT_SECONDS = 1.0
HEADINGS = lazy_pattern(r"^(?:section .*|left out.*|not there|self-check|warnings)$", re.MULTILINE)
HANDLE = lazy_pattern(r"\bfw_[0-9a-f]{14}\b")
_LONE_SURROGATE = lazy_pattern("[\ud800-\udfff]")
# Control characters but tab and line feed, and what turns the direction of writing around: in a
# text from outside they could move the cursor, hide a part or show it in another order.
_STEERING = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def columns(stream: TextIO | None) -> int:
    """The width of a terminal, or of what is no terminal."""
    if not is_terminal(stream):
        return WIDTH
    import shutil  # brings three kinds of archives along

    return shutil.get_terminal_size().columns


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sits at the other end."""
    return stream is not None and stream.isatty()


def paint(text: str, **style: str | bool) -> str:
    """The text in a style, where stderr is a terminal and nobody objects to colour."""
    plain = os.environ.get("NO_COLOR") or not is_terminal(sys.stderr)
    return text if plain else click.style(text, **style)  # type: ignore[arg-type]


def show_report(report: Report) -> None:
    """The table of a report, on stderr."""
    table = draw(report, columns(sys.stderr) if is_terminal(sys.stderr) else None)
    table = HEADINGS.sub(lambda heading: paint(heading[0], bold=True), table)
    table = HANDLE.sub(lambda handle: paint(handle[0], dim=True), table)
    click.echo("\n" + table, err=True)


def say(line: str) -> None:
    """One line on stderr, whatever is in it."""
    click.echo(printable(line), err=True)


def warn(line: str) -> None:
    """One line on stderr that is marked as a warning."""
    click.echo(f"{paint('warning:', fg='yellow')} {printable(line)}", err=True)


def show(text: str, *, nl: bool = True) -> None:
    """A text on stdout: for a program as it is, for a terminal without what steers it."""
    if is_terminal(sys.stdout):
        text = _STEERING.sub("\ufffd", text.replace("\r\n", "\n"))
    click.echo(text, nl=nl, color=True)  # else click takes escapes out of what goes into a pipe


def show_lines(lines: Iterable[str]) -> None:
    """Lines on stdout, each without what steers a terminal, in a pipe too."""
    for line in lines:
        click.echo(printable(line))


def show_bytes(data: bytes) -> None:
    """Bytes on stdout: for a program as they are, for a terminal as a text."""
    if is_terminal(sys.stdout):
        show(data.decode("utf-8", "replace"), nl=False)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def show_json(value: object) -> None:
    """A value on stdout as JSON; half characters, which JSON can say and UTF-8 can not, stay
    escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    show(_LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text))


def say_reading() -> None:
    """Tell a person at a terminal that it is their turn to type."""
    if is_terminal(sys.stdin):
        click.echo("reading standard input (end with ctrl-D)", err=True)


def show_problems(where: str, problems: Sequence[str], hint: str) -> None:
    """One problem on the line of the error, or each on a line of its own."""
    if len(problems) == 1:
        show_error(f"{where}: {problems[0]}", hint)
        return
    show_error(f"{where}: {len(problems):,} problems")
    for problem in problems:
        say(f"  {problem}")
    show_hint(hint)


def show_error(message: str, hint: str = "") -> None:
    """One line that says what happened, one that says what to do."""
    try:
        click.echo(f"{paint('error:', fg='red', bold=True)} {printable(message)}", err=True)
        show_hint(hint)
    except OSError:
        pass  # there is nowhere left to say it; the exit code does


def show_hint(hint: str) -> None:
    """One line that says what to do."""
    if hint:
        click.echo(f"{paint('hint:', fg='cyan')} {printable(hint)}", err=True)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Tell a person at a terminal what takes so long, once a second has passed."""
    if not is_terminal(sys.stderr):
        yield
        return
    timer = Timer(PATIENT_SECONDS, say, (f"{what} ...",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def progress(what: str, length: int) -> Iterator[Callable[[int], None]]:
    """A bar for a person at a terminal, once a second has passed; takes how many are done."""
    with progress_of(what) as advance:
        yield lambda count: advance(count, length)


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar whose length is not known beforehand; takes how many of how many are done."""
    began = monotonic()
    with click.progressbar(length=1, label=what, file=sys.stderr, hidden=True) as bar:

        def advance(count: int, length: int) -> None:
            is_early = monotonic() - began < PATIENT_SECONDS
            bar.hidden = is_early or not is_terminal(sys.stderr)
            bar.length = length
            bar.update(count - bar.pos)

        yield advance
