"""Run the app: a socket of our own, uvicorn on it, and a stop that loses nothing.

What uvicorn does not bound is bounded here: how long the head of a request may take. Heads are read
as the standard has it: h11 takes lines that end without a carriage return and such as are folded,
others in front of us may not, and that is how one request is hidden inside another. A stop ends
the live streams first, so that nobody waits for a listener; requests that are under way have some
seconds to end.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
from asyncio import TimerHandle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer
from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from foreword.errors import UsageError
from foreword.faces.http.app import create_app
from foreword.faces.serving.app_state import AppState, Settings
from foreword.pattern import lazy_pattern

# For the head of a request to come: a client that sends a byte now and then holds a connection no
# longer. For the next request on a connection, and for those that are under way at a stop.
HEAD_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 15
FINISH_SECONDS = 10
UNREAD_SECONDS = 30.0  # for the next byte of an answer to be taken: longer than any network pauses
LOOK_SECONDS = 1  # between two looks at connections whose answers are not taken
TICKS_PER_SECOND = 10  # uvicorn's
# of a request: long queries and cookies fit, and it is held in memory
LARGEST_HEAD_BYTES = 64 * 1024
MOST_CONNECTIONS = 2_000  # most of them are streams that are silent; each holds a file
BACKLOG = 256  # that are taken at once, before the first of them can be turned away
OTHER_FILES = 512  # for the store, for what is read, and for those that are turned away
MOST_FILES = 4_096  # that the process asks for: twice the connections, with room for the rest
# where it listens on all: what opens here
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
LONGEST_CHUNK_HEAD = 256  # bytes: a size, and an extension that nobody uses
_ENDS_ODDLY = lazy_pattern(rb"(?<!\r)\n|\n[ \t]")


class HttpConnection(H11Protocol):
    """A connection that is dropped when the head of a request is not there in time; the guard
    logs, not it."""

    head_seconds = HEAD_SECONDS
    unread_seconds = UNREAD_SECONDS
    _waiting: TimerHandle | None = None
    _unread = 0  # bytes, at the last look
    _taken_at = 0.0  # when the client has last taken some of them

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.access_log = False  # its lines would have the queries in them
        self.conn._receive_buffer = StrictBuffer()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        most = self.limit_concurrency
        if most is not None and len(self.connections) > most - BACKLOG:
            # at once: one that asks nothing, too, holds a file that the store may need
            transport.abort()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._watch(over=True)

    def _watch(self, *, over: bool = False) -> None:
        """Count the seconds while bytes have come and no request is complete; stop counting once
        one is."""
        if self._waiting is not None and (over or self._answering()):
            self._waiting.cancel()
            self._waiting = None
        elif self._waiting is None and not over and not self._answering():
            self._waiting = self.loop.call_later(self.head_seconds, self._give_up)

    def _answering(self) -> bool:
        cycle: Any = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete

    def drop_if_unread(self) -> None:
        """To be called now and then: who has taken nothing of an answer for long is not waited for.

        What was written and not taken is held in memory, and a closed connection waits for it
        without end.
        """
        now = self.loop.time()
        left = self.transport.get_write_buffer_size()
        if left == 0 or left < self._unread:
            self._taken_at = now
        self._unread = left
        if left and now - self._taken_at > self.unread_seconds:
            self.transport.abort()

    def _give_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing() and not self._answering():
            self.transport.close()


class BoundedServer(Server):
    """uvicorn's server, which also drops connections whose answers are not read."""

    async def on_tick(self, counter: int) -> bool:
        if counter % (LOOK_SECONDS * TICKS_PER_SECOND) == 0:
            for connection in list(self.server_state.connections):
                if isinstance(connection, HttpConnection):
                    connection.drop_if_unread()
        return await super().on_tick(counter)


class Process(BoundedServer):
    """The server of the API and the page; before it waits for those who are connected, live
    streams are told to end."""

    def __init__(self, config: Config, app_state: AppState) -> None:
        super().__init__(config)
        self.app_state = app_state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.app_state.stop()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket on that address; port 0 picks one that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # asyncio sends at once only where it is told that it is TCP
        listening = socket.socket(family, kind, protocol)
        with suppress(OSError):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
        except OSError:
            listening.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"can't listen on {host} port {port}: {why}", hint="try --port 0, or another --host"
        ) from None
    return listening


def addresses(host: str, port: int) -> list[str]:
    """Links that open: the address itself; of one that stands for all, this machine's own and
    the one others see."""
    if host not in ANYWHERE:
        return [_link(host, port)]
    links = [_link(ANYWHERE[host], port)]
    outward = _outward_address(host)
    if outward:
        links.append(_link(outward, port))
    return links


def _link(name: str, port: int) -> str:
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _outward_address(host: str) -> str:
    """The address that this machine would send from, blank where it has none; nothing is sent to
    find out."""
    if ":" in host:
        family, far = socket.AF_INET6, "2001:db8::1"
    else:
        family, far = socket.AF_INET, "192.0.2.1"
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((far, 9))
        return str(probe.getsockname()[0])
    return ""


def process_for(settings: Settings) -> Process:
    """The server of these settings, not yet running."""
    app = create_app(settings)
    return Process(config_for(app), app.state.app_state)


def config_for(app: ASGIApp, **more: Any) -> Config:
    """uvicorn's configuration with our bounds, for any app that stands behind the guard."""
    options: dict[str, Any] = {
        "http": HttpConnection,
        "ws": "none",
        "log_config": None,
        "log_level": "error",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "lifespan": "on",
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": FINISH_SECONDS,
        "backlog": BACKLOG,
        "limit_concurrency": most_connections() + BACKLOG,
        "h11_max_incomplete_event_size": LARGEST_HEAD_BYTES,
    }
    return Config(app, **{**options, **more})


def most_connections() -> int:
    """As many as this process may have files for, with some left; where the system allows more
    files, it gets them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    files = MOST_FILES if soft == resource.RLIM_INFINITY else soft
    return max(files // 4, min(MOST_CONNECTIONS, files - OTHER_FILES))


def run(
    settings: Settings, listening: socket.socket, ready: Callable[[], None] = lambda: None
) -> int:
    """Serve until ctrl-C or SIGTERM; `ready` is called when requests are answered.

    Returns how many threads still hang: a process that has none may end as any other.
    """
    process = process_for(settings)
    asyncio.run(_serve_until_stopped(process, listening, ready))
    return process.app_state.threads_at_work


async def _serve_until_stopped(
    process: Process, listening: socket.socket, ready: Callable[[], None]
) -> None:
    """uvicorn would raise the signal again after a clean stop, so it is caught here."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, process.handle_exit, number, None)
    process.config.load()
    process.lifespan = process.config.lifespan_class(process.config)
    await process.startup(sockets=[listening])
    ready()
    await process.main_loop()
    await process.shutdown(sockets=[listening])


class StrictBuffer(ReceiveBuffer):
    """h11's buffer; lines end with CR LF, none is folded, and what stands before a chunk is
    short."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None and _ENDS_ODDLY.search(before, 0, len(before) - len(self)):
            raise LocalProtocolError("a line of the head does not end with CR LF, or is folded")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        head = bytes(self) if line is None else line[:-2]
        if len(head) > LONGEST_CHUNK_HEAD or b"\n" in head:
            raise LocalProtocolError("the head of a chunk is too long, or does not end with CR LF")
        return line
