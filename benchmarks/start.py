"""What starting costs: `python -m benchmarks.start [--rounds 15]`.

Processor time (user and system, of the process and what it started) of commands that people and
agents start often, as a ratio to `python -c pass` on the same machine in the same minute; the best
of so many rounds, in turn, since a busy machine only ever adds. For `foreword mcp`, the seconds
until it has answered `initialize`, and what of HTTP it has loaded by then. The table is also
written to `benchmarks/results/start.txt`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foreword.demos import samples

RESULTS = Path(__file__).parent / "results" / "start.txt"
# The command as it is installed, beside the interpreter.
FOREWORD = str(Path(sys.executable).with_name("foreword"))
PASSING_EVENT = {"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": False}
STATUS = {
    "hook_event_name": "Status",
    "session_id": "s",
    "context_window": {
        "context_window_size": 200_000,
        "current_usage": {"input_tokens": 1_200, "cache_read_input_tokens": 84_000},
    },
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
MOST_MCP_SECONDS = 1.0
# Ends behind the first answer, and says what is loaded.
MCP_MODULES = """
import sys
from foreword.__main__ import main
sys.argv = ["foreword", "mcp"]
try:
    main()
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""
SDK_MODULES = """
import sys
import mcp.server.lowlevel.server, mcp.server.stdio
print("\\n".join(sys.modules), file=sys.stderr)
"""
HTTP_PACKAGES = ("h11", "httpcore", "httptools", "httpx", "sse_starlette", "starlette", "uvicorn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A command, what it reads, and how many times a bare Python it may take; 0 for no limit."""

    name: str
    arguments: Sequence[str]
    stdin: Mapping[str, object] | None = None
    most: float = 0.0


STARTS = (
    Start(name="python -c pass", arguments=(sys.executable, "-c", "pass")),
    Start(name="python -c 'import click'", arguments=(sys.executable, "-c", "import click")),
    Start(name="foreword --version", arguments=(FOREWORD, "--version"), most=2),
    Start(name="foreword hook", arguments=(FOREWORD, "hook"), stdin=PASSING_EVENT, most=5),
    Start(name="foreword statusline", arguments=(FOREWORD, "statusline"), stdin=STATUS, most=5),
    Start(
        name="foreword assemble director",
        arguments=(FOREWORD, "assemble", "director", "--agent", "builder"),
        most=18,
    ),
    # Ends when its input does, behind the answer.
    Start(name="foreword mcp", arguments=(FOREWORD, "mcp"), stdin=INITIALIZE),
)


def main() -> None:
    """Measure, print a table, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        project = samples.lay_out(Path(folder) / "sample")
        environment = _environment(Path(folder))
        seconds = {start.name: float("inf") for start in STARTS}
        for _ in range(rounds + 1):  # the first one writes byte-code and fills the file cache
            for start in STARTS:
                taken = cpu_seconds(start, project, environment)
                seconds[start.name] = min(seconds[start.name], taken)
        lines = [_heading(rounds), *_table(seconds), *_loaded_http(project, environment)]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    RESULTS.write_text(text)


def _environment(folder: Path) -> dict[str, str]:
    """The caller's, with a home of its own and byte-code on disk, as an installation has it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}


def cpu_seconds(start: Start, project: Path, environment: Mapping[str, str]) -> float:
    """The processor time of one run, with all that it waited for."""
    with tempfile.TemporaryFile() as stdin:
        if start.stdin is not None:
            stdin.write(json.dumps(start.stdin).encode() + b"\n")
            stdin.seek(0)
        process = subprocess.Popen(
            start.arguments,
            cwd=project,
            env=environment,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{start.name} ended with {process.returncode}"
    return usage.ru_utime + usage.ru_stime


def _heading(rounds: int) -> str:
    return f"CPU, best of {rounds}; Python {platform.python_version()}, {os.cpu_count()} cores"


def _table(seconds: Mapping[str, float]) -> list[str]:
    bare = seconds[STARTS[0].name]
    lines = [f"{'':28}{'ms':>8}{'ratio':>8}{'most':>8}"]
    for start in STARTS:
        taken = seconds[start.name]
        line = f"{start.name:28}{taken * 1000:8.1f}{taken / bare:8.1f}"
        lines.append(line + (f"{start.most:8g}" if start.most else ""))
    answered = seconds[STARTS[-1].name]
    lines.append(f"mcp answers after {answered:.2f} s of CPU (at most {MOST_MCP_SECONDS:g})")
    return lines


def _loaded_http(project: Path, environment: Mapping[str, str]) -> list[str]:
    """What of HTTP an MCP server on the standard streams has loaded, and who asked for it."""
    loaded = _modules(MCP_MODULES, project, environment)
    own = sorted(name for name in loaded if name.startswith("foreword.faces.http."))
    by_sdk = _packages(_modules(SDK_MODULES, project, environment))
    others = sorted(_packages(loaded) - by_sdk)
    return [
        f"packages of HTTP that the SDK of MCP loads: {', '.join(sorted(by_sdk)) or 'none'}",
        f"and that we load besides: {', '.join(others) or 'none'}",
        f"modules of ours for HTTP: {', '.join(own) or 'none'}",
    ]


def _packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules} & set(HTTP_PACKAGES)


def _modules(program: str, project: Path, environment: Mapping[str, str]) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(INITIALIZE) + "\n",
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


if __name__ == "__main__":
    main()
