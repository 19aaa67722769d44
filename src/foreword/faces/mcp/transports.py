"""How a server is reached: the standard streams, or HTTP on an address.

On stdio nothing but the protocol goes to stdout. HTTP has the guard of the HTTP API in front of it,
and every address but loopback's wants a token.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from foreword.errors import UsageError
from foreword.faces.http import memory
from foreword.faces.http.app_state import AppState
from foreword.faces.http.request_guard import RequestGuard
from foreword.faces.http.server import BoundedServer, addresses, config_for, listen
from foreword.faces.http.token import is_loopback

LAST_SECONDS, TICK_SECONDS = 10.0, 0.02  # for answers to a client that has closed its end
PATH = "/mcp"
STOPS = (signal.SIGINT, signal.SIGTERM)
STOP_SECONDS = 2  # for answers that are under way


def log_to_stderr() -> None:
    """One line for what failed and where. What libraries log may quote what they were given, so
    only the place is."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Places())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("foreword.mcp").setLevel(logging.INFO)


class _Places(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("foreword."):
            return f"foreword mcp: {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        return f"foreword mcp: {record.name} line {record.lineno}" + (
            f": {kind.__name__}" if kind else ""
        )


def serve_stdio(server: Server[Any], app_state: AppState) -> None:
    """Serve one client on the standard streams, until it leaves or the process is told to stop."""

    async def serve() -> None:
        passing, passed = anyio.create_memory_object_stream[SessionMessage | Exception]()
        telling, told = anyio.create_memory_object_stream[SessionMessage]()
        waiting: set[str | int] = set()  # requests that have no answer yet
        async with stdio_server() as (reading, writing), anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signal, app_state)
            tasks.start_soon(_answer_bad_frames, reading, passing, writing.send, waiting)
            tasks.start_soon(_pass_on, told, writing.send, waiting)
            await server.run(passed, telling, server.create_initialization_options())
            tasks.cancel_scope.cancel()
            await writing.aclose()

    anyio.run(serve)


async def _end_on_signal(app_state: AppState) -> None:
    with anyio.open_signal_receiver(*STOPS) as signals:
        async for _ in signals:
            app_state.close()
            os._exit(0)  # a thread waits for the next line of stdin, and nothing else ends that


async def _answer_bad_frames(
    frames: AsyncIterable[SessionMessage | Exception],
    passing: MemoryObjectSendStream[SessionMessage | Exception],
    send: Callable[[SessionMessage], Awaitable[None]],
    waiting: set[str | int],
) -> None:
    """Pass on what can be read; the sender of anything else is told, where the SDK would leave them
    waiting.

    A client that has said all it wants may close its end; what it has asked is answered first.
    """
    async with passing:
        async for frame in frames:
            if not isinstance(frame, Exception):
                if isinstance(frame.message, types.JSONRPCRequest):
                    waiting.add(frame.message.id)
                await passing.send(frame)
            elif answer := refusal(frame):
                await send(SessionMessage(answer))
        with anyio.move_on_after(LAST_SECONDS):
            while waiting:
                await anyio.sleep(TICK_SECONDS)


async def _pass_on(
    told: AsyncIterable[SessionMessage],
    send: Callable[[SessionMessage], Awaitable[None]],
    waiting: set[str | int],
) -> None:
    """Write what the server says, and note which requests it answers."""
    async for one in told:
        await send(one)
        if (
            isinstance(one.message, types.JSONRPCResponse | types.JSONRPCError)
            and one.message.id is not None
        ):
            waiting.discard(one.message.id)


def refusal(problem: Exception) -> types.JSONRPCError | None:
    """The answer to a frame that is no message, with its id as far as it has one; nothing for an
    empty line."""
    inputs = (
        [error["input"] for error in problem.errors()]
        if isinstance(problem, ValidationError)
        else [None]
    )
    frame = next((one for one in inputs if isinstance(one, dict)), inputs[0])
    if isinstance(frame, str) and not frame.strip():
        return None
    try:
        sent = json.loads(frame) if isinstance(frame, str) else frame
    except (ValueError, RecursionError):
        return _refused(types.PARSE_ERROR, "this is not JSON", None)
    number = sent.get("id") if isinstance(sent, dict) else None
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    return _refused(types.INVALID_REQUEST, "this is no request that can be read", known)


def _refused(code: int, message: str, number: str | int | None) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
    )


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
    if app_state.threads_at_work:  # they hang, and a thread can't be stopped
        os._exit(0)


def http_app(server: Server[Any], app_state: AppState) -> ASGIApp:
    """The server as an app for HTTP, behind the guard that all of ours have: Host, Origin,
    token, size and rate."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=app_state.settings.largest_body_bytes,
        # the guard's
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    async def lasting(scope: Scope, receive: Receive, send: Send) -> None:
        if limit := scope.get("foreword.limit"):
            limit.reschedule(None)  # a stream lasts as long as its client stays
        await app(scope, receive, send)

    return RequestGuard(lasting, app_state)


class _Process(BoundedServer):
    """A server that says its address once it listens, and whose end by a signal is an end like
    any other."""

    def __init__(
        self, config: uvicorn.Config, app_state: AppState, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._app_state, self._ready = app_state, ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in STOPS:
            asyncio.get_running_loop().add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            memory.freeze_loaded_objects()
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app_state.stop()  # streams end, so that nobody waits for a listener
        await super().shutdown(sockets)
