"""A store that is locked, read-only or gone, clients that leave, a process that is killed: told,
and lived through."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from threading import Thread

import psycopg
import pytest

import foreword
from foreword.faces.serving.app_state import MOST_THREADS
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows
from foreword.store.locations import state_path
from tests import postgres
from tests.faces.http.running import (
    Address,
    events,
    running,
    serving_process,
    session_path,
    settings_for,
    wait_until,
)
from tests.patience import PATIENCE_SECONDS
from tests.sessions import numbered_message, plan

LOCK = (
    "import sys, sqlite3; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
    " db.execute('BEGIN IMMEDIATE');print('locked', flush=True); sys.stdin.read()"
)
SECRET = "sk-ant-" + "d4" * 20


@contextmanager
def lock_database(path: Path) -> Iterator[None]:
    """Another process holds the database's only right to write."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCK, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        yield
        holder.stdin.close()
        holder.wait(PATIENCE_SECONDS)


@pytest.mark.attack
def test_whose_form_waits_too_long_for_a_locked_store_learns_that_it_may_still_be_done(
    tmp_path: Path,
) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    settings = settings_for(tmp_path, timeout_seconds=2.0)
    foreword.Session.open(settings.db, "kiln", root=tmp_path).close()
    with running(settings) as (address, app_state):
        with lock_database(tmp_path / "state.db"):
            late = address.ask(
                "POST", "/sessions/kiln/variables", b"name=v&value=1&reason=try", headers=headers
            )
        assert late.status == 504
        assert b"may still be done" in late.body
        wait_until(lambda: not app_state.threads_at_work)
    with foreword.Session.open(settings.db, "kiln", root=tmp_path) as session:
        assert session.get_workflow_variables()["v"] == "1"  # as it said


def test_while_writers_wait_for_a_locked_store_it_can_be_read(tmp_path: Path) -> None:
    with running(settings_for(tmp_path)) as (address, app_state):
        address.ask("POST", "/v1/sessions", {"name": "kiln"})
        path, statuses = session_path("kiln", "variables", "v"), list[int]()
        change = {"value": 1, "reason": "try"}
        writers = [
            Thread(target=lambda: statuses.append(address.ask("PUT", path, change).status))
            for _ in range(MOST_THREADS + 2)
        ]
        with lock_database(tmp_path / "state.db"):
            for writer in writers:
                writer.start()
            wait_until(lambda: app_state.threads_at_work >= MOST_THREADS)
            assert address.ask("GET", "/healthz").status == 200
            assert address.ask("GET", session_path("kiln", "plan")).json["version"] == 0
            assert statuses == []
        for writer in writers:
            writer.join()
        assert set(statuses) == {200}


def test_a_store_that_can_not_be_written_is_read_and_says_so(tmp_path: Path) -> None:
    with Session.open(None, "kiln", root=tmp_path) as session:
        session.append(numbered_message(1))
    with WorkflowState.open(None, "planned", root=tmp_path) as state:  # nobody has spoken there
        state.update_plan(plan(), "first")
    store = state_path(tmp_path)
    parts = (store.parent, store)
    for part in reversed(parts):
        part.chmod(0o555 if part.is_dir() else 0o444)
    try:
        with serving_process("--root", tmp_path) as (address, _):
            for path in (
                "/healthz",
                "/",
                "/v1/sessions",
                session_path("kiln"),
                session_path("planned", "plan"),
                session_path("planned", "variables"),
                session_path("planned", "snapshot"),
            ):
                assert address.ask("GET", path).status == 200, path
            refused = address.ask(
                "POST", session_path("kiln", "messages"), {"message": numbered_message(2)}
            )
            assert (refused.status, refused.json["code"]) == (503, "store")
            assert "it is read-only" in refused.json["title"]
            assert "make it writable" in refused.json["hint"]
    finally:
        for part in parts:
            part.chmod(0o755 if part.is_dir() else 0o644)


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    acknowledged = list[int]()
    with serving_process("--root", tmp_path) as (address, process):
        with suppress(OSError, HTTPException):  # it dies under one of them
            for number in range(1_000):
                reply = address.ask(
                    "POST", session_path("kiln", "messages"), {"message": numbered_message(number)}
                )
                acknowledged.append(reply.json["seq"])
                if number == 20:
                    Thread(target=process.send_signal, args=(signal.SIGKILL,)).start()
        process.wait(PATIENCE_SECONDS)
    assert acknowledged == list(range(1, len(acknowledged) + 1))
    with serving_process("--root", tmp_path) as (address, _):
        kept = address.ask("GET", session_path("kiln")).json["messages"]
        assert 21 <= len(acknowledged) <= kept <= len(acknowledged) + 1
        assert (
            address.ask(
                "POST", session_path("kiln", "messages"), {"message": numbered_message(0)}
            ).json["seq"]
            == kept + 1
        )


def test_clients_that_leave_half_way_change_nothing_and_fill_no_log(
    address: Address, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    address.ask("POST", "/v1/sessions", {"name": name})
    body = json.dumps({"message": numbered_message(1)}).encode()
    head = (
        f"POST {session_path(name, 'messages')} HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
        " application/json\r\n"
    )
    for size in (0, 1, len(body) - 1):
        with socket.create_connection((address.host, address.port), 20) as leaving:
            leaving.sendall(
                head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:size]
            )
    for noise in (b"\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        address.send_bytes(noise)
    assert address.ask("GET", session_path(name)).json["messages"] == 0
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_database_that_was_away_is_found_again_by_the_next_request(tmp_path: Path) -> None:
    url = postgres.new_database()
    with running(settings_for(tmp_path, db=url)) as (address, _):
        address.ask("PUT", session_path("kiln", "plan"), {"plan": plan(), "reason": "first"})
        for path in (
            "/v1/sessions",
            session_path("kiln"),
            session_path("kiln", "plan"),
            "/v1/reports",
        ):
            assert address.ask("GET", path).status == 200  # connections wait in both pools
        with address.open("GET", session_path("kiln", "events")) as listening:
            with psycopg.connect(f"{postgres.server()}/postgres", autocommit=True) as admin:
                name = url.rsplit("/", 1)[1]
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    [name],
                )
            wait_until(lambda: address.ask("GET", session_path("kiln")).status == 200)
            for _ in range(5):
                assert address.ask("GET", session_path("kiln")).status == 200
                assert address.ask("GET", "/v1/sessions").status == 200
            made = address.ask(
                "PUT",
                session_path("kiln", "plan"),
                {"plan": plan(), "reason": "x", "expected_version": 1},
            )
            assert made.json["version"] == 2
            assert next(events(listening)).data["version"] == 2


def test_who_asks_for_the_health_is_not_told_where_the_store_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    db = f"postgresql://kiln:{SECRET}@127.0.0.1:1/glazes"
    with running(settings_for(tmp_path, db=db)) as (address, _):
        reply = address.ask("GET", "/healthz")
    assert (reply.status, reply.json["title"]) == (503, "the store does not answer")
    for told in (b"glazes", b"kiln", SECRET.encode()):
        assert told not in reply.body
    assert "glazes" in caplog.text
    assert SECRET not in caplog.text


def test_an_error_is_short_however_much_was_said(address: Address) -> None:
    long = "a" * 3_000_000
    for path, body in (
        ("/v1/assemble", {"recipe": "package", "purpose": "handoff", "source": long}),
        ("/v1/assemble", {"recipe": "phases", "phase": long}),
        ("/v1/sessions", {long: 1}),
        ("/v1/sessions", {"name": long}),
        (session_path("long", "messages"), {"message": {"role": long, "content": "x"}}),
        (
            session_path("long", "messages"),
            {"message": {"role": "user", "content": "x"}, "kind": long},
        ),
        (
            session_path("long", "plan"),
            {"plan": {"overall_goal": "x", "phases": [{"status": long}]}, "reason": "x"},
        ),
    ):
        refused = address.ask("POST", path, body)
        assert 400 <= refused.status < 500
        assert len(refused.body) < 30_000, (path, refused.body[:200])


def test_an_unknown_name_among_very_many_is_answered_with_a_few(tmp_path: Path) -> None:
    with (
        WorkflowState.open(f"sqlite:///{tmp_path}/state.db", "kiln", root=tmp_path) as state,
        state.db.transaction("foreword: many"),
    ):
        for number in range(2_000):
            workflows.ensure(state.db, f"workflow-{number}")
    with running(settings_for(tmp_path)) as (address, _):
        refused = address.ask("GET", session_path("klin"))
    assert "did you mean 'kiln'?" in refused.json["title"]
    assert len(refused.json["known"]) == 50
