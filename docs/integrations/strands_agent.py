"""An agent of Strands with a hard budget: one middleware more."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.middleware import InvokeModelStage
from strands.models.openai import OpenAIModel

import foreword
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )

        def fit(context: Any) -> Any:
            session.sync(context.messages)
            return context.replace(messages=session.context().to_bedrock()["messages"])

        arguments = {"base_url": f"{provider.url}/v1", "api_key": "none"}
        model = OpenAIModel(client_args=arguments, model_id="your-model")
        agent = Agent(
            model=model,
            system_prompt=SYSTEM,
            tools=[tool(read_log)],
            callback_handler=None,
            conversation_manager=NullConversationManager(),  # the whole history stays
        )
        agent.add_middleware(InvokeModelStage.Input, fit)
        for turn in range(turns()):
            agent(question(turn))
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
