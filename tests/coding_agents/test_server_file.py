"""Hooks and the real server: found while it runs, answering like the command, reading nothing it
is told to."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from foreword.coding_agents import server_file
from tests.coding_agents.agent import CodingAgent, set_up
from tests.faces.http.running import Address, running, serving_process, settings_for
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def agent(tmp_path: Path) -> CodingAgent:
    return set_up(tmp_path / "ada")


def request_body(agent: CodingAgent, name: str, **changed: Any) -> dict[str, Any]:
    return {"root": str(agent.project), "event": json.loads(agent.event(name, **changed))}


def post(address: Address, body: Any) -> tuple[int, Any]:
    reply = address.ask("POST", server_file.PATH, body)
    return reply.status, reply.json


def test_while_it_runs_the_server_is_found_and_afterwards_not(agent: CodingAgent) -> None:
    with serving_process("--root", agent.project, HOME=str(agent.home)) as (address, process):
        assert server_file.addresses_of(agent.project) == [(address.host, address.port)]
        by_server = agent.answer("session_start_compact")["additionalContext"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    assert server_file.addresses_of(agent.project) == []
    assert agent.answer("session_start_compact")["additionalContext"] == by_server


def test_a_server_with_a_token_is_not_announced(agent: CodingAgent) -> None:
    with serving_process("--root", agent.project, "--new-token", HOME=str(agent.home)):
        assert server_file.addresses_of(agent.project) == []


def test_the_server_answers_as_the_command_does(agent: CodingAgent) -> None:
    lines = "\n".join(f"reading {number}" for number in range(9_000))
    large = {"tool_response": {"stdout": lines, "stderr": ""}}
    with running(settings_for(agent.project, db=None)) as (address, _):
        for name, changed in (("session_start_compact", {}), ("post_tool_use_bash", large)):
            status, answer = post(address, request_body(agent, name, **changed))
            assert (status, answer["output"]["hookSpecificOutput"]) == (
                200,
                agent.answer(name, **changed),
            )
        assert post(address, request_body(agent, "stop")) == (200, {"output": None})


def test_a_server_reads_no_transcript_and_answers_for_no_other_project(
    agent: CodingAgent, tmp_path: Path
) -> None:
    with running(settings_for(agent.project, db=None)) as (address, _):
        assert post(address, request_body(agent, "pre_compact_auto")) == (200, {"output": None})
        assert not (agent.project / ".checkpoints").exists()
        assert (
            post(address, {**request_body(agent, "session_start_compact"), "root": str(tmp_path)})[
                0
            ]
            == 404
        )


def test_a_server_with_a_store_of_its_own_leaves_it_to_the_command(agent: CodingAgent) -> None:
    """The agent's `foreword recall` would look for what was cut in the project's."""
    with running(settings_for(agent.project)) as (address, _):
        assert post(address, request_body(agent, "session_start_compact"))[0] == 404


@pytest.mark.parametrize("body", [{}, [], {"root": "/", "event": []}, {"root": 3, "event": {}}])
def test_what_is_no_event_is_refused(agent: CodingAgent, body: Any) -> None:
    with running(settings_for(agent.project, db=None)) as (address, _):
        assert post(address, body)[0] in (400, 422)


def test_an_announcement_goes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "project" / ".foreword").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match="symbolic link"):
        server_file.announce(tmp_path / "project", "http://127.0.0.1:1")
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_announcement_of_another_server_is_not_withdrawn(agent: CodingAgent) -> None:
    path = server_file.announce(agent.project, "http://127.0.0.1:1")
    path.write_text('{"address": "http://127.0.0.1:2", "pid": 1}', "utf-8")
    server_file.withdraw(path)
    assert server_file.addresses_of(agent.project) == [("127.0.0.1", 2)]


def test_of_two_servers_in_a_folder_the_first_is_found_again_when_the_second_ends(
    agent: CodingAgent,
) -> None:
    with serving_process("--root", agent.project, HOME=str(agent.home)) as (first, _):
        with serving_process("--root", agent.project, HOME=str(agent.home)) as (second, process):
            found = server_file.addresses_of(agent.project)
            assert found == [(second.host, second.port), (first.host, first.port)]
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        assert server_file.addresses_of(agent.project) == [(first.host, first.port)]


def test_what_a_killed_server_leaves_is_ignored_and_removed_by_the_next(agent: CodingAgent) -> None:
    with serving_process("--root", agent.project, HOME=str(agent.home)) as (_, process):
        process.kill()
        process.wait(PATIENCE_SECONDS)
    (left,) = (agent.project / ".foreword").glob("server*.json")
    assert server_file.addresses_of(agent.project) == []
    made = server_file.announce(agent.project, "http://127.0.0.1:1")
    assert not left.exists()
    assert server_file.addresses_of(agent.project) == [("127.0.0.1", 1)]
    server_file.withdraw(made)


@pytest.mark.parametrize("pid", [0, -1, 2**70, "1", 1.5, [], {}])
def test_a_number_that_is_no_process_is_no_server(agent: CodingAgent, pid: Any) -> None:
    path = server_file.announce(agent.project, "http://127.0.0.1:1")
    path.write_text(json.dumps({"address": "http://127.0.0.1:1", "pid": pid}), "utf-8")
    assert server_file.addresses_of(agent.project) == []


def test_a_server_that_hooks_could_not_ask_is_not_announced(agent: CodingAgent) -> None:
    with serving_process(
        "--root", agent.project, "--db", f"sqlite:///{agent.home}/other.db", HOME=str(agent.home)
    ):
        assert server_file.addresses_of(agent.project) == []
