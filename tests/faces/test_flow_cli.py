"""`foreword flow` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.command import foreword
from tests.runtime.flowing import project

WITHOUT_DBOS = """
import sys
sys.modules["dbos"] = None
from foreword.faces.cli.main import run
run()
"""


def test_a_flow_runs_and_says_how_it_stands(tmp_path: Path) -> None:
    root = project(tmp_path)
    task = root / "task.md"
    task.write_text("let members cancel a turn\n")
    done = foreword(
        "flow", "run", "feature", "--task", str(task), "--model", "test", "--root", str(root), "--task-id", "FEAT-7"
    )
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("flow-FEAT-7-")
    assert lines[0].endswith("feature  done")
    assert len(lines) == 6
    assert "[FEAT-4]" in lines[4]
    told = [line.split()[:2] for line in done.err.splitlines()[1:]]
    assert told == [["1", "answered"], ["2", "answered"], ["3a", "answered"], ["3b", "answered"], ["4", "answered"]]
    assert "dbos" not in done.err.lower()

    shown = foreword("flow", "status", "FEAT-7", "--root", str(root), "--format", "json")
    (flow,) = json.loads(shown.out)
    assert (flow["status"], flow["model"], flow["attempt"]) == ("done", "test", 1)
    assert [phase["artifact"] for phase in flow["phases"]] == ["FEAT-1", "FEAT-2", "FEAT-3", "FEAT-4", "FEAT-5"]
    found = foreword("recall", flow["phases"][0]["handle"], "--root", str(root))
    assert found.code == 0
    assert found.out.strip()


def test_a_flow_that_stops_at_a_gate_says_how_to_go_on(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    stopped = foreword(
        "flow", "run", "feature", "--task", "cancel", "--model", "test", "--root", root, "--stop-at-gates"
    )
    assert stopped.code == 0
    assert "stopped: at the gate after phase 1" in stopped.out
    assert "hint: `foreword flow resume cancel` goes on" in stopped.err
    done = foreword("flow", "resume", "--root", root, "--no-stop-at-gates")
    assert "going on with flow-cancel-" in done.err
    assert done.out.splitlines()[0].endswith("done")


def test_what_is_missing_is_said_in_one_line(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    for words, said in (
        (("flow", "run", "feature", "--task", "x"), "a flow needs a model"),
        (("flow", "run", "nothing", "--task", "x", "--model", "test"), "unknown workflow 'nothing'"),
        (("flow", "run", "feature", "--task", "x", "--model", "gpt-nothing"), "error: "),
        (("flow", "run", "feature", "--task", "x", "--model", "test", "--db", "mysql://x"), "mysql"),
        (("flow", "resume"), "there is no flow that is not done"),
    ):
        done = foreword(*words, "--root", root)
        assert done.code == 2, done.err
        assert said in done.err
        assert "hint: " in done.err
        assert "Traceback" not in done.err
    model = foreword("flow", "run", "feature", "--task", "x", "--root", root)
    assert "`--model test` needs no key" in model.err
    assert foreword("flow", "status", "--root", root).err == "no flow has been run here yet\n"


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_DBOS, "flow", "run", "feature", "--task", "x", "--model", "test"]
    done = subprocess.run([*command, "--root", str(project(tmp_path))], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: flows need a package that is not installed",
        "hint: pip install 'foreword[flows]'",
    ]
