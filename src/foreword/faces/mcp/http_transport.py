"""A server over streamable HTTP, on an address.

The guard of the HTTP API is in front of it, and every address but loopback's wants a token.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from foreword.errors import UsageError
from foreword.faces.http.http_server import BoundedServer, addresses, config_for, listen
from foreword.faces.http.request_guard import RequestGuard
from foreword.faces.http.token import is_loopback
from foreword.faces.mcp.stdio_transport import STOPS
from foreword.faces.serving.app_state import AppState

PATH = "/mcp"
STOP_SECONDS = 2  # for answers that are under way: whoever stops the server waits for it


def serve_http(server: Server[Any], app_state: AppState, say: Callable[[str], None]) -> None:
    """Serve any number of clients over streamable HTTP, until the process is told to stop."""
    settings = app_state.settings
    if not settings.token_digest and not is_loopback(settings.host):
        raise UsageError(
            f"others can reach {settings.host}, so clients must carry a token",
            hint="give one: --token-file FILE; or serve on 127.0.0.1",
        )
    listening = listen(settings.host, settings.port)
    config = config_for(http_app(server, app_state), timeout_graceful_shutdown=STOP_SECONDS)
    links = addresses(settings.host, listening.getsockname()[1])
    ready = partial(say, "\n".join(f"{link}{PATH}" for link in links))
    _Process(config, app_state, ready).run(sockets=[listening])


def http_app(server: Server[Any], app_state: AppState) -> ASGIApp:
    """The server as an app for HTTP, behind the guard that all of ours have: Host, Origin,
    token, size and rate."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=app_state.settings.largest_body_bytes,
        # the guard's
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    async def without_time_limit(scope: Scope, receive: Receive, send: Send) -> None:
        limit = scope.get("foreword.limit")
        if limit is not None:
            limit.reschedule(None)  # a stream lasts as long as its client stays
        await app(scope, receive, send)

    return RequestGuard(without_time_limit, app_state)


class _Process(BoundedServer):
    """A server that says its address once it listens, and whose end by a signal is an end like
    any other."""

    def __init__(
        self, config: uvicorn.Config, app_state: AppState, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._app_state = app_state
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in STOPS:
            asyncio.get_running_loop().add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app_state.stop()  # streams end, so that nobody waits for a listener
        await super().shutdown(sockets)
