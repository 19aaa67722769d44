"""`foreword browser`: a Chromium that several commands share, and what is open in it.

The process is started and ended here, for others reach it by its debugging address. A browser of a
command's own is `browser_choice`'s, and all that is done in one `foreword.browser`'s.
"""

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
from typing import TYPE_CHECKING

import click

from foreword.errors import BrowserFailed, UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import ASSETS, PROGRAM, SHOW, browser_rules, profiles_folder
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.interrupt import interrupt_event
from foreword.faces.cli.options import ROOT, json_option, port_option
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from foreword.browser import Rules

CLOSED_LOOK_SECONDS = 0.2  # between looks whether the user has closed its window
START_SECONDS = 60.0  # a cold Chromium on a busy machine; one that is past it hangs
END_SECONDS = 10.0  # to write its profile; then it is killed
LOG_LOOK_SECONDS = 0.05  # between looks into its log, where its address appears
LONGEST_REASON = 200  # characters of its log in an error
# Its log and not the file in its profile: Chromium writes that one only where it chose the port
# itself.
LISTENS = lazy_pattern(r"^DevTools listening on ws://\S+:(\d+)/", re.MULTILINE)
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


@click.group(cls=Commands)
def browser() -> None:
    """Start a browser to be shared, and look at its tabs.

    \b
    Examples:
      foreword browser start
      foreword browser tabs --attach http://127.0.0.1:9222
    """


@browser.command()
@port_option("Of its debugging address; 0 picks one.")
@click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help=(
        "All that it may reach, whoever uses it: https://example.com, or loopback; repeatable. "
        " [default: all]"
    ),
)
@ASSETS
@PROGRAM
@SHOW
@ROOT
def start(
    port: int,
    origins: tuple[str, ...],
    assets: tuple[str, ...],
    program: str | None,
    show: bool,
    root: str,
) -> None:
    """Start a browser and print its debugging address.

    It runs until ctrl-C, with a profile of its own that is removed then. Whoever can reach the
    address can use the browser, so it listens on this machine alone. With --origin it reaches
    nothing else, whoever uses it; without, that is up to the commands that --attach to it.

    \b
    Examples:
      foreword browser start
      foreword browser start --origin https://example.com --assets https://cdn.example.com
      foreword browser start --show --port 9222
    """
    from foreword.browser.profile_folders import BrowserProfile
    from foreword.browser.profile_folders import program as find_program
    from foreword.sources.project_root import project_root

    executable = find_program(program)
    allowed = browser_rules(origins, assets) if origins or assets else None
    profile = BrowserProfile(profiles_folder(project_root(root)))
    try:
        with (
            interrupt_event() as ended,
            _limiting_switches(allowed) as switches,
            _running_browser(
                executable, Path(profile.folder), port=port, show=show, switches=switches
            ) as (address, process),
        ):
            click.echo(address)
            screen.say("--attach to it; ctrl-C ends it")
            while not ended.wait(CLOSED_LOOK_SECONDS) and process.poll() is None:
                pass
            if process.poll() is not None:
                screen.say("the browser was closed")
    finally:
        profile.remove()


@browser.command()
@click.option(
    "--attach",
    metavar="ADDRESS",
    required=True,
    help="Its debugging address, as in http://127.0.0.1:9222.",
)
@json_option()
def tabs(attach: str, as_json: bool) -> None:
    """Show the open tabs of a running browser, as a director reads them.

    \b
    Examples:
      foreword browser tabs --attach http://127.0.0.1:9222
      foreword browser tabs --attach http://127.0.0.1:9222 --format json
    """
    from foreword.browser import Browser
    from foreword.plan.fresh_parts import part_text
    from foreword.secrets.masking import hide

    with Browser.attach(attach) as attached:
        listing = attached.tabs()
    if as_json:
        screen.show_json(hide(listing))
        return
    screen.show_lines(part_text("browser", listing).splitlines())


@contextmanager
def _limiting_switches(rules: Rules | None) -> Iterator[list[str]]:
    """What a browser is started with so that the rules hold for all who use it; nothing where
    there are none."""
    from foreword.browser.proxy import RefusingProxy, switches
    from foreword.browser.thread import LoopThread

    if rules is None or not rules.are_limits:
        yield []
        return
    thread = LoopThread()
    proxy = RefusingProxy(_ignore_refusal)
    try:
        yield switches(rules, thread.run(proxy.start(), START_SECONDS))
    finally:
        thread.stop()


def _ignore_refusal(host: str, port: int) -> None:
    """Do nothing: whoever uses the browser is told by its pages."""


@contextmanager
def _running_browser(
    executable: str, folder: Path, *, port: int, show: bool, switches: Sequence[str]
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A browser with its profile in that folder: its address, and its process."""
    command = [executable, *QUIET, *switches]
    if not show:
        command.append("--headless=new")
    if os.getuid() == 0:
        command.append("--no-sandbox")  # a sandbox needs a user who is not root
    command.append(f"--user-data-dir={folder / 'data'}")
    command.append(f"--remote-debugging-port={port}")
    command.append("about:blank")
    with (folder / "log").open("wb") as log:
        # In a session of its own: ctrl-C is for us, and we end it.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        listening = _listening_port(process, folder / "log", port)
        yield f"http://127.0.0.1:{listening}", process
    finally:
        _end(process)


def _listening_port(process: subprocess.Popen[bytes], log: Path, wanted: int) -> int:
    """The port that it listens on, once it does."""
    until = monotonic() + START_SECONDS
    while monotonic() < until:
        text = log.read_text("utf-8", "replace")
        if IN_USE in text:  # it would go on at ::1, or without any address
            raise UsageError(
                f"port {wanted} can't be used: {IN_USE}", hint="--port 0 picks a free one"
            )
        if listens := LISTENS.search(text):
            return int(listens[1])
        if process.poll() is not None:
            raise BrowserFailed(
                f"the browser did not start: {_failure_reason(log)}",
                hint="--browser PATH names another one",
            )
        Event().wait(LOG_LOOK_SECONDS)
    raise BrowserFailed(f"the browser did not say where it listens within {START_SECONDS:g} s")


def _failure_reason(log: Path) -> str:
    """The last line of its log that names an error, else the last that is not empty."""
    reason = "it gave no reason"
    has_error = False
    for line in log.read_text("utf-8", "replace").splitlines():
        is_error = "rror" in line or "annot" in line  # with or without a capital letter
        if line.strip() and (is_error or not has_error):
            reason = line.strip()
            has_error = is_error
    return reason[:LONGEST_REASON]


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
