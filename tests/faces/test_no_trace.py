"""Whatever is given to the command line: it waits for nothing that a project holds, and no input
ends in a trace."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from foreword.sources.diff_source import read_change
from tests.attacks import sample
from tests.command import fd_path, foreword, run_in_process
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.attack

GIB = 1024**3
NAMED = [  # commands that take a file
    ("count", "FILE"),
    ("count", "FILE", "--counter", "o200k"),
    ("session", "import", "w", "FILE"),
    ("session", "append", "w", "FILE"),
    ("plan", "update", "w", "FILE", "--reason", "r"),
    ("assemble", "package", "--purpose", "handoff", "--source", "FILE"),
    ("assemble", "director", "--agent", "builder", "--task", "FILE"),
    ("flow", "run", "feature", "--task", "FILE", "--model", "test"),
    ("panel", "run", "code-review", "--diff", "FILE", "--model", "test"),
    ("lint", "FILE"),
]
KINDS = ["pipe", "link to a pipe", "link to standard input", "terminal", "endless"]
TOO_LARGE = [
    words for words in NAMED if words[0] != "panel" and words[1] != "import"
]  # those look at other things first


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def silent_pipe() -> Iterator[int]:
    """A pipe with somebody at the other end who never says anything."""
    reading, writing = os.pipe()
    yield reading
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(("kind", "words"), sample(list(product(KINDS, NAMED)), 23))
def test_nothing_in_a_project_is_waited_for(
    folder: Path, silent_pipe: int, kind: str, words: tuple[str, ...]
) -> None:
    """As in `foreword count *`, where the shell finds the names."""
    path = folder / "given.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a pipe":
        os.mkfifo(folder / "other")
        path.symlink_to("other")
    else:
        links = {
            "link to standard input": f"/dev/fd/{silent_pipe}",
            "terminal": "/dev/tty",
            "endless": "/dev/zero",
        }
        path.symlink_to(links[kind])
    ran = run_in_process(*("given.json" if word == "FILE" else word for word in words))
    assert ran.code == 2
    assert ran.err.startswith("error: ")


def test_a_pipe_that_the_user_makes_is_read(folder: Path) -> None:
    message, items = (
        b'{"role": "user", "content": "hi"}',
        b'{"items": [{"kind": "decision", "text": "Use UTC"}]}',
    )
    assert run_in_process("count", fd_path(b"hello world ")).out.split()[0] == "3"
    assert run_in_process("session", "append", "w", fd_path(message)).out == "message 1\n"
    assert run_in_process("session", "import", "v", fd_path(message + b"\n")).code == 0
    made = run_in_process("assemble", "package", "--purpose", "handoff", "--source", fd_path(items))
    assert "Use UTC" in made.out
    assert run_in_process("count", "/dev/null").out.split()[0] == "0"


def test_a_shell_hands_over_what_a_program_writes(folder: Path) -> None:
    script = f"'{sys.executable}' -m foreword count <(printf 'hello world ')"
    ran = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        cwd=folder,
    )
    assert ran.stdout.split()[0] == "3"


def test_a_diff_may_come_out_of_a_pipe(folder: Path) -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert read_change(fd_path(diff.encode()), folder, lambda: b"").text == diff


@pytest.mark.parametrize("words", sample(TOO_LARGE, 5), ids=" ".join)
def test_a_file_of_fifty_gigabytes_is_one_clear_line(folder: Path, words: tuple[str, ...]) -> None:
    with (folder / "given.md").open("wb") as file:
        file.truncate(50 * GIB)
    ran = run_in_process(*("given.md" if word == "FILE" else word for word in words))
    assert "Traceback" not in ran.err
    assert "larger than" in ran.out + ran.err or "1 MB" in ran.err


def test_where_memory_ends_there_is_one_clear_line(folder: Path) -> None:
    (folder / "large.txt").write_bytes(b"hello world \n" * 12_000_000)
    (folder / "large.json").write_bytes(b"[" + b"[]," * 5_000_000 + b"[]]")

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GIB // 4, GIB // 4))

    cases = {
        (
            "count",
            "large.txt",
        ): "error: large.txt: too large for the memory that is left\nhint: count it in parts\n",
        (
            "plan",
            "update",
            "w",
            "large.json",
            "--reason",
            "r",
        ): "error: there is not enough memory for this\nhint: ",
    }
    for words, says in cases.items():
        command = [sys.executable, "-m", "foreword", *words]
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            preexec_fn=limit_memory,
        )
        assert ran.returncode in (1, 2)
        assert says in ran.stderr
        assert "Traceback" not in ran.stderr


def test_what_nobody_foresaw_is_one_line_and_the_trace_is_there_for_who_asks(folder: Path) -> None:
    (folder / "broken").mkdir()
    # as of a broken installation
    (folder / "broken" / "yaml.py").write_text("raise RuntimeError('odd\\nand more')\n")
    ran = foreword("recipes", cwd=folder, PYTHONPATH=str(folder / "broken"))
    assert ran.code == 1
    assert ran.err == (
        "error: an error that we did not foresee: RuntimeError: odd\n"
        "hint: FOREWORD_TRACE=1 shows where it came from; please report it\n"
    )
    assert (
        "Traceback"
        in foreword(
            "recipes", cwd=folder, PYTHONPATH=str(folder / "broken"), FOREWORD_TRACE="1"
        ).err
    )


def test_of_very_many_recipes_the_first_are_listed_and_any_can_be_named(folder: Path) -> None:
    recipes = folder / "foreword" / "recipes"
    recipes.mkdir(parents=True)
    for number in range(600):
        (recipes / f"r{number:03}.yaml").write_text(
            f"name: r{number}\nsections:\n  a: {{file: A.md}}\n"
        )
    ran = run_in_process("recipes")
    assert len(ran.out.splitlines()) == 500
    assert ran.err == "warning: 108 more recipes are not listed; each can still be named\n"
    assert run_in_process("recipe", "show", "r599").out.startswith("name: r599\n")


def test_a_pipe_among_the_recipes_is_a_problem_that_lint_tells(folder: Path) -> None:
    (folder / "foreword" / "recipes").mkdir(parents=True)
    os.mkfifo(folder / "foreword" / "recipes" / "pipe.yaml")
    ran = run_in_process("lint")
    assert (ran.code, ran.out) == (
        1,
        "foreword/recipes/pipe.yaml: can't be read: not a regular file\n",
    )
