"""Clients that take nothing, or come in masses: who takes nothing is dropped, who was there
before is served."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Event
from typing import Any

import pytest

from foreword.faces.http import http_server
from foreword.faces.http.endpoint import function_endpoint
from tests.faces.http.running import Address, running, session_path, settings_for
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.attack

LIMITED = "ulimit -n 256; exec {python} -m foreword serve --root {root}"
HELD = 300
SIZE = 30_000_000


def large(ask: Any) -> dict[str, str]:
    """Answer with what no buffer of the system holds."""
    return {"text": "x" * SIZE}


def test_an_answer_that_is_not_taken_is_not_held_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, losing = Event(), http_server.HttpConnection.connection_lost

    def connection_lost(connection: http_server.HttpConnection, error: Exception | None) -> None:
        losing(connection, error)
        lost.set()

    monkeypatch.setattr(http_server.HttpConnection, "connection_lost", connection_lost)
    monkeypatch.setattr(http_server.HttpConnection, "unread_seconds", 0.5)
    with running(
        settings_for(tmp_path),
        function_endpoint(large, tag="tests", method="GET", path="/v1/large"),
    ) as (
        address,
        _,
    ):
        with socket.create_connection((address.host, address.port), 20) as deaf:
            deaf.sendall(b"GET /v1/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert lost.wait(PATIENCE_SECONDS)  # although we are still there
        assert len(address.ask("GET", "/v1/large").body) > SIZE  # who takes it gets it


@contextmanager
def server_with_few_files(root: Path) -> Iterator[Address]:
    """`foreword serve` where the system allows 256 files."""
    command = LIMITED.format(python=sys.executable, root=root)
    with Popen(["sh", "-c", command], stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout
        try:
            yield Address("127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1]))
        finally:
            process.terminate()
            process.communicate()


def test_more_connections_than_there_are_files_leave_the_store_its_own(tmp_path: Path) -> None:
    with server_with_few_files(tmp_path) as address, ExitStack() as held:
        before = HTTPConnection(address.host, address.port, timeout=PATIENCE_SECONDS)
        held.callback(before.close)
        for turn in range(5):
            for _ in range(HELD // 5):
                with suppress(OSError):  # turned away
                    held.enter_context(socket.create_connection((address.host, address.port), 20))
            path = session_path(f"kiln-{turn}", "messages")
            body = b'{"message": {"role": "user", "content": "x"}}'
            before.request("POST", path, body, {"content-type": "application/json"})
            answer = before.getresponse()
            assert (answer.status, answer.read()[:8]) == (201, b'{"seq":1')
