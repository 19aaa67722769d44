"""`foreword serve`: the page and the HTTP API, for this machine or, with a token, for others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from foreword.errors import UsageError
from foreword.extras import extra
from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import (
    DIRECTOR_MODEL,
    WINDOW,
    BrowserChoice,
    server_browser_options,
)
from foreword.faces.cli.options import AT_LEAST_ONE, port_option, store_options

if TYPE_CHECKING:
    from foreword.faces.cli.transcript_replay import TranscriptStore
    from foreword.faces.serving.app_state import Settings
    from foreword.transcripts.events import AgentUsage

LOOPBACK = "127.0.0.1"
# A hundred a second: a page with live updates and an agent stay far below it, a loop that
# has gone wild does not.
REQUESTS_PER_MINUTE = 6_000


@click.command()
@store_options
@click.option(
    "--host",
    metavar="ADDRESS",
    default=LOOPBACK,
    show_default=True,
    help="Where to listen; any but this machine's own demands a token.",
)
@port_option("Which port; 0 picks a free one.")
@click.option(
    "--transcript",
    "transcripts",
    metavar="FILE|DIR",
    multiple=True,
    help=(
        "Show a recorded conversation (of a coding agent, or as a provider's messages), or all in a"
        " folder, instead of the store; repeatable. The files are only read."
    ),
)
@click.option(
    "--also",
    metavar="NAME=DIR",
    multiple=True,
    help="Another project that may be read, under a name; repeatable.",
)
@click.option(
    "--recipe",
    metavar="NAME",
    help="The recipe of the sessions.  [default: each session's own, at first chat]",
)
@click.option("--token-file", metavar="FILE", help="Demand the token in this file.")
@click.option(
    "--new-token", is_flag=True, help="Make a new token; the one before is no longer good."
)
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
    default=REQUESTS_PER_MINUTE,
    show_default=True,
    help="The most from one address.",
)
@DIRECTOR_MODEL
@WINDOW
@server_browser_options
@click.option("--log", is_flag=True, help="A line on stderr for each request.")
def serve(
    db: str | None,
    root: str,
    host: str,
    port: int,
    transcripts: tuple[str, ...],
    also: tuple[str, ...],
    recipe: str | None,
    token_file: str | None,
    new_token: bool,
    allow_host: tuple[str, ...],
    requests_per_minute: int,
    model: str | None,
    window: int | None,
    browser: BrowserChoice,
    log: bool,
) -> None:
    """Serve the page and the HTTP API.

    Prints its address when it answers. On this machine it needs no token; on any other address it
    demands one, which is made and shown once, and kept as a digest. Ctrl-C or SIGTERM: what was
    begun is ended, then it stops.

    With --model, a workflow's director is talked to on the page. Its browser opens nothing but
    what --origin allows.

    \b
    Examples:
      foreword serve
      foreword serve --port 8080 --db postgresql://me@localhost/agents
      foreword serve --model anthropic:claude-sonnet-5-5 --origin https://example.com
      foreword serve --model openai:qwen3@http://127.0.0.1:8000/v1 --window 32000
      foreword serve --transcript ~/.claude/projects
      foreword serve --host 0.0.0.0 --allow-host agents.example --also docs=../docs
    """
    with extra("serve"):
        from foreword.faces.http import http_server
    from foreword.faces.serving.app_state import Settings
    from foreword.models.model_names import find_model
    from foreword.recipe.load import load
    from foreword.sources.project_root import project_root
    from foreword.store.urls import open_database

    folder = project_root(root)
    agent_usage: Mapping[str, AgentUsage] = {}
    if transcripts:
        store = _open_transcripts(transcripts)
        db = store.db
        agent_usage = store.agent_usage
    if recipe is not None:
        load(recipe, folder)
    open_database(db, folder).close()  # what is wrong with it is said now, not to every request
    roots = _roots(also)
    if model:
        find_model(model)  # one that can't be asked is said now, not to whoever talks first
    token, digest = _token(host, folder, file=token_file, new=new_token)
    listening = http_server.listen(host, port)
    port = listening.getsockname()[1]
    settings = Settings(
        root=folder,
        db=db,
        roots=roots,
        host=host,
        port=port,
        token_digest=digest,
        hosts=allow_host,
        recipe=recipe,
        requests_per_minute=requests_per_minute,
        window=window,
        agent_usage=agent_usage,
        model=model or None,
        browser_rules=browser.rules,
        browser=browser.program,
        attach=browser.attach,
        keep_login=browser.keep_login,
    )
    addresses = http_server.addresses(host, port)
    _log_to_stderr(log)
    hanging = http_server.run(settings, listening, lambda: _say_ready(addresses, settings, token))
    if hanging:
        _exit_now()


def _open_transcripts(transcripts: tuple[str, ...]) -> TranscriptStore:
    """A store for the transcripts, for as long as the command runs."""
    context = click.get_current_context()
    if context.get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise UsageError(
            "--transcript has a store of its own, so --db can't go with it",
            hint="to keep it: foreword session import NAME FILE",
        )
    return context.with_resource(_transcript_store(transcripts))


@contextmanager
def _transcript_store(transcripts: tuple[str, ...]) -> Iterator[TranscriptStore]:
    """A store that has these transcripts, and is gone with the page."""
    from foreword.faces.cli.transcript_replay import replay

    with TemporaryDirectory(prefix="foreword-") as folder:
        yield replay(transcripts, Path(folder))


def _exit_now() -> None:
    """End the process although threads of it hang: what they would still write was promised to
    nobody."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _token(host: str, root: Path, *, file: str | None, new: bool) -> tuple[str, str]:
    """The token, where it is to be shown, and its digest; neither where none is needed."""
    from foreword.faces.http import token

    if file is not None:
        return "", token.digest_of(token.from_file(file))
    if token.is_loopback(host) and not new:
        return "", ""
    return token.store_token(root, new=new)


def _roots(also: tuple[str, ...]) -> dict[str, Path]:
    from foreword.sources.project_root import project_root

    roots = {}
    for pair in also:
        name, _, folder = pair.partition("=")
        if not name or not folder:
            raise UsageError(
                f"--also {pair} is no NAME=DIR", hint="for example --also docs=../docs"
            )
        roots[name] = project_root(folder)
    return roots


def _say_ready(addresses: list[str], settings: Settings, token: str) -> None:
    from foreword.faces.http.token import digest_file

    click.echo(addresses[0])
    for address in addresses[1:]:
        screen.say(f"other machines reach it at {address}")
    if token:
        screen.say("a token is demanded. It is shown once, in the link:")
        for address in addresses:
            click.echo(f"  {address}/login?token={token}", err=True)
        screen.say(
            f"only its digest is kept, in {digest_file(settings.root)}; --new-token makes another"
        )
    elif settings.token_digest:
        screen.say(
            "the token that was given, or shown before, is demanded (--new-token makes another)"
        )
    screen.say("ctrl-C stops it")


def _log_to_stderr(requests: bool) -> None:
    """What goes wrong is logged; each request where the user wants that. Neither has query
    strings or bodies in it."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    levels = {"foreword.serve": logging.ERROR}
    if requests:
        levels["foreword.access"] = logging.INFO
    for name, level in levels.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level)
