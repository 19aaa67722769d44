"""What the HTTP API costs: `python -m benchmarks.http [--seconds 5] [--minutes 1] [--listeners
500]`.

Assemble and append against a bare Starlette route, served by the same uvicorn in turn, so that what
is compared shares the machine and the moment; so many listeners while a plan changes; the memory of
the server under load. Everything is on loopback and in SQLite; the client runs beside the server
and takes its share of the processors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

CONNECTIONS = 8
ROUNDS = 3  # of each kind of request, in turn
PLAN_CHANGES = 5
SAMPLE_SECONDS = 5.0
PROGRAM = """
import sys
from pathlib import Path
from foreword.faces.http import http_server
from foreword.faces.serving.app_state import Settings
from starlette.responses import JSONResponse
from starlette.applications import Starlette
from starlette.routing import Route
import uvicorn

async def bare(request):
    return JSONResponse({"status": "ok"})

listening = http_server.listen("127.0.0.1", 0)
say = lambda: print(listening.getsockname()[1], flush=True)
if sys.argv[1] == "bare":
    app = Starlette(routes=[Route("/", bare)])
    config = uvicorn.Config(app, http=http_server.HttpConnection, log_config=None, ws="none")
    say()
    uvicorn.Server(config).run(sockets=[listening])
else:
    db = f"sqlite:///{sys.argv[1]}/bench.db"
    settings = Settings(root=Path(sys.argv[1]), db=db, requests_per_minute=10**9)
    http_server.run(settings, listening, say)
"""
ITEMS = [
    {"kind": "doc", "title": f"Chapter {n}", "text": f"Glaze {n} runs above cone {n}. " * 12}
    for n in range(40)
]
ASSEMBLE: dict[str, Any] = {
    "recipe": "package",
    "purpose": "handoff",
    "source": ITEMS,
    "budget": 2_000,
}

Reply = tuple[int, dict[str, str], bytes]


class Client:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def answer(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request: the status of its answer, the headers, the content."""
        if not hasattr(self, "reader"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = b"" if body is None else json.dumps(body).encode()
        sent = {"Host": "localhost", "Content-Length": str(len(data)), **(headers or {})}
        if data:
            sent["Content-Type"] = "application/json"
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data)
        status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
        fields = dict(line.lower().split(": ", 1) for line in lines if line)
        content = await self.reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection") == "close":
            self.close()
        return int(status.split()[1]), fields, content

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        """The content of an answer; anything but a success is an error."""
        status, _, content = await self.answer(method, path, body)
        if not 200 <= status < 300:
            raise RuntimeError(f"{method} {path}: {status} {content[:300]!r}")
        return content

    def close(self) -> None:
        """Hang up."""
        if hasattr(self, "writer"):
            self.writer.close()
            del self.reader, self.writer


Ask = Callable[[Client, int], Awaitable[bytes]]


@contextmanager
def server(what: str) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its process."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield int(process.stdout.readline()), process.pid
    finally:
        process.terminate()
        process.wait(30)


async def load(port: int, ask: Ask, seconds: float) -> list[float]:
    """How long each request took, asked over several connections at once."""
    took, end = list[float](), time.perf_counter() + seconds

    async def one(number: int) -> None:
        client = Client(port)
        while (began := time.perf_counter()) < end:
            await ask(client, number)
            took.append(time.perf_counter() - began)
        client.close()

    await asyncio.gather(*(one(number) for number in range(CONNECTIONS)))
    return took


def bare(client: Client, number: int) -> Awaitable[bytes]:
    """The least that a route can do."""
    return client.ask("GET", "/")


def assemble(client: Client, number: int) -> Awaitable[bytes]:
    """A context of forty items within 2,000 tokens, its report and originals kept."""
    return client.ask("POST", "/v1/assemble", ASSEMBLE)


def append(client: Client, number: int) -> Awaitable[bytes]:
    """A message, counted and on the disk; each connection has a session of its own."""
    message = {
        "role": "user",
        "content": f"The kiln is at {time.perf_counter():.3f} now, and rising. " * 4,
    }
    return client.ask("POST", f"/v1/sessions/bench-{number}/messages", {"message": message})


def show(client: Client, number: int) -> Awaitable[bytes]:
    """How a session stands."""
    return client.ask("GET", f"/v1/sessions/bench-{number}")


async def rates(bare_port: int, port: int, seconds: float) -> None:
    """Requests by the second and the slowest of a hundred, each kind in turn, several times."""
    kinds: list[tuple[str, int, Ask]] = [
        ("bare route", bare_port, bare),
        ("append", port, append),
        ("session", port, show),
        ("assemble", port, assemble),
    ]
    took: dict[str, list[float]] = {name: [] for name, *_ in kinds}
    for _, where, ask in kinds:
        await load(where, ask, 1.0)  # to warm up
    for _ in range(ROUNDS):
        for name, where, ask in kinds:
            took[name] += await load(where, ask, seconds / ROUNDS)
    base = len(took["bare route"])
    print(
        f"{'':<12}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'of bare':>9}   {CONNECTIONS}"
        " connections"
    )
    for name, each in took.items():
        middle, last = statistics.median(each) * 1e3, sorted(each)[int(len(each) * 0.99)] * 1e3
        rate, of_bare = len(each) / seconds, len(each) / base
        print(f"{name:<12}{rate:>11,.0f}{middle:>9.1f}{last:>9.1f}{of_bare:>9.1%}")


# --- listeners ------------------------------------------------------------------------------------


async def listen(port: int, arrived: asyncio.Queue[float], ready: asyncio.Queue[None]) -> None:
    """A listener that says when an event came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v1/sessions/bench-0/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try:
        while line := await reader.readline():
            if line.startswith(b": listening"):
                ready.put_nowait(None)
            elif line.startswith(b"event: plan"):
                arrived.put_nowait(time.perf_counter())
    finally:
        writer.close()


async def listeners(port: int, number: int) -> None:
    """How long until the last of so many has heard of a change."""
    client, arrived, ready = Client(port), asyncio.Queue[float](), asyncio.Queue[None]()
    began = time.perf_counter()
    tasks = [asyncio.create_task(listen(port, arrived, ready)) for _ in range(number)]
    for _ in tasks:
        await ready.get()
    opened, last = time.perf_counter() - began, list[float]()
    for version in range(PLAN_CHANGES):
        plan = {"overall_goal": f"goal {version}", "phases": []}
        update = {"plan": plan, "reason": "bench", "expected_version": version}
        changed = time.perf_counter()
        await client.ask("PUT", "/v1/sessions/bench-0/plan", update)
        last.append(max([await arrived.get() for _ in tasks]) - changed)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    client.close()
    worst, middle = max(last) * 1e3, statistics.median(last) * 1e3
    print(
        f"\n{number} listeners, connected in {opened:.1f} s; a plan changes: the last one has it"
        f" after {middle:.0f} ms,"
    )
    print(f"at worst {worst:.0f} ms, of {PLAN_CHANGES} changes")


# --- memory ---------------------------------------------------------------------------------------


def resident_mib(pid: int) -> float:
    """The memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
        / 1024
    )


async def memory(port: int, pid: int, minutes: float) -> None:
    """What the server holds under mixed load, from the first to the last minute."""
    turns = count()
    kinds: Sequence[Ask] = (append, append, append, show, assemble, glance)

    def mixed(client: Client, number: int) -> Awaitable[bytes]:
        return kinds[next(turns) % len(kinds)](client, number)

    await load(port, mixed, 10.0)  # what is filled once is full then
    samples, asked = [resident_mib(pid)], 0
    while len(samples) <= minutes * 60 / SAMPLE_SECONDS:
        asked += len(await load(port, mixed, SAMPLE_SECONDS))
        samples.append(resident_mib(pid))
    first, second = (
        statistics.mean(half)
        for half in (samples[: len(samples) // 2], samples[len(samples) // 2 :])
    )
    print(
        f"\n{minutes:g} minutes of mixed load, {asked:,} requests: {samples[0]:.0f} MiB at first,"
        f" {samples[-1]:.0f}"
    )
    print(f"at last, {first:.0f} on average in the first half, {second:.0f} in the second")


async def glance(client: Client, number: int) -> bytes:
    """Somebody listens for a moment and goes; the next call is looked at."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readline()
    writer.close()
    return await client.ask("GET", f"/v1/sessions/bench-{number}/context?budget=4000")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all of it and print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--seconds", type=float, default=6.0, help="of load for each kind of request"
    )
    options.add_argument(
        "--minutes", type=float, default=1.0, help="of load while the memory is watched"
    )
    options.add_argument("--listeners", type=int, default=500)
    given: Any = options.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as folder,
        server("bare") as (plain, _),
        server(folder) as (port, pid),
    ):
        asyncio.run(rates(plain, port, given.seconds))
        asyncio.run(listeners(port, given.listeners))
        asyncio.run(memory(port, pid, given.minutes))


if __name__ == "__main__":
    main()
