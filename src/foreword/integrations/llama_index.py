"""LlamaIndex: a memory that gives an agent as much of its history as fits.

    agent = FunctionAgent(llm=llm, tools=tools)
    await agent.run(question, memory=ForewordMemory.from_defaults(budget=8_000))

What is put into it is kept; `get` is a context within the budget, `get_all` everything.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory

from foreword.integrations.conversation_sessions import MAIN, Conversations
from foreword.messages.llama_index import to_llama_index
from foreword.session.session import Session


class ForewordMemory(BaseMemory):
    """A memory within a budget; options are those of `Session.open`."""

    conversation: str = MAIN
    _conversations: Conversations = PrivateAttr()

    def __init__(
        self, session: Session | None = None, *, conversation: str = MAIN, **options: Any
    ) -> None:
        super().__init__(conversation=conversation)
        self._conversations = Conversations(session, **options)

    @classmethod
    def class_name(cls) -> str:
        """Its name in LlamaIndex."""
        return "ForewordMemory"

    @classmethod
    def from_defaults(cls, **options: Any) -> ForewordMemory:
        """A memory with the options of `Session.open`."""
        return cls(**options)

    def get(self, input: str | None = None, **_: Any) -> list[ChatMessage]:  # noqa: A002 - theirs
        """As much of the history as fits."""
        package = self._do(lambda session: session.context())
        return list(package.to_llama_index())

    def get_all(self) -> list[ChatMessage]:
        """Everything that was said."""
        history = self._do(lambda session: session.history())
        return [ChatMessage.model_validate(message) for message in to_llama_index(history)]

    def put(self, message: ChatMessage) -> None:
        """Keep a message."""
        self._do(lambda session: session.append(message))

    def set(self, messages: list[ChatMessage]) -> None:
        """Make this the history; what was there and is not in it stays recallable."""
        self._do(lambda session: session.sync(messages))

    def reset(self) -> None:
        """Begin anew; what was said stays recallable."""
        self._do(lambda session: session.sync([]))

    def _do(self, act: Any) -> Any:
        return self._conversations.with_session(act, self.conversation)
