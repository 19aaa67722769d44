"""The whole job from nothing, in a real browser, with a model that is scripted over the wire;
and how it is stopped."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from shutil import copy
from threading import Event, Thread
from typing import Any

import apsw
import pytest

from foreword import tokens
from foreword.browser import Browser, Rules
from foreword.demos.scripted_model import FINISHED, GUESS, TASK, scripted_model
from foreword.demos.site import NAME, PASSWORD, ROWS, Site
from foreword.director import Director, TurnResult
from foreword.director.director_resources import DirectorResources
from foreword.testing import FakeProvider, Reply, fake_provider, prefix_breaks
from foreword.testing.state_reader import state_in
from tests.director.scenes import (
    PARTS,
    calls,
    open_director,
    parts_of,
    results_in,
    spoken_in,
)
from tests.faulty_site import faulty_site

BUDGET = 16_000
SOAK = bool(os.environ.get("FOREWORD_SOAK"))
TURNS = 400 if SOAK else 130


class Job:
    """The job as it was done: what was said, sent and kept."""

    def __init__(
        self, folder: Path, desk: Site, provider: FakeProvider, director: Director
    ) -> None:
        self.folder, self.desk, self.provider, self.director = folder, desk, provider, director
        self.events: list[dict[str, Any]] = []
        self.turn: TurnResult = director.say(TASK, on_event=self.events.append)

    def directed_by(self, model: str) -> Director:
        """The same conversation and the same browser, with another model."""
        resources = self.director.resources
        return Director(DirectorResources(resources.session, resources.browser(), model=model))

    @property
    def own(self) -> list[dict[str, Any]]:
        """The requests of the director; the others are its scout's."""
        return [body for body in self.provider.requests if "current_plan" in parts_of(body)]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Everything, once for all tests of this module."""
    folder = tmp_path_factory.mktemp("job")
    with faulty_site() as desk, fake_provider(scripted_model(desk.url, pages=2)) as provider:
        rules = Rules(origins=(desk.url,), action_seconds=1, page_seconds=10)

        def start(left: Path | None) -> Browser:
            return Browser.start(rules, folder=folder / "profiles", restore=left)

        with open_director(folder, provider.openai, browser=start, budget=BUDGET) as director:
            director.session.set_variable(
                "creds", {"name": NAME, "password": PASSWORD}, "the user's"
            )
            yield Job(folder, desk, provider, director)


def test_the_job_is_done_from_nothing(job: Job) -> None:
    assert job.turn.text == FINISHED
    assert job.desk.sent == [
        {
            "subject": row["subject"],
            "sender": row["sender"],
            "kind": row["kind"],
            "note": "",
            "urgent": "",
        }
        for row in ROWS[:10]
    ]


def test_the_store_holds_the_plan_in_its_versions_the_nodes_and_what_they_read(job: Job) -> None:
    session = job.director.session
    assert [plan.reason for plan in session.plan_history()] == [
        "first plan",
        "scouted",
        "the nodes are built",
        "the run succeeded",
    ]
    nodes = session.snapshot()["nodes"]
    assert [node["id"] for node in nodes] == [f"node{number}" for number in range(1, 14)]
    assert {node["status"] for node in nodes} == {"success"}
    assert session.get_workflow_variables()["node7.letters"][0]["subject"] == ROWS[5]["subject"]


def test_a_selector_that_fails_is_repaired_by_what_the_page_has(job: Job) -> None:
    history = job.director.session.history()
    told = [message.text for message in history if message.kind == "execution_result"]
    failed = next(text for text in told if '"status": "failed"' in text)
    assert GUESS in failed
    assert '"page": {"tab": "Main Tab"' in failed
    repaired = next(
        node for node in job.director.session.snapshot()["nodes"] if node["id"] == "node4"
    )
    assert repaired["config"]["selector"] == 'role=button[name="Sign in"]'
    kinds = Counter(message.kind for message in history)
    assert (kinds["debug_action"], kinds["execution_result"]) == (2, 14)


def test_every_request_has_the_six_parts_in_order_within_the_budget(job: Job) -> None:
    count = tokens.counter("o200k").count
    assert len(job.own) == job.turn.requests
    for body in job.own:
        assert parts_of(body) == list(PARTS)
        assert any(
            message["role"] == "user" and TASK in message["content"] for message in body["messages"]
        )
        said = [
            message.get("content") or json.dumps(message.get("tool_calls"))
            for message in body["messages"]
        ]
        assert sum(map(count, said)) <= BUDGET


def test_no_request_no_event_and_no_row_has_the_secret_or_a_page(job: Job, tmp_path: Path) -> None:
    assert TASK in json.dumps(job.provider.requests)
    everything = json.dumps([job.provider.requests, job.events])
    assert PASSWORD not in everything
    assert "<form" not in everything
    assert "<!doctype" not in everything
    # a copy: two libraries on one file would undo each other's locks
    for file in job.folder.glob("state.db*"):
        copy(file, tmp_path)
    holding = set[object]()
    with closing(apsw.Connection(str(tmp_path / "state.db"))) as db:
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            for row in db.execute(f'SELECT * FROM "{table}"'):
                if PASSWORD in repr(row):
                    holding.add(table)
    assert holding == {"variables"}


def test_the_browser_in_each_request_is_the_browser_at_that_moment(job: Job) -> None:
    first, second = job.own[0], job.own[-1]
    assert state_in(first)["browser_state"] == []
    tab = f"- Main Tab (Active) = {job.desk.url}/sent?new=1"
    assert state_in(second)["browser_state"] == [tab]


def test_each_request_is_the_one_before_and_more_and_its_state_is_that_of_the_moment(
    job: Job,
) -> None:
    assert prefix_breaks(job.own) == []
    first, *_, last = job.own
    assert state_in(first)["current_plan"] is None
    assert state_in(last)["current_plan"] == job.director.session.get_current_plan()
    statuses = {node["id"]: node["status"] for node in job.director.session.snapshot()["nodes"]}
    nodes = state_in(last)["workflow_snapshot"]["nodes"]
    assert {name: node["status"] for name, node in nodes.items()} == statuses


def test_the_scout_has_its_own_conversation_and_leaves_only_its_report(job: Job) -> None:
    scouts = [body for body in job.provider.requests if body not in job.own]
    assert len(scouts) == 5
    for body in scouts:
        assert parts_of(body) == ["system_prompt", "workflow_variables", "browser_state"]
        assert TASK not in json.dumps(body)
        assert {tool["function"]["name"] for tool in body["tools"]} == {
            "inspect_tab",
            "debug_navigate",
            "debug_action",
            "debug_open_tab",
            "debug_close_tab",
        }
    last = json.dumps(job.own[-1])
    assert "Register button: `[data-testid" in last
    assert "the rows of the list of letters and their parts" not in last, "the scout's own words"
    assert "scout-1" not in [tab["name"] for tab in job.director.resources.browser().tabs()]


def test_events_tell_what_happens_as_it_happens(job: Job) -> None:
    kinds = Counter(event["type"] for event in job.events)
    assert kinds["call"] == kinds["result"]
    assert kinds["step"] > 100
    assert job.events[-1] == {"type": "done"}
    assert {event["scout"] for event in job.events if "scout" in event} == {"scout-1"}
    assert [
        event["name"] for event in job.events if event["type"] == "result" and event["failed"]
    ] == ["test_single_node"]


def test_a_tool_is_stopped_while_it_runs_and_every_call_has_a_result(job: Job) -> None:
    cancel = Event()

    def stop_when_asked() -> None:
        while not any("/slow" in request for request in job.desk.requests):
            cancel.wait(0.01)
        cancel.set()

    slow = {"url": f"{job.desk.url}/slow?seconds=3", "reason": "wait for long"}
    script: list[str | Reply] = [calls(debug_navigate=slow, get_current_plan={}), "Here."]
    with fake_provider(script) as provider:
        director = job.directed_by(provider.openai)
        watching = Thread(target=stop_when_asked, daemon=True)
        watching.start()
        assert director.say("Wait", cancel=cancel).stopped
        watching.join()
        assert director.say("Are you there?").text == "Here."
        stopped, not_begun = results_in(provider.requests[-1])[-2:]
    assert "stopped before it was done" in stopped
    assert not_begun == "not done: stopped by the user"


def test_a_run_is_stopped_at_its_next_step(job: Job) -> None:
    cancel, sent = Event(), len(job.desk.sent)

    def stop(event: Mapping[str, Any]) -> None:
        if event["type"] == "step" and event["node"] == "node13" and event["status"] == "success":
            cancel.set()

    with fake_provider([calls(run_workflow={}), "It stopped."]) as provider:
        director = job.directed_by(provider.openai)
        assert director.say("Run it again", on_event=stop, cancel=cancel).stopped
        assert len(job.desk.sent) == sent + 1
        assert director.say("What happened?").text == "It stopped."
        stopped = results_in(provider.requests[-1])[-1]
    assert '"status": "stopped"' in stopped
    assert "goes on there" in stopped


def test_after_hundreds_of_turns_the_plan_the_selectors_and_what_the_user_wants_are_still_there(
    job: Job,
) -> None:
    """The history is compressed again and again; small limits, so that it is quick."""
    limits: dict[str, Any] = {"warn_at": 8_000, "compress_at": 9_000, "compress_to": 3_000}
    wishes = {
        3: "From now on, never open more than two tabs.",
        9: "Always write to me in short sentences.",
    }
    asked, events = list[dict[str, Any]](), list[dict[str, Any]]()

    def script(body: Mapping[str, Any]) -> Reply | str:
        asked.append(dict(body))
        number, last = len(asked), spoken_in(body)[-1]
        if number % 10 or last["role"] == "tool":
            return f"Letter {number} is as it was, nothing has changed with it."
        return calls(get_workflow_variable={"name": "node7.letters"})

    with (
        fake_provider(script) as provider,
        open_director(job.folder, provider.openai, **limits) as director,
    ):
        for number in range(TURNS):
            said = f"Question {number}: has anything changed with letter {number}?"
            director.say(wishes.get(number, said), on_event=events.append)
        made = [one for one in director.session.compressions() if not one.undone]
    warnings = [event["text"] for event in events if event["type"] == "warning"]
    assert any("its history is compressed before 9,000" in text for text in warnings)
    assert any("the history was compressed" in text for text in warnings)
    assert made[-1].number >= (3 if SOAK else 2)
    count = tokens.counter("o200k").count
    for body in asked[::10]:
        assert parts_of(body) == list(PARTS)
        assert (
            sum(count(str(message.get("content") or "")) for message in body["messages"]) <= 9_000
        )
    plan = json.dumps(state_in(asked[-1])["current_plan"])
    said = json.dumps(spoken_in(asked[-1])[1:], ensure_ascii=False)
    assert '"task_id": "scout"' in plan
    for selector in (
        'role=textbox[name="Name"]',
        'role=textbox[name="Password"]',
        "tr.letter",
        "td.subject",
        'role=textbox[name="Subject"]',
        'role=textbox[name="From"]',
        'role=combobox[name="Kind"]',
        "data-testid",
    ):
        assert selector in said.replace("\\", "")
    for wish in (
        "never open more than two tabs",
        "write to me in short sentences",
        "Never tick Urgent",
    ):
        assert wish in said
