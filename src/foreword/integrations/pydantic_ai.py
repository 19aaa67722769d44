"""pydantic-ai's agents: a capability, or a history processor, that fits every request.

    agent = Agent(model, capabilities=[ForewordCapability(budget=8_000)])

The run keeps its whole history; the model gets what fits, and a tool to bring back the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

from foreword.integrations.conversation_sessions import Conversations, definition
from foreword.session.recall_tool import DESCRIPTION, NAME
from foreword.session.session import Session


class ForewordCapability(AbstractCapability[Any]):
    """Keeps every request within a budget; options are those of `Session.open`."""

    def __init__(
        self, session: Session | None = None, *, recall: bool = True, **options: Any
    ) -> None:
        self.conversations = Conversations(session, **options)
        self._recall = recall

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """The same request with as much of the history as fits; the run's own is left alone."""
        parameters = request_context.model_request_parameters
        beside = list[dict[str, Any]]()  # what is sent beside the messages
        for tool in (*parameters.function_tools, *parameters.output_tools):
            beside.append(definition(tool.name, tool.description, tool.parameters_json_schema))
        beside += [asdict(part) for part in parameters.instruction_parts or ()]
        request_context.messages = fit(self.conversations, request_context.messages, beside)
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """The response, once its usage is counted."""
        self.conversations.record_usage([response])
        return response

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The recall tool, unless nobody wants it."""
        if not self._recall:
            return None
        toolset = FunctionToolset[Any]()

        def recall(handle: str = "", offset: int = 0, question: str = "") -> str:
            return self.conversations.recall(handle=handle, offset=offset, question=question)

        toolset.add_function(recall, name=NAME, description=DESCRIPTION)
        return toolset


def history_processor(
    session: Session | None = None, **options: Any
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """The same as a function for `ProcessHistory`.

    A run goes on with what its processor gave back, so what came in is remembered here: what is
    new behind that belongs behind the whole.
    """
    conversations = Conversations(session, **options)
    given: list[ModelMessage] = []
    whole: list[ModelMessage] = []

    def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        nonlocal given, whole
        is_ours = bool(given) and messages[: len(given)] == given
        whole = [*whole, *messages[len(given) :]] if is_ours else list(messages)
        given = fit(conversations, whole, ())
        return list(given)

    return process


def fit(
    conversations: Conversations, messages: Sequence[ModelMessage], beside: Sequence[object]
) -> list[ModelMessage]:
    """The messages that fit. Instructions go with each request by themselves, so they are no part
    of the history, and only counted."""
    plain = [_without_instructions(message) for message in messages]
    package = conversations.fit(plain, tools=[*beside, *_own_instructions(messages, beside)])
    fitted = package.to_pydantic_ai()
    last = messages[-1] if messages else None
    if isinstance(last, ModelRequest) and last.instructions and fitted:
        fitted[-1] = replace(fitted[-1], instructions=last.instructions)
    return fitted


def _without_instructions(message: ModelMessage) -> ModelMessage:
    if isinstance(message, ModelRequest) and message.instructions:
        return replace(message, instructions=None)
    return message


def _own_instructions(
    messages: Sequence[ModelMessage], beside: Sequence[object]
) -> list[dict[str, Any]]:
    """The instructions of the last request, where nothing else has them counted."""
    last = messages[-1] if messages else None
    if beside or not isinstance(last, ModelRequest) or not last.instructions:
        return []
    return [{"instructions": last.instructions}]
