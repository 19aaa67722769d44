"""`foreword plan`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreword.store.locations import state_path
from tests.command import foreword


def plan(status: str = "pending", **fields: Any) -> dict[str, Any]:
    tasks = [
        {"task_id": 1, "description": "Search the inbox", "status": "completed"},
        {"task_id": 2, "description": "Read the invoices", "status": status, "node_ids": ["node7"]},
    ]
    phases = [{"phase_name": "Build", "status": "in_progress", "tasks": tasks}]
    return {
        "overall_goal": "Invoices from Gmail to Airtable",
        "phases": phases,
        "zebra": {"b": 1, "a": 2},
        **fields,
    }


def write_json(folder: Path, value: object, name: str = "plan.json") -> Path:
    (folder / name).write_text(json.dumps(value))
    return folder / name


def test_a_plan_is_updated_shown_listed_and_compared(tmp_path: Path) -> None:
    first = foreword(
        "plan",
        "update",
        "demo",
        write_json(tmp_path, plan()),
        "--reason",
        "first plan",
        cwd=tmp_path,
    )
    assert (first.code, first.out) == (0, "version 1\n")
    assert "made workflow 'demo'" in first.err
    second = json.dumps(plan("completed", current_phase="Bulid")).encode()
    piped = foreword(
        "plan",
        "update",
        "demo",
        "-",
        "--reason",
        "read",
        "--expect",
        "1",
        cwd=tmp_path,
        stdin=second,
    )
    assert (piped.code, piped.out) == (0, "version 2\n")
    assert piped.err == "warning: current_phase: 'Bulid' names no phase\n"

    todo = foreword("plan", "show", "demo", cwd=tmp_path)
    assert "[x] 2. Read the invoices (node7)" in todo.out
    assert todo.err == ""
    old = json.loads(
        foreword("plan", "show", "demo", "--version", "1", "--format", "json", cwd=tmp_path).out
    )
    assert {name: old[name] for name in plan()} == plan()
    assert list(old["zebra"]) == ["b", "a"]

    history = foreword("plan", "history", "demo", cwd=tmp_path)
    lines = [line.split() for line in history.out.splitlines()]
    assert [(line[0], line[2:5]) for line in lines] == [
        ("1", ["1", "of", "2"]),
        ("2", ["2", "of", "2"]),
    ]
    assert history.out.splitlines()[0].endswith("first plan")
    diff = foreword("plan", "diff", "demo", cwd=tmp_path)
    assert 'task 2 "Read the invoices": pending -> completed' in diff.out.splitlines()
    assert diff.err == "version 1 -> 2: 2 changed\n"


def test_a_conflict_is_exit_1_and_says_what_to_do(tmp_path: Path) -> None:
    path = write_json(tmp_path, plan())
    assert (
        foreword(
            "plan", "update", "demo", path, "--reason", "one", "--expect", "0", cwd=tmp_path
        ).code
        == 0
    )
    ran = foreword("plan", "update", "demo", path, "--reason", "two", "--expect", "0", cwd=tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert "the plan is at version 1, not 0" in ran.err
    assert "hint: look at version 1" in ran.err


def test_what_is_no_json_is_told_with_line_and_column_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"overall_goal": "x",\n  oops}')
    ran = foreword("plan", "update", "demo", "plan.json", "--reason", "x", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: plan.json:2:3: not JSON: ")
    assert not state_path(tmp_path).exists()


def test_reading_where_nothing_is_kept_makes_no_store(tmp_path: Path) -> None:
    for words in (["show", "demo"], ["history", "demo"], ["diff", "demo"]):
        ran = foreword("plan", *words, cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "no store yet" in ran.err
        assert "hint: " in ran.err
    assert (
        "no store yet"
        in foreword("plan", "show", "demo", "--db", "sqlite:///state.db", cwd=tmp_path).err
    )
    assert list(tmp_path.iterdir()) == []


def test_a_list_of_tasks_shows_no_secret_and_steers_no_terminal(tmp_path: Path) -> None:
    secret = "sk-ant-api03-abcdefgh12345678"
    path = write_json(tmp_path, plan(notes=f"the key is {secret}\n\x1b[31mred"))
    reason = f"token={secret}"
    ran = foreword("plan", "update", "demo", path, "--reason", reason, cwd=tmp_path)
    foreword("plan", "update", "demo", write_json(tmp_path, plan()), "--reason", "x", cwd=tmp_path)
    outputs = [
        foreword("plan", *words, cwd=tmp_path)
        for words in (["show", "demo", "--version", "1"], ["history", "demo"], ["diff", "demo"])
    ]
    for one in (ran, *outputs):
        assert one.code == 0
        assert secret not in one.out + one.err
        assert "\x1b" not in one.out


def test_a_mistyped_command_and_a_version_that_is_not_there_get_an_answer(tmp_path: Path) -> None:
    foreword(
        "plan", "update", "demo", write_json(tmp_path, plan()), "--reason", "one", cwd=tmp_path
    )
    assert "did you mean 'show'?" in foreword("plan", "shwo", "demo", cwd=tmp_path).err
    ran = foreword("plan", "show", "demo", "--version", "7", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "unknown plan version '7' of 'demo'" in ran.err
    assert "one version" in foreword("plan", "diff", "demo", cwd=tmp_path).err
