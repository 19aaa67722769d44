"""An agent of LlamaIndex with a hard budget: another memory."""

from __future__ import annotations

import asyncio
from tempfile import TemporaryDirectory

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns

import foreword
from foreword.integrations.llama_index import ForewordMemory
from foreword.testing import fake_provider


async def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        model = OpenAILike(
            model="your-model",
            api_base=f"{provider.url}/v1",
            api_key="none",
            is_chat_model=True,
            is_function_calling_model=True,
        )
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        agent = FunctionAgent(llm=model, tools=[read_log], system_prompt=SYSTEM, streaming=False)
        memory = ForewordMemory(session)
        for turn in range(turns()):
            await agent.run(question(turn), memory=memory)
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    asyncio.run(main())
