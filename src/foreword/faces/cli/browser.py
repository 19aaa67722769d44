"""`foreword browser`: a Chromium that several commands share, and what is open in it."""

from __future__ import annotations

from pathlib import Path

import click

from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import ASSETS, PROGRAM, SHOW, profiles, rules
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.interrupt import interrupt_event

LOOK_SECONDS = 0.2


@click.group(cls=Commands)
def browser() -> None:
    """Start a browser to be shared, and look at its tabs.

    \b
    Examples:
      foreword browser start
      foreword browser tabs --attach http://127.0.0.1:9222
    """


@browser.command()
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Of its debugging address; 0 picks one.",
)
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
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The project's folder.")
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
    from foreword.browser.profile import BrowserProfile
    from foreword.browser.profile import program as found
    from foreword.faces.cli.shared_browser import limits, running_browser
    from foreword.sources.project_root import project_root

    executable = found(program)
    allowed = rules(origins, assets) if origins or assets else None
    profile = BrowserProfile(profiles(project_root(root)))
    try:
        with (
            interrupt_event() as ended,
            limits(allowed) as switches,
            running_browser(executable, Path(profile.folder), port, show=show, limits=switches) as (
                address,
                process,
            ),
        ):
            click.echo(address)
            screen.say("--attach to it; ctrl-C ends it")
            while not ended.wait(LOOK_SECONDS) and process.poll() is None:
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
@click.option("--json", "as_json", is_flag=True, help="The same for programs.")
def tabs(attach: str, as_json: bool) -> None:
    """Show the open tabs of a running browser, as a director reads them.

    \b
    Examples:
      foreword browser tabs --attach http://127.0.0.1:9222
      foreword browser tabs --attach http://127.0.0.1:9222 --json
    """
    from foreword.browser import Browser
    from foreword.engine.table import printable
    from foreword.plan.fresh_parts import part_text
    from foreword.secrets.masking import hide

    with Browser.attach(attach) as found:
        listing = found.tabs()
    if as_json:
        return screen.show_json(hide(listing))
    for line in part_text("browser", listing).splitlines():
        click.echo(printable(line))
    return None
