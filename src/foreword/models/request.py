"""One request to a model: messages in; words, tool calls, or both out.

Nothing is called and nothing is kept here: who drives a conversation (`director`) keeps its
messages, runs its tools and makes the next request. Time limit, attempts and giving up are those of
every call (`attempts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any

from foreword.errors import ModelFailed
from foreword.messages.message import Message
from foreword.messages.parts import Part, Text, ToolCall
from foreword.messages.pydantic_ai import from_pydantic_ai, to_pydantic_ai
from foreword.models.attempts import ModelCall, checked_call, with_attempts
from foreword.models.model_errors import FAILED
from foreword.models.stream import StreamReader

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_BINDS_THINKING = "anthropic_binds_thinking_blocks"  # of a profile of pydantic-ai
# The ends of the tools, the system prompt and the messages are marked, so that the next request of
# a conversation is read from the cache up to there.
MARKS = {
    "anthropic_cache_tool_definitions": True,
    "anthropic_cache_instructions": True,
    "anthropic_cache_messages": True,
}


# For a conversation whose beginning changes: a provider that binds thinking to it drops what is
# invalid instead of refusing the request.
DROP_THINKING = {
    "anthropic_thinking": {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What a model replied to one request, and what its provider counted."""

    message: Message
    model: str
    input_tokens: int
    output_tokens: int
    attempts: int
    cached_tokens: int = 0  # of those in, read from the provider's cache
    cut: bool = False  # whether it ends where it does because of `max_output_tokens`


def reply(
    model: Any,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec] = (),
    *,
    timeout_seconds: float = 120,
    attempts: int = 3,
    max_output_tokens: int | None = None,
    on_text: Callable[[str], None] | None = None,
    cancel: Event | None = None,
    drops_thinking: bool = False,
) -> ModelReply:
    """The model's next message, or `ModelFailed`; `UsageError` where it can't be asked at all.

    `drops_thinking` has a provider drop thinking whose prefix has changed, where it binds it.
    A system message in front is the system prompt. Everything else is as with `ask`, for this one
    request.
    """
    call = checked_call(
        model,
        timeout_seconds=timeout_seconds,
        attempts=attempts,
        max_output_tokens=max_output_tokens,
        on_text=on_text,
    )
    their_messages = to_pydantic_ai(messages)
    settings = {**call.settings, **MARKS}
    if drops_thinking and call.model.profile.get(_BINDS_THINKING):
        settings |= DROP_THINKING

    async def once(reader: StreamReader | None, attempt: int) -> ModelReply:
        response = await _response(call, their_messages, tools, reader, settings)
        call.check_whole(response)
        return ModelReply(
            message=_message(response),
            model=call.name,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            attempts=attempt,
            cached_tokens=response.usage.cache_read_tokens,
            cut=response.finish_reason == "length",
        )

    return with_attempts(call, call.model, once, cancel)


async def _response(
    call: ModelCall,
    messages: Sequence[Any],
    tools: Sequence[ToolSpec],
    reader: StreamReader | None,
    settings: Mapping[str, Any],
) -> ModelResponse:
    from pydantic_ai.direct import model_request, model_request_stream
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    definitions = list[ToolDefinition]()
    for tool in tools:
        definition = ToolDefinition(
            name=tool.name,
            parameters_json_schema=dict(tool.parameters),
            description=tool.description,
        )
        definitions.append(definition)
    parameters = ModelRequestParameters(function_tools=definitions, allow_text_output=True)
    # Anthropic keeps nothing in its cache that is not marked; other models know nothing of this.
    options: dict[str, Any] = {
        "model_settings": settings,
        "model_request_parameters": parameters,
    }
    if reader is None:
        return await model_request(call.model, messages, **options)
    async with model_request_stream(call.model, messages, **options) as stream:
        await reader(None, stream)
        return stream.get()


def _message(response: ModelResponse) -> Message:
    """The message as it is kept: without the bill and the time, which are not the
    conversation's."""
    (message,) = from_pydantic_ai([response])
    if not any(map(_says_something, message.parts)):
        raise ModelFailed(f"{FAILED}: its answer is empty")
    return replace(message)  # forgets the JSON, keeps that of the parts


def _says_something(part: Part) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    return isinstance(part, ToolCall)
