"""The OpenAI Agents SDK: a filter that fits every call of the model, and a session that keeps the
history.

    Runner.run(agent, question, run_config=RunConfig(call_model_input_filter=input_filter()))
    Runner.run(agent, question, session=ForewordSession("chat-1", budget=8_000))

The filter fits each call of a run, tool calls and all. The session gives a run what fits of the
history before it; both together do both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.run import CallModelData, ModelInputData

from foreword.integrations.conversation_sessions import MAIN, Conversations, definition
from foreword.messages.openai_responses import to_responses
from foreword.session.session import Session


def input_filter(
    session: Session | None = None, *, conversation: str = MAIN, **options: Any
) -> Callable[[CallModelData[Any]], ModelInputData]:
    """A `call_model_input_filter`; options are those of `Session.open`."""
    conversations = Conversations(session, **options)

    def fit_input(data: CallModelData[Any]) -> ModelInputData:
        asked = data.model_data
        tools = []
        for tool in data.agent.tools:
            schema = getattr(tool, "params_json_schema", {})
            tools.append(definition(tool.name, getattr(tool, "description", ""), schema))
        package = conversations.fit(
            asked.input, conversation=conversation, system=asked.instructions, tools=tools
        )
        request = package.to_responses()
        return ModelInputData(input=request["input"], instructions=request.get("instructions"))

    return fit_input


class ForewordSession:
    """The SDK's `Session`: what a run begins with is what fits; nothing that was said is lost."""

    session_settings = None

    def __init__(self, session_id: str = MAIN, **options: Any) -> None:
        self.session_id = session_id
        self.conversations = Conversations(None, **options)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The history as far as it fits, or its newest items."""
        if limit is None:
            return list(self._do(lambda session: session.context().to_responses()["input"]))
        items = self._do(lambda session: to_responses(session.history()))
        return list(items[-limit:]) if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """Keep what a run has added."""
        if items:
            self._do(lambda session: session.append_all(items))

    async def pop_item(self) -> Any:
        """Take the newest item back and return it; it stays recallable, as a branch."""

        def take_back(session: Session) -> Any:
            history = session.history()
            if not history:
                return None
            session.sync(history[:-1])
            return to_responses(history[-1:])[-1]

        return self._do(take_back)

    async def clear_session(self) -> None:
        """Take everything back."""
        self._do(lambda session: session.sync([]))

    def _do(self, act: Callable[[Session], Any]) -> Any:
        return self.conversations.with_session(act, self.session_id)
