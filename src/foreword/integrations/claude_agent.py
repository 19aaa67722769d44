"""The Claude Agent SDK: options whose hooks shorten long results and keep a checkpoint before a
compaction, and a tool to bring back what was left out.

    async for message in query(prompt=question, options=agent_options(root=".")): ...

The agent keeps its own history; what its tools answer is cut to a budget before it gets there. A
hook that fails never breaks the agent: it goes on as if there were none.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, tool

from foreword.coding_agents import hook_log, hooks
from foreword.coding_agents.hook_events import POST_TOOL_USE, PRE_COMPACT, event_of
from foreword.coding_agents.long_results import BUDGET_TOKENS
from foreword.context.recall import recall
from foreword.errors import ForewordError
from foreword.session.recall_tool import (
    ANSWER_TOKENS,
    HANDLE_DESCRIPTION,
    HANDLE_PARAMETERS,
    NAME,
)

SERVER = "foreword"


def agent_options(
    root: str | Path = ".", *, result_tokens: int = BUDGET_TOKENS, **options: Any
) -> ClaudeAgentOptions:
    """Options for `query` and `ClaudeSDKClient`, beside yours; a tool's result has at most so many
    tokens. `root` is the project, whose store keeps what was cut."""
    folder = Path(root).resolve()
    own = {name: [HookMatcher(hooks=[_hook(folder, result_tokens)])] for name in _EVENTS}
    for name, matchers in (options.pop("hooks", None) or {}).items():
        own[name] = [*matchers, *own.get(name, [])]
    servers = {**(options.pop("mcp_servers", None) or {}), SERVER: _server(folder)}
    allowed = [*(options.pop("allowed_tools", None) or []), f"mcp__{SERVER}__{NAME}"]
    return ClaudeAgentOptions(
        cwd=options.pop("cwd", folder),
        hooks=own,
        mcp_servers=servers,
        allowed_tools=allowed,
        **options,
    )


_EVENTS = (POST_TOOL_USE, PRE_COMPACT)


def _hook(root: Path, result_tokens: int) -> Any:
    """One callback for all events; the SDK has them in the same words as Claude Code's hooks."""
    settings = hooks.Options(budget_tokens=result_tokens)

    async def callback(data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        event = event_of(data)
        if not hooks.concerns_us(event, settings):
            return {}
        try:
            answer = await asyncio.to_thread(hooks.answer, event, root, settings)
        except (ForewordError, OSError, ValueError) as error:
            hook_log.note(event.name, f"{type(error).__name__}: {error}")
            return {}
        return answer or {}

    return callback


def _server(root: Path) -> Any:
    """A server in this process with the recall tool."""

    async def answer(given: dict[str, Any]) -> dict[str, Any]:
        try:
            text = recall(
                str(given.get("handle", "")),
                root,
                offset=int(given.get("offset") or 0),
                budget=ANSWER_TOKENS,
            )
        except (ForewordError, ValueError) as error:
            text = f"Nothing was recalled: {error}."
        return {"content": [{"type": "text", "text": text}]}

    recall_tool = tool(NAME, HANDLE_DESCRIPTION, HANDLE_PARAMETERS)(answer)
    return create_sdk_mcp_server(SERVER, tools=[recall_tool])
