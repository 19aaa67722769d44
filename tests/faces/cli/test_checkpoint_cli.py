"""`foreword checkpoint`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from foreword.errors import CheckpointDamaged, UnknownName
from foreword.faces.cli.main import cli
from foreword.store.locations import state_path
from foreword.store.urls import open_database
from foreword.work.checkpoint import Checkpoint
from foreword.work.task_checkpoints import write
from tests.command import foreword
from tests.postgres import new_database


def write_checkpoints(
    root: Path, *phases: str, db: str | None = None, task: str = "FEAT-1", **fields: Any
) -> None:
    store = open_database(db, root)
    try:
        for phase in phases:
            values = {
                "objective": "A waiting list",
                "state": {"phase": phase},
                "done": [phase],
                "pending": ["9"],
                **fields,
            }
            write(root, store, Checkpoint(task=task, phase=phase, **values))
    finally:
        store.close()


def run_checkpoint(root: Path, *args: str) -> Result:
    """The command in this process; an error of ours is raised."""
    return CliRunner().invoke(
        cli, ["checkpoint", *args, "--root", str(root)], catch_exceptions=False
    )


@pytest.mark.parametrize("database", ["file", "postgresql"])
def test_checkpoints_are_listed_shown_and_resumed_from(tmp_path: Path, database: str) -> None:
    env: dict[str, Any] = {"FOREWORD_DB": new_database()} if database == "postgresql" else {}
    write_checkpoints(tmp_path, "1", "3a", db=env.get("FOREWORD_DB"))
    table = foreword("checkpoint", "list", cwd=tmp_path, **env)
    assert [line.split()[:3] for line in table.out.splitlines()] == [
        ["FEAT-1", "1", "1"],
        ["FEAT-1", "3a", "2"],
    ]
    assert table.out.splitlines()[0].endswith("1       1")
    assert table.err.split()[:3] == ["task", "phase", "number"]

    resumed = foreword("checkpoint", "resume", "FEAT-1", cwd=tmp_path, **env)
    assert resumed.out.startswith(
        "task: FEAT-1\nobjective: A waiting list\nphase: 3a\ncheckpoint: 2, written "
    )
    assert resumed.out.endswith("done: 3a\npending: 9\nnext: 9\nstate:\n- phase: 3a\n")
    assert (resumed.code, resumed.err) == (0, "")

    old = foreword(
        "checkpoint", "resume", "FEAT-1", "--phase", "1", "--format", "json", cwd=tmp_path, **env
    )
    restored = json.loads(old.out)
    assert restored["checkpoint"]["state"] == {"phase": "1"}
    assert restored["changes"] == ["there is a newer checkpoint: FEAT-1-phase-3a"]
    assert old.err == "warning: there is a newer checkpoint: FEAT-1-phase-3a\n"


def test_files_alone_are_enough_and_no_store_is_made(tmp_path: Path) -> None:
    write(tmp_path, None, Checkpoint(task="FEAT-1", phase="1"))
    for command in ("list", "resume"):
        assert foreword("checkpoint", command, "FEAT-1", cwd=tmp_path).code == 0
    assert not state_path(tmp_path).exists()


def test_without_checkpoints_the_list_is_empty_and_says_so(tmp_path: Path) -> None:
    done = run_checkpoint(tmp_path, "list")
    assert (done.exit_code, done.stdout, done.stderr) == (
        0,
        "",
        f"no checkpoints yet in {tmp_path}\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_show_prints_the_checkpoint_as_it_was_written(tmp_path: Path) -> None:
    write_checkpoints(tmp_path, "1", extra={"team": "red"})
    data = json.loads(run_checkpoint(tmp_path, "show", "FEAT-1", "--format", "json").stdout)
    assert data == json.loads((tmp_path / ".checkpoints" / "FEAT-1-phase-1.json").read_bytes())
    text = run_checkpoint(tmp_path, "show", "FEAT-1").stdout
    assert text.startswith("FEAT-1-phase-1, as it was written\nformat: 1\ntask: FEAT-1\n")
    assert text.endswith("\nsequence: 1\nteam: red\n")
    assert "next:" not in text


def test_the_schema_is_one_and_fits_what_is_written(tmp_path: Path) -> None:
    schema = json.loads(CliRunner().invoke(cli, ["checkpoint", "schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    write_checkpoints(tmp_path, "1")
    jsonschema.validate(
        json.loads(run_checkpoint(tmp_path, "show", "FEAT-1", "--format", "json").stdout), schema
    )


def test_a_damaged_one_is_exit_1_and_marked_in_the_list(tmp_path: Path) -> None:
    write(tmp_path, None, Checkpoint(task="a b", phase="1"))
    write(tmp_path, None, Checkpoint(task="a b", phase="2")).write_text("{")
    done = foreword("checkpoint", "resume", "a b", "--phase", "2", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "error: checkpoint a%20b-phase-2 can't be used: .checkpoints/a%20b-phase-2.json: it"
    )
    assert done.err.endswith("`foreword checkpoint resume 'a b' --phase 1`\n")
    assert (
        "DAMAGED: .checkpoints/a%20b-phase-2.json: it is not JSON"
        in run_checkpoint(tmp_path, "list").stdout.splitlines()[0]
    )
    newest = run_checkpoint(tmp_path, "resume", "a b")
    assert "phase: 1\n" in newest.stdout
    assert newest.stderr.startswith("warning: checkpoint a%20b-phase-2 can't be used")
    assert run_checkpoint(tmp_path, "show", "a b").stderr.startswith(
        "warning: checkpoint a%20b-phase-2 can't be used"
    )
    with pytest.raises(CheckpointDamaged):
        run_checkpoint(tmp_path, "show", "a b", "--phase", "2")


@pytest.mark.parametrize(
    "command",
    [("show",), ("show", "--format", "json"), ("resume",), ("resume", "--format", "json")],
)
def test_a_secret_in_a_file_of_somebody_elses_is_not_printed(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    path = write(tmp_path, None, Checkpoint(task="T", phase="1", state={"note": "to be replaced"}))
    path.write_text(path.read_text("utf-8").replace("to be replaced", "password: hunter2-hunter2"))
    result = run_checkpoint(tmp_path, command[0], "T", *command[1:])
    assert "hunter2" not in result.output
    assert "[hidden]" in result.stdout


def test_a_mistyped_task_is_exit_2_with_a_suggestion(tmp_path: Path) -> None:
    write_checkpoints(tmp_path, "1")
    done = foreword("checkpoint", "resume", "FEAT1", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'FEAT-1'?" in done.err
    for args in (("list", "FEAT1"), ("show", "FEAT1"), ("resume", "FEAT-1", "--phase", "2")):
        with pytest.raises(UnknownName):
            run_checkpoint(tmp_path, *args)


def test_nothing_in_a_checkpoint_can_steer_the_terminal(tmp_path: Path) -> None:
    task = "\u202eevil"
    write_checkpoints(
        tmp_path, "1", objective="\x1b[2Jx", state={"\x9b31m": "a\u202eb\nphase: 7"}, task=task
    )
    output = "".join(
        run_checkpoint(tmp_path, *args).output
        for args in (["list"], ["show", task], ["resume", task])
    )
    assert not set(output) & set("\x1b\x9b\u202e\r")
    assert "\nphase: 7" not in output
