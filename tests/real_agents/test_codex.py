"""Codex itself: the server, a compaction by itself, what comes back after it and what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreword.agent_sessions.machine import places_below
from foreword.coding_agents.handoff import make_handoff
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
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


def test_the_server_is_there_as_soon_as_it_has_started(agent: RealAgent) -> None:
    def has_server(body: Body) -> bool:
        return "mcp__foreword" in json.dumps(body["tools"])

    def script(body: Body) -> str | Reply:
        waited = sum("_output" in str(item.get("type")) for item in body["input"])
        if has_server(body) or waited >= MOST_WAITS:
            return DONE
        return Reply("", tool_calls=[ToolCall("exec_command", {"cmd": "sleep 1"})])

    with fake_provider(script) as provider:
        codex(agent, provider, "Wait.")
    assert has_server(conversation_requests(provider)[-1])


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
