"""An agent of CrewAI with a hard budget: a model whose messages fit."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from crewai import Agent
from crewai.llms.providers.openai.completion import OpenAICompletion
from crewai.tools import tool
from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns

import foreword
from foreword.integrations.providers import openai_request
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )

        class FittedModel(OpenAICompletion):
            def call(self, messages: Any, *more: Any, **options: Any) -> Any:
                fitted = openai_request(session, messages=messages)["messages"]
                return super().call(fitted, *more, **options)

        model = FittedModel(model="gpt-4o-mini", base_url=f"{provider.url}/v1", api_key="none")
        agent = Agent(
            role="potter", goal=SYSTEM, backstory=SYSTEM, llm=model, tools=[tool(read_log)]
        )
        messages: list[Any] = []
        for turn in range(turns()):
            messages.append({"role": "user", "content": question(turn)})
            answer = agent.kickoff(messages)
            messages.append({"role": "assistant", "content": answer.raw})
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
