"""Two servers on one PostgreSQL: what one changes, the other tells; when one is killed, the
other goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.faces.http.running import (
    Address,
    events,
    running,
    serving_process,
    session_path,
    settings_for,
)
from tests.postgres import new_database
from tests.sessions import numbered_message, plan


@pytest.fixture(scope="module")
def on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with running(settings_for(tmp_path_factory.mktemp("odd"), db=new_database())) as (address, _):
        yield address


@pytest.mark.parametrize(
    "odd", ["\0", "fw_\0abcdef", "\ufffe", "%", "'", "a" * 5_000, "\u202e", "0", "null"], ids=ascii
)
def test_odd_names_are_refused_and_bring_no_database_down(on_postgres: Address, odd: str) -> None:
    piece = quote(odd, safe="")
    on_postgres.ask("POST", "/v1/sessions", {"name": "kiln"})
    paths = [
        f"/v1/sessions/{piece}",
        f"/v1/recall/{piece}",
        f"/v1/checkpoints/{piece}",
        f"/v1/recipes/{piece}",
        f"/v1/sessions/kiln/variables/{piece}",
        f"/v1/sessions/kiln/nodes/{piece}/variables",
        f"/v1/sessions/{piece}/messages",
        f"/v1/sessions/{piece}/events",
    ]
    assert {on_postgres.ask("GET", path).status for path in paths} <= {200, 400, 404}
    gone = [f"/v1/sessions/kiln/variables/{piece}", f"/v1/sessions/kiln/nodes/{piece}"]
    assert {on_postgres.ask("DELETE", path, reason="x").status for path in gone} <= {400, 404}
    for path, field in (
        ("/v1/sessions", "search"),
        ("/v1/sessions", "cursor"),
        ("/v1/sessions/kiln", "conversation"),
        ("/v1/sessions/kiln/messages", "conversation"),
        ("/v1/reports", "workflow"),
        ("/v1/checkpoints", "task"),
    ):
        assert on_postgres.ask("GET", f"{path}?{field}={piece}").status in (200, 400, 404)
    for body in ({"value": odd, "reason": odd}, {"value": {odd: [odd]}, "reason": odd}):
        assert on_postgres.ask("PUT", "/v1/sessions/kiln/variables/v", body).status == 200
    assert on_postgres.ask("GET", "/v1/sessions/kiln/variables/v").json["value"] == {odd: [odd]}


def test_a_change_through_one_is_seen_on_the_other_and_outlives_it(tmp_path: Path) -> None:
    options = ("--root", tmp_path, "--db", new_database())
    with serving_process(*options) as (one, killed), serving_process(*options) as (other, _):
        one.ask("POST", "/v1/sessions", {"name": "kiln"})
        with (
            other.open("GET", session_path("kiln", "events")) as answer,
            other.open("GET", "/v1/events") as every,
        ):
            told, told_of_all = events(answer), events(every)
            one.ask("PUT", session_path("kiln", "plan"), {"plan": plan(), "reason": "first"})
            assert next(told).data == {"workflow": "kiln", "kind": "plan", "version": 1}
            assert next(told_of_all).data["version"] == 1
            killed.kill()
            killed.wait()
            other.ask("POST", session_path("kiln", "messages"), {"message": numbered_message(1)})
            last = next(told)
            assert last.data["seq"] == 1
        assert other.ask("GET", session_path("kiln", "plan")).json["version"] == 1
        with serving_process(*options) as (third, _):
            third.ask(
                "PUT",
                session_path("kiln", "plan"),
                {"plan": plan("completed"), "reason": "second", "expected_version": 1},
            )
            headers = {"last-event-id": last.id}  # of an event that another process sent
            with third.open("GET", session_path("kiln", "events"), headers=headers) as answer:
                assert next(events(answer)).data["version"] == 2
