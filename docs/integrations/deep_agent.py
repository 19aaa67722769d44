"""A deep agent (deepagents) with a hard budget: one middleware more."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from deepagents import create_deep_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from practice import SYSTEM, budget, finish, question, read_log, reply, turns

from foreword.integrations.langchain import ForewordMiddleware
from foreword.testing import fake_provider

BUDGET = budget(12_000)  # what the agent says by itself, tools and prompt, takes up to 8,000


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        model = ChatOpenAI(model="your-model", base_url=f"{provider.url}/v1", api_key="none")
        foreword = ForewordMiddleware(
            url=f"sqlite:///{folder}/chat.db", root=folder, budget=BUDGET, window=4 * BUDGET
        )
        agent = create_deep_agent(
            model=model, tools=[read_log], system_prompt=SYSTEM, middleware=[foreword]
        )
        messages: list[Any] = []
        for turn in range(turns()):
            messages.append(HumanMessage(question(turn)))
            messages = agent.invoke({"messages": messages})["messages"]
        finish(provider, foreword.conversations.session(), BUDGET)
        foreword.conversations.close()


if __name__ == "__main__":
    main()
