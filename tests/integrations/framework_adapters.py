"""Run in the environment of a framework: what an integration has beside its example, against a
provider on this machine.

`python framework_adapters.py openai-agents FOLDER`. It ends with an error where something is wrong.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import foreword
from foreword.testing import Reply, ToolCall, fake_provider
from foreword.testing.provider import FakeProvider
from foreword.testing.replies import count_request

BUDGET = 2_000
TURNS = 12
PATIENCE_SECONDS = 60  # nothing waits so long but a machine under heavy load
WORDS = "Nothing out of the ordinary was noted, and the shelf stands as it stood before. " * 8


def reply(body: Mapping[str, Any]) -> Reply:
    """The model: it says much, so that the budget is crossed within a few turns."""
    return Reply(WORDS)


def check_sizes(provider: FakeProvider, *, whole: bool = True) -> None:
    """Every request was within the budget, and the conversation was not."""
    sizes = [count_request(dict(body)) for body in provider.requests]
    assert len(sizes) >= TURNS, sizes
    assert max(sizes) <= BUDGET, sizes
    # the last may come right behind a compression, which leaves a third of what a call may have
    assert not whole or (max(sizes) > BUDGET // 2 and sizes[-1] > BUDGET // 5), sizes


def check_usage(session: foreword.Session, answers: int) -> None:
    """Every answer is counted once, though it came again with each history behind it."""
    counted = session.usage()["answers"]
    assert counted is not None
    assert counted["count"] == answers, counted
    assert counted["output_tokens"] > answers * 100, counted


def options(folder: str) -> dict[str, Any]:
    return {
        "url": f"sqlite:///{folder}/chat.db",
        "root": folder,
        "budget": BUDGET,
        "window": 4 * BUDGET,
    }


def check_openai_agents(folder: str) -> None:
    from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    from foreword.integrations.openai_agents import ForewordSession

    async def talk(provider: FakeProvider) -> None:
        client = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="none")
        agent = Agent(name="potter", model=OpenAIResponsesModel("your-model", client))
        session = ForewordSession("chat-1", **options(folder))
        keeper = session.conversations.session("chat-1")
        for turn in range(TURNS):
            result = await Runner.run(agent, f"Turn {turn}: what is new?", session=session)
            for response in result.raw_responses:
                assert keeper.record_usage(response)
                response.response_id = None  # as a model of the chat API has it
                assert keeper.record_usage(response)
        check_usage(keeper, 2 * TURNS)
        kept = await session.get_items(limit=1_000)
        assert len(kept) == 2 * TURNS, len(kept)
        popped = await session.pop_item()
        assert popped["role"] == "assistant", popped
        assert len(await session.get_items(limit=1_000)) == 2 * TURNS - 1
        await session.clear_session()
        assert await session.get_items() == []

    set_tracing_disabled(True)
    with fake_provider(reply) as provider:
        asyncio.run(talk(provider))
        check_sizes(provider)


def check_langchain(folder: str) -> None:
    from langchain.agents import create_agent
    from langchain_core.messages import HumanMessage
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    from foreword.integrations.langchain import ForewordMiddleware

    async def talk(provider: FakeProvider) -> None:
        model = ChatOpenAI(model="your-model", base_url=f"{provider.url}/v1", api_key="none")
        middleware = ForewordMiddleware(**options(folder))
        agent = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
        for turn in range(TURNS):
            for thread in ("one", "two"):
                given = {"messages": [HumanMessage(f"Turn {turn} of {thread}.")]}
                await agent.ainvoke(given, {"configurable": {"thread_id": thread}})
        for thread in ("one", "two"):
            session = middleware.conversations.session(thread)
            texts = [message.text for message in session.history() if message.role == "user"]
            assert texts == [f"Turn {turn} of {thread}." for turn in range(TURNS)], texts
            check_usage(session, TURNS)

    with fake_provider(reply) as provider:
        asyncio.run(talk(provider))
        check_sizes(provider)


def check_deepagents(folder: str) -> None:
    """A deep agent brings thousands of tokens of its own; they count, and a budget below them is
    an error that says so."""
    from deepagents import create_deep_agent
    from langchain_core.messages import HumanMessage
    from langchain_openai import ChatOpenAI

    from foreword.integrations.langchain import ForewordMiddleware

    with fake_provider(reply) as provider:
        model = ChatOpenAI(model="your-model", base_url=f"{provider.url}/v1", api_key="none")
        middleware = ForewordMiddleware(**options(folder))
        agent = create_deep_agent(model=model, tools=[], middleware=[middleware])
        refused = ""
        try:
            agent.invoke({"messages": [HumanMessage("What is new?")]})
        except foreword.EssentialsTooLarge as error:
            refused = error.message
        assert "(tools " in refused, refused
        assert not provider.requests


def check_llama_index(folder: str) -> None:
    from llama_index.core.llms import ChatMessage

    from foreword.integrations.llama_index import ForewordMemory

    memory = ForewordMemory.from_defaults(**options(folder))
    for turn in range(2 * TURNS):
        memory.put(ChatMessage(role="user", content=f"Turn {turn}: what is new?"))
        memory.put(ChatMessage(role="assistant", content=WORDS))
    everything = memory.get_all()
    assert len(everything) == 4 * TURNS
    assert len(memory.get()) < len(everything)
    memory.set(everything[:4])
    assert [message.content for message in memory.get_all()] == [
        message.content for message in everything[:4]
    ]
    memory.reset()
    assert memory.get_all() == []


def check_litellm(folder: str) -> None:
    import litellm

    from foreword.integrations.litellm import ForewordCallback

    async def talk(provider: FakeProvider) -> None:
        callback = ForewordCallback(**options(folder))
        litellm.callbacks = [callback]
        messages: list[Any] = []
        for turn in range(TURNS):
            messages.append({"role": "user", "content": f"Turn {turn}: what is new?"})
            answer = await litellm.acompletion(
                "openai/your-model",
                messages,
                api_base=f"{provider.url}/v1",
                api_key="none",
                prompt_id="chat-1",
            )
            messages.append(answer.choices[0].message)
        session = callback.conversations.session("chat-1")
        assert len(session.history()) == 2 * TURNS - 1
        async with asyncio.timeout(PATIENCE_SECONDS):  # litellm tells its callbacks later
            while session.usage()["answers"]["count"] < TURNS:
                await asyncio.sleep(0.01)
        check_usage(session, TURNS)

    with fake_provider(reply) as provider:
        asyncio.run(talk(provider))
        check_sizes(provider)


def check_pydantic_ai(folder: str) -> None:
    """Its history processor, and the recall tool of its capability."""
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    from foreword.integrations.pydantic_ai import history_processor

    with fake_provider(reply) as provider:
        served = AnthropicProvider(base_url=provider.url, api_key="none")
        model = AnthropicModel("your-model", provider=served)
        agent = Agent(model, capabilities=[ProcessHistory(history_processor(**options(folder)))])
        history: list[Any] = []
        for turn in range(TURNS):
            asked = agent.run_sync(f"Turn {turn}: what is new?", message_history=history)
            history = asked.all_messages()
        check_sizes(provider)
    with foreword.Session.open(options(folder)["url"], root=folder) as session:
        check_usage(session, TURNS - 1)  # a processor sees an answer with the question behind it
    check_pydantic_ai_recall(folder)


def check_pydantic_ai_recall(folder: str) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    from foreword.integrations.pydantic_ai import ForewordCapability

    def recalling(body: Mapping[str, Any]) -> Reply:
        last = body["messages"][-1]["content"]
        if isinstance(last, list) and last[0].get("type") == "tool_result":
            return Reply("I have it.")
        return Reply("", [ToolCall("recall", {"question": "which glaze has cracked"})])

    with fake_provider(recalling) as provider:
        served = AnthropicProvider(base_url=provider.url, api_key="none")
        model = AnthropicModel("your-model", provider=served)
        store = f"sqlite:///{folder}/other.db"
        capability = ForewordCapability(url=store, root=folder, budget=BUDGET)
        agent = Agent(model, capabilities=[capability])
        asked = agent.run_sync("The celadon glaze has cracked.", message_history=[])
        assert asked.output == "I have it."
        result = provider.requests[-1]["messages"][-1]["content"][0]
        assert "celadon" in str(result["content"]), result


def check_openai(folder: str) -> None:
    """The request of the responses interface."""
    import openai

    from foreword.integrations.providers import responses_request

    with fake_provider(reply) as provider:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="none")
        opening = {**options(folder), "recipe": "chat"}
        items: list[Any] = []
        with foreword.Session.open(**opening) as session:
            for turn in range(TURNS):
                items.append({"role": "user", "content": f"Turn {turn}: what is new?"})
                request = responses_request(
                    session, model="your-model", input=items, instructions="Be brief."
                )
                items += client.responses.create(**request).output
            assert len(session.history()) == 2 * TURNS - 1
        check_sizes(provider)


if __name__ == "__main__":
    globals()[f"check_{sys.argv[1].replace('-', '_')}"](sys.argv[2])
