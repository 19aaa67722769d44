"""Work in threads: slow requests do not hold up quick ones, and one that hangs does not hold up a
stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foreword.faces.http.endpoint import Endpoint, function_endpoint
from foreword.faces.serving.app_state import LANES, AppState
from tests.faces.http.running import (
    Address,
    running,
    session_path,
    settings_for,
    wait_until,
)
from tests.patience import PATIENCE_SECONDS
from tests.sessions import numbered_message

pytestmark = pytest.mark.attack


@contextmanager
def asking(address: Address, path: str, times: int) -> Iterator[list[socket.socket]]:
    """So many requests that nobody waits for; they hang up at the end."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    there = [socket.create_connection((address.host, address.port), 20) for _ in range(times)]
    try:
        for connection in there:
            connection.sendall(request)
        yield there
    finally:
        for connection in there:
            connection.close()


@contextmanager
def computing(
    path: str, until: Event, begun: list[str], method: str = "POST"
) -> Iterator[Endpoint]:
    """An address that computes, and holds a processor, until it is told to end."""

    def compute(ask: Any) -> dict[str, bool]:
        """Compute."""
        begun.append(path)
        while not until.is_set():
            sum(range(1_000))
        return {"done": True}

    try:
        yield function_endpoint(compute, tag="tests", method=method, path=path, lane="computing")
    finally:
        until.set()


def test_appends_and_reads_do_not_wait_for_ten_large_contexts(tmp_path: Path) -> None:
    until, begun = Event(), list[str]()
    with (
        computing("/v1/large", until, begun, "GET") as large,
        running(settings_for(tmp_path), large) as (address, app_state),
    ):
        with asking(address, "/v1/large", 10):
            wait_until(lambda: begun)
            for number in range(1, 4):
                assert (
                    address.ask(
                        "POST", session_path("kiln", "messages"), {"message": numbered_message(1)}
                    ).json["seq"]
                    == number
                )
                assert address.ask("GET", session_path("kiln")).json["messages"] == number
            assert address.ask("GET", "/healthz").status == 200
            assert len(begun) <= LANES["computing"]
        until.set()
        wait_until(lambda: not app_state.threads_at_work)


def test_an_error_in_the_thread_reaches_the_caller_and_a_context_variable_the_thread(
    tmp_path: Path,
) -> None:
    color = ContextVar("color", default="")

    def work(given: str) -> str:
        if given == "bad":
            raise LookupError(given)
        return color.get() + given

    async def call() -> str:
        app_state = AppState(settings_for(tmp_path))
        color.set("blue ")
        with pytest.raises(LookupError):
            await app_state.call(work, "bad")
        return await app_state.call(work, "glaze", lane="computing")

    assert asyncio.run(call()) == "blue glaze"


def test_work_that_is_given_up_before_its_turn_is_never_begun(tmp_path: Path) -> None:
    until, begun = Event(), list[int]()

    def work(number: int) -> None:
        begun.append(number)
        until.wait(PATIENCE_SECONDS)

    async def give_up() -> None:
        app_state = AppState(settings_for(tmp_path))
        lane: list[asyncio.Task[None]] = []
        for number in range(LANES["computing"]):
            lane.append(asyncio.create_task(app_state.call(work, number, lane="computing")))
        while len(begun) < len(lane):
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(app_state.call(work, -1, lane="computing"), 0.1)
        until.set()
        await asyncio.gather(*lane)

    try:
        asyncio.run(give_up())
    finally:
        until.set()
    assert sorted(begun) == list(range(LANES["computing"]))


def test_who_is_told_to_go_before_the_work_began_learns_that_nothing_was_changed(
    tmp_path: Path,
) -> None:
    head = (
        f"POST {session_path('kiln', 'messages')} HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
    )
    with (
        running(settings_for(tmp_path, timeout_seconds=0.5)) as (address, _),
        socket.create_connection((address.host, address.port), PATIENCE_SECONDS) as connection,
    ):
        connection.sendall(head.encode())  # and never the body
        answer = connection.makefile("rb").read()
        assert b" 504 " in answer
        assert b"it was not begun, so nothing was changed" in answer


@pytest.mark.parametrize(
    "headers", [{}, {"idempotency-key": "k"}], ids=["without a key", "with a key"]
)
def test_who_is_told_to_go_learns_that_it_may_still_be_done(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    until, begun = Event(), list[str]()
    with (
        computing("/v1/slow", until, begun) as slow,
        running(settings_for(tmp_path, timeout_seconds=0.5), slow) as (address, _),
    ):
        late = address.ask("POST", "/v1/slow", headers=headers)
        assert late.status == 504
        assert "may still be done" in late.json["hint"]
        assert ("it is done once" in late.json["hint"]) == bool(headers)


HANGING = """
import os
import sys
from foreword.faces.cli.main import cli
from foreword.faces.http import api, http_server
from foreword.faces.http.endpoint import function_endpoint

root = sys.argv[1]

def read(request) -> dict:
    "Read something that hangs."
    os.write(1, b"begun\\n")
    open(f"{root}/fifo").read()

hang = function_endpoint(read, tag="tests", method="GET", path="/v1/hang")
api.ENDPOINTS = (*api.ENDPOINTS, hang)
http_server.FINISH_SECONDS = 1
cli.main(["serve", "--root", root])
"""


def test_a_server_that_is_told_to_stop_stops_although_a_thread_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    command = [sys.executable, "-c", HANGING, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        address = Address("127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1]))
        with asking(address, "/v1/hang", 3):
            assert [process.stdout.readline() for _ in range(3)] == ["begun\n"] * 3
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "Traceback" not in told
