"""A client that has said all it wants and closes its end is answered first."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "pipe", "version": "1"},
}
FRAMES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "set_variable", "arguments": {"name": "a", "value": 1, "reason": "r"}},
    },
]


def test_what_was_asked_before_the_end_of_the_input_is_answered(tmp_path: Path) -> None:
    sent = "".join(json.dumps(frame) + "\n" for frame in FRAMES)
    done = subprocess.run(
        [sys.executable, "-m", "foreword", "mcp", "--root", str(tmp_path), "--workflow", "pots"],
        input=sent,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    answers = {frame["id"]: frame for frame in map(json.loads, done.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"] == {"name": "a", "shown": "1"}
    assert done.returncode == 0
