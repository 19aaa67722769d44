"""No face shows a secret of a workflow: neither its nodes nor its conversation, wherever a tool
has repeated it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.operations.context_operations import RECALL
from foreword.operations.conversation_operations import SESSION_CONTEXT
from foreword.store import node_results, originals
from foreword.store.messages import Range
from tests.command import run_in_process
from tests.faces.http.running import Address, running, session_path, settings_for
from tests.sessions import words

pytestmark = pytest.mark.attack

PASSWORD = "Tr0ub4dor-and-3"
KEY = "dapi" + "0a1b2c3d" * 4  # told by its form alone
NAME = "letters"


def write_secrets(folder: Path, url: str | None = None) -> str:
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
        output = {"error": f"no {PASSWORD} {KEY}", "result": {"text": PASSWORD}}
        node_results.keep_test(
            session.db, session.workflow.id, node="node1", status="failed", output=output
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


def assert_hidden(content: str | bytes) -> None:
    text = content.decode() if isinstance(content, bytes) else content
    assert "Tr0ub4dor" not in text
    assert KEY[4:] not in text


@pytest.fixture(scope="module")
def address_and_handle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, str]]:
    folder = tmp_path_factory.mktemp("served")
    settings = settings_for(folder)
    handle = write_secrets(folder, settings.db)
    with running(settings) as (where, _):
        yield where, handle


@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_the_command_line_shows_nodes_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_secrets(tmp_path)
    result = run_in_process("director", "nodes", NAME, *options)
    assert result.code == 0
    assert "types [hidden] and [hidden] into the form" in result.out
    assert_hidden(result.out)


def test_the_command_line_shows_a_conversation_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    handle = write_secrets(tmp_path)
    for command in (
        ("session", "context", NAME),
        ("session", "context", NAME, "--format", "anthropic"),
        ("session", "context", NAME, "--format", "openai"),
        ("session", "expand", NAME),
        ("session", "expand", NAME, "--format", "json"),
        ("recall", handle),
    ):
        result = run_in_process(*command)
        assert result.code == 0, result.err
        assert "[hidden]" in result.out
        assert_hidden(result.out)


def test_the_api_shows_neither(address_and_handle: tuple[Address, str]) -> None:
    address, handle = address_and_handle
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
        answer = address.ask("GET", session_path(NAME, path), **query)
        assert answer.status == 200, path
        assert b"[hidden]" in answer.body, path
        assert_hidden(answer.body)
    recalled = address.ask("GET", f"/v1/recall/{handle}")
    assert recalled.status == 200
    assert_hidden(recalled.body)


def test_no_page_shows_them(address_and_handle: tuple[Address, str]) -> None:
    address, handle = address_and_handle
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
        answer = address.ask("GET", f"/sessions/{NAME}{path}")
        assert answer.status == 200, path
        assert_hidden(answer.body)
    assert b"[hidden]" in address.ask("GET", f"/sessions/{NAME}/chat/message/1").body


def test_the_operations_of_agents_send_none(tmp_path: Path) -> None:
    handle = write_secrets(tmp_path)
    with foreword.Session.open(workflow=NAME, root=tmp_path) as session:
        made = SESSION_CONTEXT.perform(nullcontext(session), {"form": "anthropic"})
        assert_hidden(json.dumps(made))
        original = RECALL.perform(nullcontext(session.db), {"handle": handle})
        assert_hidden(json.dumps(original))
