"""Ask a model a question: with tools that are called until there is an answer.

What an error means is told by `model_errors`, what a name means by `model_names`; time limit and
attempts are `attempts`'. One request without rounds is `request`'s.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

from foreword.errors import AnswerInvalid, ForewordError, ModelFailed, UsageError
from foreword.models.answer import Answer
from foreword.models.attempts import ModelCall, checked_call, with_attempts
from foreword.models.model_errors import FAILED, model_error, one_line
from foreword.models.stream import StreamReader
from foreword.models.structured_output import (
    RETRIES,
    answer_words,
    require_only_the_object,
    responses_of,
    schema_problem,
)

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage

# Of tool calls, until an answer is due: a model that has not found it by then goes round in
# circles, and every round is paid for.
MOST_ROUNDS = 25
BAD_CALLS = 2  # in a row of one tool, with arguments that make no sense; after that the call fails

Tool = Callable[..., str]


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
    output: type[BaseModel] | None = None,
) -> Answer:
    """The model's answer, or `ModelFailed`; `UsageError` where it can't be asked at all.

    `output` is a schema that the answer has to fit. One that does not is requested once more with
    what is wrong; then it is an `AnswerInvalid`. Such a question has no tools.

    `timeout_seconds` is for everything together: every attempt, every wait, every tool. `on_text`
    is given the text piece by piece as it comes; an empty piece says that a connection broke and
    the text begins again. Setting `cancel` ends the call within a fraction of a second. A tool is a
    function with a docstring; a `ForewordError` that it raises is told to the model. A model object
    serves one call at a time: where calls run side by side, give its name.
    """
    call = checked_call(
        model,
        timeout_seconds=timeout_seconds,
        attempts=attempts,
        max_output_tokens=max_output_tokens,
        on_text=on_text,
    )
    if output is not None and tools:
        raise UsageError("a question has tools or an output schema, not both")
    question = _Question(call, instructions, request, tools, output)
    return with_attempts(call, question.agent, question.once, cancel)


class _Question:
    """One question; another attempt goes on where the last one broke off."""

    def __init__(
        self,
        call: ModelCall,
        instructions: str,
        request: str,
        tools: Sequence[Tool],
        output: type[BaseModel] | None,
    ) -> None:
        from pydantic_ai.usage import RunUsage

        self.agent = _agent(call, instructions, tools, output)
        self._output = output
        self._call = call
        self._request = request
        self._has_tools = bool(tools)
        self._usage = RunUsage()
        self._finished: list[ModelMessage] = []  # rounds of attempts before

    async def once(self, reader: StreamReader | None, attempt: int) -> Answer:
        """The answer of one attempt."""
        from pydantic_ai import capture_run_messages
        from pydantic_ai.usage import UsageLimits

        with capture_run_messages() as messages:
            try:
                result = await self.agent.run(
                    None if self._finished else self._request,
                    message_history=self._finished or None,
                    usage=self._usage,
                    usage_limits=UsageLimits(request_limit=MOST_ROUNDS),
                    event_stream_handler=reader,
                )
                return self._answer(result.output, messages, attempt)
            except TimeoutError:
                raise
            except Exception as error:
                if _is_empty(messages):
                    raise ModelFailed(f"{FAILED}: its answer is empty") from None
                self._raise_if_invalid(error, messages)
                self._finished = _finished_rounds(messages)
                raise

    def _raise_if_invalid(self, error: Exception, messages: Sequence[ModelMessage]) -> None:
        from pydantic_ai.exceptions import UnexpectedModelBehavior

        replies = responses_of(messages)
        if self._output is not None and replies and isinstance(error, UnexpectedModelBehavior):
            words = answer_words(replies[-1])
            raise AnswerInvalid(schema_problem(words, self._output), words) from None

    def _answer(
        self, output: str | BaseModel, messages: Sequence[ModelMessage], attempt: int
    ) -> Answer:
        text = output if isinstance(output, str) else output.model_dump_json()
        if not text.strip():
            raise ModelFailed(f"{FAILED}: its answer is empty")
        replies = responses_of(messages)
        self._call.check_whole(replies[-1])
        is_second = self._output is not None and len(replies) > 1
        return Answer(
            text=text,
            output=None if isinstance(output, str) else output,
            first=answer_words(replies[0]) if is_second else "",
            model=self._call.name,
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            attempts=attempt,
            tool_calls=0 if self._output else self._usage.tool_calls,
            request_tokens=0 if self._has_tools else replies[0].usage.input_tokens,
            cut=replies[-1].finish_reason == "length",
        )


def _agent(
    call: ModelCall, instructions: str, tools: Sequence[Tool], output: type[BaseModel] | None
) -> Agent[object, Any]:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UserError

    try:
        agent: Agent[object, Any] = Agent(
            call.model,
            name="foreword",
            instructions=instructions or None,
            tools=[_with_errors_as_answers(tool) for tool in tools],
            output_type=output or str,
            retries={"tools": BAD_CALLS, "output": RETRIES if output else 0},
            model_settings=call.settings,
        )
    except UserError as error:
        raise model_error(error, 1) from None
    except Exception as error:  # noqa: BLE001 - types that can't be found, a callable without a signature
        raise UsageError(
            f"the tools can't be used: {type(error).__name__}: {one_line(error)}",
            hint="a tool is a function with types and a docstring",
        ) from None
    if output is not None:
        require_only_the_object(agent)
    return agent


def _with_errors_as_answers(tool: Tool) -> Tool:
    """The tool; what it can't do is an answer, and what breaks it is said to be the tool's
    fault."""

    @functools.wraps(tool)
    def call_tool(*args: Any, **named: Any) -> str:
        try:
            return tool(*args, **named)
        except ForewordError as error:
            hint = f" ({error.hint})" if error.hint else ""
            return f"error: {error.message}{hint}"
        except Exception as error:
            name = getattr(tool, "__name__", "tool")
            raise ModelFailed(
                f"the tool {name} failed: {type(error).__name__}: {one_line(error)}"
            ) from error

    return call_tool


def _is_empty(messages: Sequence[ModelMessage]) -> bool:
    """Whether the last thing that came is an answer without a word."""
    from pydantic_ai.messages import TextPart

    replies = responses_of(messages)
    if not replies:
        return False
    last = replies[-1]
    if last.state != "complete" or last.finish_reason == "length":
        return False
    for part in last.parts:
        if not isinstance(part, TextPart) or part.content.strip():
            return False
    return True


def _finished_rounds(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The rounds so far without a reply that broke off."""
    from pydantic_ai.messages import ModelRequest

    rounds = list(messages)
    while rounds and not isinstance(rounds[-1], ModelRequest):
        rounds.pop()
    return rounds
