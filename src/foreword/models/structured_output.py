"""Answers by a schema: how one is requested, and what is wrong with one that does not fit.

Which way a model takes (native structured output, a call of a tool, JSON by prompt) is in the
profiles of pydantic-ai. Nothing is read out of prose, and nothing beside the object is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foreword.json_object import without_repeats
from foreword.pattern import lazy_pattern
from foreword.plan.validation import problems

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse

RETRIES = 1  # one more request with the validation error; then the answer is invalid
ONLY_THE_OBJECT = (
    "Answer with the one JSON object that was requested and nothing else, no field of it twice:"
    " whatever you have to say belongs into its fields."
)
_FENCED = lazy_pattern(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL)


def require_only_the_object(agent: Agent[object, BaseModel]) -> None:
    """Have the agent ask once more where a model says more than the object."""
    from pydantic_ai import ModelRetry, RunContext

    @agent.output_validator
    def check(context: RunContext[object], answer: BaseModel) -> BaseModel:
        try:
            loaded_object(answer_words(responses_of(context.messages)[-1]))
        except (ValueError, RecursionError):
            raise ModelRetry(ONLY_THE_OBJECT) from None
        return answer


def responses_of(messages: Sequence[ModelMessage]) -> list[ModelResponse]:
    """Return the answers among the messages of a call."""
    from pydantic_ai.messages import ModelResponse

    return [message for message in messages if isinstance(message, ModelResponse)]


def answer_words(response: ModelResponse) -> str:
    """Return all that an answer says: its text, and the arguments of its calls."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    words = list[str]()
    for part in response.parts:
        if isinstance(part, TextPart):
            fenced = _FENCED.fullmatch(part.content)
            words.append(fenced[1] if fenced else part.content.strip())
        elif isinstance(part, ToolCallPart):
            words.append(part.args_as_json_str())
    return "\n".join(filter(None, words))


def loaded_object(words: str) -> object:
    """Return the one object of JSON that the words are; ValueError where they are more than
    that."""
    return json.loads(words, object_pairs_hook=without_repeats)


def schema_problem(words: str, schema: type[BaseModel]) -> str:
    """Return what is wrong with an answer that does not fit a schema, in one line."""
    try:
        answer = loaded_object(words)
    except (ValueError, RecursionError):
        return "it is not the one JSON object that was requested"
    return "; ".join(problems(schema, answer)[:3]) or "it is incomplete"
