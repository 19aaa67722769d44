"""`foreword browser` and the director's nodes in a browser that several commands share: one
Chromium for all of it."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.demos.site import Site, site
from foreword.store.locations import project_directory
from tests.browser.channels import elsewhere, home
from tests.command import CommandResult, run_in_process
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def browser_process(root: Path, port: int) -> Iterator[ForkedCommand]:
    process = ForkedCommand(["browser", "start", "--port", port, "--root", root])
    yield process
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (0, ""), err
    assert list((project_directory(root) / "browser").glob("profile-*")) == []


@pytest.fixture(scope="module")
def address(browser_process: ForkedCommand) -> str:
    return browser_process.stdout.readline().strip()


@pytest.fixture(scope="module")
def practice_site() -> Iterator[Site]:
    with site() as served:
        yield served


def director(root: Path, command: str, *args: str) -> CommandResult:
    return run_in_process(
        "director",
        command,
        "letters",
        *args,
        "--root",
        str(root),
        "--db",
        f"sqlite:///{root}/state.db",
    )


def call(root: Path, address: str, tool: str, **arguments: object) -> CommandResult:
    return director(root, "call", tool, json.dumps(arguments), "--attach", address)


def test_a_browser_listens_on_the_port_that_was_asked_for(
    root: Path, address: str, port: int
) -> None:
    assert address == f"http://127.0.0.1:{port}"
    second = run_in_process("browser", "start", "--port", str(port), "--root", str(root))
    assert second.code == 2
    assert f"port {port} can't be used" in second.err
    assert "--port 0" in second.err


def test_the_tabs_are_told_as_a_director_reads_them(address: str) -> None:
    ran = run_in_process("browser", "tabs", "--attach", address)
    assert ran.out == "1 tab open:\n- Main Tab (Active) = about:blank\n"
    listed = json.loads(
        run_in_process("browser", "tabs", "--attach", address, "--format", "json").out
    )
    assert listed == [{"name": "Main Tab", "url": "about:blank", "active": True}]


def test_calls_by_hand_share_the_browser_they_attach_to(
    root: Path, address: str, practice_site: Site
) -> None:
    ran = call(root, address, "debug_navigate", url=f"{practice_site.url}/login", reason="look")
    assert json.loads(ran.out)["title"] == "Sign in - Harbour Desk"
    assert run_in_process("browser", "tabs", "--attach", address).out.endswith(
        f"(Active) = {practice_site.url}/login\n"
    )
    looked = call(
        root,
        address,
        "inspect_tab",
        inspection="lightweight_exploration",
        instruction="which fields?",
    )
    assert 'role=textbox[name=\\"Password\\"]' in looked.out
    refused = call(root, address, "debug_navigate", url="https://example.com/", reason="leave")
    assert refused.code == 1
    assert "is not among the allowed origins" in json.loads(refused.out)["error"]


def test_a_node_that_fails_on_an_empty_page_says_what_brings_it_to_another(tmp_path: Path) -> None:
    node = {"type": "click", "config": {"selector": "#sign-in"}, "description": "sign in"}
    director(tmp_path, "call", "create_node", json.dumps(node))
    ran = director(tmp_path, "test", "node1", "--action-seconds", "0.5")
    assert json.loads(ran.out)["status"] == "failed", ran.err
    assert "empty page; --attach" in ran.err


def test_a_browser_that_is_closed_by_hand_ends_the_command(root: Path) -> None:
    process = ForkedCommand(["browser", "start", "--root", root])
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "the browser was closed" in err


def test_a_program_that_is_no_browser_says_that_it_did_not_start(root: Path) -> None:
    ran = run_in_process("browser", "start", "--browser", "/bin/false", "--root", str(root))
    assert ran.code == 1
    assert "the browser did not start" in ran.err
    assert "hint:" in ran.err


def test_a_browser_that_is_started_with_an_origin_reaches_nothing_else_whoever_uses_it(
    root: Path,
) -> None:
    with home() as served, elsewhere() as away:
        served.away = origin = away.origin("127.0.0.1")
        process = ForkedCommand(["browser", "start", "--root", root, "--origin", served.url])
        try:
            look = {"url": f"{served.url}/channel/websocket", "reason": "look"}
            address = process.stdout.readline().strip()
            ran = director(
                root,
                "call",
                "debug_navigate",
                json.dumps(look),
                "--attach",
                address,
                "--origin",
                "*",
            )
            assert json.loads(ran.out)["url"] == look["url"], ran.err
            refused = {"url": f"{origin}/", "reason": "leave"}
            ran = director(
                root,
                "call",
                "debug_navigate",
                json.dumps(refused),
                "--attach",
                address,
                "--origin",
                "*",
            )
            assert ran.code == 1
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_SECONDS)
        assert away.reached == []


def test_what_pages_could_not_load_is_said_at_the_terminal_with_the_option_that_allows_it(
    tmp_path: Path,
) -> None:
    with home() as served, elsewhere() as away:
        served.away = cdn = away.origin("127.0.0.2")
        look = json.dumps({"url": f"{served.url}/channel/script", "reason": "look"})
        blocked = f"blocked: script of {cdn}; --assets {cdn} lets them through"
        origin = ("--origin", served.url)
        assert blocked in director(tmp_path, "call", "debug_navigate", look, *origin).err
        assert blocked in director(tmp_path, "call", "get_current_plan", *origin).err
        assert (
            "blocked"
            not in director(tmp_path, "call", "debug_navigate", look, *origin, "--assets", cdn).err
        )
        assert "script" in away.reached
