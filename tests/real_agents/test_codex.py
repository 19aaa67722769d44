"""Codex itself: the server, a compaction by itself, what comes back after it and what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreword.coding_agents.handoff import make_handoff
from foreword.testing import FakeProvider, ToolCall, fake_provider
from foreword.transcripts.places import places_below
from tests.real_agents import server_calls
from tests.real_agents.agents import (
    DONE,
    HUGE,
    SUMMARY,
    Body,
    RealAgent,
    conversation_requests,
    program,
    sent,
    tool_script,
)

SERVER = "mcp__foreword"  # the namespace of its tools
MOST_WAITS = 60  # seconds for a server to start, on a busy machine
CONFIG = """
model = "gpt-5.1-codex"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_auto_compact_token_limit = {limit}

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
supports_websockets = false

[analytics]
enabled = false

[projects."{project}"]
trust_level = "trusted"
"""


@pytest.fixture
def agent(tmp_path: Path) -> RealAgent:
    agent = RealAgent(tmp_path / "ada", "codex", {"FAKE_KEY": "none"})
    agent.set_up()
    return agent


def codex(agent: RealAgent, provider: FakeProvider, *arguments: str, limit: int = 900_000) -> str:
    config = CONFIG.format(url=provider.url, project=agent.project, limit=limit)
    (agent.home / ".codex").mkdir(exist_ok=True)
    (agent.home / ".codex" / "config.toml").write_text(config, "utf-8")
    binary = program(".bin/codex")
    return agent.run(binary, "exec", "--dangerously-bypass-hook-trust", *arguments)


def is_result(body: Body) -> bool:
    return "_output" in str(body["input"][-1].get("type"))


def is_compaction(body: Body) -> bool:
    return "summary for another" in json.dumps(body["input"][-1])


def shell(command: str, usage: tuple[int, int] | None = None) -> Any:
    return tool_script(
        "exec_command",
        {"cmd": command},
        is_result=is_result,
        is_compaction=is_compaction,
        usage_at_end=usage,
    )


def test_a_compaction_leaves_a_checkpoint_and_nothing_that_codex_sends_itself_comes_back(
    agent: RealAgent,
) -> None:
    with fake_provider(shell("cat README.md", usage=(50_000, 9))) as provider:
        codex(
            agent, provider, "Read the README of tide_station_five. Never use feet.", limit=40_000
        )
        codex(agent, provider, "resume", "--last", "Go on.", limit=40_000)
    (checkpoint,) = agent.checkpoints
    assert checkpoint["objective"].startswith("Read the README of tide_station_five.")
    assert not any("Rules" in words for words in checkpoint["state"].get("said by the user", ()))
    after = sent(provider)[-1]
    assert SUMMARY in after
    assert "From Foreword" in after
    assert "do we need CSV?" in after
    brought = after[after.index("From Foreword") :]
    assert "Never push to main." not in brought.partition("</checkpoint>")[0]
    assert agent.hook_log == ""


def server_results(body: Body) -> list[str]:
    """What the tools answered, as the model reads it; Codex puts a text of its own in front, which
    says how long it took."""
    calls = {item["call_id"] for item in body["input"] if item.get("namespace") == SERVER}
    texts = list[str]()
    for item in body["input"]:
        if item.get("call_id") in calls and "output" in item:
            texts.append(item["output"][-1]["text"])
    return texts


def wait_for_server(body: Body) -> ToolCall | None:
    """Codex offers the tools as soon as their server has started, and not before."""
    waited = sum("_output" in str(item.get("type")) for item in body["input"])
    if SERVER in json.dumps(body["tools"]) or waited >= MOST_WAITS:
        return None
    return ToolCall("exec_command", {"cmd": "sleep 1"})


def test_answers_of_the_server_reach_the_model_as_texts_within_their_budgets(
    agent: RealAgent,
) -> None:
    server_calls.add_material(agent)
    script = server_calls.script(lambda name: f"{SERVER}.{name}", server_results, wait_for_server)
    with fake_provider(script) as provider:
        codex(agent, provider, "What is this project?")
    server_calls.check(server_results(conversation_requests(provider)[-1]))


def test_a_huge_result_stays_as_codex_cuts_it(agent: RealAgent) -> None:
    with fake_provider(shell(HUGE)) as provider:
        codex(agent, provider, "Count.")
    assert "foreword recall" not in json.dumps(provider.requests[-1]["input"][-1])
    assert agent.hook_log == ""


def test_its_session_can_be_handed_to_another_agent(agent: RealAgent) -> None:
    with fake_provider(shell("cat README.md")) as provider:
        codex(agent, provider, "Read the README of tide_station_five.")
    (place,) = places_below(agent.home / ".codex" / "sessions")
    with place.open() as session:
        assert session is not None
        package = make_handoff(session, 2_000, None)
    assert "Objective: Read the README of tide_station_five." in package.text
    assert "cat README.md" in package.text
    assert DONE.partition(". ")[2] in package.text
