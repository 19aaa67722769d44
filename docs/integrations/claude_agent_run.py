"""The Claude Agent SDK with results that are cut to a budget, and a tool to bring back the rest.

The agent is Claude Code, which the SDK brings along; the model behind it is on loopback.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_agent_sdk import ResultMessage, query

from foreword.integrations.claude_agent import agent_options
from foreword.testing import Reply, ToolCall, fake_provider
from foreword.tokens import counter

RESULT_TOKENS = 1_000
QUIET = {
    "ANTHROPIC_API_KEY": "sk-ant-none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
}


def reply(body: Mapping[str, Any]) -> Reply:
    """The model: it prints the log, and then says that it has read it."""
    is_result = "tool_result" in json.dumps(body["messages"][-1])
    if is_result or not body.get("tools"):
        return Reply("I have read the log.")
    return Reply("I look.", [ToolCall("Bash", {"command": "cat kiln.log", "description": "look"})])


async def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        lines = [f"{number:05} the chamber has {900 + number % 300}" for number in range(2_000)]
        Path(folder, "kiln.log").write_text("\n".join(lines), "utf-8")
        options = agent_options(
            folder,
            result_tokens=RESULT_TOKENS,
            allowed_tools=["Bash"],
            permission_mode="bypassPermissions",
            env={**QUIET, "HOME": folder, "ANTHROPIC_BASE_URL": provider.url},
        )
        async for message in query(prompt="What does kiln.log say?", options=options):
            if isinstance(message, ResultMessage):
                print(message.result)
        results = tool_results(provider.requests)
        whole = counter("o200k").count("\n".join(lines))
        sizes = [counter("o200k").count(text) for text in results]
        print(f"a result of {whole:,} tokens went to the model as {max(sizes):,}")
        if len(sys.argv) > 1:
            report = {"results": results, "sizes": sizes, "whole": whole}
            Path(sys.argv[1]).write_text(json.dumps(report), "utf-8")


def tool_results(requests: list[dict[str, Any]]) -> list[str]:
    """What the model was told that its tools have answered."""
    blocks: list[dict[str, Any]] = []
    for request in requests:
        for message in request.get("messages", ()):
            if isinstance(message["content"], list):
                blocks += message["content"]
    return [json.dumps(block["content"]) for block in blocks if block["type"] == "tool_result"]


if __name__ == "__main__":
    asyncio.run(main())
