"""Repositories with commits for tests, by two runs of git however many commits there are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

_ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def write_history(root: Path, commits: Iterable[tuple[datetime, str]], *, author: str) -> Path:
    """A new repository with these commits on `main`, the oldest first; they change no file."""
    _git(root, "init", "--quiet", "--template=", "--initial-branch=main")
    (root / ".git" / "info").mkdir()  # what tests write to, of the template
    stream = bytearray()
    for moment, message in commits:
        text = f"{message}\n".encode() if message else b""
        seconds = int(moment.timestamp())
        stream += f"commit refs/heads/main\ncommitter {author} {seconds} +0000\n".encode()
        stream += b"data %d\n%s\n" % (len(text), text)
    if stream:
        _git(root, "fast-import", "--quiet", stdin=bytes(stream))
    return root


def _git(root: Path, *arguments: str, stdin: bytes = b"") -> None:
    subprocess.run(
        ["git", *arguments],
        cwd=root,
        input=stdin,
        check=True,
        capture_output=True,
        env=os.environ | _ALONE | {"GIT_CEILING_DIRECTORIES": str(root.parent)},
    )
