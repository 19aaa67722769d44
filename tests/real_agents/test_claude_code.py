"""Claude Code itself: hooks in a folder nobody trusted, huge results, compactions, MCP, skill."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreword.testing import FakeProvider, Reply, fake_provider
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

QUIET = {
    "ANTHROPIC_API_KEY": "sk-ant-none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
}
STREAM = ("--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions")


@pytest.fixture
def agent(tmp_path: Path) -> RealAgent:
    agent = RealAgent(tmp_path / "ada", "claude-code", dict(QUIET))
    agent.set_up()
    return agent


def claude(agent: RealAgent, provider: FakeProvider, *arguments: str) -> list[dict[str, Any]]:
    """What the program says, line by line."""
    agent.env["ANTHROPIC_BASE_URL"] = provider.url
    binary = program("@anthropic-ai/claude-code-*/claude")
    output = agent.run(binary, "-p", *arguments, *STREAM)
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def last_words(body: Body) -> str:
    """All that the newest messages of the user's role say."""
    users = [message for message in body["messages"] if message["role"] == "user"]
    return json.dumps(users[-1], ensure_ascii=False)


def is_result(body: Body) -> bool:
    return "tool_result" in last_words(body)


def is_compaction(body: Body) -> bool:
    return "summary of the conversation" in last_words(body)


def bash(command: str, **more: Any) -> Callable[[Body], str | Reply]:
    return tool_script(
        "Bash",
        {"command": command, "description": "look"},
        is_result=is_result,
        is_compaction=is_compaction,
        **more,
    )


def test_a_huge_result_is_cut_with_a_handle_in_a_folder_that_nobody_trusted(
    agent: RealAgent,
) -> None:
    with fake_provider(bash(HUGE)) as provider:
        claude(agent, provider, "Count.")
    result = sent(provider)[-1]
    assert "foreword recall fw_" in result
    assert "20000" in result  # the end of it, which Claude Code alone would not have shown
    assert "<persisted-output>" not in result
    assert agent.hook_log == ""


def test_a_compaction_leaves_a_checkpoint_that_comes_back_beside_the_summary(
    agent: RealAgent,
) -> None:
    with fake_provider(bash("cat README.md")) as provider:
        claude(agent, provider, "Read the README of tide_station_five. Never use feet.")
        claude(agent, provider, "/compact keep the station", "--continue")
        claude(agent, provider, "Go on.", "--continue")
    (checkpoint,) = agent.checkpoints
    assert checkpoint["objective"].startswith("Read the README of tide_station_five.")
    assert checkpoint["trigger"] == "manual"
    after = sent(provider)[-1]
    assert SUMMARY in after
    assert "From Foreword" in after
    assert "Never push to main." in after
    assert "Never use feet." in after
    assert "do we need CSV?" in after
    assert "cat README.md" in after
    assert agent.hook_log == ""


def test_an_automatic_compaction_does_the_same(agent: RealAgent) -> None:
    agent.env["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] = "5"
    full = bash("cat README.md", usage_at_end=(990_000, 9))
    with fake_provider(full) as provider:
        claude(agent, provider, "Read the README of tide_station_five.")
        claude(agent, provider, "Go on.", "--continue")
    assert [one["trigger"] for one in agent.checkpoints] == ["auto"]
    assert any("From Foreword" in text and SUMMARY in text for text in sent(provider))


def test_the_skill_hides_no_command_and_the_server_is_there(agent: RealAgent) -> None:
    with fake_provider(DONE) as provider:
        said = claude(agent, provider, "Hello.")
    (start,) = [one for one in said if one.get("subtype") == "init"]
    assert {"context", "project-context"} <= set(start["slash_commands"])
    assert [server["name"] for server in start["mcp_servers"]] == ["foreword"]
    with fake_provider(DONE) as provider:
        claude(agent, provider, "/project-context")
    assert "Tells the tides." in sent(provider)[-1]


def server_results(body: Body) -> list[str]:
    """What the tools answered, as the model reads it."""
    texts = list[str]()
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block.get("type") == "tool_result":
                content = block["content"]
                whole = isinstance(content, str)
                texts.append(content if whole else "".join(part["text"] for part in content))
    return texts


def test_answers_of_the_server_reach_the_model_as_texts_within_their_budgets(
    agent: RealAgent,
) -> None:
    server_calls.add_material(agent)
    script = server_calls.script(lambda name: f"mcp__foreword__{name}", server_results)
    settings = json.dumps({"enableAllProjectMcpServers": True})
    with fake_provider(script) as provider:
        claude(agent, provider, "What is this project?", "--settings", settings)
    server_calls.check(server_results(conversation_requests(provider)[-1]))


def test_the_status_line_shows_how_full_the_window_is(agent: RealAgent) -> None:
    key = QUIET["ANTHROPIC_API_KEY"]
    trusted = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["foreword"]}
    seen_before = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(agent.project): trusted},
    }
    (agent.home / ".claude.json").write_text(json.dumps(seen_before), "utf-8")
    # colours and moves of the cursor stand between the words
    line = re.compile(rb"\d+%[^%]{0,40}?\d[\d.]*K[^%]{0,20}?of[^%]{0,20}?1M")
    with fake_provider("All right.") as provider:
        agent.env["ANTHROPIC_BASE_URL"] = provider.url
        shown = agent.screen(line, program("@anthropic-ai/claude-code-*/claude"), "Hello.")
    assert line.search(shown), shown[-2_000:]
