"""Run the `foreword` command as a user does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


def foreword(*args: str | Path, cwd: Path | None = None, stdin: bytes = b"", **env: str) -> Ran:
    """Run `foreword ARGS`; a home of its own keeps the user's caches out of it."""
    home = env.pop("HOME", str(cwd or Path(os.environ.get("TMPDIR", "/tmp")) / "foreword-test-home"))
    done = subprocess.run(
        [sys.executable, "-m", "foreword", *map(str, args)],
        cwd=cwd, input=stdin, capture_output=True, timeout=120, check=False,
        env={**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/.cache", "NO_COLOR": "1", **env},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
