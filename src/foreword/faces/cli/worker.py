"""`foreword worker`: a process that answers questions for the flows and panels of a shared
database."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event, Timer
from typing import Any

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.interrupt import INTERRUPTED

GRACE_SECONDS = 10  # past the time that the engine gives to what was begun, to close behind it


@click.command()
@click.option(
    "--db",
    metavar="URL",
    envvar="FOREWORD_DB",
    show_envvar=True,
    help="The database: postgresql://...",
)
@click.option(
    "--root", metavar="DIR", help="A project's folder: go on with its interrupted flows, too."
)
@click.option(
    "--concurrency",
    metavar="N",
    type=click.IntRange(min=1),
    help="Questions at once, from now on for every worker of this database.  [default: 64]",
)
def worker(db: str | None, root: str | None, concurrency: int | None) -> None:
    """Take part in flows and panels.

    Answers together with every other worker of the database. Start as many as you like, on as many
    machines: each needs the database and the keys of the models, not the project's files. What a
    worker that dies was at, another takes over within seconds. Ctrl-C or SIGTERM: it takes nothing
    new and ends what it has begun.

    \b
    Examples:
      foreword worker --db postgresql://foreword@db.example/foreword
      FOREWORD_DB=postgresql://... foreword worker --concurrency 32 --root .
    """
    from foreword.sources.project_root import project_root
    from foreword.store.urls import place_of
    from foreword.work import runs
    from foreword.work.worker_process import run_worker

    folder = project_root(root or ".")
    if isinstance(place_of(db, folder), Path):
        raise UsageError(
            "a worker needs a database that others reach, too",
            hint=(
                "--db postgresql://user@host/name; without one, flows and panels run in the process"
                " that starts them"
            ),
        )
    queues = [runs.AGENTS, runs.RUNS]
    if root:
        queues.append(runs.root_queue(folder))
    stop = _stop_event()
    with run_worker(
        db, folder, queues=queues, concurrency=concurrency, take_over_all=True, notice=screen.say
    ) as engine:
        screen.say(f"worker {engine.executor} is at work (ctrl-C ends it)")
        stop.wait()
        screen.say("ending what was begun (ctrl-C again: at once)")
        _give_up_after(runs.FINISH_SECONDS + GRACE_SECONDS)


def _stop_event() -> Event:
    """An event that ctrl-C and SIGTERM set; the second of them ends the process at once."""
    stop = Event()

    def handle(*_: Any) -> None:
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()

    signal.signal(signal.SIGINT, handle)
    signal.signal(signal.SIGTERM, handle)
    return stop


def _give_up_after(seconds: float) -> None:
    """Go whatever still holds us, such as a database that is gone; what was begun is taken over
    by others."""
    timer = Timer(seconds, os._exit, (1,))
    timer.daemon = True
    timer.start()
