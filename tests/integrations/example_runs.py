"""What the tests of integrations share: running an example, and what its requests must be like."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
# They need no integration of ours: a few lines that sync the session and send what fits.
FEW_LINES = {
    "crewai": "crewai_agent",
    "google-adk": "adk_agent",
    "instructor": "instructor_loop",
    "strands-agents": "strands_agent",
}
# Budgets and the least share of a call that a prompt cache could take, on average. In a call of
# 1,500 tokens the 130 that are new are 9% already, and every sixth turn gives something up: 84% and
# more was seen. At 8,000 it is what our own sessions promise.
SMALL = (2_000, 0.8)
USUAL = (8_000, 0.95)


def check_conversation(
    folder: Path, python: str, example: str, turns: int, size: tuple[int, float] = USUAL
) -> None:
    """Run an example: never over its budget, no call without its result, a prefix that a cache can
    reuse."""
    budget, least_reuse = size
    found = run_example(folder, python, example, str(turns), str(budget))
    assert len(found["requests"]) >= turns * 1.4  # a tool is called at every other turn
    check_requests(found, turns, budget)
    assert found["reuse"] >= least_reuse


def check_requests(found: dict[str, Any], turns: int, budget: int) -> None:
    """Check that no request is over its budget, and that each call in it has its result."""
    assert max(found["sizes"]) <= budget
    assert sum(found["sizes"][:turns]) > 3 * budget  # it was crossed, or nothing is shown
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
        "CREWAI_DISABLE_TELEMETRY": "true",
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


def run_adapters(python: str, framework: str, folder: Path) -> None:
    """What an integration has beside its example, in the environment of the framework."""
    script = Path(__file__).with_name("framework_adapters.py")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    ran = subprocess.run(
        [python, str(script), framework, str(folder)],
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
