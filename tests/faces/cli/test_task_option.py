"""`--task` takes the task in words or in a file, in every command that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from foreword.faces.cli.main import cli
from foreword.testing import fake_provider
from tests.command import run_in_process
from tests.factory import answer
from tests.work.flow_scene import DIFF, Agent, project

WORDS = "let members cancel a turn by telegram"
COMMANDS = {
    "assemble": ("factory",),
    "why": ("factory", "--about", "task"),
    "panel run": ("code-review", "--diff", str(DIFF), "--model", "MODEL"),
    "flow run": ("feature", "--model", "MODEL"),
}


def commands_with(option: str, command: click.Command, name: str = "") -> Iterator[str]:
    """The names of all commands that have this option."""
    if any(option in parameter.opts for parameter in command.params):
        yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                yield from commands_with(option, found, f"{name} {inner}".strip())


def test_every_command_with_a_task_is_tried_here() -> None:
    assert sorted(commands_with("--task", cli)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_task_is_given_in_words_or_in_a_file(tmp_path: Path, command: str) -> None:
    root = project(tmp_path)
    (root / "task.md").write_text(f"{WORDS}\n")
    agent = Agent({"panel": answer})
    for task in (WORDS, str(root / "task.md")):
        with fake_provider(agent) as provider:
            words = [word.replace("MODEL", provider.openai) for word in COMMANDS[command]]
            ran = run_in_process(*command.split(), *words, "--root", root, "--task", task)
            sent = "".join(map(str, provider.requests))
        assert ran.code == 0, ran.err
        # `why` says how large the task is; a file's name stands in front of its words
        assert WORDS in ran.out + sent or re.match(r"task: in, whole \(1[4-7] tokens", ran.out)
