"""No face shows a secret of a workflow: neither its nodes nor its conversation, wherever a tool
has repeated it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.operations import operations
from foreword.store import node_results, originals
from foreword.store.messages import Range
from tests.command import run_in_process
from tests.faces.http.running import Address, running, session_path, settings_for
from tests.sessions import words

pytestmark = pytest.mark.attack

PASSWORD = "Tr0ub4dor-and-3"
KEY = "dapi" + "0a1b2c3d" * 4  # told by its form alone
NAME = "letters"


def fill(folder: Path, url: str | None = None) -> str:
    """A workflow whose nodes and messages say the secrets; returns the handle of messages that
    were left out."""
    limits: dict[str, Any] = {"warn_at": 5000, "compress_at": 6000, "compress_to": 1500}
    with foreword.Session.open(url, NAME, root=folder, **limits) as session:
        for number in range(16):
            role = "assistant" if number % 2 else "user"
            text = f"Decided {number}: {PASSWORD}. {words('word', 60)}"
            session.append({"role": role, "content": text})
        about = f"types {PASSWORD} and {KEY} into the form"
        config = {"selector": f"#x-{PASSWORD}", "text": f"say {KEY}"}
        session.put_node(
            {"id": "node1", "position": 1, "type": "type", "config": config, "description": about}
        )
        session.put_node(
            {
                "id": "node2",
                "position": 2,
                "type": "navigate",
                "config": {"url": f"http://h/{PASSWORD}"},
            }
        )
        told = {"error": f"no {PASSWORD} {KEY}", "result": {"text": PASSWORD}}
        node_results.keep_test(
            session.db, session.workflow.id, node="node1", status="failed", output=told
        )
        left_out = [one.handle for one in session.context(budget=1200).report.omissions]
        session.compress()
        # all of it was said before
        session.set_variable("creds", {"user": "ada", "password": PASSWORD}, "login")
        found = [
            originals.find(session.db, handle)[0]
            for handle in left_out
            if originals.find(session.db, handle)
        ]
    return next(handle for handle, packed in found if isinstance(packed, Range))


def shows_nothing(shown: str | bytes) -> None:
    text = shown.decode() if isinstance(shown, bytes) else shown
    assert "Tr0ub4dor" not in text
    assert KEY[4:] not in text


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, str]]:
    folder = tmp_path_factory.mktemp("served")
    settings = settings_for(folder)
    handle = fill(folder, settings.db)
    with running(settings) as (where, _):
        yield where, handle


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_command_line_shows_nodes_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    shown = run_in_process("director", "nodes", NAME, *options)
    assert shown.code == 0
    assert "types [hidden] and [hidden] into the form" in shown.out
    shows_nothing(shown.out)


def test_the_command_line_shows_a_conversation_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    handle = fill(tmp_path)
    for command in (
        ("session", "context", NAME),
        ("session", "context", NAME, "--format", "anthropic"),
        ("session", "context", NAME, "--format", "openai"),
        ("session", "expand", NAME),
        ("session", "expand", NAME, "--format", "json"),
        ("recall", handle),
    ):
        shown = run_in_process(*command)
        assert shown.code == 0, shown.err
        assert "[hidden]" in shown.out
        shows_nothing(shown.out)


def test_the_api_shows_neither(served: tuple[Address, str]) -> None:
    address, handle = served
    asked: list[tuple[str, dict[str, Any]]] = [
        ("messages", {}),
        ("context", {}),
        ("context", {"form": "anthropic", "report": "true"}),
        ("context", {"form": "openai"}),
        ("compressions", {}),
        ("nodes", {}),
        ("snapshot", {}),
    ]
    for path, query in asked:
        shown = address.ask("GET", session_path(NAME, path), **query)
        assert shown.status == 200, path
        assert b"[hidden]" in shown.body, path
        shows_nothing(shown.body)
    recalled = address.ask("GET", f"/v1/recall/{handle}")
    assert recalled.status == 200
    shows_nothing(recalled.body)


def test_no_page_shows_them(served: tuple[Address, str]) -> None:
    address, handle = served
    for path in (
        "",
        "/chat",
        "/chat/message/1",
        "/context",
        f"/context/original/{handle}",
        "/workflow",
        "/variables",
        "/compressions/1",
    ):
        shown = address.ask("GET", f"/sessions/{NAME}{path}")
        assert shown.status == 200, path
        shows_nothing(shown.body)
    assert b"[hidden]" in address.ask("GET", f"/sessions/{NAME}/chat/message/1").body


def test_the_operations_of_agents_send_none(tmp_path: Path) -> None:
    handle = fill(tmp_path)
    with foreword.Session.open(workflow=NAME, root=tmp_path) as session:
        shows_nothing(json.dumps(operations.session_context(session, form="anthropic")))
        shows_nothing(json.dumps(operations.recall(session.db, handle)))
