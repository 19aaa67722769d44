"""`foreword variable`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import CommandResult, foreword

SECRET = "hunter2-and-more"


def set_variable(folder: Path, name: str, *value: str, stdin: bytes = b"") -> CommandResult:
    return foreword(
        "variable",
        "set",
        "demo",
        name,
        "--reason",
        "a test",
        *value,
        cwd=folder,
        stdin=stdin,
    )


def test_variables_are_set_listed_got_and_cleared(tmp_path: Path) -> None:

    def run(*words: str) -> CommandResult:
        return foreword("variable", *words, cwd=tmp_path)

    made = set_variable(tmp_path, "node7.emails", '["a@example.org", "b@example.org"]')
    assert (made.code, made.out) == (0, "")
    assert made.err.splitlines()[0].startswith("made workflow 'demo' in ")
    set_variable(tmp_path, "node7.note", "plain words")
    listed = run("list", "demo")
    assert (
        listed.out
        == '- node7.emails = ["a@example.org", "b@example.org"]\n- node7.note = "plain words"\n'
    )
    assert json.loads(run("get", "demo", "node7.emails").out) == ["a@example.org", "b@example.org"]
    assert list(json.loads(run("get", "demo", "--node", "7").out)) == ["node7.emails", "node7.note"]
    assert json.loads(run("get", "demo", "all").out)["node7.note"] == "plain words"

    assert run("clear", "demo", "node7.note", "--reason", "read anew").code == 0
    assert (
        run("clear-all", "demo", "--reason", "over").err == "cleared 1 variable\n  node7.emails\n"
    )
    empty = run("list", "demo")
    assert (empty.code, empty.out, empty.err) == (0, "", "no variables in 'demo'\n")
    trail = run("list", "demo", "--changes").out.splitlines()
    assert [line.split()[1:3] for line in trail] == [
        ["clear", "node7.emails:"],
        ["clear", "node7.note:"],
        ["set", "node7.note:"],
        ["set", "node7.emails:"],
    ]
    assert trail[1].endswith('"plain words" -> nothing (read anew)')


@pytest.mark.parametrize(
    ("arguments", "stdin", "value"),
    [
        (["3"], b"", 3),
        (["01234"], b"", "01234"),
        (["3", "--text"], b"", "3"),
        (["NaN"], b"", "NaN"),
        (["--", "-5"], b"", -5),
        (["-"], b'{"a": [1, null]}\n', {"a": [1, None]}),
        (["-", "--text"], b"3\n", "3"),
        (['"\\ud800"'], b"", "\ud800"),
    ],
)
def test_a_value_is_json_where_it_reads_as_json(
    tmp_path: Path, arguments: list[str], stdin: bytes, value: object
) -> None:
    assert set_variable(tmp_path, "x", *arguments, stdin=stdin).code == 0
    assert json.loads(foreword("variable", "get", "demo", "x", cwd=tmp_path).out) == value


def test_only_get_prints_a_secret(tmp_path: Path) -> None:
    ran = [
        set_variable(tmp_path, "gmail.password", "-", stdin=SECRET.encode()),
        set_variable(tmp_path, "login", json.dumps({"user": "me", "password": SECRET})),
        foreword(
            "variable", "set", "demo", "a", "1", "--reason", f"password={SECRET}", cwd=tmp_path
        ),
        foreword("variable", "list", "demo", cwd=tmp_path),
        foreword("variable", "list", "demo", "--changes", cwd=tmp_path),
        foreword("variable", "get", "demo", "gmail.pasword", cwd=tmp_path),
        foreword("variable", "clear", "demo", "gmail.password", "--reason", "x", cwd=tmp_path),
        foreword("variable", "clear-all", "demo", "--reason", "x", cwd=tmp_path),
    ]
    for one in ran:
        assert SECRET not in one.out + one.err
    assert "set gmail.password = [hidden]" in ran[0].err
    assert "did you mean 'gmail.password'?" in ran[5].err


def test_a_near_name_is_noted_when_a_workflow_is_made(tmp_path: Path) -> None:
    set_variable(tmp_path, "x", "1")
    ran = foreword("variable", "set", "demoo", "x", "1", "--reason", "x", cwd=tmp_path)
    assert ran.code == 0
    assert "there is a workflow 'demo' already; did you mean that one?" in ran.err


def test_a_name_and_a_node_are_one_too_many(tmp_path: Path) -> None:
    ran = foreword("variable", "get", "demo", "x", "--node", "7", cwd=tmp_path)
    assert ran.code == 2
    assert "not both" in ran.err
