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


def answer_usage(value: object, depth: int = 0) -> AnswerUsage | None:
    """What an answer says that it cost; nothing where it says nothing."""
    for name in _USAGE:
        usage = _field(value, name)
        if usage is not None and not callable(usage):
            found = _read_usage(usage, value)
            if found is not None:
                return found
    if _number(value, "prompt_eval_count"):  # Ollama has them beside the message
        return _ollama_usage(value)
    for name in _INSIDE:
        inner = _field(value, name)
        if inner is not None and depth < _DEEPEST and not isinstance(inner, str | bytes | list):
            return answer_usage(inner, depth + 1)
    return None


def _read_usage(usage: object, answer: object) -> AnswerUsage | None:
    numbers = _numbers(usage)
    if not any(numbers.values()):
        return None  # pydantic-ai has zeros where nobody counted
    about = _field(answer, "response_metadata")  # LangChain's: what the provider said
    sources = (answer,) if about is None else (about, answer)
    return AnswerUsage(
        answer=_first_text(sources, _IDS), model=_first_text(sources, _MODELS), **numbers
    )


def _numbers(usage: object) -> dict[str, int]:
    if _has(usage, "prompt_tokens"):
        return _openai_chat(usage)
    if _has(usage, "prompt_token_count") or _has(usage, "promptTokenCount"):
        return _gemini(usage)
    if _has(usage, "inputTokens"):
        return _with_cache_beside(
            usage,
            sent=_number(usage, "inputTokens"),
            cached=_number(usage, "cacheReadInputTokens"),
            written=_number(usage, "cacheWriteInputTokens"),
            output=_number(usage, "outputTokens"),
        )
    if _has(usage, "cache_read_input_tokens") or _has(usage, "cache_creation_input_tokens"):
        return _with_cache_beside(
            usage,
            sent=_number(usage, "input_tokens"),
            cached=_number(usage, "cache_read_input_tokens"),
            written=_number(usage, "cache_creation_input_tokens"),
            output=_number(usage, "output_tokens"),
        )
    return _with_cache_inside(usage)


def _openai_chat(usage: object) -> dict[str, int]:
    """OpenAI's chat API, servers that speak it, and litellm."""
    details = _field(usage, "prompt_tokens_details")
    cached = _number(details, "cached_tokens") or _number(usage, "cache_read_input_tokens")
    written = _number(details, "cache_creation_tokens", "cache_write_tokens")
    return {
        "input_tokens": _number(usage, "prompt_tokens"),
        "cached_tokens": cached or _number(usage, "prompt_cache_hit_tokens"),
        "written_tokens": written or _number(usage, "cache_creation_input_tokens"),
        "output_tokens": _number(usage, "completion_tokens"),
    }


def _gemini(usage: object) -> dict[str, int]:
    sent = _number(usage, "prompt_token_count", "promptTokenCount")
    tools = _number(usage, "tool_use_prompt_token_count", "toolUsePromptTokenCount")
    said = _number(usage, "candidates_token_count", "candidatesTokenCount")
    thoughts = _number(usage, "thoughts_token_count", "thoughtsTokenCount")
    return {
        "input_tokens": sent + tools,
        "cached_tokens": _number(usage, "cached_content_token_count", "cachedContentTokenCount"),
        "output_tokens": said + thoughts,
    }


def _with_cache_beside(
    usage: object, *, sent: int, cached: int, written: int, output: int
) -> dict[str, int]:
    """Anthropic's and Bedrock's: what went through a cache is not in the input."""
    hour = _number(_field(usage, "cache_creation"), "ephemeral_1h_input_tokens")
    return {
        "input_tokens": sent + cached + written,
        "cached_tokens": cached,
        "written_tokens": max(0, written - hour),
        "written_hour_tokens": min(hour, written),
        "output_tokens": output,
    }


def _with_cache_inside(usage: object) -> dict[str, int]:
    """OpenAI's Responses API, LangChain, and pydantic-ai, whose first versions had other names."""
    details = _field(usage, "input_tokens_details") or _field(usage, "input_token_details")
    cached = _number(details, "cached_tokens", "cache_read")
    hour = _number(details, "ephemeral_1h_input_tokens") or _number(usage, "cache_write_1h_tokens")
    # all that was written, or, in LangChain where the kinds are known, nothing
    written = _number(details, "cache_creation") or _number(usage, "cache_write_tokens")
    minutes = written - hour if written else _number(details, "ephemeral_5m_input_tokens")
    return {
        "input_tokens": _number(usage, "input_tokens", "request_tokens"),
        "cached_tokens": cached or _number(usage, "cache_read_tokens"),
        "written_tokens": max(0, minutes),
        "written_hour_tokens": hour,
        "output_tokens": _number(usage, "output_tokens", "response_tokens"),
    }


def _ollama_usage(answer: object) -> AnswerUsage:
    return AnswerUsage(
        answer="",
        model=_first_text((answer,), _MODELS),
        input_tokens=_number(answer, "prompt_eval_count"),
        output_tokens=_number(answer, "eval_count"),
    )


def _has(value: object, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _field(value: object, name: str) -> Any:
    """A field of a dict or an object."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _number(value: object, *names: str) -> int:
    """The first of these fields that is a number of tokens, else 0."""
    for name in names:
        number = _field(value, name)
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
