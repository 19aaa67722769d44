"""The suite that every face passes, through MCP: stdio and HTTP, the handshake and the protocol
without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.faces.behaviour import Client, each_case, project
from tests.faces.mcp.clients import McpClient, http_server, over_http, over_stdio


@pytest.fixture(scope="module")
def stdio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    with over_stdio(project(tmp_path_factory.mktemp("stdio"))) as client:
        yield client


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    root = project(tmp_path_factory.mktemp("http"))
    with http_server(root) as address, over_http(address, root, mode="auto") as client:
        yield client


@each_case
def test_mcp_over_stdio_does_what_every_face_does(
    case: Callable[[Client, str], None], stdio: McpClient
) -> None:
    case(stdio, case.__name__)


@each_case
def test_mcp_over_http_does_what_every_face_does(
    case: Callable[[Client, str], None], http: McpClient
) -> None:
    case(http, case.__name__)


def test_both_eras_of_the_protocol_were_spoken(stdio: McpClient, http: McpClient) -> None:
    assert stdio.client.protocol_version == "2025-11-25"
    assert http.client.protocol_version >= "2026-07-28"
