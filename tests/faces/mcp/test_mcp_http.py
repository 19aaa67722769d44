"""MCP over HTTP: who is let in, and that many may come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.command import foreword
from tests.faces.behaviour import project
from tests.faces.mcp.clients import HELLO, http_server, over_http
from tests.patience import PATIENCE_SECONDS
from tests.sessions import plan

TOKEN = "a-token-of-some-length"
BOTH = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    with http_server(root) as address:
        yield address


@pytest.fixture(scope="module")
def token_address(root: Path) -> Iterator[str]:
    (root.parent / "token").write_text(TOKEN)
    with http_server(
        root, "--token-file", str(root.parent / "token"), "--host", "0.0.0.0"
    ) as address:
        yield address.replace("0.0.0.0", "127.0.0.1")


def hello(address: str, **headers: str) -> int:
    """The status of a first request."""
    frame: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    return httpx2.post(
        address, json=frame, headers={"Accept": BOTH, **headers}, timeout=PATIENCE_SECONDS
    ).status_code


def test_the_address_is_on_loopback(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    assert hello(address) == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_name_that_is_not_ours_is_refused(address: str, host: str) -> None:
    assert hello(address, Host=host) in (400, 421)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost:1"]
)
def test_a_page_of_another_site_is_refused(address: str, origin: str) -> None:
    assert hello(address, Origin=origin) == 403


def test_a_token_is_wanted_where_one_was_given(token_address: str) -> None:
    assert hello(token_address) == 401
    assert hello(token_address, Authorization="Bearer wrong") == 401
    assert hello(token_address, Authorization=f"Basic {TOKEN}") == 401
    assert hello(token_address, Authorization=f"Bearer {TOKEN}") == 200


def test_a_client_with_the_token_is_served(token_address: str, root: Path) -> None:
    with over_http(token_address, root, TOKEN) as client:
        assert len(client.ask("list_tools").tools) <= 12


def test_an_address_that_others_can_reach_is_not_served_without_a_token(root: Path) -> None:
    ran = foreword("mcp", "--http", "--host", "0.0.0.0", "--root", root)
    assert ran.code == 2
    assert ran.err.startswith(
        "error: others can reach 0.0.0.0, so clients must carry a token\nhint: give one: --token"
    )


def test_a_port_that_is_taken_is_told(address: str, root: Path) -> None:
    ran = foreword("mcp", "--http", "--port", address.split(":")[2].split("/")[0], "--root", root)
    assert ran.code == 2
    assert "can't listen on 127.0.0.1 port" in ran.err


def test_a_body_that_is_too_large_is_refused_and_the_next_one_served(address: str) -> None:
    large = httpx2.post(
        address, content=b"x" * (17 * 1024 * 1024), headers={"Content-Type": "application/json"}
    )
    assert large.status_code == 413
    assert hello(address) == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'"x"', json.dumps({"jsonrpc": "1.0"}).encode()]
)
def test_a_body_that_is_no_message_is_refused(address: str, body: bytes) -> None:
    headers = {"Accept": BOTH, "Content-Type": "application/json"}
    assert httpx2.post(address, content=body, headers=headers).status_code == 400
    assert hello(address) == 200


def test_what_one_client_has_changed_the_others_see(address: str, root: Path) -> None:
    with over_http(address, root) as one, over_http(address, root, mode="auto") as other:
        one.call("update_plan", plan=plan(), reason="first", workflow="shared")
        assert other.call("get_current_plan", workflow="shared")["version"] == 1


def test_many_clients_at_once_lose_no_version(address: str, root: Path) -> None:
    def update(number: int) -> list[int]:
        versions = list[int]()
        with over_http(address, root) as client:
            for _ in range(5):
                made = client.call("update_plan", plan=plan(), reason=f"{number}", workflow="busy")
                versions.append(made["version"])
        return versions

    versions = list[int]()
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(update, range(4)):
            versions += made
    assert sorted(versions) == [*range(1, 21)]
