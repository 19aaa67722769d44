"""One request to a model, over real HTTP with the providers' own clients: words and tool calls,
trouble, giving up."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event

import pytest

from foreword.errors import ModelFailed, UsageError
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, ToolResult
from foreword.models import ToolSpec, reply
from foreword.testing import FakeProvider, Reply, fake_provider
from foreword.testing import ToolCall as Wanted

Speaks = Callable[[FakeProvider], str]
AT_ONCE = {"retry-after-ms": "1"}
LOOK = ToolSpec(
    "look", "Look at a page.", {"type": "object", "properties": {"tab": {"type": "string"}}}
)
SAID = [
    Message("system", (Text("Be brief."),)),
    Message("user", (Text("What is on the page?"),)),
    Message("assistant", (ToolCall("call_1", "look", '{"tab": "Main"}'),)),
    Message("tool", (ToolResult("call_1", "failed: no such tab", failed=True),)),
]


def ignore(text: str) -> None:
    """Listen to nothing."""


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_reply_may_have_words_and_calls_and_nothing_is_called(
    speaks: Speaks, streamed: bool
) -> None:
    wanted = Reply(
        "Another look.", tool_calls=[Wanted("look", {"tab": "Main Tab"}), Wanted("look", {})]
    )
    heard: list[str] = []
    with fake_provider(wanted) as provider:
        got = reply(speaks(provider), SAID, [LOOK], on_text=heard.append if streamed else None)
        (request,) = provider.requests
    words, *calls = got.message.parts
    assert isinstance(words, Text)
    assert words.text == "Another look."
    assert [
        (call.name, json.loads(call.arguments)) for call in calls if isinstance(call, ToolCall)
    ] == [
        ("look", {"tab": "Main Tab"}),
        ("look", {}),
    ]
    assert len(set(got.message.calls)) == 2
    assert got.input_tokens > 10 < got.output_tokens
    assert (got.attempts, got.cut, got.message.role) == (1, False, "assistant")
    assert got.message.block is None
    assert "".join(heard) == ("Another look." if streamed else "")
    for sent in ("Be brief.", "What is on the page?", "no such tab", "Look at a page.", "call_1"):
        assert sent in json.dumps(request)


def test_a_reply_can_be_kept_and_sent_again(speaks: Speaks) -> None:
    script: list[str | Reply] = [Reply(tool_calls=[Wanted("look", {"tab": "a"})]), "Done."]
    with fake_provider(script) as provider:
        first = reply(speaks(provider), SAID, [LOOK], on_text=ignore)
        answer = Message("tool", (ToolResult(first.message.calls[0], "a heading"),))
        second = reply(speaks(provider), [*SAID, first.message, answer], [LOOK], on_text=ignore)
        assert "a heading" in json.dumps(provider.requests[1])
    assert second.message.text == "Done."


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_busy_provider_and_a_broken_connection_are_asked_again(
    speaks: Speaks, streamed: bool
) -> None:
    heard: list[str] = []
    script: list[str | Reply] = [
        Reply(status=529, headers=AT_ONCE),
        Reply("one two three four five", breaks=True),
        "fine",
    ]
    with fake_provider(script) as provider:
        got = reply(speaks(provider), SAID, on_text=heard.append if streamed else None)
    assert (got.message.text, got.attempts) == ("fine", 3)
    assert "".join(heard).endswith("fine") == streamed


def test_a_request_that_is_refused_is_told_in_one_line(speaks: Speaks) -> None:
    with (
        fake_provider(Reply("not like this", status=400)) as provider,
        pytest.raises(ModelFailed, match="400 Bad Request: not like this"),
    ):
        reply(speaks(provider), SAID, on_text=ignore)


def test_an_empty_reply_is_a_failure(speaks: Speaks) -> None:
    with fake_provider("") as provider, pytest.raises(ModelFailed, match="its answer is empty"):
        reply(speaks(provider), SAID)


def test_a_reply_is_left_when_the_caller_gives_up_or_time_runs_out() -> None:
    cancel = Event()
    endless = Reply("word ", endless=True)
    with fake_provider(endless) as provider, pytest.raises(ModelFailed, match="cancelled"):
        reply(provider.openai, SAID, on_text=lambda text: cancel.set(), cancel=cancel)
    with (
        fake_provider(Reply(hangs=True)) as provider,
        pytest.raises(ModelFailed, match=r"within 0\.2 s"),
    ):
        reply(provider.openai, SAID, timeout_seconds=0.2)


def test_what_can_not_be_asked_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="at least once"):
        reply("test", SAID, attempts=0)
    with pytest.raises(UsageError, match="a name or a pydantic-ai model"):
        reply(7, SAID)
