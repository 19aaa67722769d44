"""`foreword mcp`: the tools, resources and prompts for agents, over the Model Context Protocol."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress

import click

from foreword.errors import UsageError
from foreword.extras import extra, requirement
from foreword.faces.cli import screen
from foreword.faces.cli.options import DependentOption, port_option, store_options

LEAST_VERSION = 2  # of the library `mcp`


def _refuse_old_library() -> None:
    """Raise a UsageError if an older version of the library of MCP is installed.

    Others pin version 1 of it, as langchain-mcp-adapters does: then both can't be in one
    environment, and need not be, since a client starts this server as a command.
    """
    from importlib.metadata import PackageNotFoundError, version

    with suppress(PackageNotFoundError):
        found = version("mcp")
        if int(found.partition(".")[0]) < LEAST_VERSION:
            command = shlex.join(["pipx", "install", requirement("mcp")])
            raise UsageError(
                f"the MCP server needs mcp {LEAST_VERSION} or newer, and mcp {found} is installed,"
                " as another package here asks for (langchain-mcp-adapters does)",
                hint=f"install Foreword in an environment of its own (`{command}`) and have the"
                " other start it as a command",
            )


@click.command()
@store_options
@click.option(
    "--workflow", metavar="NAME", default="main", show_default=True, help="The one that calls mean."
)
@click.option("--http", is_flag=True, help="Streamable HTTP instead of the standard streams.")
@click.option(
    "--host",
    cls=DependentOption,
    needs="--http",
    metavar="HOST",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen.",
)
@port_option("Which port; else a free one.", cls=DependentOption, needs="--http")
@click.option(
    "--token-file",
    cls=DependentOption,
    needs="--http",
    metavar="FILE",
    help="Has the token clients must carry.",
)
@click.option(
    "--allow-host",
    "hosts",
    cls=DependentOption,
    needs="--http",
    metavar="NAME",
    multiple=True,
    help="A name it is called by; repeatable.",
)
def mcp(
    db: str | None,
    root: str,
    workflow: str,
    http: bool,
    host: str,
    port: int,
    token_file: str | None,
    hosts: tuple[str, ...],
) -> None:
    """Serve agents over the Model Context Protocol.

    On the standard streams, for a client that starts it, or over HTTP. The project and its store
    are chosen here: no call can name another, and no path in a call leads out of the project.

    \b
    Examples:
      claude mcp add foreword -- foreword mcp --root .
      foreword mcp --http --port 8765
    """
    _refuse_old_library()
    with extra("mcp"):
        from foreword.faces.mcp import stdio_transport
        from foreword.faces.mcp.mcp_server import create_server
    from foreword.faces.mcp.server_state import ServerState
    from foreword.faces.serving.app_state import AppState, Settings
    from foreword.session.workflow_state import checked_name
    from foreword.sources.project_root import project_root

    digest = ""
    if token_file:
        from foreword.faces.http.token import digest_of, from_file

        digest = digest_of(from_file(token_file))
    settings = Settings(
        root=project_root(root), db=db, host=host, port=port, token_digest=digest, hosts=hosts
    )
    state = AppState(settings)
    server = create_server(ServerState(state, checked_name(workflow, "workflow")))
    stdio_transport.log_to_stderr()
    try:
        if http:
            from foreword.faces.mcp import http_transport

            http_transport.serve_http(server, state, click.echo)
        else:
            if screen.is_terminal(sys.stdin):
                screen.say(
                    "MCP on the standard streams, for a client that starts it; ctrl-C ends it"
                )
            stdio_transport.serve_stdio(server, state)
    finally:
        state.close()
    if state.threads_at_work:  # they hang, and a thread can't be stopped
        os._exit(0)
