"""`foreword serve`: the page and the HTTP API, for this machine or, with a token, for others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.options import AT_LEAST_ONE, store_options

if TYPE_CHECKING:
    from foreword.faces.http.serving import Settings

EXTRA = "pip install 'foreword[serve]'"
LOOPBACK = "127.0.0.1"


@click.command()
@store_options
@click.option(
    "--host",
    metavar="ADDRESS",
    default=LOOPBACK,
    show_default=True,
    help="Where to listen; any but this machine's own demands a token.",
)
@click.option("--port", metavar="N", type=click.IntRange(0, 65_535), default=0, help="Which port; 0 picks a free one.")
@click.option(
    "--also", metavar="NAME=DIR", multiple=True, help="Another project that may be read, under a name; repeatable."
)
@click.option("--recipe", metavar="NAME", default="workflow", show_default=True, help="The recipe of the sessions.")
@click.option("--token-file", metavar="FILE", help="Demand the token in this file.")
@click.option("--new-token", is_flag=True, help="Make a new token; the one before is no longer good.")
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    help="A name that this server is reached by, as behind a proxy; repeatable.",
)
@click.option(
    "--requests-per-minute",
    metavar="N",
    type=AT_LEAST_ONE,
    default=6_000,
    show_default=True,
    help="The most from one address.",
)
@click.option("--log", is_flag=True, help="A line on stderr for each request.")
def serve(
    db: str | None, root: str, host: str, port: int, also: tuple[str, ...], recipe: str, token_file: str | None,
    new_token: bool, allow_host: tuple[str, ...], requests_per_minute: int, log: bool,
) -> None:  # fmt: skip
    """Serve the page and the HTTP API.

    Prints its address when it answers. On this machine it needs no token; on any other address it demands one, which
    is made and shown once, and kept as a digest. Ctrl-C or SIGTERM: what was begun is ended, then it stops.

    \b
    Examples:
      foreword serve
      foreword serve --port 8080 --db postgresql://me@localhost/agents
      foreword serve --host 0.0.0.0 --allow-host agents.example --also docs=../docs
    """
    try:
        from foreword.faces.http import server
    except ModuleNotFoundError as missing:
        raise UsageError(f"serving needs {missing.name}, which is not installed", hint=EXTRA) from None
    from foreword.faces.http.serving import Settings
    from foreword.recipe.load import load
    from foreword.runtime.root import project_root
    from foreword.store.urls import open_database

    folder = project_root(root)
    load(recipe, folder)
    open_database(db, folder).close()  # what is wrong with it is said now, not to every request
    token, digest = _token(host, folder, token_file, new_token)
    settings = Settings(
        folder, db, _roots(also), host, port, digest, allow_host, recipe, requests_per_minute=requests_per_minute
    )
    listening = server.listen(host, port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}"
    _log_to_stderr(log)
    with _announced(folder, address if not digest else ""):
        server.run(settings, listening, lambda: _say_ready(address, settings, token))


@contextmanager
def _announced(root: Path, address: str) -> Iterator[None]:
    """While it runs, the hooks of coding agents find the server; one that demands a token is none of theirs."""
    from foreword.integrations import server as announcing

    with suppress(OSError):  # a root that can't be written has no hooks
        if address:
            announcing.announce(root, address)
    try:
        yield
    finally:
        announcing.withdraw(root)


def _token(host: str, root: Path, file: str | None, new: bool) -> tuple[str, str]:
    """The token, where it is to be shown, and its digest; neither where none is needed."""
    from foreword.faces.http import token

    if file is not None:
        return "", token.digest_of(token.from_file(file))
    return ("", "") if token.is_loopback(host) and not new else token.kept(root, new=new)


def _roots(also: tuple[str, ...]) -> dict[str, Path]:
    from foreword.runtime.root import project_root

    pairs = [one.partition("=") for one in also]
    for name, equals, folder in pairs:
        if not name or not equals or not folder:
            raise UsageError(f"--also {name}{equals}{folder} is no NAME=DIR", hint="for example --also docs=../docs")
    return {name: project_root(folder) for name, _, folder in pairs}


def _say_ready(address: str, settings: Settings, token: str) -> None:
    from foreword.faces.http.token import digest_file

    click.echo(address)
    if token:
        screen.say("others reach this address, so a token is demanded. It is shown once:")
        click.echo(f"  {address}/login?token={token}", err=True)
        screen.say(f"only its digest is kept, in {digest_file(settings.root)}; --new-token makes another")
    elif settings.token_digest:
        screen.say("the token that was given, or shown before, is demanded (--new-token makes another)")
    screen.say("ctrl-C stops it")


def _log_to_stderr(requests: bool) -> None:
    """What goes wrong is logged; each request where the user wants that. Neither has query strings or bodies in it."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for name, level in (("foreword.serve", logging.ERROR), ("foreword.access", logging.INFO)):
        if level == logging.ERROR or requests:
            logging.getLogger(name).addHandler(handler)
            logging.getLogger(name).setLevel(level)
