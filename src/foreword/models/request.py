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
from foreword.formats import from_pydantic_ai, to_pydantic_ai
from foreword.message import Message, Text, ToolCall
from foreword.models.attempts import ModelCall, call_of, with_attempts
from foreword.models.model_errors import FAILED
from foreword.models.stream import StreamReader

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


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
) -> ModelReply:
    """The model's next message, or `ModelFailed`; `UsageError` where it can't be asked at all.

    A system message in front is the system prompt. Everything else is as with `ask`, for this one
    request.
    """
    call = call_of(model, timeout_seconds, attempts, max_output_tokens, on_text)
    asked = to_pydantic_ai(messages)

    async def once(heard: StreamReader | None, attempt: int) -> ModelReply:
        response = await _response(call, asked, tools, heard)
        call.check_whole(response)
        cut = response.finish_reason == "length"
        used = response.usage
        return ModelReply(
            message=_message(response),
            model=call.name,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            attempts=attempt,
            cut=cut,
        )

    return with_attempts(call, call.model, once, cancel)


async def _response(
    call: ModelCall, messages: Sequence[Any], tools: Sequence[ToolSpec], heard: StreamReader | None
) -> ModelResponse:
    from pydantic_ai.direct import model_request, model_request_stream
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    defined = [
        ToolDefinition(
            name=tool.name,
            parameters_json_schema=dict(tool.parameters),
            description=tool.description,
        )
        for tool in tools
    ]
    asked: dict[str, Any] = {
        "model_settings": call.settings,
        "model_request_parameters": ModelRequestParameters(
            function_tools=defined, allow_text_output=True
        ),
    }
    if heard is None:
        return await model_request(call.model, messages, **asked)
    async with model_request_stream(call.model, messages, **asked) as stream:
        await heard(None, stream)
        return stream.get()


def _message(response: ModelResponse) -> Message:
    """The message as it is kept: without the bill and the time, which are not the
    conversation's."""
    (message,) = from_pydantic_ai([response])
    if not any(
        isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip())
        for part in message.parts
    ):
        raise ModelFailed(f"{FAILED}: its answer is empty")
    return replace(message, extra="")
