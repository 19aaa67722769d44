"""Tools that the user calls by hand: a call and its result in the conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.director import Director
from foreword.director.turn_lock import is_waiting
from foreword.faces.web import transcript
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, ToolResult
from foreword.testing import fake_provider
from foreword.testing.state_reader import is_state
from tests.director.scenes import open_director

SEEN = {"name": "page", "value": "inbox", "reason": "seen"}


@pytest.fixture
def director(tmp_path: Path) -> Iterator[Director]:
    with open_director(tmp_path) as opened:
        yield opened


def test_a_call_by_hand_is_a_call_and_its_result(director: Director) -> None:
    made = director.call("set_variable", SEEN)
    refused = director.call("set_variable", {"name": "page"})
    called, answered, *failed = director.session.history()
    words, call = called.parts
    assert isinstance(words, Text)
    assert isinstance(call, ToolCall)
    assert (called.role, words.text) == ("assistant", "The user did this by hand:")
    assert (call.name, json.loads(call.arguments)) == ("set_variable", SEEN)
    assert answered == Message("tool", (ToolResult(call.id, made.text),))
    (result,) = failed[1].parts
    assert isinstance(result, ToolResult)
    assert (result.failed, result.text) == (True, refused.text)
    assert failed[0].calls == (result.id,)
    assert not is_waiting(director.session)


def test_on_the_page_it_is_the_users(director: Director) -> None:
    director.call("set_variable", SEEN)
    director.call("set_variable", {"name": "page"})
    shown = transcript.read(director.session).messages
    assert [(one.role, one.text, one.calls) for one in shown] == [("user", "", [])] * 2
    hands = [one.hand for one in shown if one.hand]
    assert [hand.name for hand in hands] == ["set_variable"] * 2
    assert [hand.state for hand in hands] == ["ok", "failed"]
    assert [hand.brief for hand in hands] == ["page · inbox · seen", "page"]
    assert '"page"' in hands[0].result


def test_calls_that_were_lost_are_answered_before_one_by_hand_is_told(director: Director) -> None:
    director.session.append(Message("user", (Text("Go"),)))
    lost = ToolCall("call-1", "get_current_plan", "{}")
    director.session.append(Message("assistant", (lost,)))
    director.call("set_variable", SEEN)
    roles = [message.role for message in director.session.history()]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    assert director.session.history()[2].results == ("call-1",)
    assert is_waiting(director.session), "what was done by hand answers no turn"


def test_the_user_is_the_first_to_speak_whatever_was_done_by_hand_before(tmp_path: Path) -> None:
    with fake_provider("Good.") as provider, open_director(tmp_path, provider.openai) as director:
        director.call("set_variable", SEEN)
        director.say("Go")
        (body,) = provider.requests
    _, *said = body["messages"]
    assert is_state(said[0])
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "user"]
    (call,) = said[1]["tool_calls"]
    assert (call["function"]["name"], said[2]["tool_call_id"]) == ("set_variable", call["id"])
    assert said[3]["content"] == "Go"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_variable", {"variableId": "password", "value": "hunter-2000", "reason": "x"}),
        ("set_variable", {"tab": "password", "Value": "hunter-2000", "reason": "x"}),
        ("debug_action", {"action": "type", "text": "hunter-2000", "secret": True, "Secret": "x"}),
        ("debug_action", {"text": "hunter-2000", "secret": True, "secretType": "text"}),
        ("debug_action", {"text": "hunter-2000", "Text": "{{a.b}}", "secret": True}),
    ],
)
def test_a_secret_is_hidden_under_any_name_of_its_field(
    director: Director, tool: str, arguments: dict[str, object]
) -> None:
    outcome = director.call(tool, arguments)
    if outcome.failed:
        assert "both mean" in outcome.text
        assert "[hidden]" not in outcome.text
    assert "hunter-2000" not in repr(director.session.history())
