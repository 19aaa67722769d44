"""Clients of the MCP server for tests: the SDK's over stdio and over HTTP, one that speaks plain
frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.faces.behaviour import Refused
from tests.patience import PATIENCE_SECONDS

CHECKPOINTS = {f"{action}_checkpoint": action for action in ("show", "resume", "write")} | {
    "list_checkpoints": "list"
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def answer_of(result: Any) -> dict[str, Any]:
    """What a tool answered, as data."""
    data = result.structured_content
    answer: dict[str, Any] = result.meta["foreword/answer"] if data is None else data
    return answer


class McpClient:
    """The SDK's client as a client of the shared suite."""

    def __init__(self, root: Path, portal: BlockingPortal, client: Client) -> None:
        self.root, self.portal, self.client = root, portal, client

    def call(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        tool = operation
        if operation in CHECKPOINTS:
            tool, arguments["action"] = "checkpoint", CHECKPOINTS[operation]
        if operation == "why":
            tool = "assemble_context"
        result = self.ask("call_tool", tool, arguments)
        (content,) = result.content
        if result.is_error:
            message, _, hint = content.text.partition("\nhint: ")
            raise Refused(result.meta["foreword/code"], message, hint)
        return answer_of(result)

    def ask(self, method: str, *args: Any, **more: Any) -> Any:
        """What the SDK's client answers."""
        return self.portal.call(lambda: getattr(self.client, method)(*args, **more))


@contextmanager
def over_stdio(root: Path, *options: str, mode: str = "legacy") -> Iterator[McpClient]:
    """A server of its own, started by the client."""
    mcp_process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "foreword", "mcp", "--root", str(root), *options],
        env=environment(root),
    )
    with (root.parent / "stderr").open("a+") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(mcp_process, errlog=log), mode=mode)
        with portal.wrap_async_context_manager(client):
            yield McpClient(root, portal, client)


@contextmanager
def over_http(
    address: str, root: Path, token: str = "", mode: str = "legacy"
) -> Iterator[McpClient]:
    """A client of a server that runs."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS)
        client = Client(streamable_http_client(address, http_client=http), mode=mode)
        with portal.wrap_async_context_manager(http), portal.wrap_async_context_manager(client):
            yield McpClient(root, portal, client)


@contextmanager
def http_server(root: Path, *options: str) -> Iterator[str]:
    """`foreword mcp --http` on a free port; its address."""
    with mcp_process(root, "--http", *options, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield server.stdout.readline().decode().strip()
        server.terminate()
        assert server.wait(PATIENCE_SECONDS) == 0


@contextmanager
def mcp_process(root: Path, *options: str, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """`foreword mcp` in a process of its own."""
    command = [sys.executable, "-m", "foreword", "mcp", "--root", str(root), *options]
    with subprocess.Popen(command, env={**os.environ, **environment(root)}, **streams) as process:
        try:
            yield process
        finally:
            process.kill()


def environment(root: Path) -> dict[str, str]:
    """Nothing of the user's."""
    return {
        "HOME": str(root.parent),
        "XDG_CACHE_HOME": str(root.parent / "cache"),
        "XDG_DATA_HOME": str(root.parent / "data"),
        "NO_COLOR": "1",
    }


class Frames:
    """A client that sends what it is told to, well formed or not."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._in, self._number = process, process.stdin, 0
        self.unasked: list[dict[str, Any]] = []  # what came while we waited for something else
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        self.answer("initialize", HELLO)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def send(self, frame: bytes) -> None:
        """Send one line."""
        self._in.write(frame + b"\n")
        self._in.flush()

    def ask(self, method: str, params: object) -> int:
        """Send a request; its id."""
        self._number += 1
        frame = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(frame).encode())
        return self._number

    def answer(self, method: str, params: object) -> dict[str, Any]:
        """The answer to a request."""
        number = self.ask(method, params)
        while (frame := self._next()).get("id") != number:
            self.unasked.append(frame)
        return frame

    def _next(self) -> dict[str, Any]:
        line = self._lines.get(timeout=PATIENCE_SECONDS)
        assert line, "the server has left"
        frame: dict[str, Any] = json.loads(line)
        return frame

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a tool's call."""
        return self.answer("tools/call", {"name": tool, "arguments": arguments})


@contextmanager
def frames(root: Path, *options: str) -> Iterator[Frames]:
    """A server that is spoken to in plain frames; its log is `log` beside the root."""
    with (root.parent / "log").open("wb") as log:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
        with mcp_process(root, *options, **pipes) as process:
            yield Frames(process)


def _read(stream: IO[bytes], lines: SimpleQueue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(b"")
