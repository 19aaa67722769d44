"""A director over HTTP: its tools by hand, its turns and their events, what is refused, and what
is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import foreword
from foreword.browser import Rules
from foreword.demos.site import site
from foreword.director import node_tools
from foreword.faces.http import directors
from foreword.faces.serving.app_state import Settings
from foreword.store.locations import project_directory
from foreword.testing import fake_provider
from tests.faces.http.directing import (
    director_events,
    director_state,
    obedient_model,
    tool,
    wait_until_over,
)
from tests.faces.http.running import Address, running, session_path, settings_for, wait_until

SECRET = "harbour-7-open-sesame"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with fake_provider(obedient_model) as provider:
        yield settings_for(tmp_path_factory.mktemp("directed"), model=provider.openai)


@pytest.fixture(scope="module")
def director_server(settings: Settings) -> Iterator[Address]:
    with running(settings) as (where, _):
        yield where


@pytest.fixture
def workflow(director_server: Address, name: str) -> str:
    assert director_server.ask("POST", "/v1/sessions", {"name": name}).status == 201
    return name


def _say(address: Address, workflow: str, text: str) -> int:
    return address.ask("POST", session_path(workflow, "director", "say"), {"text": text}).status


def test_a_turn_is_told_piece_by_piece_and_who_comes_late_hears_all_of_it(
    director_server: Address, workflow: str
) -> None:
    assert _say(director_server, workflow, "Make a plan") == 202
    told = director_events(director_server, workflow)
    assert [one["type"] for one in told if one["type"] != "text"] == ["call", "result", "done"]
    assert (
        "".join(one["text"] for one in told if one["type"] == "text") == "I plan it.That is done."
    )
    assert director_events(director_server, workflow) == told
    assert director_events(director_server, workflow, last=told[-2]["at"]) == told[-1:]
    assert director_events(director_server, workflow, last="somebody.9") == told
    said = director_server.ask("GET", session_path(workflow, "messages")).json["items"]
    assert [one["role"] for one in reversed(said)] == ["user", "assistant", "tool", "assistant"]


def test_one_thing_at_a_time_and_stop_stops_it(director_server: Address, workflow: str) -> None:
    assert _say(director_server, workflow, "Just talk") == 202
    wait_until(lambda: director_state(director_server, workflow)["work"]["over"] is False)
    refused = director_server.ask(
        "POST", session_path(workflow, "director", "say"), {"text": "And this"}
    )
    assert (refused.status, refused.json["code"]) == (409, "busy")
    by_hand = session_path(workflow, "director", "tools", "get_current_plan")
    assert director_server.ask("POST", by_hand, {"arguments": {}}).status == 409
    stop = session_path(workflow, "director", "stop")
    assert director_server.ask("POST", stop).json == {"stopped": True}
    assert director_events(director_server, workflow)[-1] | {"at": ""} == {
        "at": "",
        "type": "done",
        "stopped": True,
        "unfinished": False,
        "failed": False,
    }
    assert director_server.ask("POST", stop).json == {"stopped": False}
    assert _say(director_server, workflow, "Hello") == 202
    assert director_events(director_server, workflow)[-1]["stopped"] is False


def test_a_model_that_fails_is_told_and_the_turn_goes_on_when_asked(
    director_server: Address, workflow: str
) -> None:
    assert _say(director_server, workflow, "Please break") == 202
    *_, failed, done = director_events(director_server, workflow)
    assert (failed["type"], done["failed"]) == ("failed", True)
    assert "404" in failed["text"]
    assert director_state(director_server, workflow)["work"]["problem"] == failed["text"]
    assert director_server.ask("POST", session_path(workflow, "director", "go-on")).status == 202
    assert wait_until_over(director_server, workflow)["work"]["problem"]


def test_tools_by_hand_work_and_are_told_in_the_conversation(
    director_server: Address, workflow: str
) -> None:
    known = director_server.ask("GET", "/v1/director/tools").json["items"]
    assert {"create_node", "run_workflow", "debug_action", "recall"} <= {
        one["name"] for one in known
    }
    made = tool(
        director_server,
        workflow,
        "create_node",
        type="wait",
        config={"seconds": 1},
        description="rest",
    )
    assert made["failed"] is False
    assert (
        tool(director_server, workflow, "create_node", type="wait", config={}, description="x")[
            "failed"
        ]
        is True
    )
    (node,) = director_server.ask("GET", session_path(workflow, "nodes")).json["items"]
    assert (node["id"], node["does"], node["status"], node["last"]) == (
        "node1",
        "Wait 1 second",
        "",
        None,
    )
    said = director_server.ask("GET", session_path(workflow, "messages")).json["items"]
    assert [one["role"] for one in said[-2:]] == ["tool", "assistant"]
    assert said[-1]["text"].startswith("The user did this by hand:\n[calls create_node(")


def test_what_is_not_there_is_said_and_nothing_is_made(
    director_server: Address, workflow: str
) -> None:
    path = session_path(workflow, "director", "tools", "creat_node")
    unknown = director_server.ask("POST", path, {"arguments": {}})
    assert unknown.status == 404
    assert "create_node" in unknown.json["title"] + unknown.json["hint"]
    for method, *rest in (("POST", "say"), ("POST", "stop"), ("GET",), ("GET", "events")):
        body = {"text": "hello"} if "say" in rest else None
        assert (
            director_server.ask(method, session_path("nobody", "director", *rest), body).status
            == 404
        )
    assert director_server.ask("GET", session_path("nobody")).status == 404
    assert director_server.ask("GET", session_path(workflow, "director", "events")).status == 404
    assert director_server.ask("GET", session_path(workflow, "runs", "run-1")).status == 404
    assert _say(director_server, workflow, "   ") == 400


def test_secrets_are_in_no_event(director_server: Address, workflow: str) -> None:
    value = {"value": SECRET, "reason": "the user's"}
    director_server.ask("PUT", session_path(workflow, "variables", "creds.password"), value)
    assert _say(director_server, workflow, f"My word is {SECRET}") == 202
    told = director_events(director_server, workflow)
    assert SECRET not in str(told)
    assert "[hidden]" in str(told)
    assert SECRET not in str(tool(director_server, workflow, "get_workflow_variable", name="all"))
    everything = director_server.ask("GET", session_path(workflow, "messages")).body
    assert SECRET.encode() not in everything


def test_without_a_model_one_line_says_what_to_set_and_the_tools_work(tmp_path: Path) -> None:
    with running(settings_for(tmp_path)) as (address, _):
        address.ask("POST", "/v1/sessions", {"name": "w"})
        for path, body in (("say", {"text": "hello"}), ("go-on", None)):
            refused = address.ask("POST", session_path("w", "director", path), body)
            assert refused.status == 400
            assert "--model" in refused.json["hint"]
            assert "FOREWORD_DIRECTOR_MODEL" in refused.json["hint"]
        assert director_state(address, "w") == {
            "model": False,
            "work": None,
            "tabs": None,
            "blocked": [],
        }
        assert tool(address, "w", "get_current_plan")["failed"] is False


def test_the_prompt_of_a_session_is_its_own_until_something_is_said_to_its_director(
    director_server: Address, settings: Settings
) -> None:
    prompt = {"name": "prompted", "system_prompt": "You are somebody else."}
    assert director_server.ask("POST", "/v1/sessions", prompt).status == 201
    tool(director_server, "prompted", "get_current_plan")
    with foreword.Session.open(settings.db, "prompted", create=False) as session:
        assert session.system_prompt == "You are somebody else."
    _say(director_server, "prompted", "Hello")
    director_events(director_server, "prompted")
    with foreword.Session.open(settings.db, "prompted", create=False) as session:
        assert session.system_prompt.startswith("You are a director")


def test_of_many_directors_the_idle_ones_make_room(director_server: Address) -> None:
    names = [f"crowd-{number}" for number in range(directors.MOST_DIRECTORS + 2)]
    for name in names:
        director_server.ask("POST", "/v1/sessions", {"name": name})
        assert (
            tool(director_server, name, "set_variable", name="n", value=name, reason="one of many")[
                "failed"
            ]
            is False
        )
    assert director_state(director_server, names[0])["work"] is None
    assert (
        tool(director_server, names[0], "get_workflow_variable", name="n")["text"].count("crowd-0")
        == 1
    )


def test_a_run_is_told_with_its_steps_goes_on_where_it_failed_and_its_browser_ends_with_the_server(
    tmp_path: Path,
) -> None:
    settings = settings_for(tmp_path)
    with site() as desk, running(settings) as (address, _):
        with foreword.Session.open(settings.db, "letters", root=tmp_path) as session:
            node_tools.create_node(session, "navigate", {"url": f"{desk.url}/login"})
            node_tools.create_node(session, "wait", {"seconds": "{{no_such}}"})
            node_tools.create_node(session, "extract", {"selector": "h1", "variable": "title"})
        first = tool(address, "letters", "run_workflow")
        assert first["failed"] is True
        steps = [one for one in director_events(address, "letters") if one["type"] == "step"]
        assert [(one["node"], one["status"]) for one in steps if one["status"] != "running"] == [
            ("node1", "success"),
            ("node2", "failed"),
        ]
        (run,) = address.ask("GET", session_path("letters", "runs")).json["items"]
        assert (run["status"], run["stopped_at"], run["attempt"]) == ("failed", "node2", 1)
        tabs = director_state(address, "letters")["tabs"]
        assert [one["url"] for one in tabs] == [f"{desk.url}/login"]
        assert (
            tool(address, "letters", "update_node", node="node2", config={"seconds": 0.1})["failed"]
            is False
        )
        assert tool(address, "letters", "run_workflow", resume=run["run"])["failed"] is False
        again = address.ask("GET", session_path("letters", "runs", run["run"])).json
        assert (again["status"], again["attempt"], len(again["results"])) == ("success", 2, 3)
        states = [
            one["status"]
            for one in address.ask("GET", session_path("letters", "nodes")).json["items"]
        ]
        assert states == ["success"] * 3
        assert desk.requests.count(f"GET {desk.url.removeprefix('http://')}/login") == 1
        refused = tool(
            address, "letters", "debug_navigate", url="https://example.com/", reason="look"
        )
        assert "not among the allowed origins" in refused["text"]
    assert not list((project_directory(tmp_path) / "browser").glob("profile-*"))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8123/v1/sessions", "http://localhost:8123/", "http://[::1]:8123/"]
)
def test_the_browser_of_a_director_does_not_open_the_server_itself(url: str) -> None:
    rules = Rules(origins=("loopback", "*"), own_port=8123)
    assert not rules.allows(url)
    assert rules.allows(url.replace("8123", "8124"))
