"""Gemini CLI itself: the server, a compression, and the checkpoint with the user's next words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreword.testing import FakeProvider, fake_provider
from tests.real_agents import server_calls
from tests.real_agents.agents import Body, RealAgent, program, sent, tool_script

SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
MODEL = "gemini-2.5-pro"


@pytest.fixture
def agent(tmp_path: Path) -> RealAgent:
    env = {"GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    agent = RealAgent(tmp_path / "ada", "gemini", env)
    agent.set_up()
    return agent


def gemini(agent: RealAgent, provider: FakeProvider, *arguments: str, **model: Any) -> str:
    (agent.home / ".gemini").mkdir(exist_ok=True)
    settings = json.dumps({**SETTINGS, "model": model})
    (agent.home / ".gemini" / "settings.json").write_text(settings, "utf-8")
    agent.env["GOOGLE_GEMINI_BASE_URL"] = provider.url
    return agent.run(program(".bin/gemini"), *arguments, "--yolo", "-m", MODEL)


def is_result(body: Body) -> bool:
    return "functionResponse" in json.dumps(body["contents"][-1])


def is_compaction(body: Body) -> bool:
    return "state_snapshot" in json.dumps(body.get("systemInstruction", ""))


SCRIPT = tool_script(
    "run_shell_command",
    {"command": "cat README.md"},
    is_result=is_result,
    is_compaction=is_compaction,
)


def test_a_turn_without_a_compression_brings_nothing_back_and_the_server_is_there(
    agent: RealAgent,
) -> None:
    with fake_provider(SCRIPT) as provider:
        gemini(agent, provider, "-p", "Read the README of tide_station_five.")
    first = sent(provider)[0]
    assert "assemble_context" in first
    assert "From Foreword" not in first
    assert agent.hook_log == ""


def test_after_a_compression_the_checkpoint_comes_with_the_next_words(agent: RealAgent) -> None:
    def script(body: Body) -> Any:
        reply = SCRIPT(body)
        return f"<state_snapshot>{reply}</state_snapshot>" if is_compaction(body) else reply

    with fake_provider(script) as provider:
        gemini(agent, provider, "-p", "Read the README of tide_station_five. Never use feet.")
        few = {"compressionThreshold": 0.001}
        gemini(agent, provider, "--resume", "latest", "-p", "Go on.", **few)
        gemini(agent, provider, "--resume", "latest", "-p", "And now?")
    (checkpoint, *_) = agent.checkpoints
    assert checkpoint["objective"].startswith("Read the README of tide_station_five.")
    assert any(is_compaction(body) for body in provider.requests)
    after = sent(provider)[-1]
    assert "From Foreword" in after
    assert "Never use feet." in after[after.index("From Foreword") :]
    assert agent.hook_log == ""


def server_results(body: Body) -> list[str]:
    """What the tools answered, as the model reads it."""
    texts = list[str]()
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                texts.append(part["functionResponse"]["response"]["output"])
    return texts


def test_answers_of_the_server_reach_the_model_as_texts_within_their_budgets(
    agent: RealAgent,
) -> None:
    server_calls.add_material(agent)
    script = server_calls.script(lambda name: f"mcp_foreword_{name}", server_results)
    with fake_provider(script) as provider:
        gemini(agent, provider, "-p", "What is this project?")
    server_calls.check(server_results(provider.requests[-1]))
