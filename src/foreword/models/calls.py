"""Ask a model: within a time limit, again if it may help, until the caller gives up.

pydantic-ai is an extra, imported on use; its clients' own retries are off, so that ours are all there are. What an
error means is told by `failures`, what a name means by `names`; the thread that a call runs in is that of `threads`.
"""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from foreword.errors import ForewordError, ModelFailed, UsageError
from foreword.models.answers import Answer
from foreword.models.connections import Connection
from foreword.models.failures import FAILED, BrokenOff, is_passing, late, one_line, translated, wait_seconds
from foreword.models.listening import Listener
from foreword.models.names import INSTALL, OURS, model_named
from foreword.models.threads import in_a_thread

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model

MOST_ROUNDS = 25  # of tool calls, until an answer is due
BAD_CALLS = 2  # in a row of one tool, with arguments that make no sense

Tool = Callable[..., str]


@dataclass(frozen=True, slots=True)
class _Question:
    model: Model
    name: str
    instructions: str
    request: str
    timeout_seconds: float
    attempts: int
    tools: Sequence[Tool]
    max_output_tokens: int | None
    on_text: Callable[[str], None] | None


def ask(
    model: Any,
    instructions: str,
    request: str,
    *,
    timeout_seconds: float = 120,
    attempts: int = 3,
    tools: Sequence[Tool] = (),
    max_output_tokens: int | None = None,
    on_text: Callable[[str], None] | None = None,
    cancel: Event | None = None,
) -> Answer:
    """The model's answer, or `ModelFailed`; `UsageError` where it can't be asked at all.

    `timeout_seconds` is for everything together: every attempt, every wait, every tool. `on_text` is given the text
    piece by piece as it comes; an empty piece says that a connection broke and the text begins again. Setting `cancel`
    ends the call within a fraction of a second. A tool is a function with a docstring; a `ForewordError` that it raises
    is told to the model. A model object serves one call at a time: where calls run side by side, give its name.
    """
    _check(timeout_seconds, attempts, max_output_tokens)
    built, name, connection = _built(model)
    question = _Question(
        built, name, instructions, request, timeout_seconds, attempts, tools, max_output_tokens, on_text
    )
    agent = _agent(question)
    if cancel is not None and cancel.is_set():
        raise ModelFailed("the call was cancelled")
    return in_a_thread(lambda: _within_time(agent, question, connection), timeout_seconds, cancel)


def _check(timeout_seconds: float, attempts: int, max_output_tokens: int | None) -> None:
    if not 0 < timeout_seconds < math.inf:
        raise UsageError(f"the time limit must be a positive number of seconds, not {timeout_seconds!r}")
    if attempts < 1:
        raise UsageError(f"a model must be asked at least once, not {attempts} times")
    if max_output_tokens is not None and max_output_tokens < 1:
        raise UsageError(f"an answer must be allowed at least one token, not {max_output_tokens}")


def _built(model: Any) -> tuple[Model, str, AbstractAsyncContextManager[Any]]:
    """The model, the name it goes by, and what its call has to open and close."""
    try:
        from pydantic_ai.models import Model
    except ImportError:
        raise UsageError("models need a package that is not installed", hint=INSTALL) from None
    if isinstance(model, str) and model.partition(":")[0] in OURS:
        connection = Connection()
        return model_named(model, connection), model, connection
    if isinstance(model, str):
        return model_named(model), model, nullcontext()
    if isinstance(model, Model):
        return model, model.model_name, nullcontext()
    raise UsageError(f"a model is a name or a pydantic-ai model, not {type(model).__name__}")


def _agent(question: _Question) -> Agent[object, str]:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UserError

    try:
        return Agent(
            question.model,
            name="foreword",
            instructions=question.instructions or None,
            tools=[_told_to_the_model(tool) for tool in question.tools],
            retries={"tools": BAD_CALLS, "output": 0},
            model_settings=_settings(question),
        )
    except UserError as error:
        raise translated(error, 1) from None
    except Exception as error:  # noqa: BLE001 - types that can't be found, a callable without a signature
        told = f"the tools can't be used: {type(error).__name__}: {one_line(error)}"
        raise UsageError(told, hint="a tool is a function with types and a docstring") from None


def _settings(question: _Question) -> Any:
    """What goes with every request; a model that has no clients underneath knows nothing of their retries."""
    settings: dict[str, Any] = {"timeout": question.timeout_seconds, "max_retries": 0}
    if question.max_output_tokens is not None:
        settings["max_tokens"] = question.max_output_tokens
    return {name: value for name, value in settings.items() if name not in question.model.unsupported_settings}


def _told_to_the_model(tool: Tool) -> Tool:
    """The tool; what it can't do is an answer, and what breaks it is said to be the tool's fault."""

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> str:
        try:
            return tool(*args, **named)
        except ForewordError as error:
            return f"error: {error.message}" + (f" ({error.hint})" if error.hint else "")
        except Exception as error:
            name = getattr(tool, "__name__", "tool")
            raise ModelFailed(f"the tool {name} failed: {type(error).__name__}: {one_line(error)}") from error

    return called


async def _within_time(
    agent: Agent[object, str], question: _Question, connection: AbstractAsyncContextManager[Any]
) -> Answer:
    try:
        async with asyncio.timeout(question.timeout_seconds) as limit, connection, agent:
            return await _answered(agent, question, limit)
    except TimeoutError:
        raise late(question.timeout_seconds) from None


async def _answered(agent: Agent[object, str], question: _Question, limit: asyncio.Timeout) -> Answer:
    """The answer of the first attempt that has one; another attempt goes on where the last one broke off."""
    from pydantic_ai import capture_run_messages
    from pydantic_ai.usage import RunUsage, UsageLimits

    usage, limits = RunUsage(), UsageLimits(request_limit=MOST_ROUNDS)
    heard = Listener(question.on_text, question.max_output_tokens) if question.on_text else None
    done: list[ModelMessage] = []
    for attempt in range(1, question.attempts + 1):
        with capture_run_messages() as messages:
            try:
                result = await agent.run(
                    None if done else question.request, message_history=done or None, usage=usage, usage_limits=limits,
                    event_stream_handler=heard,
                )  # fmt: skip
                return _answer(question, result.output, messages, attempt, usage)
            except TimeoutError:
                raise
            except Exception as error:  # noqa: BLE001 - a provider may raise anything
                if heard and heard.broken:
                    raise heard.broken from None
                if _is_empty(messages):
                    raise ModelFailed(f"{FAILED}: its answer is empty") from None
                if attempt == question.attempts or not is_passing(error):
                    raise translated(error, attempt) from None
                seconds, done = _wait(error, attempt, limit), _whole(messages)
        if heard:
            heard.begin_again()
        await asyncio.sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def _answer(question: _Question, text: str, messages: Sequence[ModelMessage], attempt: int, usage: Any) -> Answer:
    from pydantic_ai.messages import ModelResponse

    if not text.strip():
        raise ModelFailed(f"{FAILED}: its answer is empty")
    replies = [message for message in messages if isinstance(message, ModelResponse)]
    if question.on_text and question.model.provider is not None and not _is_whole(replies[-1]):
        raise BrokenOff
    return Answer(
        text, question.name, usage.input_tokens, usage.output_tokens, attempt, usage.tool_calls,
        request_tokens=0 if question.tools else replies[0].usage.input_tokens,
        cut=replies[-1].finish_reason == "length",
    )  # fmt: skip


def _is_whole(reply: ModelResponse) -> bool:
    """Whether a provider said that its stream was over: it gave a reason, or the bill, which comes last."""
    given = (reply.provider_details or {}).get("finish_reason")
    return reply.finish_reason is not None and bool(given or reply.usage.output_tokens)


def _is_empty(messages: Sequence[ModelMessage]) -> bool:
    """Whether the last thing that came is an answer without a word."""
    from pydantic_ai.messages import ModelResponse, TextPart

    last = next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)
    if last is None or last.state != "complete" or last.finish_reason == "length":
        return False
    return all(isinstance(part, TextPart) and not part.content.strip() for part in last.parts)


def _whole(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The rounds so far without a reply that broke off."""
    from pydantic_ai.messages import ModelRequest

    ends = [number for number, message in enumerate(messages, 1) if isinstance(message, ModelRequest)]
    return list(messages[: ends[-1]]) if ends else []


def _wait(error: Exception, failures: int, limit: asyncio.Timeout) -> float:
    """How long to wait, or an error at once if that is longer than there is time."""
    seconds = wait_seconds(error, failures)
    left = (limit.when() or math.inf) - asyncio.get_running_loop().time()
    if seconds < left:
        return seconds
    reason = translated(error, failures)
    raise ModelFailed(f"{reason.message}; it asks to wait {seconds:g} s, and {left:.0f} s of the time limit are left")
