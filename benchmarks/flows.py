"""What durability costs, and what a second worker brings: `python -m benchmarks.flows`.

1,000 questions (100 panels of ten) are asked of a provider on loopback: by one worker process, by
two, and by plain `asyncio.gather` in one process without any database. All share one machine: the
workers, PostgreSQL and the provider. Every question has to be asked exactly once.

Before that, a flow of five phases with instant answers, in a process of its own: what is left is
what a flow costs us.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from foreword.work import runs
from tests.postgres import new_database

PANELS, MEMBERS = 100, 10
ANSWER = json.dumps({"saw_everything": True, "findings": [], "confidence": 0.9})
PROVIDER = f"""
import json, sys, threading
from foreword.testing import Reply, fake_provider
lock = threading.Lock()
asked = []
def answer(body):
    with lock:
        asked.append(next(m["content"] for m in body["messages"] if m["role"] == "user"))
    return Reply({ANSWER!r}, delay_seconds=float(sys.argv[1]))
with fake_provider(answer) as provider:
    print(provider.openai, flush=True)
    for _ in sys.stdin:
        with lock:
            told, asked = asked, []
        print(json.dumps(told), flush=True)
"""

FLOW = """
import json, shutil, sys, time
from pathlib import Path
import apsw, dbos, pydantic_ai
import foreword, foreword.models
from foreword.work import flow_runs, panel_runs
openings = []
apsw.connection_hooks.append(lambda made: openings.append(made.db_filename("main")))
root = Path(sys.argv[1], "project")
shutil.copytree(Path(foreword.__file__).parent / "demos" / "factory", root)
imports = time.process_time()
began = time.perf_counter()
done = flow_runs.run(root, "feature", "members can cancel", "test")
assert done.status == "done" and len(done.phases) == 5, done
seconds = time.perf_counter() - began
cpu = time.process_time() - imports
files = [path for path in openings if path]
print(json.dumps({"imports": imports, "cpu": cpu, "seconds": seconds, "openings": len(files)}))
"""


class Provider:
    """A provider in a process of its own; says who has asked it since it was last told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self.stdin, self.stdout = process.stdin, process.stdout
        self.model = self.stdout.readline().strip()

    def asked(self) -> Counter[str]:
        """How often each question was asked."""
        self.stdin.write("\n")
        self.stdin.flush()
        return Counter(json.loads(self.stdout.readline()))


def questions(panel: int, model: str) -> list[dict[str, Any]]:
    """What the members of one panel are asked."""
    return [
        {
            "agent": f"member-{member}",
            "model": model,
            "instructions": "You review one change.",
            "request": f"panel {panel}, member {member}",
            "timeout_seconds": 300,
            "attempts": 1,
            "output": "review",
        }
        for member in range(MEMBERS)
    ]


def payload(panel: int, model: str) -> dict[str, Any]:
    """A panel as it travels."""
    change = {"source": "a diff", "digest": "sha256:0", "files": [], "lines": 1}
    return {
        "panel": "bench",
        "title": "Bench",
        "questions": questions(panel, model),
        "missing": [],
        "change": change,
        "profile": {"name": "default", "policy": {}},
        "notes": [],
        "moderator": None,
    }


@contextmanager
def provider(delay_seconds: float) -> Iterator[Provider]:
    """Run the provider."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PROVIDER, str(delay_seconds)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Provider(process)
        finally:
            assert process.stdin
            process.stdin.close()


@contextmanager
def worker(db: str, concurrency: int) -> Iterator[subprocess.Popen[str]]:
    """Run a worker, from when it says that it is at work."""
    command = [
        sys.executable,
        "-m",
        "foreword",
        "worker",
        "--db",
        db,
        "--concurrency",
        str(concurrency),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        process.stderr.readline()
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def by_workers(count: int, model: Provider, concurrency: int) -> dict[str, float]:
    """All panels by so many worker processes."""
    db = new_database()
    with ExitStack() as block:
        processes = [block.enter_context(worker(db, concurrency)) for _ in range(count)]
        watch = block.enter_context(psycopg.connect(db, autocommit=True))
        _warm(db, model)
        before = _spent(processes, watch)
        began = time.perf_counter()
        with runs.launch_engine(db, Path(), "bench", queues=()) as engine:
            for panel in range(PANELS):
                engine.submit("panel", f"bench-{panel}", payload(panel, model.model))
        submitted = time.perf_counter() - began
        while _unfinished(watch):
            time.sleep(0.1)
        seconds = time.perf_counter() - began
        after = _spent(processes, watch)
        _check(watch)
    _check_asked(model.asked())
    return {"seconds": seconds, "submitting": submitted} | {
        name: after[name] - before[name] for name in after
    }


def _warm(db: str, model: Provider) -> None:
    """One panel, so that everything is imported; not counted."""
    with runs.launch_engine(db, Path(), "warm", queues=()) as engine:
        engine.submit("panel", "warm", payload(0, model.model))
        engine.result("warm")
    model.asked()


def _unfinished(watch: psycopg.Connection[Any]) -> int:
    query = (
        "SELECT count(*) FROM foreword_flows.workflow_status WHERE status IN ('ENQUEUED',"
        " 'PENDING', 'DELAYED')"
    )
    row = watch.execute(query).fetchone()
    return int(row[0]) if row else 0


def _check(watch: psycopg.Connection[Any]) -> None:
    rows = watch.execute(
        "SELECT status, recovery_attempts, count(*) FROM foreword_flows.workflow_status"
        " WHERE workflow_uuid LIKE 'bench-%' GROUP BY 1, 2"
    ).fetchall()
    assert rows == [("SUCCESS", 1, PANELS * (MEMBERS + 1))], rows


def _check_asked(asked: Counter[str]) -> None:
    expected = {
        f"panel {panel}, member {member}" for panel in range(PANELS) for member in range(MEMBERS)
    }
    assert set(asked) == expected, f"{len(expected - set(asked))} questions were lost"
    assert set(asked.values()) == {1}, (
        f"{sum(number > 1 for number in asked.values())} questions were asked twice"
    )


def _spent(
    processes: list[subprocess.Popen[str]], watch: psycopg.Connection[Any]
) -> dict[str, float]:
    """Seconds of CPU of the workers and of PostgreSQL; how often it has committed, and how often
    something written."""
    row = watch.execute(
        "SELECT xact_commit, txid_snapshot_xmax(txid_current_snapshot()) FROM pg_stat_database"
        " WHERE datname = current_database()"
    ).fetchone()
    servers = watch.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    ).fetchall()
    assert row
    return {
        "workers": sum(_cpu(process.pid) for process in processes),
        "postgres": sum(_cpu(pid) for (pid,) in servers),
        "commits": float(row[0]),
        "writes": float(row[1]),
    }


def _cpu(pid: int) -> float:
    """Seconds of CPU, those of children that have ended included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def by_gather(model: Provider, concurrency: int) -> dict[str, float]:
    """The same calls from one event loop, and nothing is remembered."""
    from foreword.models import ask

    async def everything() -> None:
        room = asyncio.Semaphore(concurrency)
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(concurrency))

        async def one(given: dict[str, Any]) -> None:
            async with room:
                await asyncio.to_thread(
                    ask, given["model"], given["instructions"], given["request"], attempts=1
                )

        await asyncio.gather(
            *(one(given) for panel in range(PANELS) for given in questions(panel, model.model))
        )

    ask(model.model, "", "warm", attempts=1)
    model.asked()
    began, spent = time.perf_counter(), time.process_time()
    asyncio.run(everything())
    told = {"seconds": time.perf_counter() - began, "workers": time.process_time() - spent}
    _check_asked(model.asked())
    return told


def main() -> None:
    """Print a table for agents that mostly wait, as they do, and one for a machine that is kept
    busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["flow", "waiting", "busy"], help="one of the three")
    only = parser.parse_args().only
    if only in (None, "flow"):
        flow()
    if only in (None, "waiting"):
        table(delay_seconds=1.0, concurrency=12)
    if only in (None, "busy"):
        table(delay_seconds=0.0, concurrency=runs.AT_ONCE)


def flow() -> None:
    """A flow of five phases that is answered at once; the quickest of three, for the machine may
    have other work."""
    measured = []
    for _ in range(3):
        with TemporaryDirectory() as folder:
            command = [sys.executable, "-c", FLOW, folder]
            ran = subprocess.run(command, check=True, capture_output=True, text=True)
            measured.append(json.loads(ran.stdout))
    best = min(measured, key=lambda one: float(one["cpu"]))
    print(
        f"a flow of five phases, answered at once: {best['cpu']:.1f} s of CPU beside"
        f" {best['imports']:.1f} s of imports, {best['seconds']:.1f} s,"
        f" {best['openings']} openings of its store\n",
        flush=True,
    )


def table(delay_seconds: float, concurrency: int) -> None:
    """The same questions three times."""
    total = PANELS * MEMBERS
    print(
        f"{total:,} questions in {PANELS} panels; the provider thinks for {delay_seconds:g} s; "
        f"{concurrency} at once in each process; {os.cpu_count()} cores\n"
    )
    heads = ("seconds", "per second", "CPU ms each", "PostgreSQL", "commits each", "writes each")
    print(" " * 14 + "".join(f"{head:>14}" for head in heads))
    with provider(delay_seconds) as model:
        _row("asyncio.gather", by_gather(model, concurrency), total)
        for count in (1, 2):
            _row(f"{count} worker{'s' * (count > 1)}", by_workers(count, model, concurrency), total)
    print(flush=True)


def _row(name: str, told: Mapping[str, float], total: int) -> None:
    numbers = [told["seconds"], total / told["seconds"], 1000 * told["workers"] / total]
    if "commits" in told:
        numbers += [
            1000 * told["postgres"] / total,
            told["commits"] / total,
            told["writes"] / total,
        ]
    submitted = f"   ({told['submitting']:.1f} s to submit)" if "submitting" in told else ""
    print(f"{name:<14}" + "".join(f"{number:>14.1f}" for number in numbers) + submitted, flush=True)


if __name__ == "__main__":
    main()
