"""An agent of the OpenAI Agents SDK with a hard budget: one filter more."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns

import foreword
from foreword.integrations.openai_agents import input_filter
from foreword.testing import fake_provider


def main() -> None:
    set_tracing_disabled(True)
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        client = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="none")
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        agent = Agent(
            name="potter",
            instructions=SYSTEM,
            model=OpenAIResponsesModel("your-model", client),
            tools=[function_tool(read_log)],
        )
        config = RunConfig(call_model_input_filter=input_filter(session))
        items: list[Any] = []
        for turn in range(turns()):
            items.append({"role": "user", "content": question(turn)})
            items = Runner.run_sync(agent, items, run_config=config).to_input_list()
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
