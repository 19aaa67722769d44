"""One question to a model, over real HTTP with the providers' own clients: answers, tools,
limits, giving up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import pytest
from pydantic_ai.models.test import TestModel

from foreword.errors import ModelFailed, UnknownName, UsageError
from foreword.models import Answer, ask
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider

Speaks = Callable[[FakeProvider], str]
SAID = "Port 8443, because the proxy expects it."


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_has_its_text_its_model_and_what_it_cost(speaks: Speaks, streamed: bool) -> None:
    heard: list[str] = []
    with fake_provider(SAID) as provider:
        name = speaks(provider)
        answer = ask(name, "Be brief.", "Which port?", on_text=heard.append if streamed else None)
        (request,) = provider.requests
    assert (answer.text, answer.model, answer.attempts, answer.tool_calls) == (SAID, name, 1, 0)
    assert answer.input_tokens == answer.request_tokens > 5
    assert answer.output_tokens > 5
    assert not answer.cut
    assert "Be brief." in str(request)
    assert "Which port?" in str(request)
    assert bool(request.get("stream")) == streamed
    assert "".join(heard) == (SAID if streamed else "")
    assert len(heard) == (7 if streamed else 0)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_stops_at_the_tokens_it_is_allowed_and_says_so(
    speaks: Speaks, streamed: bool
) -> None:
    with fake_provider("word " * 200) as provider:
        answer = ask(
            speaks(provider),
            "",
            "Go on.",
            max_output_tokens=20,
            on_text=(lambda text: None) if streamed else None,
        )
    assert answer.cut
    assert answer.output_tokens == 20


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_tools_are_called_until_there_is_an_answer(speaks: Speaks, streamed: bool) -> None:
    asked: list[str] = []

    def lookup(name: str) -> str:
        """Find an artifact by its name."""
        asked.append(name)
        return f"what {name} says"

    first = Reply(
        tool_calls=[ToolCall("lookup", {"name": "FEAT-1"}), ToolCall("lookup", {"name": "FEAT-2"})]
    )
    then = Reply("One more.", tool_calls=[ToolCall("lookup", {"name": "FEAT-3"})])
    with fake_provider([first, then, "Done."]) as provider:
        answer = ask(
            speaks(provider),
            "",
            "Go.",
            tools=[lookup],
            on_text=(lambda text: None) if streamed else None,
        )
        assert "Find an artifact by its name." in str(provider.requests[0])
        assert "what FEAT-3 says" in str(provider.requests[2])
    assert (answer.text, answer.tool_calls) == ("Done.", 3)
    assert sorted(asked) == ["FEAT-1", "FEAT-2", "FEAT-3"]
    assert answer.request_tokens == 0, (
        "the descriptions of the tools are in what the provider counted"
    )


def test_what_a_tool_can_not_do_is_told_to_the_model() -> None:
    def lookup(name: str) -> str:
        """Find an artifact."""
        raise UnknownName("artifact", name, ["FEAT-1"])

    with fake_provider(
        [Reply(tool_calls=[ToolCall("lookup", {"name": "FAET-1"})]), "Sorry."]
    ) as provider:
        assert ask(provider.openai, "", "Go.", tools=[lookup]).text == "Sorry."
        assert "did you mean 'FEAT-1'?" in str(provider.requests[1])


def test_a_tool_that_breaks_is_named() -> None:
    def lookup(name: str) -> str:
        """Find an artifact."""
        raise KeyError(name)

    with (
        fake_provider(Reply(tool_calls=[ToolCall("lookup", {"name": "a"})])) as provider,
        pytest.raises(ModelFailed, match="the tool lookup failed: KeyError: 'a'"),
    ):
        ask(provider.openai, "", "Go.", tools=[lookup])


def test_a_model_that_never_stops_calling_tools_is_stopped() -> None:
    def lookup(name: str) -> str:
        """Find an artifact."""
        return "nothing"

    with fake_provider(Reply(tool_calls=[ToolCall("lookup", {"name": "a"})])) as provider:
        with pytest.raises(ModelFailed, match="did not stop calling tools"):
            ask(provider.openai, "", "Go.", tools=[lookup])
        assert len(provider.requests) == 25


def test_a_model_that_calls_what_is_not_there_is_told_twice_and_then_left() -> None:
    def lookup(name: str) -> str:
        """Find an artifact."""
        return "nothing"

    with fake_provider(Reply(tool_calls=[ToolCall("search", {"words": "a"})])) as provider:
        with pytest.raises(ModelFailed) as caught:
            ask(provider.anthropic, "", "Go.", tools=[lookup])
        assert len(provider.requests) == 3
    assert caught.value.message == "the model failed: Tool 'search' exceeded max retries count of 2"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("nothing", ["", " \n\t "], ids=["nothing", "blanks"])
def test_an_empty_answer_is_a_failure_that_says_so(
    speaks: Speaks, nothing: str, streamed: bool
) -> None:
    with fake_provider(nothing) as provider:
        with pytest.raises(ModelFailed, match="the model failed: its answer is empty"):
            ask(speaks(provider), "", "Go.", on_text=(lambda text: None) if streamed else None)
        assert len(provider.requests) == 1


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_is_no_json_is_a_failure(speaks: Speaks, streamed: bool) -> None:
    with (
        fake_provider(Reply(body='{"choices": [')) as provider,
        pytest.raises(ModelFailed, match="the model failed: "),
    ):
        ask(speaks(provider), "", "Go.", on_text=(lambda text: None) if streamed else None)


@pytest.mark.parametrize(
    "reply",
    [Reply(hangs=True), Reply("slow", delay_seconds=60), Reply("la " * 99, endless=True)],
    ids=["hanging", "slow", "endless"],
)
def test_a_model_that_does_not_answer_in_time_is_not_waited_for(reply: Reply) -> None:
    with (
        fake_provider(reply) as provider,
        pytest.raises(ModelFailed, match=r"did not answer within 0\.3 s"),
    ):
        ask(provider.openai, "", "Go.", timeout_seconds=0.3)


def test_a_stream_that_drips_is_left_when_the_time_is_over(speaks: Speaks) -> None:
    with (
        fake_provider(Reply("la " * 500, drip_seconds=0.02)) as provider,
        pytest.raises(ModelFailed, match=r"did not answer within 0\.4 s"),
    ):
        ask(speaks(provider), "", "Go.", timeout_seconds=0.4, on_text=lambda text: None)


def test_a_stream_that_ignores_its_limit_is_left(speaks: Speaks) -> None:
    heard: list[str] = []
    with (
        fake_provider(Reply("la la", endless=True)) as provider,
        pytest.raises(ModelFailed, match="its answer did not end at 50 tokens"),
    ):
        ask(speaks(provider), "", "Go.", max_output_tokens=50, on_text=heard.append)
    assert 700 < len("".join(heard)) <= 800


def test_a_tool_that_blocks_is_left_behind_when_the_time_is_over() -> None:
    release = Event()

    def lookup(name: str) -> str:
        """Wait."""
        release.wait()
        return "late"

    try:
        with (
            fake_provider(Reply(tool_calls=[ToolCall("lookup", {"name": "a"})])) as provider,
            pytest.raises(ModelFailed, match=r"did not answer within 0\.2 s"),
        ):
            ask(provider.openai, "", "Go.", tools=[lookup], timeout_seconds=0.2)
    finally:
        release.set()


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_call_that_is_cancelled_ends(speaks: Speaks, streamed: bool) -> None:
    cancel = Event()

    def hang(body: Mapping[str, Any]) -> Reply:
        cancel.set()
        return Reply("a " * 9999, drip_seconds=0.05) if streamed else Reply(hangs=True)

    with (
        fake_provider(hang) as provider,
        pytest.raises(ModelFailed, match="the call was cancelled"),
    ):
        ask(
            speaks(provider),
            "",
            "Go.",
            timeout_seconds=600,
            cancel=cancel,
            on_text=(lambda text: None) if streamed else None,
        )


def test_a_call_that_is_cancelled_does_not_wait_for_its_next_attempt() -> None:
    cancel = Event()

    def overloaded(body: Mapping[str, Any]) -> Reply:
        cancel.set()
        return Reply(status=529, headers={"Retry-After": "300"})

    with fake_provider(overloaded) as provider:
        with pytest.raises(ModelFailed, match="the call was cancelled"):
            ask(provider.anthropic, "", "Go.", timeout_seconds=600, cancel=cancel)
        assert len(provider.requests) == 1


def test_a_call_that_is_cancelled_before_it_begins_asks_nobody() -> None:
    cancel = Event()
    cancel.set()
    with fake_provider("hello") as provider:
        with pytest.raises(ModelFailed, match="the call was cancelled"):
            ask(provider.openai, "", "Go.", cancel=cancel)
        assert provider.requests == []


def test_a_model_can_be_asked_from_inside_an_event_loop() -> None:
    async def inside() -> Answer:
        return ask(provider.openai, "Be brief.", "Hello.")

    with fake_provider("hi") as provider:
        assert asyncio.run(inside()).text == "hi"


def test_many_can_be_asked_side_by_side() -> None:
    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(
            *(
                asyncio.to_thread(ask, provider.openai, "", f"number {number}")
                for number in range(12)
            )
        )

    def echo(body: Mapping[str, Any]) -> str:
        return str(body["messages"][-1]["content"])

    with fake_provider(echo) as provider:
        answers = asyncio.run(all_at_once())
    assert [answer.text for answer in answers] == [f"number {number}" for number in range(12)]


def test_what_the_callers_own_function_raises_is_the_callers() -> None:
    def broken(text: str) -> None:
        raise BrokenPipeError("nobody reads")

    with (
        fake_provider("hello there") as provider,
        pytest.raises(BrokenPipeError, match="nobody reads"),
    ):
        ask(provider.openai, "", "Go.", on_text=broken)


def test_a_model_object_is_asked_as_it_is_and_may_be_asked_again() -> None:
    model = TestModel(custom_output_text="fine")
    answers = [ask(model, "Be brief.", "Hello.") for _ in range(2)]
    assert [(answer.text, answer.model) for answer in answers] == [
        ("fine", "test"),
        ("fine", "test"),
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"timeout_seconds": 0}, "positive number of seconds"),
        ({"timeout_seconds": float("nan")}, "positive number of seconds"),
        ({"timeout_seconds": float("inf")}, "positive number of seconds"),
        ({"attempts": 0}, "at least once"),
        ({"max_output_tokens": 0}, "at least one token"),
        ({"tools": [print]}, "the tools can't be used"),
    ],
    ids=["no time", "no number", "for ever", "no attempt", "no token", "no tool"],
)
def test_limits_that_make_no_sense_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ask("test", "", "Go.", **options)
