"""A server for tests: the real one, on a loopback socket, in a thread; and a client that changes
nothing on the way."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage, HTTPResponse
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from foreword.faces.http import http_server
from foreword.faces.http.endpoint import Endpoint, routes_of
from foreword.faces.serving.app_state import AppState, Settings
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """Its JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and how it is asked."""

    host: str
    port: int

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Reply:
        """Ask once, on a connection of its own; a body that is no bytes goes as JSON."""
        with self.open(method, path, body, headers=headers, **query) as answer:
            return Reply(answer.status, answer.headers, answer.read())

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Iterator[HTTPResponse]:
        """The answer while it comes."""
        all_headers = dict(headers or {})
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
            all_headers = {"content-type": "application/json", **all_headers}
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE_SECONDS)
        try:
            target = f"{path}?{urlencode(query)}" if query else path
            connection.request(method, target, body=data, headers=all_headers)
            yield connection.getresponse()
        finally:
            connection.close()

    def send_until_dropped(self, data: bytes) -> bytes:
        """Bytes as they are, and all that comes back until the server hangs up; we do not."""
        with socket.create_connection((self.host, self.port), PATIENCE_SECONDS) as connection:
            connection.sendall(data)
            return _all_bytes(connection)

    def send_bytes(self, data: bytes) -> bytes:
        """Bytes as they are, and all that comes back."""
        with socket.create_connection((self.host, self.port), PATIENCE_SECONDS) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return _all_bytes(connection)


def _all_bytes(connection: socket.socket) -> bytes:
    received = bytearray()
    while chunk := connection.recv(65_536):
        received += chunk
    return bytes(received)


@contextmanager
def running(settings: Settings, *endpoints: Endpoint) -> Iterator[tuple[Address, AppState]]:
    """A server of these settings, with more endpoints, until the end of the block; then it has
    stopped cleanly."""
    process = http_server.process_for(settings)
    process.config.app.router.routes[:0] = routes_of(endpoints)  # type: ignore[union-attr]
    listening = http_server.listen(settings.host, settings.port)
    address = Address("127.0.0.1", listening.getsockname()[1])
    thread = Thread(target=lambda: asyncio.run(process.serve(sockets=[listening])))
    thread.start()
    try:
        wait_until(lambda: process.started or not thread.is_alive())
        yield address, process.app_state
    finally:
        process.should_exit = True
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


@contextmanager
def serving_process(*args: object, **env: str) -> Iterator[tuple[Address, ForkedCommand]]:
    """`foreword serve` in a process of its own, killed at the end if it still runs."""
    process = ForkedCommand(
        ["serve", *map(str, args)], folder=Path.cwd(), environment={**os.environ, **env}
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("http://"), (line, process.communicate()[1])
        parts = urlsplit(line.strip())
        yield Address("127.0.0.1", parts.port or 0), process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_until(done: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """What `done` gives once that is something; fails where it takes too long."""
    deadline = monotonic() + seconds
    while not (found := done()):
        assert monotonic() < deadline, "it took too long"
        sleep(0.01)
    return found


def session_path(workflow: str, *rest: str) -> str:
    """The path of a session; each name is one piece of it."""
    path = "/v1/sessions"
    for name in (workflow, *rest):
        path += f"/{quote(name, safe='')}"
    return path


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event of a stream."""

    id: str
    event: str
    data: dict[str, Any]


def events(answer: HTTPResponse) -> Iterator[StreamEvent]:
    """The events of a stream, as they come; ends where the stream does."""
    fields = dict[str, str]()
    while line := answer.readline().decode():
        name, _, value = line.rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "data" in fields:
            yield StreamEvent(fields["id"], fields["event"], json.loads(fields["data"]))
            fields.clear()


def settings_for(folder: Path, **more: Any) -> Settings:
    """Settings with a store of their own."""
    return Settings(**{"root": folder, "db": f"sqlite:///{folder}/state.db", **more})
