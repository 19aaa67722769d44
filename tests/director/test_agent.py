"""The director's conversation: what its model is sent, what its tools do, and how it stops and
goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foreword import tokens
from foreword.director import Director
from foreword.director.system_prompt import DIRECTOR, SCOUT
from foreword.director.tool_table import TOOLS
from foreword.errors import ModelFailed, UsageError
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
from tests.director.scenes import (
    PARTS,
    calls,
    open_director,
    parts_of,
    results_in,
    spoken_in,
    system_of,
)
from tests.sessions import plan

SECRET = "harbour-7"


def count(text: str) -> int:
    """Tokens."""
    return tokens.counter("o200k").count(text)


def test_prompts_and_tools_are_short() -> None:
    assert count(DIRECTOR) < 900
    assert count(SCOUT) < 400
    written = json.dumps([[tool.name, tool.about, tool.schema] for tool in TOOLS.values()])
    assert count(written) < 2_700


def test_a_turn_asks_acts_and_answers_and_every_request_has_the_six_parts(tmp_path: Path) -> None:
    script: list[str | Reply] = [
        calls("I plan first.", update_plan={"plan": plan(), "reason": "begin"}),
        calls(
            set_variable={"name": "page", "value": "inbox", "reason": "seen"}, get_current_plan={}
        ),
        "It is planned.",
    ]
    events: list[dict[str, Any]] = []
    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        turn = director.say("Read my mail", on_event=events.append)
        assert (turn.text, turn.requests, turn.calls, turn.stopped) == (
            "It is planned.",
            3,
            3,
            False,
        )
        assert turn.input_tokens > 1_000 > turn.output_tokens > 10
        assert director.session.get_current_plan() is not None
        kinds = [message.role for message in director.session.history()]
    assert kinds == ["user", "assistant", "tool", "assistant", "tool", "tool", "assistant"]
    for request in provider.requests:
        assert parts_of(request) == list(PARTS)
        assert spoken_in(request)[1] == {"role": "user", "content": "Read my mail"}
    first, second, third = (system_of(request) for request in provider.requests)
    assert "no plan yet" in first
    assert "Build navigation node" in second
    assert 'page = "inbox"' in third
    assert [event["type"] for event in events if event["type"] != "text"] == [
        "call",
        "result",
        "call",
        "result",
        "call",
        "result",
        "done",
    ]
    assert (
        "".join(event["text"] for event in events if event["type"] == "text")
        == "I plan first.It is planned."
    )


def test_what_a_tool_can_not_do_is_told_to_the_model_and_the_session_lives(tmp_path: Path) -> None:
    script: list[str | Reply] = [
        Reply(
            tool_calls=[
                ToolCall("update_plam", {}),
                ToolCall("update_plan", {"plan": {"phases": 3}, "reason": "x"}),
                ToolCall("set_variable", {"name": "a"}),
                ToolCall("debug_navigate", {"url": "http://127.0.0.1", "reason": "look"}),
                ToolCall("get_current_plan", {}),
            ]
        ),
        "Sorry.",
    ]
    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        assert director.say("Go").text == "Sorry."
        unknown, bad, missing, no_browser, not_done = results_in(provider.requests[1])
    assert "did you mean 'update_plan'?" in unknown
    assert bad.startswith("failed: ")
    assert "value: missing" in missing
    assert "there is no browser here" in no_browser
    assert not_done == "not done: debug_navigate before it failed"


def test_a_result_that_is_too_large_comes_with_a_handle_that_can_be_recalled(
    tmp_path: Path,
) -> None:
    rows = [{"number": n, "subject": f"letter number {n}"} for n in range(2_000)]
    seen: list[str] = []

    def script(body: Mapping[str, Any]) -> Reply | str:
        found = results_in(body)
        if not found:
            return calls(get_workflow_variable={"name": "rows"})
        seen.append(found[-1])
        if len(found) == 1:
            handle = found[0].split('"handle": "')[1].split('"')[0]
            return calls(recall={"handle": handle})
        return "Done."

    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        director.session.set_variable("rows", rows, "test")
        director.say("Go")
    shortened, page = seen
    assert count(shortened) < 4_300
    assert "tokens left out" in shortened
    assert "letter number 0" in page
    assert '"next_offset"' in page


def test_secrets_are_hidden_in_messages_events_and_requests(tmp_path: Path) -> None:
    script: list[str | Reply] = [
        calls(
            "Log in.",
            create_node={
                "type": "type",
                "config": {"selector": "#password", "text": "open-sesame-9"},
                "description": "log in",
            },
            get_workflow_variable={"name": "creds"},
            update_plan={"plan": plan(note=f"the word is {SECRET}"), "reason": "x"},
            set_variable={"variableId": "password", "value": "open-sesame-8", "reason": "x"},
        ),
        f"The password is {SECRET} and open-sesame-9.",
    ]
    events: list[dict[str, Any]] = []
    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        director.session.set_variable("creds", {"name": "ada", "password": SECRET}, "test")
        director.call("set_variable", {"name": "note", "value": f"it is {SECRET}", "reason": "x"})
        turn = director.say(
            f"My password is hunter-2000, the other one is {SECRET}", on_event=events.append
        )
        kept = json.dumps([message.text for message in director.session.history()])
        node = director.session.snapshot()["nodes"][0]
    told = json.dumps([provider.requests, events, kept, turn.text, node])
    for secret in (SECRET, "open-sesame-9", "open-sesame-8", "hunter-2000"):
        assert secret not in told
    assert any(
        event["type"] == "warning" and "a secret in the message was hidden" in event["text"]
        for event in events
    )
    assert '"ada"' in results_in(provider.requests[1])[2]


def test_what_reads_hidden_is_never_kept_as_a_value(tmp_path: Path) -> None:
    with open_director(tmp_path) as director:
        made = director.call(
            "set_variable", {"name": "password", "value": "[hidden]", "reason": "copy"}
        )
    assert made.failed
    assert "[hidden] is not a value" in made.text


def test_without_a_model_the_tools_work_by_hand_and_are_in_the_conversation(tmp_path: Path) -> None:
    with open_director(tmp_path) as director:
        made = director.call("set_variable", {"name": "page", "value": "inbox", "reason": "seen"})
        assert not made.failed
        assert director.call("get_workflow_variable", {"name": "page"}).text == '{"value": "inbox"}'
        assert director.call("get_workflow_variable", {"name": "pgae"}).failed
        called, answered = director.session.history()
        assert (called.calls, answered.text) == (answered.results, made.text)
        with pytest.raises(UsageError, match="the director has no model"):
            director.say("Go")
        scout = director.call("deploy_scout", {"instruction": "look"})
        assert "a scout needs a model" in scout.text


def test_a_model_that_fails_loses_nothing_and_the_director_goes_on(tmp_path: Path) -> None:
    script: list[str | Reply] = [
        calls(get_current_plan={}),
        Reply("not now", status=400),
        "Here I am.",
    ]
    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        with pytest.raises(ModelFailed, match="not now"):
            director.say("Go")
        assert director.go_on().text == "Here I am."
        assert director.go_on().text == "Here I am.", "there is nothing more to do"
        assert len(provider.requests) == 3
        assert len(director.session.history()) == 4


def test_there_is_nothing_to_go_on_with_before_anything_was_said(tmp_path: Path) -> None:
    with open_director(tmp_path, "test") as director:
        with pytest.raises(UsageError, match="nothing to go on with"):
            director.go_on()
        with pytest.raises(UsageError, match="nothing to say"):
            director.say("  ")


def test_an_answer_is_stopped_while_it_streams_and_what_was_said_is_kept(tmp_path: Path) -> None:
    cancel = Event()

    def stop(event: Mapping[str, Any]) -> None:
        if event["type"] == "text" and "seven" in event["text"]:
            cancel.set()

    script: list[str | Reply] = [Reply("one two three seven eight ", endless=True), "Fine."]
    with fake_provider(script) as provider, open_director(tmp_path, provider.openai) as director:
        turn = director.say("Count", on_event=stop, cancel=cancel)
        assert turn.stopped
        last = director.session.history()[-1]
        assert last.text.startswith("one two three")
        assert last.text.endswith("[stopped by the user]")
        assert director.say("Enough").text == "Fine."


def test_a_director_that_does_not_come_to_an_end_says_so(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    with (
        fake_provider(calls(get_current_plan={})) as provider,
        open_director(tmp_path, provider.openai, most_requests=3) as director,
    ):
        turn = director.say("Go", on_event=events.append)
        assert turn.unfinished
        assert turn.requests == 3
    assert any("no answer after 3 requests" in event.get("text", "") for event in events)


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[tuple[Path, FakeProvider]]:
    """A conversation whose process ended after a reply with two calls, of which one has a
    result."""
    with fake_provider("It is done.") as provider:
        with open_director(tmp_path) as director:
            session = director.session
            session.append({"role": "user", "content": "Go"})
            wanted = [("call_1", "get_current_plan"), ("call_2", "debug_navigate")]
            functions = [
                {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}}
                for call, name in wanted
            ]
            session.append({"role": "assistant", "content": None, "tool_calls": functions})
            session.append({"role": "tool", "tool_call_id": "call_1", "content": "none"})
        yield tmp_path, provider


def test_calls_without_a_result_are_told_to_be_unknown(killed: tuple[Path, FakeProvider]) -> None:
    folder, provider = killed
    with open_director(folder, provider.openai) as director:
        assert director.go_on().text == "It is done."
        known, unknown = results_in(provider.requests[0])
        assert known == "none"
        assert "the process ended before a result was recorded" in unknown
        assert director.session.history()[3].kind == "debug_action"


def test_a_new_word_of_the_user_settles_what_was_left_behind(
    killed: tuple[Path, FakeProvider],
) -> None:
    folder, provider = killed
    with open_director(folder, provider.openai) as director:
        director.say("Are you there?")
        assert [message["role"] for message in spoken_in(provider.requests[0])] == [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
        ]


def test_an_open_director_sets_the_newest_prompt(tmp_path: Path) -> None:
    with Director.open(
        f"sqlite:///{tmp_path}/a.db", root=tmp_path, system_prompt="Be kind."
    ) as director:
        assert director.session.system_prompt == "Be kind."
    with Director.open(f"sqlite:///{tmp_path}/a.db", root=tmp_path) as director:
        assert director.session.system_prompt == DIRECTOR


def test_two_directors_do_not_talk_in_one_conversation_at_once(tmp_path: Path) -> None:
    refused: list[str] = []

    def try_beside(event: Mapping[str, Any]) -> None:
        if event["type"] == "call":
            with (
                open_director(tmp_path, provider.openai) as beside,
                pytest.raises(UsageError) as error,
            ):
                beside.say("Me too")
            refused.append(error.value.message)

    with fake_provider([calls(get_current_plan={}), "Done.", "Now you."]) as provider:
        with open_director(tmp_path, provider.openai) as director:
            assert director.say("Look at the plan", on_event=try_beside).text == "Done."
        with open_director(tmp_path, provider.openai) as beside:
            assert beside.say("Me too").text == "Now you."
    assert len(refused) == 1
    assert refused[0].startswith("somebody talks with the director")
