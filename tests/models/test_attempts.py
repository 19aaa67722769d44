"""When a model is asked again: what passes, what does not, how long to wait, and what is not
done twice."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError

from foreword.errors import ModelFailed
from foreword.models import ask
from foreword.models.model_errors import may_succeed_later, wait_seconds
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
from tests.patience import PATIENCE_SECONDS

AT_ONCE = {"retry-after-ms": "1"}
Speaks = Callable[[FakeProvider], str]


def ignore(text: str) -> None:
    """Listen to nothing."""


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_or_broken_provider_is_asked_again(speaks: Speaks, status: int) -> None:
    with fake_provider([Reply(status=status, headers=AT_ONCE), "fine"]) as provider:
        answer = ask(speaks(provider), "", "Go.")
    assert (answer.text, answer.attempts) == ("fine", 2)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "400 Bad Request"),
        (401, "401 Unauthorized"),
        (404, "404 Not Found"),
        (422, "422 Unprocessable"),
    ],
)
def test_a_request_that_is_refused_is_not_sent_again(
    speaks: Speaks, status: int, told: str
) -> None:
    with fake_provider(Reply("not like this", status=status, headers=AT_ONCE)) as provider:
        with pytest.raises(ModelFailed, match=f"the model failed: {told}.*: not like this"):
            ask(speaks(provider), "", "Go.")
        assert len(provider.requests) == 1


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_the_attempts_are_all_there_are_and_no_client_adds_its_own(
    speaks: Speaks, attempts: int
) -> None:
    with fake_provider(Reply("try later", status=503, headers=AT_ONCE)) as provider:
        with pytest.raises(ModelFailed, match="503 Service Unavailable: try later") as caught:
            ask(speaks(provider), "", "Go.", attempts=attempts)
        assert len(provider.requests) == attempts
    assert (f"failed {attempts} times" in caught.value.message) == (attempts > 1)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_connection_that_breaks_is_made_again(speaks: Speaks, streamed: bool) -> None:
    with fake_provider([Reply("one two three four five six", breaks=True), "fine"]) as provider:
        answer = ask(speaks(provider), "", "Go.", on_text=ignore if streamed else None)
    assert (answer.text, answer.attempts) == ("fine", 2)


def test_an_overload_in_the_middle_of_a_stream_is_an_overload(speaks: Speaks) -> None:
    with fake_provider(
        [Reply(status=529, text="Overloaded", midway=True, headers=AT_ONCE), "fine"]
    ) as provider:
        answer = ask(speaks(provider), "", "Go.", on_text=ignore)
    assert (answer.text, answer.attempts) == ("fine", 2)


def test_a_stream_that_ends_before_its_answer_is_not_taken_for_a_whole_one() -> None:
    choice = (
        '{"index": 0, "delta": {"role": "assistant", "content": "half of"}, "finish_reason": null}'
    )
    chunk = (
        '{"id": "a", "object": "chat.completion.chunk", "created": 0, "model": "b", "choices":'
        f" [{choice}]}}"
    )
    half = Reply(body=f"data: {chunk}\n\n", headers={"Content-Type": "text/event-stream"})
    with fake_provider([half, "fine"]) as provider:
        assert ask(provider.openai, "", "Go.", on_text=ignore).text == "fine"
    with (
        fake_provider(half) as provider,
        pytest.raises(ModelFailed, match="the stream ended before the answer did"),
    ):
        ask(provider.openai, "", "Go.", on_text=ignore, attempts=1)


def test_a_listener_is_told_that_the_text_begins_again() -> None:
    heard: list[str] = []
    with fake_provider([Reply("one two three four", breaks=True), "five six"]) as provider:
        ask(provider.openai, "", "Go.", on_text=heard.append)
    assert heard == ["one", " two", "", "five", " six"]


def test_a_tool_that_was_called_is_not_called_again_when_a_later_round_fails(
    speaks: Speaks,
) -> None:
    called: list[str] = []

    def write(text: str) -> str:
        """Write something down."""
        called.append(text)
        return f"written {len(called)} times"

    busy = Reply(status=529, headers=AT_ONCE)
    with fake_provider(
        [busy, Reply(tool_calls=[ToolCall("write", {"text": "a"})]), busy, "fine"]
    ) as provider:
        answer = ask(speaks(provider), "Be brief.", "Go.", tools=[write])
        assert "written 1 times" in str(provider.requests[3])
        assert all(str(request).count("'Go.'") == 1 for request in provider.requests)
        assert all("Be brief." in str(request) for request in provider.requests)
    assert called == ["a"]
    assert (answer.text, answer.attempts, answer.tool_calls) == ("fine", 3, 1)


def test_a_wait_that_is_longer_than_the_time_limit_is_not_begun(speaks: Speaks) -> None:
    with fake_provider(Reply("slow down", status=429, headers={"Retry-After": "300"})) as provider:
        with pytest.raises(
            ModelFailed, match=r"slow down; it asks to wait 300 s, and \d+ s of the time limit"
        ):
            ask(speaks(provider), "", "Go.", timeout_seconds=PATIENCE_SECONDS)
        assert len(provider.requests) == 1


def test_a_provider_that_says_not_to_try_again_is_not_asked_again() -> None:
    with fake_provider(
        Reply(status=500, headers={**AT_ONCE, "x-should-retry": "false"})
    ) as provider:
        with pytest.raises(ModelFailed):
            ask(provider.openai, "", "Go.")
        assert len(provider.requests) == 1


def test_money_that_has_run_out_does_not_come_back_by_waiting() -> None:
    spent = ModelHTTPError.for_category(ModelQuotaExceededError, status_code=429, model_name="m")
    assert not may_succeed_later(spent)


def test_a_server_that_is_not_there_is_an_answer_in_one_line() -> None:
    # bound but not listening: nobody else gets the port, and nobody answers
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelFailed, match="the model failed 2 times: no connection") as caught:
            ask(f"openai:any@{url}", "", "Go.", attempts=2)
    assert "\n" not in caught.value.message
    assert caught.value.hint == "is the server running?"


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0", 0.0)])
def test_what_a_provider_asks_for_is_how_long_to_wait(header: str, seconds: float) -> None:
    assert wait_seconds(ModelHTTPError(429, "m", headers={"Retry-After": header}), 1) == seconds


def test_waits_double_with_chance_in_them_and_stay_bounded() -> None:
    error = ModelHTTPError(503, "m")
    for failures, longest in [(1, 0.5), (2, 1.0), (3, 2.0), (50, 30.0)]:
        waits = {wait_seconds(error, failures) for _ in range(20)}
        assert all(longest / 2 <= wait <= longest for wait in waits)
        assert len(waits) > 1
