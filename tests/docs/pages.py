"""Pages of documentation, run from top to bottom in a small project.

The info string of a block says what becomes of it: `yaml recipe=NAME` and `json file=PATH` are
saved in the project, `console` is run there, `python run` is executed. In a console block `...`
stands for anything, alone for any number of lines; HANDLE in a command stands for the first handle
that the command before it has shown.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_SECONDS
from tests.warm_process import run_command

BLOCK = re.compile(r"^```(?P<info>\w[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
REFUSED = re.compile(r"^error:|\b[1-9]\d* problems?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its one attribute, its text."""

    language: str
    attribute: str
    value: str
    body: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text = page.read_text("utf-8")
    for found in BLOCK.finditer(text):
        language, _, attribute = found["info"].partition(" ")
        name, _, value = attribute.partition("=")
        yield Block(language, name, value, found["body"], text.count("\n", 0, found.start()) + 1)


def save(root: Path, path: str, text: str) -> None:
    """Write a file of the project, with its folders."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def run_python(root: Path, code: str) -> tuple[str, int]:
    """What a program writes, standard output first, and its exit code."""
    exit_code, output, errors = _run_warm(root, [], program=code)
    return output + errors, exit_code


def run_foreword(root: Path, *arguments: str) -> tuple[str, int]:
    """The same of `foreword ARGUMENTS`."""
    code, output, errors = _run_warm(root, arguments)
    assert "Traceback" not in errors, errors
    return output + errors, code


def run_into_file(root: Path, *arguments: str, file: str) -> tuple[str, int]:
    """What `foreword ARGUMENTS > FILE` shows, and its exit code."""
    code, output, errors = _run_warm(root, arguments)
    save(root, file, output)
    return errors, code


def _run_warm(root: Path, arguments: Sequence[str], program: str = "") -> tuple[int, str, str]:
    cache = str(root.parent / "cache")
    code, output, errors = run_command(
        arguments,
        program=program,
        folder=root,
        environment={**os.environ, "XDG_CACHE_HOME": cache, "NO_COLOR": "1"},
        stdin=b"",
        timeout_seconds=PATIENCE_SECONDS,
    )
    return code, output.decode(), errors.decode()


def commands(body: str) -> Iterator[tuple[str, str]]:
    """(command, expected output) of a console block."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def parse_command(line: str) -> list[str]:
    """The words of a command, without its comment and what a shell would do with its output."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    ends = [place for place, word in enumerate(words) if set(word) <= set("&|;<>")]
    return words[: min(ends, default=len(words))]


def pattern(expected: str) -> str:
    """A regular expression for an output as a console block shows it; blank lines and runs of
    spaces do not matter."""
    lines = [line.split() for line in expected.splitlines() if line.strip()]
    return "".join(r"(?:.*\n)*?" if line == ["..."] else _line(line) for line in lines)


def _line(words: list[str]) -> str:
    return " ?".join(_word(word) for word in words) + r" ?\n"


def _word(word: str) -> str:
    """One word of a line; `...` in or at the end of it stands for anything."""
    return ".*?".join(re.escape(part) for part in word.split("..."))


def collapse_spaces(output: str) -> str:
    """An output without blank lines and runs of spaces."""
    return "".join(" ".join(line.split()) + "\n" for line in output.splitlines() if line.strip())


def check_page(page: Path, project: Path) -> None:
    """Save, run and check every block of the page that is meant to be."""
    handle = ""
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.attribute == "recipe":
            save(project, f"foreword/recipes/{block.value}.yaml", block.body)
        elif block.attribute == "file":
            save(project, block.value, block.body)
        elif block.language == "python":
            output, code = run_python(project, block.body)
            assert code == 0, f"{where}:\n{output}"
        elif block.language == "console":
            for command, expected in commands(block.body):
                words = shlex.split(command.replace("HANDLE", handle), comments=True)
                assert words[0] == "foreword", where
                if words[-2] == ">":
                    output, code = run_into_file(project, *words[1:-2], file=words[-1])
                else:
                    output, code = run_foreword(project, *words[1:])
                handle = next(iter(re.findall(r"\bfw_\w+", output)), handle)
                assert re.fullmatch(pattern(expected), collapse_spaces(output)), (
                    f"{where}: {command}\n{output}"
                )
                assert (code != 0) == bool(REFUSED.search(expected)), (
                    f"{where}: {command}: exit code {code}"
                )
