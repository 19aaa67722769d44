"""LangChain's agents: a middleware that fits every call of the model into a budget.

    agent = create_agent(model, tools, middleware=[ForewordMiddleware(budget=8_000)])

The state of the graph keeps the whole history; the model gets what fits, and a tool to bring back
the rest. `deepagents` takes the same middleware. Each thread of LangGraph is a conversation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.messages import SystemMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from foreword.integrations.conversation_sessions import MAIN, Conversations
from foreword.session.recall_tool import DESCRIPTION
from foreword.session.session import Session


class ForewordMiddleware(AgentMiddleware):
    """Keeps every call of the model within a budget; options are those of `Session.open`."""

    def __init__(
        self, session: Session | None = None, *, recall: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self.conversations = Conversations(session, **options)
        self.tools = [self._recall_tool()] if recall else []

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[Any], Any]) -> Any:
        """The same call with as much of the history as fits."""
        return self._count(handler(self._fit_request(request)))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """The same, awaited."""
        return self._count(await handler(self._fit_request(request)))

    def _count(self, response: Any) -> Any:
        """The response, once its usage is counted; up to LangChain 1.0 it is a message."""
        self.conversations.record_usage(getattr(response, "result", [response]), _thread())
        return response

    def _fit_request(self, request: ModelRequest) -> ModelRequest:
        package = self.conversations.fit(
            request.messages,
            conversation=_thread(),
            system=_system(request),
            tools=[tool if isinstance(tool, dict) else _definition(tool) for tool in request.tools],
        )
        messages = package.to_langchain()
        system = messages.pop(0) if isinstance(messages[0], SystemMessage) else None
        if hasattr(request, "system_message"):
            return request.override(system_message=system, messages=messages)
        prompt = None if system is None else system.content
        return request.override(system_prompt=prompt, messages=messages)

    def _recall_tool(self) -> StructuredTool:
        def recall(handle: str = "", offset: int = 0, question: str = "") -> str:
            return self.conversations.recall(
                _thread(), handle=handle, offset=offset, question=question
            )

        return StructuredTool.from_function(recall, description=DESCRIPTION)


def _system(request: ModelRequest) -> Any:
    """The agent's system prompt, which was a text up to LangChain 1.0."""
    if not hasattr(request, "system_message"):
        return request.system_prompt
    return None if request.system_message is None else request.system_message.content


def _definition(tool: Any) -> dict[str, Any]:
    return dict(convert_to_openai_tool(tool))


def _thread() -> str:
    """The thread of the graph that runs, which is the conversation."""
    try:
        configurable = get_config().get("configurable", {})
    except RuntimeError:  # nobody's graph
        return MAIN
    return str(configurable.get("thread_id") or MAIN)
