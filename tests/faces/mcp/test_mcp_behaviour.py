"""The suite that every face passes, through MCP: stdio and HTTP, the handshake and the protocol
without one."""

from __future__ import annotations

from pathlib import Path

from tests.faces.behaviour import check_every_case, project
from tests.faces.mcp.clients import http_server, over_http, over_stdio


def test_mcp_over_stdio_does_what_every_face_does(tmp_path: Path) -> None:
    with over_stdio(project(tmp_path)) as client:
        assert client.client.protocol_version == "2025-11-25"
        check_every_case(client)


def test_mcp_over_http_does_what_every_face_does(tmp_path: Path) -> None:
    root = project(tmp_path)
    with http_server(root) as address, over_http(address, root, mode="auto") as client:
        assert client.client.protocol_version >= "2026-07-28"
        check_every_case(client)
