"""opencode itself: our plugin at a compaction, huge results, the server, and its database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreword.autopsy import examine
from foreword.testing import FakeProvider, Reply, fake_provider
from foreword.transcripts.places import places_below
from tests.real_agents import server_calls
from tests.real_agents.agents import (
    DONE,
    SUMMARY,
    Body,
    RealAgent,
    conversation_requests,
    program,
    sent,
    tool_script,
)

# Prints a few long lines: opencode itself cuts what has many.
LONG_LINES = "for n in 1 2 3 4 5 6 7 8 9; do printf 'tide %s ' $(seq 1 700); echo; done"


@pytest.fixture
def agent(tmp_path: Path) -> RealAgent:
    env = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    agent = RealAgent(tmp_path / "ada", "opencode", env)
    agent.set_up()
    return agent


def opencode(agent: RealAgent, provider: FakeProvider, *arguments: str) -> str:
    options = {"baseURL": f"{provider.url}/v1", "apiKey": "none"}
    model = {"fake": {"limit": {"context": 100_000, "output": 8_000}}}
    config: dict[str, Any] = {
        "provider": {
            "local": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": model}
        },
        "model": "local/fake",
        "autoupdate": False,
        "share": "disabled",
    }
    folder = agent.home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(json.dumps(config), "utf-8")
    binary = program("opencode-linux-*/bin/opencode", "opencode-*/bin/opencode")
    return agent.run(binary, "run", *arguments)


def is_result(body: Body) -> bool:
    return bool(body["messages"][-1]["role"] == "tool")


def is_compaction(body: Body) -> bool:
    return "ummar" in json.dumps(body["messages"][-1]) and not body.get("tools")


def bash(command: str, usage: tuple[int, int] | None = None) -> Any:
    return tool_script(
        "bash",
        {"command": command, "description": "look"},
        is_result=is_result,
        is_compaction=is_compaction,
        usage_at_end=usage,
    )


def test_a_compaction_leaves_a_checkpoint_that_is_put_behind_the_summary(agent: RealAgent) -> None:
    full = bash("cat README.md", usage=(99_000, 9))
    compacted = list[Body]()

    def script(body: Body) -> str | Reply:
        if is_compaction(body):
            compacted.append(body)
        reply: str | Reply = full(body)
        return DONE if compacted and body.get("tools") else reply

    with fake_provider(script) as provider:
        opencode(agent, provider, "Read the README of tide_station_five. Never use feet.")
        opencode(agent, provider, "--continue", "Go on.")
        opencode(agent, provider, "--continue", "And now?")
    (checkpoint,) = agent.checkpoints
    assert "Read the README of tide_station_five." in checkpoint["objective"]
    assert any(is_compaction(body) for body in provider.requests)
    after = sent(provider)[-1]
    assert SUMMARY in after
    assert "From Foreword" in after
    assert "Never use feet." in after[after.index("From Foreword") :]
    assert agent.hook_log == ""
    places = places_below(agent.home / ".local" / "share" / "opencode")
    with places[-1].open() as session:
        assert session is not None
        found = examine(session)
    assert len(found.compactions) == 1


def test_a_huge_result_of_the_shell_is_cut_with_a_handle(agent: RealAgent) -> None:
    with fake_provider(bash(LONG_LINES)) as provider:
        opencode(agent, provider, "Print the tides.")
    result = json.dumps(conversation_requests(provider)[-1]["messages"][-1])
    assert "foreword recall fw_" in result
    assert "foreword_assemble_context" in json.dumps(conversation_requests(provider)[-1]["tools"])


def server_results(body: Body) -> list[str]:
    """What the tools answered, as the model reads it."""
    return [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]


def test_answers_of_the_server_reach_the_model_as_texts_within_their_budgets(
    agent: RealAgent,
) -> None:
    server_calls.add_material(agent)
    script = server_calls.script(lambda name: f"foreword_{name}", server_results)
    with fake_provider(script) as provider:
        opencode(agent, provider, "What is this project?")
    server_calls.check(server_results(conversation_requests(provider)[-1]))
