"""What a person at a terminal sees while a command takes long, and that nobody else sees it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import foreword
from tests.sessions import numbered_message

# Patience ends at once, so that no test has to wait for it.
IMPATIENT = """
from foreword.faces.cli import screen
from foreword.faces.cli.main import run
screen.PATIENT_SECONDS = 0.0
run()
"""


def run(*args: str, cwd: Path, terminal: bool) -> str:
    """What `foreword ARGS` writes on stderr, where that is a terminal or a pipe."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", IMPATIENT, *args]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=theirs) as running:
        os.close(theirs)
        written = b""
        try:
            while more := os.read(ours, 65_536):
                written += more
        except OSError:  # a terminal whose other end is closed
            pass
    os.close(ours)
    assert running.returncode == 0, written
    return written.decode()


def test_a_long_history_that_is_compressed_for_a_context_says_so_at_a_terminal_only(
    tmp_path: Path,
) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        session.extend(numbered_message(number, 400) for number in range(10))
    small = ("session", "context", "main", "--window", "8000", "-q")
    assert "compressing" not in run(*small, "--no-save", cwd=tmp_path, terminal=True)
    assert run(*small, "--no-save", cwd=tmp_path, terminal=False) == ""
    assert "compressing the history of main, " in run(*small, cwd=tmp_path, terminal=True)
