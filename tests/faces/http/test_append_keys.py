"""A message that is sent again under its key is there once: by many at a time, after a restart,
on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foreword.errors import UsageError
from foreword.session.session import Session
from tests.faces.http.running import (
    Address,
    Reply,
    running,
    serving_process,
    session_path,
    settings_for,
)
from tests.postgres import new_database
from tests.sessions import numbered_message

pytestmark = pytest.mark.attack


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/state.db" if request.param == "sqlite" else new_database()


def append(
    address: Address, key: str | None, body: Any = None, workflow: str = "kiln", **query: str
) -> Reply:
    headers = {} if key is None else {"idempotency-key": key}
    path = session_path(workflow, "messages")
    return address.ask(
        "POST", path, body or {"message": numbered_message(1)}, headers=headers, **query
    )


def count(address: Address, workflow: str = "kiln") -> int:
    number: int = address.ask("GET", session_path(workflow)).json["messages"]
    return number


def test_of_many_that_come_at_once_under_one_key_one_is_written_and_all_get_its_number(
    url: str, tmp_path: Path
) -> None:
    with running(settings_for(tmp_path, db=url)) as (address, _):
        address.ask("POST", "/v1/sessions", {"name": "kiln"})
        with ThreadPoolExecutor(12) as clients:
            replies = list(clients.map(lambda _: append(address, "one"), range(24)))
        assert {reply.status for reply in replies} == {201}
        assert len({reply.body for reply in replies}) == 1
        assert count(address) == 1


def test_several_messages_under_one_key_are_written_once(url: str, tmp_path: Path) -> None:
    body = {"messages": [numbered_message(1), numbered_message(2), numbered_message(3)]}
    with running(settings_for(tmp_path, db=url)) as (address, _):
        append(address, None, {"message": numbered_message(0)})
        first = append(address, "three", body)
        append(address, None, {"message": numbered_message(4)})
        again = append(address, "three", body)
        assert (first.json["seq"], first.json["count"]) == (4, 3)
        assert again.json == first.json
        assert count(address) == 5
        assert (
            append(
                address, "three", {"messages": [numbered_message(1), numbered_message(2)]}
            ).status
            == 422
        )
        assert append(address, "three", {"message": numbered_message(1)}).status == 422


def test_a_key_is_still_known_after_a_restart(url: str, tmp_path: Path) -> None:
    with serving_process("--root", tmp_path, "--db", url) as (address, _):
        first = append(address, "before")
    with serving_process("--root", tmp_path, "--db", url) as (address, _):
        assert append(address, "before").json == first.json
        assert count(address) == 1


def test_a_key_with_another_body_is_refused_and_writes_nothing(address: Address, name: str) -> None:
    first = append(address, "k", workflow=name)
    for body in (
        {"message": numbered_message(2)},
        {"message": numbered_message(1), "pinned": True},
        {"message": numbered_message(1), "kind": "attachment"},
        {"message": {**numbered_message(1), "role": numbered_message(2)["role"]}},
    ):
        refused = append(address, "k", body, name)
        assert (refused.status, refused.json["code"]) == (422, "key_reused"), body
        assert "new key" in refused.json["hint"]
    assert append(address, "k", workflow=name).json == first.json
    assert count(address, name) == 1


def test_a_key_is_of_one_conversation(address: Address, name: str) -> None:
    assert append(address, "k", workflow=name).json["seq"] == 1
    assert (
        append(address, "k", {"message": numbered_message(2)}, name, conversation="other").json[
            "seq"
        ]
        == 1
    )
    assert append(address, "k", {"message": numbered_message(3)}, f"{name} too").json["seq"] == 1


def test_a_key_may_stand_in_quotes_as_the_standard_has_it(address: Address, name: str) -> None:
    append(address, "8e03978e-40d5-43dd-bc93-6894a57f9324", workflow=name)
    append(address, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', workflow=name)
    assert count(address, name) == 1


@pytest.mark.parametrize(
    "key", ["", '""', " ", "a b", "x" * 256, "a\x7fb", "ké", "\xff", "a\tb"], ids=ascii
)
def test_what_is_no_key_is_refused_and_writes_nothing(
    address: Address, name: str, key: str
) -> None:
    address.ask("POST", "/v1/sessions", {"name": name})
    assert append(address, key, workflow=name).status == 400
    assert count(address, name) == 0


def test_two_keys_at_once_are_refused(address: Address, name: str) -> None:
    body = b'{"message": {"role": "user", "content": "x"}}'
    head = (
        f"POST {session_path('twice', 'messages')} HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
        " application/json\r\n"
    )
    keys = b"Idempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n"
    answer = address.send_until_dropped(
        head.encode() + keys + b"Content-Length: %d\r\n\r\n" % len(body) + body
    )
    assert answer.split()[1] == b"400"


def test_a_new_session_with_a_key_in_it_stays_although_who_made_it_is_refused(
    url: str, tmp_path: Path
) -> None:
    """Somebody appends nothing, under a key, while the request that made the session is still
    under way."""

    def refuse() -> None:
        with app_state.session("kiln", create=True):
            assert append(address, "k", {"messages": []}).status == 201
            raise UsageError("refused")

    with running(settings_for(tmp_path, db=url)) as (address, app_state):
        with pytest.raises(UsageError, match="refused"):
            refuse()
        assert append(address, "k", {"messages": []}).json["count"] == 0
        assert append(address, "k").status == 422
        assert append(address, "l").json["seq"] == 1


def test_the_first_answer_is_given_again_with_what_it_warned_of(tmp_path: Path) -> None:
    """Whoever lost the answer has not heard the warning, and it is given only once."""
    with Session.open(
        f"sqlite:///{tmp_path}/state.db", root=tmp_path, window=2_000, warn_at=100
    ) as session:
        first = session.append(numbered_message(1, 200), key="k")
        assert first.warnings
        assert session.append(numbered_message(1, 200), key="k") == first
        assert session.append(numbered_message(2, 200), key="l").warnings == ()


def test_a_message_that_could_not_be_written_under_its_key_is_not_in_the_next_context(
    tmp_path: Path,
) -> None:
    """The disk is full, or the answer can't be kept: what was taken in already is forgotten
    again."""
    with Session.open(f"sqlite:///{tmp_path}/state.db", root=tmp_path) as session:
        session.append(numbered_message(1), key="first")
        refuse = (
            "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.append_keys BEGIN SELECT RAISE(ABORT,"
            " 'full'); END"
        )
        session.db.rows(refuse)
        with pytest.raises(Exception, match="full"):
            session.append(numbered_message(2), key="second")
        session.db.rows("DROP TRIGGER refuse")
        size = session.size_tokens()
        assert [line.text for line in session.history()] == [numbered_message(1)["content"]]
        assert session.append(numbered_message(2), key="second").size_tokens > size
        assert session.append(numbered_message(3)).seq == 3
