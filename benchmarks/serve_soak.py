"""An hour of mixed load on `foreword serve`: `python -m benchmarks.serve_soak [--minutes 60]
[--listeners 300]`.

The real program in a process of its own, a SQLite store that grows, sessions that come and go, and
listeners of which one leaves and another comes every second. A row a minute says what the server
holds and how fast it answers; at the end the goals are judged, and the exit is 1 where one of them
was missed. The table is kept in `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.http import ASSEMBLE, Client, Reply

RESULTS = Path(__file__).parent / "results" / "serve_soak.txt"
# with the events to 300 listeners half of a core: the machine stays usable
REQUESTS_PER_SECOND = 30
CONNECTIONS = 8
SAMPLE_SECONDS = 5.0
SESSIONS = 16  # that are written to at one time: a few more than the server keeps open
SESSION_SECONDS = 240.0  # until a session is left for a new one; long enough for compressions
WINDOW = 16_000  # tokens: a session is compressed about twice in its time
TO_ALL = 20  # one listener in so many listens to all sessions
REJOIN_SECONDS = 1.0

# What is promised.
MOST_GROWTH = 0.2  # MB a minute, over the last half
MOST_SLOWER = 1.5  # p99 of the last third against the middle one; a busy machine alone makes 1.3
# more in the last third than in the middle one: three connections to the store
MOST_DESCRIPTORS = 10


@dataclass(frozen=True, slots=True)
class Memory:
    """What a process holds at one moment."""

    minute: float
    resident_mb: float
    private_mb: float
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int, minute: float) -> Memory:
        """The process as the system sees it now."""
        sizes = dict[str, int]()
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value, *_ = line.split()
            sizes[name.rstrip(":")] = int(value)
        return cls(
            minute=minute,
            resident_mb=sizes["Rss"] * 1024 / 1e6,
            private_mb=(sizes["Private_Clean"] + sizes["Private_Dirty"]) * 1024 / 1e6,
            descriptors=_entries(f"/proc/{pid}/fd"),
            threads=_entries(f"/proc/{pid}/task"),
        )


def _entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


@dataclass(frozen=True, slots=True)
class Request:
    """One request that was answered, or was not."""

    kind: str
    minute: float
    seconds: float


@dataclass(slots=True)
class Load:
    """The load on one server: the sessions that are in use, and all that was measured."""

    port: int
    began: float = field(default_factory=time.perf_counter)
    sessions: deque[tuple[str, float]] = field(default_factory=deque)  # and when they were begun
    requests: list[Request] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # answers that were not the expected ones
    events: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    chance: random.Random = field(default_factory=lambda: random.Random(12))

    @property
    def minute(self) -> float:
        """How many minutes it has lasted."""
        return (time.perf_counter() - self.began) / 60

    def session(self) -> str:
        """One of the sessions in use; an old one is left for a new one."""
        now = time.perf_counter()
        if self.sessions and now - self.sessions[0][1] > SESSION_SECONDS:
            self.sessions.popleft()
        if len(self.sessions) < SESSIONS:
            # The first ones are as if they had begun before, so that they are not all left at once.
            head_start = (
                0.0
                if self.minute > 1
                else SESSION_SECONDS * (SESSIONS - len(self.sessions)) / SESSIONS
            )
            self.sessions.append((f"kiln-{next(self.numbers)}", now - head_start))
            return self.sessions[-1][0]
        return self.chance.choice(self.sessions)[0]


Ask = Callable[[Load, Client], Awaitable[Reply]]


# --- what is asked --------------------------------------------------------------------------------


def _words(load: Load) -> str:
    """A few sentences that were never said before, 20 to 200 words."""
    sentences = range(load.chance.randint(2, 20))
    return " ".join(
        f"Shelf {load.chance.randint(1, 10**9)} of the kiln is at cone {n} now." for n in sentences
    )


async def append(load: Load, client: Client) -> Reply:
    """A message."""
    said = {"role": load.chance.choice(("user", "assistant")), "content": _words(load)}
    return await client.answer("POST", f"/v1/sessions/{load.session()}/messages", {"message": said})


async def context(load: Load, client: Client) -> Reply:
    """The next call, kept."""
    return await client.answer(
        "POST", f"/v1/sessions/{load.session()}/context", {"form": "anthropic"}
    )


async def preview(load: Load, client: Client) -> Reply:
    """The next call, looked at; a budget of its own."""
    budget = load.chance.choice((4_000, 6_000, 10_000))
    return await client.answer("GET", f"/v1/sessions/{load.session()}/context?budget={budget}")


async def assemble(load: Load, client: Client) -> Reply:
    """A context by a recipe, of forty items of which one is new."""
    items = [*ASSEMBLE["source"], {"kind": "decision", "title": "Today", "text": _words(load)}]
    return await client.answer("POST", "/v1/assemble", {**ASSEMBLE, "source": items})


async def plan(load: Load, client: Client) -> Reply:
    """A new version of the plan on top of the newest; somebody else may have been faster."""
    path = f"/v1/sessions/{load.session()}/plan"
    status, _, newest = await client.answer("GET", path)
    task = {"task_id": 1, "description": _words(load), "status": "pending"}
    phase = {"phase_name": "fire", "status": "in_progress", "tasks": [task]}
    body = {
        "plan": {"overall_goal": _words(load), "phases": [phase]},
        "reason": "soak",
        "expected_version": json.loads(newest)["version"] if status == 200 else 0,
    }
    return await client.answer("PUT", path, body)


async def variable(load: Load, client: Client) -> Reply:
    """A variable."""
    path = f"/v1/sessions/{load.session()}/variables/shelf_{load.chance.randint(1, 8)}"
    return await client.answer("PUT", path, {"value": _words(load), "reason": "soak"})


async def lists(load: Load, client: Client) -> Reply:
    """The sessions, the reports, the messages of one."""
    paths = (
        "/v1/sessions",
        "/v1/reports",
        f"/v1/sessions/{load.session()}/messages?limit=20",
    )
    return await client.answer("GET", load.chance.choice(paths))


async def page(load: Load, client: Client) -> Reply:
    """A page as a browser asks for it."""
    session = load.session()
    views = ("", "/chat", "/context", "/plan", "/variables", "/workflow")
    paths = ("/", "/reports", "/recipes", *(f"/sessions/{session}{view}" for view in views))
    return await client.answer("GET", load.chance.choice(paths), headers={"Accept": "text/html"})


async def health(load: Load, client: Client) -> Reply:
    """Whether it answers."""
    return await client.answer("GET", "/healthz")


async def bad(load: Load, client: Client) -> Reply:
    """Something that is refused."""
    number = load.chance.randint(1, 10**9)
    kind = load.chance.randrange(5)
    if kind == 0:
        return await client.answer("GET", f"/v1/nothing/{number}")
    if kind == 1:
        return await client.answer("GET", f"/v1/sessions/nobody-{number}")
    if kind == 2:
        return await client.answer("POST", "/v1/assemble", {"recipe": f"none-{number}"})
    if kind == 3:
        return await client.answer("GET", "/", headers={"Host": f"evil-{number}.example"})
    return await client.answer("POST", "/v1/sessions", {f"field-{number}": 1})


# How many of each kind in forty, and what may be answered.
KINDS: tuple[tuple[Ask, int, range], ...] = (
    (append, 14, range(200, 300)),
    (context, 5, range(200, 300)),
    (preview, 3, range(200, 300)),
    (assemble, 3, range(200, 300)),
    (plan, 3, range(200, 410)),  # 409: somebody else was faster
    (variable, 3, range(200, 300)),
    (lists, 3, range(200, 300)),
    (page, 3, range(200, 300)),
    (health, 2, range(200, 300)),
    (bad, 1, range(400, 500)),
)


# --- the load -------------------------------------------------------------------------------------


async def _ask(load: Load, client: Client, ask: Ask, expected: range) -> None:
    """Ask once and note how long it took."""
    began = time.perf_counter()
    try:
        status, _, content = await ask(load, client)
    except (OSError, EOFError, asyncio.IncompleteReadError) as error:
        client.close()
        load.wrong.append(f"{ask.__name__}: {error!r}")
        return
    load.requests.append(
        Request(kind=ask.__name__, minute=load.minute, seconds=time.perf_counter() - began)
    )
    is_new_session = status == 404  # a session that nobody has appended to yet
    if status not in expected and not is_new_session:
        load.wrong.append(f"{ask.__name__}: {status} {content[:200]!r}")


async def _worker(
    load: Load, turns: Iterator[int], kinds: Sequence[tuple[Ask, range]], end: float
) -> None:
    """Take the next turn when its time has come."""
    client = Client(load.port)
    for turn in turns:
        due = load.began + turn / REQUESTS_PER_SECOND
        if due > end:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        ask, expected = kinds[turn % len(kinds)]
        await _ask(load, client, ask, expected)
    client.close()


async def _listen(load: Load, number: int) -> None:
    """One listener, until it is told to leave: to all sessions, or to one of those in use."""
    path = "/v1/events" if number % TO_ALL == 0 else f"/v1/sessions/{load.session()}/events"
    reader, writer = await asyncio.open_connection("127.0.0.1", load.port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        while line := await reader.readline():
            load.events += line.startswith(b"event:")
    finally:
        writer.close()


async def _listeners(load: Load, number: int, end: float) -> None:
    """So many listeners; every second the oldest leaves and another comes."""
    numbers = count()
    there = deque[asyncio.Task[None]]()
    while time.perf_counter() < end:
        while len(there) < number:
            there.append(asyncio.create_task(_listen(load, next(numbers))))
            await asyncio.sleep(0.005)
        await asyncio.sleep(REJOIN_SECONDS)
        there.popleft().cancel()
        there = deque(task for task in there if not task.done())
    for task in there:
        task.cancel()
    await asyncio.gather(*there, return_exceptions=True)


async def _watch(
    load: Load, pid: int, folder: Path, end: float, say: Callable[[str], None]
) -> None:
    """Look at the process every few seconds; a row a minute."""
    say(HEAD)
    for sample in count(1):
        due = load.began + sample * SAMPLE_SECONDS
        if due > end + SAMPLE_SECONDS / 2:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        load.memory.append(Memory.of(pid, load.minute))
        if sample % round(60 / SAMPLE_SECONDS) == 0:
            say(_row(load, folder))


async def soak(
    port: int, pid: int, folder: Path, options: argparse.Namespace, say: Callable[[str], None]
) -> Load:
    """The whole load for so many minutes."""
    load = Load(port)
    for _ in range(SESSIONS):  # listeners need sessions that are there
        await Client(port).answer(
            "POST", "/v1/sessions", {"name": load.session(), "system_prompt": "You fire kilns."}
        )
    load.began = time.perf_counter()
    end = load.began + options.minutes * 60
    kinds = [(ask, expected) for ask, share, expected in KINDS for _ in range(share)]
    load.chance.shuffle(kinds)
    turns = count()
    await asyncio.gather(
        _listeners(load, options.listeners, end),
        _watch(load, pid, folder, end, say),
        *(_worker(load, turns, kinds, end) for _ in range(CONNECTIONS)),
    )
    return load


# --- the figures ----------------------------------------------------------------------------------

SHOWN = ("append", "context", "assemble", "page")
HEAD = (
    f"{'minute':>6}{'RSS MB':>9}{'private':>9}{'files':>7}{'threads':>9}"
    f"{'req/s':>7}{'events/s':>10}{'store MB':>10}{'WAL MB':>8}{'p99 ms':>9}"
    + "".join(f"{name:>10}" for name in SHOWN)
)


def _row(load: Load, folder: Path) -> str:
    now, minute = load.memory[-1], load.memory[-1].minute
    last = [one for one in load.requests if one.minute > minute - 1]
    events, load.events = load.events, 0
    store, log = (_size_mb(folder / name) for name in ("soak.db", "soak.db-wal"))
    each = "".join(f"{p99([one for one in last if one.kind == name]):>10.0f}" for name in SHOWN)
    return (
        f"{minute:>6.1f}{now.resident_mb:>9.1f}{now.private_mb:>9.1f}{now.descriptors:>7}{now.threads:>9}"
        f"{len(last) / 60:>7.1f}{events / 60:>10.0f}{store:>10.1f}{log:>8.1f}"
        f"{p99(last):>9.0f}{each}"
    )


def _size_mb(path: Path) -> float:
    with suppress(FileNotFoundError):
        return path.stat().st_size / 1e6
    return 0.0


def p99(requests: Sequence[Request]) -> float:
    """The slowest of a hundred, in milliseconds."""
    took = sorted(one.seconds for one in requests)
    return took[int(len(took) * 0.99)] * 1000 if took else 0.0


def verdict(load: Load, minutes: float) -> tuple[list[str], bool]:
    """What was promised against what was measured, and whether all of it held."""
    half = [one for one in load.memory if one.minute >= minutes / 2]
    slope = statistics.linear_regression(
        [one.minute for one in half], [one.resident_mb for one in half]
    ).slope
    middle, last = minutes / 3, minutes * 2 / 3
    slow = p99([one for one in load.requests if middle <= one.minute < last])
    slower = p99([one for one in load.requests if one.minute >= last])
    files = statistics.median(one.descriptors for one in load.memory if middle <= one.minute < last)
    more_files = statistics.median(one.descriptors for one in load.memory if one.minute >= last)
    goals = (
        (
            (
                f"memory grows by {slope:+.3f} MB a minute over the last half (less than"
                f" {MOST_GROWTH})"
            ),
            slope < MOST_GROWTH,
        ),
        (
            (
                f"p99 is {slower:.0f} ms in the last third, {slow:.0f} ms in the middle one (at"
                f" most x{MOST_SLOWER})"
            ),
            slower <= slow * MOST_SLOWER,
        ),
        (
            (
                f"{more_files:.0f} open files in the last third, {files:.0f} in the middle one"
                f" (at most {MOST_DESCRIPTORS} more)"
            ),
            more_files <= files + MOST_DESCRIPTORS,
        ),
        (f"{len(load.wrong)} answers that were not expected", not load.wrong),
    )
    lines = [f"{'held  ' if held else 'MISSED'}  {told}" for told, held in goals]
    return [*lines, *sorted(set(load.wrong))[:10]], all(held for _, held in goals)


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, int]]:
    """`foreword serve` as a user starts it: its port and its process."""
    store = f"sqlite:///{folder}/soak.db"
    options = ["--root", str(folder), "--db", store, "--window", str(WINDOW)]
    command = [sys.executable, "-m", "foreword", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield urlsplit(process.stdout.readline().strip()).port or 0, process.pid
        finally:
            process.terminate()
            process.wait(30)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it, print the rows and the verdict, keep them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--listeners", type=int, default=300)
    options.add_argument("--out", type=Path, default=RESULTS, help="where the table is kept")
    given = options.parse_args(arguments)
    kept = list[str]()

    def say(line: str) -> None:
        kept.append(line)
        print(line, flush=True)

    say(
        f"{given.minutes:g} minutes, {given.listeners} listeners, {REQUESTS_PER_SECOND} requests/s,"
        f" {SESSIONS} sessions of {SESSION_SECONDS:g} s each; Python {sys.version.split()[0]},"
        f" {os.cpu_count()} cores"
    )
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as (port, pid):
        load = asyncio.run(soak(port, pid, Path(name), given, say))
    lines, held = verdict(load, given.minutes)
    for line in lines:
        say(line)
    given.out.parent.mkdir(exist_ok=True)
    given.out.write_text("\n".join(kept) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
