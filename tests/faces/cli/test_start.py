"""What a command loads and compiles before it answers, in an interpreter of its own.

Counts, not seconds: how long it takes is measured by `benchmarks.start`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from foreword.demos import samples

# Runs a command, then writes down which modules it has loaded and how many patterns of ours it has
# compiled.
PROGRAM = """
import atexit, json, re, sys

compiled = []
compile_pattern = re._compiler.compile

def counting(pattern, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") in ("re", "functools"):
        frame = frame.f_back
    if frame.f_globals.get("__name__", "").startswith("foreword"):
        compiled.append(repr(pattern))
    return compile_pattern(pattern, flags)

def write_down():
    with open(report, "w") as file:
        json.dump({"modules": list(sys.modules), "patterns": compiled}, file)

re._compiler.compile = counting
report = sys.argv.pop(1)
atexit.register(write_down)
from foreword.__main__ import main
main()
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a command wrote to stdout, loaded and compiled."""

    out: str
    modules: frozenset[str]
    patterns: tuple[str, ...]

    @property
    def packages(self) -> set[str]:
        return {name.partition(".")[0] for name in self.modules}

    @property
    def rooms(self) -> set[str]:
        """The packages of ours."""
        names = [name.split(".") for name in self.modules if name.startswith("foreword.")]
        return {name[1] for name in names}


def start(folder: Path, *arguments: str, stdin: object = "") -> Started:
    """Run `foreword ARGUMENTS` in a new interpreter."""
    report = folder.parent / "report.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(report), *arguments],
        input=json.dumps(stdin) + "\n",
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(report.read_text())
    return Started(
        out=done.stdout,
        modules=frozenset(found["modules"]),
        patterns=tuple(found["patterns"]),
    )


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.lay_out(tmp_path_factory.mktemp("start") / "sample")


def test_the_version_loads_one_module_and_no_library(sample: Path) -> None:
    started = start(sample, "--version")
    assert started.out.startswith("foreword ")
    assert {name for name in started.modules if name.startswith("foreword")} == {
        "foreword",
        "foreword.__main__",
    }
    assert not started.packages & {"click", "pydantic", "typing", "yaml"}


EVENT = {"hook_event_name": "Stop", "session_id": "s"}
SMALL_RESULT = {
    "hook_event_name": "PostToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_response": {"stdout": "ok", "stderr": ""},
}
NEW_SESSION = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}
FIGURES = {"context_window": {"context_window_size": 1_000, "current_usage": {"input_tokens": 100}}}


@pytest.mark.parametrize(
    ("command", "stdin"),
    [
        ("hook", EVENT),
        ("hook", SMALL_RESULT),
        ("hook", NEW_SESSION),
        ("statusline", FIGURES),
    ],
)
def test_what_agents_start_all_the_time_loads_a_few_modules_and_compiles_no_pattern(
    sample: Path, command: str, stdin: object
) -> None:
    started = start(sample, command, stdin=stdin)
    assert started.patterns == ()
    assert started.rooms <= {"__main__", "coding_agents", "errors", "faces", "text"}
    # The way to the command, the event, its answer, and the words of a mark.
    assert len([name for name in started.modules if name.startswith("foreword")]) <= 18
    foreign = {"apsw", "markdown_it", "mcp", "pathlib", "pydantic", "splintr", "starlette", "yaml"}
    assert not started.packages & foreign


def test_a_context_compiles_the_patterns_it_uses_and_loads_nothing_of_other_rooms(
    sample: Path,
) -> None:
    started = start(sample, "assemble", "director", "--agent", "builder", "--quiet")
    assert started.out.startswith("<vision>\n")
    # 300 stand in the modules; the sample's files and its git log need so many.
    assert len(started.patterns) <= 91
    rooms = {"browser", "coding_agents", "director", "lint", "models", "operations", "session"}
    assert not started.rooms & {*rooms, "review", "testing", "work"}
    foreign = {"asyncio", "httpx", "jinja2", "mcp", "psycopg", "starlette", "uvicorn"}
    foreign |= {"markdown_it", "zipfile"}
    # everything fits, and the recipe has neither tiers nor documents
    unused = {"text.cut", "text.marks", "context.tiers", "context.document_sections"}
    assert not started.modules & {f"foreword.{name}" for name in unused}
    assert not started.packages & foreign


def test_an_mcp_server_on_the_standard_streams_loads_nothing_of_http(sample: Path) -> None:
    started = start(sample, "mcp", stdin=INITIALIZE)
    assert json.loads(started.out)["result"]["serverInfo"]["name"] == "foreword"
    assert not started.modules & {"foreword.browser.browser", "foreword.faces.http"}
    assert "foreword.faces.web" not in started.modules
    assert not started.rooms & {"coding_agents", "director", "lint"}
    # What the SDK itself loads of HTTP (starlette, uvicorn) is not ours to leave out.
    assert not started.packages & {"dbos", "h11", "httpx", "jinja2", "playwright", "psycopg"}
    assert len(started.patterns) <= 10
