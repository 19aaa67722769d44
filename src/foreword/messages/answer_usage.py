"""The tokens that an answer cost, as its provider counted them: from an SDK's object or its dict.

Providers count differently. Anthropic and Bedrock leave what a cache had out of the input, all
others have it in; Google counts thoughts beside the answer. Here the input is all that was sent,
with what a cache had and what was written to one as parts of it, and the output has the thoughts.
Nobody's package is imported: fields are read by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.prices import AnswerUsage

# where the fields of an answer stand inside what a framework makes of it
_INSIDE = ("data", "kwargs", "raw")
_DEEPEST = 3  # of those in each other: an object that has itself inside is not looked into for ever
_USAGE = ("usage_metadata", "usageMetadata", "usage")
_IDS = ("provider_response_id", "vendor_id", "response_id", "responseId", "id")
_MODELS = ("model_name", "model_version", "modelVersion", "model")


# What providers call a number of tokens, in a usage or in the details of one; `prompt_eval_count`
# and `eval_count` stand in an answer of Ollama's itself.
_DETAILS = (
    *("input_tokens_details", "input_token_details", "prompt_tokens_details"),
    "cache_creation",
)
_SENT = (
    *("input_tokens", "prompt_tokens", "inputTokens", "request_tokens"),
    *("prompt_token_count", "promptTokenCount", "prompt_eval_count"),
)
_TOOLS = ("tool_use_prompt_token_count", "toolUsePromptTokenCount")
_CACHED = (
    *("cached_tokens", "cache_read", "cache_read_input_tokens", "cacheReadInputTokens"),
    *("cache_read_tokens", "prompt_cache_hit_tokens"),
    *("cached_content_token_count", "cachedContentTokenCount"),
)
_WRITTEN = (
    *("cache_creation_tokens", "cache_creation_input_tokens", "cacheWriteInputTokens"),
    *("cache_write_tokens", "cache_creation"),
)
_MINUTES = ("ephemeral_5m_input_tokens",)
_HOUR = ("ephemeral_1h_input_tokens", "cache_write_1h_tokens")
_OUTPUT = (
    *("output_tokens", "completion_tokens", "outputTokens", "response_tokens"),
    *("candidates_token_count", "candidatesTokenCount", "eval_count"),
)
_THOUGHTS = ("thoughts_token_count", "thoughtsTokenCount")
# Anthropic's and Bedrock's: what went through a cache is not in the input.
_BESIDE_INPUT = ("inputTokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def answer_usage(value: object, depth: int = 0) -> AnswerUsage | None:
    """What an answer says that it cost; nothing where it says nothing."""
    usages = [_field(value, name) for name in _USAGE]
    if _field(value, "prompt_eval_count"):  # Ollama's, beside the message
        usages.append(value)
    for usage in usages:
        if usage is None or callable(usage):
            continue
        numbers = _numbers(usage)
        if any(numbers.values()):  # pydantic-ai has zeros where nobody counted
            # LangChain's `response_metadata` is what the provider said
            sources = (_field(value, "response_metadata"), value)
            answer, model = _first_text(sources, _IDS), _first_text(sources, _MODELS)
            return AnswerUsage(answer=answer, model=model, **numbers)
    for name in _INSIDE:
        inner = _field(value, name)
        if inner is not None and depth < _DEEPEST and not isinstance(inner, str | bytes | list):
            return answer_usage(inner, depth + 1)
    return None


def _numbers(usage: object) -> dict[str, int]:
    sent, cached, written = _number(usage, _SENT), _number(usage, _CACHED), _number(usage, _WRITTEN)
    is_beside = any(_has(usage, name) for name in _BESIDE_INPUT) and not _has(usage, _SENT[1])
    hour = _number(usage, _HOUR)
    return {
        "input_tokens": sent + _number(usage, _TOOLS) + (cached + written if is_beside else 0),
        "cached_tokens": cached,
        # all that was written, or, in LangChain where the kinds are known, nothing
        "written_tokens": max(0, written - hour) if written else _number(usage, _MINUTES),
        "written_hour_tokens": hour,
        "output_tokens": _number(usage, _OUTPUT) + _number(usage, _THOUGHTS),
    }


def _has(value: object, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _field(value: object, name: str) -> Any:
    """A field of a dict or an object."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _number(usage: object, names: tuple[str, ...]) -> int:
    """The first of these fields that is a number of tokens, in a usage or its details, else 0."""
    for place in (usage, *[_field(usage, name) for name in _DETAILS]):
        for name in names:
            number = _field(place, name)
            if isinstance(number, int) and not isinstance(number, bool) and number > 0:
                return number
    return 0


def _first_text(sources: tuple[object, ...], names: tuple[str, ...]) -> str:
    for source in sources:
        for name in names:
            text = _field(source, name)
            if isinstance(text, str) and text:
                return text
    return ""
