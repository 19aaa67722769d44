"""A client of another maker: the MCP inspector's command line, over stdio and over HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from foreword.faces.mcp.tools import TOOLS
from tests.faces.behaviour import project
from tests.faces.mcp.clients import http_server
from tests.faces.mcp.inspector import inspect_mcp

TOKEN = "a-token-of-some-length"
FOREWORD = Path(sys.executable).with_name("foreword")


def inspect(*args: str | Path, home: Path, code: int = 0) -> dict[str, Any]:
    """What the inspector prints."""
    ran = inspect_mcp(*args, home=home)
    assert ran.returncode == code, ran.stderr.decode()
    printed: dict[str, Any] = json.loads(ran.stdout)
    return printed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


def test_the_inspector_lists_and_calls_over_stdio(root: Path, tmp_path: Path) -> None:
    def call_inspector(method: str, *more: str, code: int = 0) -> dict[str, Any]:
        served = (FOREWORD, "mcp", "--root", root)
        return inspect(*served, "--method", method, *more, home=tmp_path, code=code)

    assert [tool["name"] for tool in call_inspector("tools/list")["tools"]] == [*TOOLS]
    made = call_inspector(
        "tools/call",
        "--tool-name",
        "set_variable",
        "--tool-arg",
        "name=kiln",
        'value={"cone": 4}',
        "reason=try",
    )
    assert made["structuredContent"] == {"name": "kiln", "shown": "{cone: 4}"}
    refused = call_inspector(
        "tools/call", "--tool-name", "get_workflow_variable", "--tool-arg", "name=kilm", code=5
    )
    assert refused["isError"]
    assert "did you mean 'kiln'?" in refused["content"][0]["text"]


def test_the_inspector_lists_resources_over_http(root: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    with http_server(root, "--token-file", str(tmp_path / "token")) as address:
        header = f"Authorization: Bearer {TOKEN}"
        way = (address, "--transport", "http", "--header", header)
        listed = inspect(*way, "--method", "resources/list", home=tmp_path)["resources"]
    assert "foreword://recipe/package" in [one["uri"] for one in listed]
