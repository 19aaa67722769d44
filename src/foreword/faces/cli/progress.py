"""What a person at a terminal sees while something takes more than a second; in a pipe, nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic

import click

from foreword.faces.cli import screen

PATIENT_SECONDS = 1.0


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Tell a person at a terminal what takes so long, once a second has passed."""
    timer = (
        Timer(PATIENT_SECONDS, lambda: screen.say(f"{what} ..."))
        if screen.is_terminal(sys.stderr)
        else None
    )
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()


@contextmanager
def progress(what: str, length: int) -> Iterator[Callable[[int], None]]:
    """A bar for a person at a terminal, from the second second on; takes how many are done."""
    began = monotonic()
    with click.progressbar(length=length, label=what, file=sys.stderr, hidden=True) as bar:

        def done(count: int) -> None:
            bar.hidden = not screen.is_terminal(sys.stderr) or monotonic() - began < PATIENT_SECONDS
            bar.update(count - bar.pos)

        yield done
