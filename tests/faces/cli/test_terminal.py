"""What a project holds reaches a terminal as text: nothing in it steers the terminal, and a pipe
gets it as it is."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from foreword.faces.cli.screen import HANDLE
from tests.sources.test_git import repository

pytestmark = pytest.mark.attack

HARM = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f\u202e"
RECIPE = """
name: hostile
about: "one"
sections:
  notes:
    file: NOTES.md
  work:
    git: log
"""


def terminal_output(root: Path, argv: Sequence[str]) -> str:
    """What a command writes, stdout and stderr, to a terminal without colours."""
    ours, theirs = pty.openpty()
    variables = os.environ | {"NO_COLOR": "1", "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "foreword", *argv],
        cwd=root,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=variables,
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65_536):
            written += chunk
    except OSError:
        pass  # this is how a terminal ends on Linux
    os.close(ours)
    process.wait()
    return written.decode()


def project(root: Path) -> Path:
    (root / "foreword/recipes").mkdir(parents=True)
    (root / "foreword/recipes/hostile.yaml").write_text(RECIPE)
    (root / "NOTES.md").write_text(f"Notes {HARM}\r\n" + "more\r\n" * 400)
    return repository(root, f"Subject {HARM}")


@pytest.mark.parametrize("form", ["xml", "json", "openai"])
def test_no_control_of_a_projects_reaches_a_terminal(tmp_path: Path, form: str) -> None:
    output = terminal_output(
        project(tmp_path), ["assemble", "hostile", "--format", form, "--budget", "900"]
    )
    assert "Notes" in output
    assert "Subject" in output
    assert not set(output) & set("\x1b\x07\x08\x7f\x9b\u202e")


def test_the_original_of_what_was_cut_is_shown_as_text_too(tmp_path: Path) -> None:
    root = project(tmp_path)
    cut = terminal_output(root, ["assemble", "hostile", "--budget", "200"])
    handle = HANDLE.search(cut)
    assert handle
    output = terminal_output(root, ["recall", handle[0]])
    assert "Notes" in output
    assert not set(output) & set("\x1b\x07\x08\x7f\x9b\u202e")


@pytest.mark.parametrize("argv", [["recipes"], ["lint"], ["recipe", "show", "odd"]], ids=" ".join)
def test_the_name_of_a_projects_file_is_shown_as_text_in_lists_problems_and_hints(
    tmp_path: Path, argv: list[str]
) -> None:
    (tmp_path / "foreword/recipes").mkdir(parents=True)
    (tmp_path / f"foreword/recipes/odd {HARM}.yaml").write_text("sections: 7\n")
    output = terminal_output(tmp_path, argv)
    assert "odd \ufffd[2J" in output
    assert not set(output) & set("\x1b\x07\x08\x7f\x9b\u202e")


def test_a_pipe_gets_a_file_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foreword", "assemble", "hostile"],
        cwd=project(tmp_path),
        capture_output=True,
        check=True,
    )
    assert f"Notes {HARM}" in done.stdout.decode()
