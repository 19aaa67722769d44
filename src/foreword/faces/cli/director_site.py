"""`foreword director site`: a site to practise on, with nothing on it that matters."""

from __future__ import annotations

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.interrupt import interrupt_event


@click.command()
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=8123,
    show_default=True,
    help="0 picks one.",
)
def site(port: int) -> None:
    """Serve a small site to practise on, until ctrl-C.

    Harbour Desk: a login, a list of letters on three pages, and a form. It is served to this
    machine alone and forgets everything when it ends.

    \b
    Examples:
      foreword director site
    """
    from foreword.demos.site import site as serving
    from foreword.demos.site.pages import NAME, PASSWORD

    try:
        with interrupt_event() as ended, serving(port) as served:
            click.echo(served.url)
            screen.say(f"sign in as {NAME} with {PASSWORD}; ctrl-C ends it")
            ended.wait()
    except OSError as error:
        raise UsageError(
            f"port {port} can't be used: {error.strerror}", hint="--port 0 picks a free one"
        ) from None
