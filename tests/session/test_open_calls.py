"""A history that ends in an open tool call is valid for both providers, in every recipe that makes
a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foreword
from tests import factory
from tests.conformance.test_phases import state
from tests.session.validity import problems

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "When is low water?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "list", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "06:12 0.4 m"},
]


@pytest.mark.parametrize("phase", ["planning", "interface", "implementation", "testing"])
def test_in_every_phase(tmp_path: Path, phase: str) -> None:
    source = state(messages=TALK)
    package = foreword.assemble("phases", root=tmp_path, phase=phase, source=source, budget=4_000)
    assert "06:12" in str(package.to_openai())
    assert problems(package) == []


@pytest.mark.parametrize("recipe", ["workflow", "workflow-cached"])
def test_in_a_workflow(tmp_path: Path, recipe: str) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    with foreword.Session.open(url, root=tmp_path, recipe=recipe) as session:
        session.append_all(TALK)
        package = session.context()
    assert "06:12" in str(package.to_openai())
    assert problems(package) == []


def test_in_a_task_of_a_factory(tmp_path: Path) -> None:
    root = factory.project(tmp_path / "project", ["potter"])
    with foreword.Task.open(root, task="FEAT-1") as task:
        for message in TALK:
            task.append(message)
        package = task.context()
    assert "06:12" in str(package.to_openai())
    assert problems(package) == []


@pytest.mark.parametrize("kind", ["computer_call", "shell_call", "apply_patch_call"])
def test_of_a_tool_that_only_openai_knows(tmp_path: Path, kind: str) -> None:
    action = {"type": "exec", "command": ["ls low-water"], "env": {}}
    call = {"type": kind, "id": "it_1", "call_id": "c1", "action": action, "status": "completed"}
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        session.append_all([TALK[0], call])
        items = session.context().to_responses()["input"]
    assert items[1] == {"role": "assistant", "content": f"[{kind}]\nls low-water"}
