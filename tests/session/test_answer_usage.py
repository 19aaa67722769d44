"""What answers cost: their own usage, from SDKs' objects and dicts, once for each answer, by the
price of its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from openai.types.responses import Response
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from foreword.formats.answer_usage import answer_usage
from tests.command import foreword as command
from tests.sessions import Open

Fields = dict[str, Any]
ASKED = {"role": "user", "content": "When is low water?"}
ANTHROPIC: Fields = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "At 06:12."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 100,
        "cache_read_input_tokens": 1_000,
        "cache_creation_input_tokens": 200,
        "cache_creation": {"ephemeral_5m_input_tokens": 150, "ephemeral_1h_input_tokens": 50},
        "output_tokens": 40,
    },
}
CHAT: Fields = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5-mini-2025-08-07",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "At 06:12."},
        }
    ],
    "usage": {
        "prompt_tokens": 1_300,
        "completion_tokens": 40,
        "total_tokens": 1_340,
        "prompt_tokens_details": {"cached_tokens": 1_000},
        "completion_tokens_details": {"reasoning_tokens": 30},
    },
}
RESPONSE: Fields = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {"id": "rs_1", "type": "reasoning", "summary": []},
        {
            "id": "m_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "At 06:12.", "annotations": []}],
        },
    ],
    "usage": {
        "input_tokens": 1_300,
        "input_tokens_details": {"cached_tokens": 1_000, "cache_write_tokens": 0},
        "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 30},
        "total_tokens": 1_340,
    },
}
GEMINI: Fields = {
    "responseId": "r_1",
    "modelVersion": "gemini-3-pro",
    "candidates": [{"content": {"role": "model", "parts": [{"text": "At 06:12."}]}}],
    "usageMetadata": {
        "promptTokenCount": 1_200,
        "toolUsePromptTokenCount": 100,
        "cachedContentTokenCount": 1_000,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 30,
    },
}
LANGCHAIN: Fields = {
    "type": "ai",
    "data": {
        "content": "At 06:12.",
        "id": "lc_run--1",
        "usage_metadata": {
            "input_tokens": 1_300,
            "output_tokens": 40,
            "total_tokens": 1_340,
            "input_token_details": {
                "cache_read": 1_000,
                "cache_creation": 0,
                "ephemeral_5m_input_tokens": 150,
                "ephemeral_1h_input_tokens": 50,
            },
        },
        "response_metadata": {"id": "msg_1", "model_name": "claude-sonnet-4-5"},
    },
}
BEDROCK: Fields = {
    "output": {"message": {"role": "assistant", "content": [{"text": "At 06:12."}]}},
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 100,
        "outputTokens": 40,
        "cacheReadInputTokens": 1_000,
        "cacheWriteInputTokens": 200,
    },
}
LITELLM: Fields = {
    **CHAT,
    "model": "claude-sonnet-4-5",
    "usage": {
        "prompt_tokens": 1_300,
        "completion_tokens": 40,
        "cache_read_input_tokens": 1_000,
        "cache_creation_input_tokens": 200,
    },
}
OLLAMA: Fields = {
    "model": "qwen3",
    "message": {"role": "assistant", "content": "At 06:12."},
    "done": True,
    "prompt_eval_count": 1_300,
    "eval_count": 40,
}


def pydantic_ai_answer() -> ModelResponse:
    usage = RequestUsage(
        input_tokens=1_300, cache_read_tokens=1_000, cache_write_tokens=200, output_tokens=40
    )
    return ModelResponse(
        parts=[TextPart("At 06:12.")],
        usage=usage,
        model_name="claude-sonnet-4-5",
        provider_response_id="msg_1",
    )


# what was sent, of that from a cache and into one, what came back; and the money, by hand
ANSWERS: dict[str, tuple[Callable[[], object], tuple[int, int, int, int], float | None]] = {
    "anthropic": (
        lambda: anthropic.types.Message.model_validate(ANTHROPIC),
        (1_300, 1_000, 200, 40),
        (100 * 3 + 1_000 * 0.3 + 150 * 3.75 + 50 * 6 + 40 * 15) / 1e6,
    ),
    "anthropic, its dict": (
        lambda: ANTHROPIC,
        (1_300, 1_000, 200, 40),
        (100 * 3 + 1_000 * 0.3 + 150 * 3.75 + 50 * 6 + 40 * 15) / 1e6,
    ),
    "openai chat": (
        lambda: openai.types.chat.ChatCompletion.model_validate(CHAT),
        (1_300, 1_000, 0, 40),
        (300 * 0.25 + 1_000 * 0.025 + 40 * 2) / 1e6,
    ),
    "openai chat, its dict": (
        lambda: CHAT,
        (1_300, 1_000, 0, 40),
        (300 * 0.25 + 1_000 * 0.025 + 40 * 2) / 1e6,
    ),
    "openai responses": (
        lambda: Response.model_validate(RESPONSE),
        (1_300, 1_000, 0, 40),
        (300 * 1.25 + 1_000 * 0.125 + 40 * 10) / 1e6,
    ),
    "openai responses, its dict": (
        lambda: RESPONSE,
        (1_300, 1_000, 0, 40),
        (300 * 1.25 + 1_000 * 0.125 + 40 * 10) / 1e6,
    ),
    "gemini": (lambda: GEMINI, (1_300, 1_000, 0, 40), None),
    "langchain": (
        lambda: LANGCHAIN,
        (1_300, 1_000, 200, 40),
        (100 * 3 + 1_000 * 0.3 + 150 * 3.75 + 50 * 6 + 40 * 15) / 1e6,
    ),
    "pydantic-ai": (
        pydantic_ai_answer,
        (1_300, 1_000, 200, 40),
        (100 * 3 + 1_000 * 0.3 + 200 * 3.75 + 40 * 15) / 1e6,
    ),
    "litellm": (
        lambda: LITELLM,
        (1_300, 1_000, 200, 40),
        (100 * 3 + 1_000 * 0.3 + 200 * 3.75 + 40 * 15) / 1e6,
    ),
    "bedrock": (lambda: BEDROCK, (1_300, 1_000, 200, 40), None),
    "ollama": (lambda: OLLAMA, (1_300, 0, 0, 40), None),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answers_own_usage_is_in_the_sessions_usage_and_cost(
    open_session: Open, name: str
) -> None:
    make, expected, cost = ANSWERS[name]
    session = open_session(recipe="chat")
    session.append(ASKED)
    session.append(make())
    assert session.history()[-1].text.endswith("At 06:12.")
    answers = session.usage()["answers"]
    counts = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")
    assert tuple(answers[count] for count in counts) == expected
    assert answers["count"] == 1
    if cost is None:
        assert (answers["cost"], answers["unpriced"]) == (None, 1)
    else:
        assert answers["cost"]["total"] == pytest.approx(cost, abs=1e-6)


def test_an_answer_counts_once_however_often_it_comes(open_session: Open) -> None:
    session = open_session(recipe="chat")
    session.append(ASKED)
    session.append(anthropic.types.Message.model_validate(ANTHROPIC), key="once")
    session.append(anthropic.types.Message.model_validate(ANTHROPIC), key="once")
    session.record_usage(ANTHROPIC)
    history = [ASKED, ANTHROPIC, {"role": "user", "content": "And high water?"}]
    session.sync(history)
    session.sync([{"role": "user", "content": "Edited."}, *history[1:]])
    open_session(recipe="chat").sync(history)
    assert session.usage()["answers"]["count"] == 1


def test_answers_without_an_id_are_told_apart_by_what_they_said_and_cost(
    open_session: Open,
) -> None:
    session = open_session(recipe="chat")
    talk: list[Fields] = []
    for turn in range(3):
        usage = {**ANTHROPIC["usage"], "input_tokens": 100 + turn}
        answer = {**ANTHROPIC, "usage": usage}
        del answer["id"]
        talk += [{**ASKED, "content": f"Turn {turn}"}, answer]
        session.sync(talk)
        session.sync(talk)
    assert session.usage()["answers"]["count"] == 3


def test_an_answer_that_says_nothing_about_its_cost_is_not_counted(open_session: Open) -> None:
    session = open_session(recipe="chat")
    session.append(ASKED)
    session.append({"role": "assistant", "content": "At 06:12."})
    session.append(ModelResponse(parts=[TextPart("At 06:12.")]))
    assert not session.record_usage({"role": "assistant", "content": "x", "usage": None})
    assert session.usage()["answers"] is None


def test_an_object_that_has_itself_inside_is_no_endless_search() -> None:
    itself = Fields()
    itself["data"] = itself
    assert answer_usage(itself) is None


def test_an_answer_of_a_model_that_nobody_named_has_the_price_of_the_sessions(
    open_session: Open,
) -> None:
    session = open_session(recipe="chat", model="claude-sonnet-4-5")
    session.append_all([ASKED, {**ANTHROPIC, "model": None}, {**CHAT, "model": "mine"}])
    answers = session.usage()["answers"]
    assert answers["cost"]["total"] > 0
    assert (answers["count"], answers["unpriced"]) == (2, 1)


def test_session_usage_says_what_answers_cost(open_session: Open) -> None:
    session = open_session("one", recipe="chat")
    session.append(ASKED)
    session.append(ANTHROPIC)
    session.append({**CHAT, "model": "mine"})
    said = command("session", "usage", "main", "--db", str(session.url), cwd=session.root).out
    assert "0.0021  USD for 2 answers, as providers counted" in said
    assert "by the price of claude-sonnet-4-5, mine" in said
    assert "2,600 tokens in, 2,000 of them from a cache" in said
    assert "1 answer without a price" in said
    other = open_session("two", recipe="chat")
    other.append({**CHAT, "model": "mine"})
    said = command("session", "usage", "main", "--db", str(other.url), cwd=other.root).out
    assert "answers         unknown  the cost of 1 answer" in said
