"""Other programs that keep a conversation inside a limit, each behind the same few methods.

`prepare` gives messages their native shape and is not timed; `turn` takes them in and returns what
would be sent; `sent` reads that back. Every program is set up the way its documentation shows,
holds its messages in memory, and counts with o200k where its documentation gives it a tokenizer;
langchain's programs, which count by a rule of thumb, are there a second time, with o200k. One that
counts messages instead of tokens gets a window that fills four fifths of the budget on average.
Peers are imported inside their adapters: they live in the environment of `make bench` only.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from types import SimpleNamespace
from typing import Any, Protocol

from benchmarks.chatter import SYSTEM, Said
from benchmarks.session_shapes import (
    Count,
    from_langchain,
    from_llama,
    from_pydantic_ai,
    from_strands,
    langchain_tokens,
    speaker,
    to_langchain,
    to_llama,
    to_pydantic_ai,
    to_strands,
)

SUMMARY = (
    "The user builds a workflow out of nodes; the nodes read so far are connected and the records"
    " were found. " * 8
)
FILL = 0.8  # of the budget, on average, for windows of so many messages
# of the budget, after a summary: filling up from here uses a little over four fifths of it on
# average
KEEP = 0.61
SAMPLE = 1_000


class Keeper(Protocol):
    """A program that has taken in a conversation and goes on with it, turn by turn."""

    fresh: int  # messages behind the history that are new at every turn by design

    def prepare(self, said: list[Said]) -> list[Any]:
        """The messages in the program's own shape; not timed."""

    def turn(self, messages: list[Any]) -> Any:
        """Take in the messages and return what would be sent."""

    def sent(self, answer: Any) -> list[Said]:
        """What was sent, in nobody's shape; not timed."""

    def close(self) -> None:
        """Leave nothing behind."""


class Peer:
    """What all adapters share."""

    fresh = 0

    def close(self) -> None:
        """Nothing is left behind."""


class TrimMessages(Peer):
    """langchain-core's trim_messages: no state, the whole conversation is trimmed at every turn."""

    def __init__(self, said: list[Said], budget: int, count: Count, *, exact: bool = False) -> None:
        from langchain_core.messages import SystemMessage, trim_messages

        counter = partial(langchain_tokens, count) if exact else "approximate"
        self._trim = partial(
            trim_messages,
            max_tokens=budget,
            token_counter=counter,
            strategy="last",
            start_on="human",
            end_on=("human", "tool"),
            include_system=True,
            allow_partial=False,
        )
        self._messages = [SystemMessage(SYSTEM), *map(to_langchain, said)]

    def prepare(self, said: list[Said]) -> list[Any]:
        return [to_langchain(one) for one in said]

    def turn(self, messages: list[Any]) -> Any:
        self._messages += messages
        return self._trim(self._messages)

    def sent(self, answer: Any) -> list[Said]:
        return [from_langchain(message) for message in answer]


class Summarization(Peer):
    """langchain's SummarizationMiddleware, its before_model hook, with a model that answers at
    once."""

    def __init__(
        self,
        said: list[Said],
        budget: int,
        count: Count,
        *,
        exact: bool = False,
        keep: float = KEEP,
    ) -> None:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models import FakeListChatModel

        limit = budget - count(SYSTEM)  # the system prompt is none of the messages it sees
        self._middleware = SummarizationMiddleware(
            model=FakeListChatModel(
                responses=[f"Summary {number}. {SUMMARY}" for number in range(100)]
            ),
            trigger=("tokens", limit),
            keep=("tokens", round(keep * limit)),
            **({"token_counter": partial(langchain_tokens, count)} if exact else {}),
        )
        self._messages = [to_langchain(one) for one in said]

    def prepare(self, said: list[Said]) -> list[Any]:
        return [to_langchain(one) for one in said]

    def turn(self, messages: list[Any]) -> Any:
        self._messages += messages
        changed = self._middleware.before_model({"messages": self._messages}, None)
        if changed:
            # the first one says: remove all that was there
            self._messages = changed["messages"][1:]
        return self._messages

    def sent(self, answer: Any) -> list[Said]:
        return [Said("system", SYSTEM), *(from_langchain(message) for message in answer)]


class LlamaMemory(Peer):
    """LlamaIndex's Memory without memory blocks, so that the whole limit is the conversation's."""

    def __init__(self, said: list[Said], budget: int, count: Count) -> None:
        from llama_index.core.memory import Memory

        self._loop = asyncio.new_event_loop()
        self._memory = Memory.from_defaults(
            token_limit=budget - count(SYSTEM),
            chat_history_token_ratio=1.0,
            tokenizer_fn=lambda text: range(count(text)),  # it takes only their number
        )
        self._loop.run_until_complete(self._load(self.prepare(said)))

    async def _load(self, messages: list[Any]) -> None:
        """As a long life leaves it: old messages are archived. Putting 100,000 in takes minutes."""
        from llama_index.core.storage.chat_store.base_db import MessageStatus

        old, new, store = messages[:-SAMPLE], messages[-SAMPLE:], self._memory.sql_store
        for at in range(0, len(old), SAMPLE):
            page = old[at : at + SAMPLE]
            await store.add_messages(self._memory.session_id, page, status=MessageStatus.ARCHIVED)
        await self._memory.aput_messages(new)

    def prepare(self, said: list[Said]) -> list[Any]:
        return [to_llama(one) for one in said]

    def turn(self, messages: list[Any]) -> Any:
        return self._loop.run_until_complete(self._turn(messages))

    async def _turn(self, messages: list[Any]) -> Any:
        await self._memory.aput_messages(messages)
        return await self._memory.aget()

    def sent(self, answer: Any) -> list[Said]:
        return [Said("system", SYSTEM), *(from_llama(message) for message in answer)]

    def close(self) -> None:
        engine = getattr(self._memory.sql_store, "_async_engine", None)
        if engine is not None:
            self._loop.run_until_complete(engine.dispose())
        self._loop.close()


class LlamaBuffer(Peer):
    """LlamaIndex's ChatMemoryBuffer."""

    def __init__(self, said: list[Said], budget: int, count: Count) -> None:
        from llama_index.core.memory import ChatMemoryBuffer

        self._memory = ChatMemoryBuffer.from_defaults(
            token_limit=budget - count(SYSTEM), tokenizer_fn=lambda text: range(count(text))
        )
        self._memory.set(self.prepare(said))

    def prepare(self, said: list[Said]) -> list[Any]:
        return [to_llama(one) for one in said]

    def turn(self, messages: list[Any]) -> Any:
        for message in messages:
            self._memory.put(message)
        return self._memory.get()

    def sent(self, answer: Any) -> list[Said]:
        return [Said("system", SYSTEM), *(from_llama(message) for message in answer)]


class Strands(Peer):
    """strands' SlidingWindowConversationManager: a number of messages, tokens are not counted."""

    def __init__(self, said: list[Said], budget: int, count: Count) -> None:
        from strands.agent.conversation_manager import SlidingWindowConversationManager

        sample = self.prepare(said[:SAMPLE])
        window = _window(len(sample), said, budget, count)
        self._manager = SlidingWindowConversationManager(window_size=window, per_turn=True)
        self._agent = SimpleNamespace(messages=self.prepare(said))

    def prepare(self, said: list[Said]) -> list[Any]:
        return [to_strands(list(run)) for _, run in groupby(said, key=speaker)]

    def turn(self, messages: list[Any]) -> Any:
        self._agent.messages += messages
        self._manager.apply_management(self._agent)
        return self._agent.messages

    def sent(self, answer: Any) -> list[Said]:
        return [
            Said("system", SYSTEM),
            *(said for message in answer for said in from_strands(message)),
        ]


class PydanticAI(Peer):
    """pydantic-ai's documented processor that keeps the newest messages, in an agent with a model
    that answers at once.

    The agent mends the history before it sends it, so the whole run is timed.
    """

    def __init__(self, said: list[Said], budget: int, count: Count) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.capabilities import ProcessHistory
        from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel

        window = _window(len(self.prepare(said[:SAMPLE])), said, budget, count)
        self._sent: list[ModelMessage] = []

        async def keep_recent_messages(messages: list[ModelMessage]) -> list[ModelMessage]:
            return messages[-window:]

        async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self._sent = list(messages)
            return ModelResponse([TextPart("ok")])

        self._loop = asyncio.new_event_loop()
        self._agent = Agent(
            FunctionModel(answer),
            instructions=SYSTEM,
            capabilities=[ProcessHistory(keep_recent_messages)],
        )
        self._messages: list[ModelMessage] = self.prepare(said)

    def prepare(self, said: list[Said]) -> list[Any]:
        names = {call.id: call.name for one in said for call in one.calls}
        return [to_pydantic_ai(list(run), names) for _, run in groupby(said, key=speaker)]

    def turn(self, messages: list[Any]) -> Any:
        history = [*self._messages, *messages]
        done = self._loop.run_until_complete(self._agent.run(message_history=history))
        # without the answer: the conversation brings its own
        self._messages = done.all_messages()[:-1]
        return self._sent

    def sent(self, answer: Any) -> list[Said]:
        return [
            Said("system", SYSTEM),
            *(said for message in answer for said in from_pydantic_ai(message)),
        ]

    def close(self) -> None:
        self._loop.close()


def _window(shaped: int, said: Sequence[Said], budget: int, count: Count) -> int:
    """How many messages of a program's own shape fill `FILL` of the budget on average."""
    sample = said[:SAMPLE]
    return max(2, int(FILL * budget * shaped / sum(count(one.words) for one in sample)))


PEERS: dict[str, Callable[[list[Said], int, Count], Keeper]] = {
    "trim_messages": TrimMessages,
    "langchain summarization": Summarization,
    "LlamaIndex Memory": LlamaMemory,
    "LlamaIndex buffer": LlamaBuffer,
    "strands sliding window": Strands,
    "pydantic-ai keep recent": PydanticAI,
}
WITH_OUR_COUNTER: dict[str, Callable[[list[Said], int, Count], Keeper]] = {
    "trim_messages (exact)": partial(TrimMessages, exact=True),
    "langchain summarization (exact)": partial(Summarization, exact=True),
}
NOT_DRIVEN = {
    "pydantic-ai compaction": (
        "OpenAICompaction and AnthropicCompaction run at the provider: no network here"
    ),
}
