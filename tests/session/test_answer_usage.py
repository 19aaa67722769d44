"""What answers cost: their own usage, from SDKs' objects and dicts, once for each answer, by the
price of its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anthropic
import openai
import pytest
from openai.types.responses import Response
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

import foreword
from foreword.messages.answer_usage import answer_usage
from tests.command import foreword as command
from tests.corpus import rows
from tests.sessions import Open

Fields = dict[str, Any]
ASKED = {"role": "user", "content": "When is low water?"}
# what was sent, of that from a cache and into one, what came back; and the money, by hand
CASES = {case["name"]: case for case in rows("messages/answers.jsonl")}
ANTHROPIC: Fields = CASES["anthropic"]["answer"]
CHAT: Fields = CASES["openai chat"]["answer"]
RESPONSE: Fields = CASES["openai responses"]["answer"]


def check_usage(
    session: foreword.Session, answer: object, counts: Sequence[int], cost: float | None
) -> None:
    session.append(ASKED)
    session.append(answer)
    assert session.history()[-1].text.endswith("At 06:12.")
    answers = session.usage()["answers"]
    names = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")
    assert [answers[name] for name in names] == list(counts)
    assert answers["count"] == 1
    if cost is None:
        assert (answers["cost"], answers["unpriced"]) == (None, 1)
    else:
        assert answers["cost"]["total"] == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_an_answers_own_usage_is_in_the_sessions_usage_and_cost(
    open_session: Open, name: str
) -> None:
    case = CASES[name]
    check_usage(open_session(recipe="chat"), case["answer"], case["counts"], case["cost"])


def test_the_usage_of_an_sdks_object_is_that_of_its_dict(open_session: Open) -> None:
    objects = {
        "anthropic": anthropic.types.Message.model_validate(ANTHROPIC),
        "openai chat": openai.types.chat.ChatCompletion.model_validate(CHAT),
        "openai responses": Response.model_validate(RESPONSE),
    }
    for name, answer in objects.items():
        case = CASES[name]
        check_usage(open_session(name, recipe="chat"), answer, case["counts"], case["cost"])
    usage = RequestUsage(
        input_tokens=1_300, cache_read_tokens=1_000, cache_write_tokens=200, output_tokens=40
    )
    response = ModelResponse(
        parts=[TextPart("At 06:12.")],
        usage=usage,
        model_name="claude-sonnet-4-5",
        provider_response_id="msg_1",
    )
    cost = (100 * 3 + 1_000 * 0.3 + 200 * 3.75 + 40 * 15) / 1e6
    check_usage(open_session("pydantic-ai", recipe="chat"), response, (1_300, 1_000, 200, 40), cost)


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
