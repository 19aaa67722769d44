"""README.md and the pages beside it that belong to no room: what they show is what happens."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from foreword.demos import samples
from foreword.faces.cli import demo_recipes
from foreword.faces.cli.main import COMMANDS, cli
from tests.docs import base_install
from tests.docs.pages import blocks, check_page, parse_command

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
# A command as a hint of ours names it; what is put in when it is shown may be anything.
HINTED = re.compile(r"`(foreword [a-z][^`]*)`")
PUT_IN = re.compile(r"\{[^{}]*\}")
EXTRA = re.compile(r"\(?extra: ([\w,]+)\)?")
NEEDED = re.compile(r"this needs the extra '([\w,]+)'.*\S+ install .*\[\1\]", re.DOTALL)
# Commands that need an extra, or may: the others are in the pages hundreds of times.
WITH_EXTRAS = {"director", "flow", "mcp", "panel", "serve", "worker"}


@pytest.mark.parametrize("page", ["README.md", "docs/contexts.md", "docs/conversations.md"])
def test_every_command_and_example_works_on_the_sample(page: str, tmp_path: Path) -> None:
    check_page(ROOT / page, samples.lay_out(tmp_path / "sample"))


def test_every_command_is_in_the_table() -> None:
    table = (ROOT / "docs" / "commands.md").read_text("utf-8")
    listed = set(re.findall(r"`(\w+)", table))
    assert set(COMMANDS) <= listed


def test_a_stranger_has_read_the_readme_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 170


def lines_of_pages() -> Iterator[tuple[str, str]]:
    """Every command of a page, as it is printed, with where it is."""
    for page in (ROOT / "README.md", *PAGES):
        for block in blocks(page):
            if block.language not in ("sh", "console"):
                continue
            for line in block.body.splitlines():
                command = line.removeprefix("$ ")
                if command.startswith("foreword "):
                    yield f"{page.name}:{block.line}", command


def lines_of_the_demo(sample: str, folder: Path) -> list[str]:
    """Every command that the demo prints to try next."""
    lines: list[str] = []
    demo_recipes.run(lines.append, keep=folder, sample=sample)
    demo_recipes.run(lines.append, sample=sample)
    found = [line.strip() for line in lines if line.startswith("  foreword ")]
    assert found
    return found


def test_every_command_that_is_named_exists() -> None:
    named = list(lines_of_pages())
    for path in sorted((ROOT / "src" / "foreword").rglob("*.py")):
        for command in HINTED.findall(PUT_IN.sub("x", path.read_text("utf-8"))):
            named.append((path.name, re.sub(r'"\s*f?"', "", command)))
    assert len(named) > 100
    for where, line in named:
        found: click.Command | None = cli
        words = iter(parse_command(line)[1:])
        context = click.Context(cli)
        while isinstance(found, click.Group) and (word := next(words, "")):
            found = found.get_command(context, word)
        assert found is not None, f"{where}: {line}"
        options = {name for option in found.params for name in option.opts}
        for word in parse_command(line):
            if word.startswith("--"):
                assert word.partition("=")[0] in {*options, "--help"}, f"{where}: {line}"


@pytest.mark.parametrize("sample", [samples.KILNBOOK, samples.FACTORY])
def test_the_base_install_runs_what_the_demo_prints_or_lacks_the_extra_that_is_named(
    sample: str, tmp_path: Path
) -> None:
    project = tmp_path / sample
    lines = lines_of_the_demo(sample, project)
    (project / "README.md").write_text("# A project\n")
    (project / "docs").mkdir(exist_ok=True)
    (project / "docs" / "notes.md").write_text("# Notes\n\nCone 6 it is.\n")
    commands = [parse_command(line.partition("  ")[0])[1:] for line in lines]
    for line, output in zip(lines, base_install.run_all(commands, project), strict=True):
        extra = EXTRA.search(line)
        needed = NEEDED.search(output)
        assert (extra and extra[1]) == (needed and needed[1]), f"{line}\n{output}"
        assert needed or not re.search("^error:", output, re.MULTILINE), f"{line}\n{output}"


def test_a_command_of_a_page_names_the_extra_that_the_base_install_lacks(tmp_path: Path) -> None:
    project = samples.lay_out(tmp_path / "project", samples.FACTORY)
    lines = dict[tuple[str, ...], tuple[str, str]]()
    for where, line in lines_of_pages():
        words = tuple(parse_command(line)[1:])
        if where.startswith("README") or words[0] in WITH_EXTRAS:
            lines.setdefault(words, (where, line))
    answers = base_install.run_all(list(lines), project)
    for (where, line), output in zip(lines.values(), answers, strict=True):
        assert "did not foresee" not in output, f"{where}: {line}\n{output}"
        if needed := NEEDED.search(output):
            extra = EXTRA.search(line)
            named = extra[1].split(",") if extra else []
            assert set(needed[1].split(",")) <= set(named), f"{where}: {line}\n{output}"


@pytest.mark.skipif(not base_install.PYTHON, reason="`make quick` names a real base install")
def test_a_hint_installs_what_a_command_lacks(tmp_path: Path) -> None:
    project = samples.lay_out(tmp_path / "project", samples.FACTORY)
    command = ["panel", "run", "code-review", "--diff", "change.diff", "--model", "test"]
    (refusal,) = base_install.run_all([command], project)
    _, _, hint = refusal.partition("hint: ")
    subprocess.run(shlex.split(hint), check=True, capture_output=True)
    (answer,) = base_install.run_all([command], project)
    assert "changes requested: Code Review" in answer
