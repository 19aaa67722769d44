"""The provider on loopback, seen by the providers' own clients: they take what it says for the
real thing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent
from typing import Any

import openai
import pytest

import foreword.testing
from foreword.testing import Reply, ToolCall, fake_provider
from foreword.tokens import counter

HELLO: list[dict[str, str]] = [{"role": "user", "content": "Say hello to everybody in the room."}]
SAID = "Hello, everybody."
CALLS = Reply("Wait.", tool_calls=[ToolCall("lookup", {"name": "FEAT-1"}), ToolCall("list")])
Script = foreword.testing.Script


@contextmanager
def openai_client(script: Script) -> Iterator[Any]:
    with (
        fake_provider(script) as provider,
        openai.OpenAI(api_key="none", base_url=f"{provider.url}/v1", max_retries=0) as client,
    ):
        yield client


@contextmanager
def anthropic_client(script: Script) -> Iterator[Any]:
    import anthropic  # slow to import: only where this module is run

    with (
        fake_provider(script) as provider,
        anthropic.Anthropic(api_key="none", base_url=provider.url, max_retries=0) as client,
    ):
        yield client


def test_chat_completions_come_whole() -> None:
    with openai_client([SAID, CALLS]) as client:
        said = client.chat.completions.create(model="gpt", messages=HELLO)
        called = client.chat.completions.create(model="gpt", messages=HELLO)
    assert (said.choices[0].message.content, said.choices[0].finish_reason) == (SAID, "stop")
    assert said.usage.completion_tokens == counter("o200k").count(SAID)
    assert said.usage.prompt_tokens >= counter("o200k").count(HELLO[0]["content"])
    assert called.choices[0].finish_reason == "tool_calls"
    calls = called.choices[0].message.tool_calls
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == [
        ("lookup", {"name": "FEAT-1"}),
        ("list", {}),
    ]


def test_chat_completions_come_as_a_stream() -> None:
    with openai_client([SAID, CALLS]) as client:
        said = list(client.chat.completions.create(model="gpt", messages=HELLO, stream=True))
        called = list(client.chat.completions.create(model="gpt", messages=HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in said if chunk.choices) == SAID
    assert said[-1].usage.completion_tokens == counter("o200k").count(SAID)
    assert said[-2].choices[0].finish_reason == "stop"
    deltas = list[Any]()
    for chunk in called:
        if chunk.choices:
            deltas += chunk.choices[0].delta.tool_calls or []
    assert [delta.function.name for delta in deltas if delta.id] == ["lookup", "list"]
    assert json.loads(
        "".join(delta.function.arguments for delta in deltas if delta.index == 0)
    ) == {"name": "FEAT-1"}


def test_responses_come_whole() -> None:
    with openai_client([SAID, CALLS]) as client:
        said = client.responses.create(model="gpt", input="Say hello.")
        called = client.responses.create(model="gpt", input="Say hello.")
    assert (said.output_text, said.status) == (SAID, "completed")
    assert said.usage.output_tokens == counter("o200k").count(SAID)
    assert [item.type for item in called.output] == ["message", "function_call", "function_call"]
    assert json.loads(called.output[1].arguments) == {"name": "FEAT-1"}


def test_responses_come_as_a_stream() -> None:
    with (
        openai_client([SAID, CALLS]) as client,
        client.responses.stream(model="gpt", input="Say hello.") as stream,
    ):
        kinds = [event.type for event in stream]
        said = stream.get_final_response()
        with client.responses.stream(model="gpt", input="Say hello.") as second:
            called = second.get_final_response()
    assert said.output_text == SAID
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_text.delta") == 2
    assert json.loads(called.output[1].arguments) == {"name": "FEAT-1"}


def test_messages_come_whole() -> None:
    with anthropic_client([SAID, CALLS]) as client:
        said = client.messages.create(model="claude", max_tokens=100, messages=HELLO)
        called = client.messages.create(model="claude", max_tokens=100, messages=HELLO)
    assert (said.content[0].text, said.stop_reason) == (SAID, "end_turn")
    assert said.usage.output_tokens == counter("o200k").count(SAID)
    assert called.stop_reason == "tool_use"
    assert [(block.name, block.input) for block in called.content[1:]] == [
        ("lookup", {"name": "FEAT-1"}),
        ("list", {}),
    ]


def test_messages_come_as_a_stream() -> None:
    with (
        anthropic_client([SAID, CALLS]) as client,
        client.messages.stream(model="claude", max_tokens=100, messages=HELLO) as stream,
    ):
        pieces = list(stream.text_stream)
        said = stream.get_final_message()
        with client.messages.stream(model="claude", max_tokens=100, messages=HELLO) as second:
            called = second.get_final_message()
    assert "".join(pieces) == SAID
    assert len(pieces) == 2
    assert (said.stop_reason, said.usage.output_tokens) == (
        "end_turn",
        counter("o200k").count(SAID),
    )
    assert [block.type for block in called.content] == ["text", "tool_use", "tool_use"]
    assert called.content[1].input == {"name": "FEAT-1"}


def test_a_reply_is_cut_where_the_request_says() -> None:
    long = "word " * 100
    with openai_client(long) as client:
        chat = client.chat.completions.create(model="gpt", messages=HELLO, max_tokens=10)
        response = client.responses.create(model="gpt", input="Go.", max_output_tokens=10)
    with anthropic_client(long) as client:
        message = client.messages.create(model="claude", messages=HELLO, max_tokens=10)
    assert (chat.choices[0].finish_reason, chat.usage.completion_tokens) == ("length", 10)
    assert (response.status, response.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 10)


@pytest.mark.parametrize(
    ("status", "ours", "kind"),
    [
        (400, openai.BadRequestError, "invalid_request_error"),
        (401, openai.AuthenticationError, "authentication_error"),
        (404, openai.NotFoundError, "not_found_error"),
        (429, openai.RateLimitError, "rate_limit_error"),
        (500, openai.InternalServerError, "api_error"),
        (529, openai.InternalServerError, "overloaded_error"),
    ],
)
def test_errors_have_the_shape_that_the_clients_expect(
    status: int, ours: type[Exception], kind: str
) -> None:
    failing = Reply("not now", status=status, headers={"Retry-After": "7"})
    with openai_client(failing) as client, pytest.raises(ours, match="not now") as caught:
        client.chat.completions.create(model="gpt", messages=HELLO)
    assert getattr(caught.value, "response").headers["retry-after"] == "7"  # noqa: B009
    import anthropic

    with (
        anthropic_client(failing) as client,
        pytest.raises(anthropic.APIStatusError, match="not now") as refused,
    ):
        client.messages.create(model="claude", max_tokens=9, messages=HELLO)
    assert refused.value.status_code == status
    body: Any = refused.value.body
    assert body["error"]["type"] == kind


def test_a_connection_that_breaks_is_seen_to_break() -> None:
    broken = Reply("one two three four five six seven", breaks=True)
    with openai_client(broken) as client:
        with pytest.raises(openai.APIConnectionError):
            client.chat.completions.create(model="gpt", messages=HELLO)
        with pytest.raises(openai.APIConnectionError):
            list(client.chat.completions.create(model="gpt", messages=HELLO, stream=True))


def test_an_endless_reply_goes_on_for_as_long_as_anybody_listens() -> None:
    with (
        openai_client(Reply("la", endless=True)) as client,
        client.chat.completions.create(
            model="gpt", messages=HELLO, stream=True, max_tokens=5
        ) as stream,
    ):
        assert len([next(iter(stream)) for _ in range(500)]) == 500


def test_what_a_function_raises_is_an_error_of_the_server() -> None:
    def fail(body: object) -> str:
        raise RuntimeError("out of paper")

    with (
        openai_client(fail) as client,
        pytest.raises(openai.InternalServerError, match="out of paper"),
    ):
        client.chat.completions.create(model="gpt", messages=HELLO)


def test_a_script_that_is_over_says_so() -> None:
    with openai_client(["one"]) as client:
        client.chat.completions.create(model="gpt", messages=HELLO)
        with pytest.raises(
            openai.InternalServerError, match="the script has 1 replies, and this is request 2"
        ):
            client.chat.completions.create(model="gpt", messages=HELLO)


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/v1/nowhere", b"{}", 404),
        ("/v1/models", None, 404),
        ("/v1/messages", b"{", 400),
        ("/v1/messages", b"[]", 400),
    ],
)
def test_what_is_no_request_is_refused(path: str, data: bytes | None, status: int) -> None:
    with fake_provider("hello") as provider:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{provider.url}{path}", data)
        with caught.value:
            assert caught.value.code == status
            assert json.loads(caught.value.read())["error"]["message"]
        assert provider.requests == []


def test_usage_may_be_told() -> None:
    with openai_client(Reply("hello", usage=(1234, 56))) as client:
        usage = client.chat.completions.create(model="gpt", messages=HELLO).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (1234, 56)


def test_the_example_in_the_docstring_runs() -> None:
    text = str(foreword.testing.__doc__)
    example = dedent(
        "\n".join(line for line in text.splitlines() if line.startswith("    ") or not line)
    )
    assert "fake_provider" in example
    exec(compile(example, "example", "exec"), {})


def gemini_answer(url: str, method: str) -> str:
    """What a client of Gemini's API reads."""
    body = {"contents": [{"role": "user", "parts": [{"text": HELLO[0]["content"]}]}]}
    request = urllib.request.Request(
        f"{url}/v1beta/models/gemini-2.5-pro:{method}", data=json.dumps(body).encode()
    )
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
    return text


def test_gemini_is_answered_whole_streamed_and_with_a_count() -> None:
    with fake_provider(CALLS) as provider:
        whole = json.loads(gemini_answer(provider.url, "generateContent"))
        streamed = gemini_answer(provider.url, "streamGenerateContent?alt=sse")
        count = json.loads(gemini_answer(provider.url, "countTokens"))
    said, *calls = whole["candidates"][0]["content"]["parts"]
    assert said == {"text": "Wait."}
    assert [call["functionCall"]["name"] for call in calls] == ["lookup", "list"]
    assert whole["candidates"][0]["finishReason"] == "STOP"
    assert whole["modelVersion"] == "gemini-2.5-pro"
    pieces = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    last = pieces[-1]["candidates"][0]["content"]["parts"]
    assert [call["functionCall"]["args"] for call in last] == [{"name": "FEAT-1"}, {}]
    assert count["totalTokens"] == whole["usageMetadata"]["promptTokenCount"]
    assert len(provider.requests) == 2  # counting is no request of the script


def test_an_error_of_gemini_has_its_own_shape() -> None:
    with (
        fake_provider(Reply("slowly", status=429)) as provider,
        pytest.raises(urllib.error.HTTPError) as raised,
    ):
        gemini_answer(provider.url, "generateContent")
    error = json.loads(raised.value.read())["error"]
    assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
