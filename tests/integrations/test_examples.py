"""The examples of `docs/integrations`, each with the real framework, against a provider on this
machine: never over the budget, no call without its result, a prefix that a cache can reuse.

`make test` runs those whose packages are there anyway; `make frameworks` all of them, with the
oldest and the newest version of each, at 400 turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "integrations"
LIGHT = ("anthropic_loop", "openai_loop", "pydantic_ai_agent")
FRAMEWORKS = {
    "google-genai": "gemini_loop",
    "langchain": "langchain_agent",
    "litellm": "litellm_loop",
    "llama-index": "llama_index_agent",
    "openai-agents": "openai_agents_run",
}
AGENT = "claude-agent-sdk"  # it keeps its own history; its results are cut
ENVIRONMENTS = os.environ.get("FOREWORD_FRAMEWORKS")
TURNS = 400 if ENVIRONMENTS else 16
BUDGET = 2_000  # that of the examples
LEAST_REUSE = 0.8  # of a call, on average; 0.9 and more was seen at 40 turns


def runs() -> list[tuple[str, str]]:
    """The interpreters and the examples that they run."""
    found = [(sys.executable, name) for name in LIGHT]
    for framework, python in environments():
        if framework != AGENT:
            found.append((python, FRAMEWORKS[framework]))
    return found


def environments() -> list[tuple[str, str]]:
    """The frameworks that are installed, each with its interpreter."""
    folders = sorted(Path(ENVIRONMENTS).iterdir()) if ENVIRONMENTS else []
    return [(folder.name.rpartition("-")[0], str(folder / "bin" / "python")) for folder in folders]


@pytest.mark.parametrize(("python", "example"), runs())
def test_a_conversation_with_the_real_framework_stays_within_its_budget(
    tmp_path: Path, python: str, example: str
) -> None:
    found = run_example(tmp_path, python, example, str(TURNS))
    assert len(found["requests"]) >= TURNS * 1.4  # a tool is called at every other turn
    assert max(found["sizes"]) <= BUDGET
    assert sum(found["sizes"][:TURNS]) > 3 * BUDGET  # it was crossed, or nothing is shown
    assert found["reuse"] >= LEAST_REUSE
    for number, request in enumerate(found["requests"]):
        said = request.get("messages") or request.get("input") or request.get("contents")
        found_calls = list(calls_in(said))
        calls = [call for kind, call in found_calls if kind == "call"]
        results = [call for kind, call in found_calls if kind == "result"]
        assert calls == results, number


def run_example(folder: Path, python: str, example: str, *arguments: str) -> dict[str, Any]:
    """Run an example to its end; returns what it reports."""
    report = folder / "report.json"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network for prices
    }
    ran = subprocess.run(
        [python, str(EXAMPLES / f"{example}.py"), *arguments, str(report)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return found


@pytest.mark.parametrize("python", [python for name, python in environments() if name == AGENT])
def test_a_long_result_of_the_claude_agent_sdk_is_cut_and_can_be_recalled(
    tmp_path: Path, python: str
) -> None:
    found = run_example(tmp_path, python, "claude_agent_run")
    assert found["whole"] > 10_000
    assert max(found["sizes"]) < 1_200  # of a budget of 1,000, and what JSON adds
    assert all("foreword recall fw_" in text for text in found["results"])


@pytest.mark.parametrize(("framework", "python"), environments())
def test_objects_of_a_framework_are_read_and_written_without_loss(
    framework: str, python: str
) -> None:
    script = Path(__file__).with_name("framework_objects.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [python, str(script), framework],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


def calls_in(value: Any) -> Iterator[tuple[str, str]]:
    """Every call and every result in the messages of any provider, by its id."""
    if isinstance(value, list):
        for each in value:
            yield from calls_in(each)
    if not isinstance(value, dict):
        return
    kind = value.get("type")
    if kind == "tool_use" or (kind == "function" and "id" in value):
        yield "call", value["id"]
    elif kind == "tool_result":
        yield "result", value["tool_use_id"]
    elif value.get("role") == "tool":
        yield "result", value["tool_call_id"]
    elif kind in ("function_call", "function_call_output"):
        yield "call" if kind == "function_call" else "result", value["call_id"]
    for name, member in value.items():
        if name in ("functionCall", "functionResponse"):
            yield "call" if name == "functionCall" else "result", member.get("id", member["name"])
        elif name in ("content", "tool_calls", "parts"):
            yield from calls_in(member)


def test_every_example_is_run_by_somebody() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")} - {"practice"}
    assert names == {*LIGHT, *FRAMEWORKS.values(), "claude_agent_run"}


def test_no_integration_is_longer_than_a_page_or_two() -> None:
    for path in (ROOT / "src" / "foreword" / "integrations").glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) < 150, path.name
