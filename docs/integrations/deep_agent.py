"""A deep agent (deepagents) with a hard budget: one middleware more."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from deepagents import create_deep_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns

from foreword.integrations.langchain import ForewordMiddleware
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        model = ChatOpenAI(model="your-model", base_url=f"{provider.url}/v1", api_key="none")
        foreword = ForewordMiddleware(
            url=f"sqlite:///{folder}/chat.db", root=folder, budget=BUDGET, window=WINDOW
        )
        agent = create_deep_agent(
            model=model, tools=[read_log], system_prompt=SYSTEM, middleware=[foreword]
        )
        messages: list[Any] = []
        for turn in range(turns()):
            messages.append(HumanMessage(question(turn)))
            messages = agent.invoke({"messages": messages})["messages"]
        finish(provider, foreword.conversations.session())
        foreword.conversations.close()


if __name__ == "__main__":
    main()
