"""A Chromium that others reach by its debugging address, for as long as this process wants it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from time import monotonic

from foreword.browser import Rules
from foreword.browser.proxy import RefusingProxy, switches
from foreword.browser.thread import LoopThread
from foreword.errors import BrowserFailed, UsageError

START_SECONDS, END_SECONDS, LOOK_SECONDS = 60.0, 10.0, 0.05
# Its log and not the file in its profile: Chromium writes that one only where it chose the port
# itself.
LISTENS = re.compile(r"^DevTools listening on ws://\S+:(\d+)/", re.MULTILINE)
IN_USE = "Address already in use"
QUIET = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-dev-shm-usage",
    "--window-size=1280,860",
)


@contextmanager
def limits(rules: Rules | None) -> Iterator[list[str]]:
    """What a browser is started with so that the rules hold for all who use it; nothing where
    there are none."""
    if rules is None or not rules.are_limits:
        yield []
        return
    thread, proxy = LoopThread(), RefusingProxy(_nobody)
    try:
        yield switches(rules, thread.run(proxy.start(), START_SECONDS))
    finally:
        thread.stop()


def _nobody(host: str, port: int) -> None:
    """Tell nobody: whoever uses the browser is told by its pages."""


@contextmanager
def running_browser(
    executable: str, folder: Path, port: int, *, show: bool, limits: Sequence[str] = ()
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A browser with its profile in that folder: its address, and its process."""
    data = folder / "data"
    # A sandbox needs a user who is not root.
    more = [*([] if show else ["--headless=new"]), *(["--no-sandbox"] if os.getuid() == 0 else [])]
    command = [
        executable,
        *QUIET,
        *limits,
        *more,
        f"--user-data-dir={data}",
        f"--remote-debugging-port={port}",
        "about:blank",
    ]
    with (folder / "log").open("wb") as log:
        # In a session of its own: ctrl-C is for us, and we end it.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield f"http://127.0.0.1:{_port(process, folder / 'log', port)}", process
    finally:
        _end(process)


def _port(process: subprocess.Popen[bytes], log: Path, wanted: int) -> int:
    """The port that it listens on, once it does."""
    until = monotonic() + START_SECONDS
    while monotonic() < until:
        said = log.read_text("utf-8", "replace")
        if IN_USE in said:  # it would go on at ::1, or without any address
            raise UsageError(
                f"port {wanted} can't be used: {IN_USE}", hint="--port 0 picks a free one"
            )
        if listens := LISTENS.search(said):
            return int(listens[1])
        if process.poll() is not None:
            raise BrowserFailed(
                f"the browser did not start: {_why(log)}", hint="--browser PATH names another one"
            )
        Event().wait(LOOK_SECONDS)
    raise BrowserFailed(f"the browser did not say where it listens within {START_SECONDS:g} s")


def _why(log: Path) -> str:
    lines = [
        line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()
    ]
    telling = [line for line in lines if "rror" in line or "annot" in line]
    return (telling or lines or ["it gave no reason"])[-1][:200]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all its processes: one that is left would write into a folder that is being
    removed."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
