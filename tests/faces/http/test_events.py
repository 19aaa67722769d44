"""Live events: told as they happen, resumed where they were left, ended with the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from foreword.errors import StoreError
from foreword.faces.http import event_stream as streams
from foreword.faces.serving import change_poller
from foreword.faces.serving.change_poller import ANY, ChangePoller
from foreword.operations.change_vector import ChangeEvent, Vector
from foreword.session.session import Session
from tests.faces.http.running import (
    Address,
    StreamEvent,
    events,
    running,
    session_path,
    settings_for,
    wait_until,
)
from tests.sessions import numbered_message, plan


def change_plan(address: Address, name: str, status: str = "pending") -> None:
    update = {"plan": plan(status), "reason": "try"}
    assert address.ask("PUT", session_path(name, "plan"), update).status == 200


def test_what_happens_is_told_while_it_happens(address: Address, name: str) -> None:
    address.ask("POST", "/v1/sessions", {"name": name})
    with address.open("GET", session_path(name, "events")) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        told = events(answer)
        change_plan(address, name)
        assert next(told).data == {"workflow": name, "kind": "plan", "version": 1}
        address.ask("POST", session_path(name, "messages"), {"message": numbered_message(1)})
        assert next(told).data == {"workflow": name, "kind": "messages", "seq": 1}
        address.ask("PUT", session_path(name, "variables", "x"), {"value": 1, "reason": "try"})
        assert next(told).event == "variables"


def test_what_was_missed_is_told_to_who_comes_back(address: Address, name: str) -> None:
    change_plan(address, name)
    with address.open("GET", session_path(name, "events")) as answer:
        told = events(answer)
        change_plan(address, name, "in_progress")
        last = next(told).id
    change_plan(address, name, "completed")
    address.ask("POST", session_path(name, "messages"), {"message": numbered_message(1)})
    with address.open(
        "GET", session_path(name, "events"), headers={"last-event-id": last}
    ) as answer:
        told = events(answer)
        missed = [next(told), next(told)]
    assert [one.data for one in missed] == [
        {"workflow": name, "kind": "plan", "version": 3},
        {"workflow": name, "kind": "messages", "seq": 1},
    ]
    with address.open(
        "GET", session_path(name, "events"), headers={"last-event-id": missed[0].id}
    ) as answer:
        assert next(events(answer)).event == "messages"


@pytest.mark.parametrize("last", ["", "teapot", "p1", "p9.m9.v9.w9.c9.u9.k9.n9.r9", "9" * 5_000])
def test_an_id_that_is_none_of_ours_brings_everything(
    address: Address, name: str, last: str
) -> None:
    change_plan(address, "odd id")
    with address.open(
        "GET", session_path("odd id", "events"), headers={"last-event-id": last}
    ) as answer:
        assert next(events(answer)).event == "plan"


def test_one_stream_tells_of_all_workflows(address: Address, name: str) -> None:
    with address.open("GET", "/v1/events") as answer:
        told = events(answer)
        change_plan(address, name)
        found = list[StreamEvent]()
        while not found or found[-1].event != "plan":
            found.append(next(told))
    assert {one.data["workflow"] for one in found} == {name}
    change_plan(address, name, "completed")
    with address.open("GET", "/v1/events", headers={"last-event-id": found[-1].id}) as answer:
        assert next(events(answer)).data == {"workflow": None, "kind": "workflow"}


def test_what_another_process_writes_is_told_too(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    with (
        Session.open(settings.db, "kiln", root=tmp_path) as elsewhere,
        running(settings) as (address, _),
        address.open("GET", session_path("kiln", "events")) as answer,
    ):
        elsewhere.append(numbered_message(1))  # the server does not see this call
        assert next(events(answer)).data["seq"] == 1


def test_the_head_of_a_stream_ends(address: Address) -> None:
    assert address.ask("HEAD", "/v1/events").headers["content-type"].startswith("text/event-stream")


def test_there_is_no_stream_of_what_is_not_there(address: Address) -> None:
    assert address.ask("GET", session_path("teapot", "events")).json["code"] == "unknown_name"


def test_streams_end_when_the_server_stops_and_count_as_long_as_they_last(tmp_path: Path) -> None:
    with ExitStack() as streams:
        with running(settings_for(tmp_path)) as (address, app_state):
            change_plan(address, "kiln")
            answers = [
                streams.enter_context(address.open("GET", session_path("kiln", "events")))
                for _ in range(20)
            ]
            wait_until(lambda: app_state.poller.listeners == 20)
            answers.pop().close()
        assert [list(events(answer)) for answer in answers] == [[]] * 19


def test_who_leaves_is_forgotten(tmp_path: Path) -> None:
    with running(settings_for(tmp_path)) as (address, app_state):
        change_plan(address, "kiln")
        with address.open("GET", session_path("kiln", "events")):
            wait_until(lambda: app_state.poller.listeners == 1)
        wait_until(lambda: app_state.poller.listeners == 0)


@pytest.mark.attack
def test_a_change_wakes_every_listener_at_once_and_who_leaves_gives_back_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is told, and nobody is missed, by the clock: its turns are longer than anyone
    waits here."""
    monkeypatch.setattr(change_poller, "HEARTBEAT_SECONDS", 3_600.0)
    monkeypatch.setattr(change_poller, "EVERY_SECONDS", 3_600.0)
    monkeypatch.setattr(streams, "MOST_LISTENERS", 80)
    one, everything = session_path("kiln", "events"), "/v1/events"
    with running(settings_for(tmp_path)) as (address, app_state), ExitStack() as open_streams:
        address.ask("POST", "/v1/sessions", {"name": "kiln"})
        answers = [
            open_streams.enter_context(address.open("GET", path))
            for path in [one] * 40 + [everything] * 40
        ]
        wait_until(lambda: app_state.poller.listeners == 80)
        listening = [events(answer) for answer in answers]
        for number in (1, 2):  # who was woken waits again
            address.ask(
                "POST", session_path("kiln", "messages"), {"message": numbered_message(number)}
            )
            told = [next(events_of_one).data for events_of_one in listening]
            assert told == [{"workflow": "kiln", "kind": "messages", "seq": number}] * 80
        refused = address.ask("GET", one)
        assert (refused.status, refused.json["code"]) == (503, "no_more_listeners")
        open_streams.close()  # all hang up without a word
        wait_until(lambda: app_state.poller.listeners == 0)
        for path in (one, everything):
            with address.open("GET", path) as answer:
                wait_until(lambda: app_state.poller.listeners == 1)
                address.ask(
                    "POST", session_path("kiln", "messages"), {"message": numbered_message(3)}
                )
                assert next(events(answer)).event == "messages"
            wait_until(lambda: app_state.poller.listeners == 0)


# --- without a server -----------------------------------------------------------------------------


async def collect(
    stream: AsyncIterator[ChangeEvent | None], count: int
) -> list[ChangeEvent | None]:
    return [await anext(stream) for _ in range(count)]


def test_a_quiet_stream_says_that_it_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_poller, "HEARTBEAT_SECONDS", 0.01)

    async def look(workflows: list[str] | None) -> dict[str, Vector]:
        return {"kiln": Vector(plan=1)}

    async def listen() -> list[ChangeEvent | None]:
        return await collect(ChangePoller(look).events("kiln", await look(None)), 2)

    assert asyncio.run(listen()) == [None, None]


def test_a_slow_listener_is_told_of_the_newest_alone() -> None:
    versions = iter(range(1, 1_000))

    async def look(workflows: list[str] | None) -> dict[str, Vector]:
        return {"kiln": Vector(plan=next(versions))}

    async def listen() -> list[int]:
        made = ChangePoller(look)
        stream = made.events("kiln", await look(None))
        seen = []
        for _ in range(3):
            event = await anext(stream)
            assert event is not None
            seen.append(event.data["version"])
            for _ in range(5):  # meanwhile it changes again and again
                made.poke()
                await asyncio.sleep(0)
        return seen

    seen = asyncio.run(listen())
    assert seen == sorted(set(seen))


def test_a_store_that_is_away_for_a_while_ends_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_poller, "AFTER_TROUBLE_SECONDS", 0.01)
    answers: Iterator[Vector | None] = iter([Vector(plan=1), None, None, Vector(plan=2)])

    async def look(workflows: list[str] | None) -> dict[str, Vector]:
        answer = next(answers, Vector(plan=2))
        if answer is None:
            raise StoreError("it is away")
        return {"kiln": answer}

    async def listen() -> list[ChangeEvent | None]:
        made = ChangePoller(look)
        return await collect(made.events("kiln", await made.begin("kiln")), 1)

    (event,) = asyncio.run(listen())
    assert event is not None
    assert event.data["version"] == 2


def test_all_workflows_are_looked_at_only_where_somebody_listens_to_all() -> None:
    looks = list[list[str] | None]()

    async def look(workflows: list[str] | None) -> dict[str, Vector]:
        looks.append(workflows)
        return {"kiln": Vector(plan=len(looks))}

    async def listen(workflow: str) -> None:
        made = ChangePoller(look)
        await collect(made.events(workflow, await made.begin(workflow)), 1)

    asyncio.run(listen("kiln"))
    assert set(map(str, looks)) == {"['kiln']"}
    looks.clear()
    asyncio.run(listen(ANY))
    assert set(map(str, looks)) == {"None"}
