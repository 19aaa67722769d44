"""An agent of pydantic-ai with a hard budget: one capability more."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from foreword.integrations.pydantic_ai import ForewordCapability
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        served = AnthropicProvider(base_url=provider.url, api_key="none")
        foreword = ForewordCapability(
            url=f"sqlite:///{folder}/chat.db", root=folder, budget=BUDGET, window=WINDOW
        )
        agent = Agent(
            AnthropicModel("your-model", provider=served),
            instructions=SYSTEM,
            tools=[read_log],
            capabilities=[foreword],
        )
        history: list[ModelMessage] = []
        for turn in range(turns()):
            history = agent.run_sync(question(turn), message_history=history).all_messages()
        finish(provider, foreword.conversations.session())
        foreword.conversations.close()


if __name__ == "__main__":
    main()
