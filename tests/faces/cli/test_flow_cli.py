"""`foreword flow` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from foreword.extras import install_command
from foreword.store.locations import state_path
from tests.command import foreword, run_in_process
from tests.work.flow_scene import project

WITHOUT_DBOS = """
import sys
sys.modules["dbos"] = None
from foreword.faces.cli.main import run
run()
"""


def test_a_flow_runs_and_says_how_it_stands(tmp_path: Path, own_cache: Path) -> None:
    root = project(tmp_path)
    task = root / "task.md"
    task.write_text("let members cancel a turn\n")
    done = foreword(
        "flow",
        "run",
        "feature",
        "--task",
        str(task),
        "--model",
        "test",
        "--root",
        str(root),
        "--task-id",
        "FEAT-7",
        XDG_CACHE_HOME=str(own_cache),
    )
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("flow-FEAT-7-")
    assert lines[0].endswith("feature  done")
    assert len(lines) == 6
    assert "[FEAT-4]" in lines[4]
    warning, begun, *handed = done.err.splitlines()[:7]
    *agent_lines, recall_line = done.err.splitlines()[7:]
    assert handed[1] == "  phase 2 Design: takes [FEAT-1], hands on [FEAT-2]"
    assert warning == "warning: phase 4: panel code-review not run, no --diff given"
    assert begun.startswith("flow-FEAT-7-")
    assert sorted([line[:28] for line in agent_lines]) == [
        "  1   Requirements    answer",
        "  2   Design          answer",
        "  3a  Implementation  answer",
        "  3b  Test Planning   answer",
        "  4   Review          answer",
    ]
    assert recall_line.startswith("`foreword recall fw_")
    assert recall_line.endswith("` prints [FEAT-5]")
    assert "dbos" not in done.err.lower()
    shown = run_in_process("flow", "show", "feature", "--root", str(root))
    assert shown.out.splitlines() == [line.strip() for line in handed]

    status = run_in_process("flow", "status", "FEAT-7", "--root", str(root), "--format", "json")
    (flow,) = json.loads(status.out)
    assert (flow["status"], flow["model"], flow["attempt"]) == ("done", "test", 1)
    assert [phase["artifact"] for phase in flow["phases"]] == [
        "FEAT-1",
        "FEAT-2",
        "FEAT-3",
        "FEAT-4",
        "FEAT-5",
    ]
    found = run_in_process("recall", flow["phases"][0]["handle"], "--root", str(root))
    assert found.code == 0
    assert found.out.strip()


def test_a_flow_that_stops_at_a_gate_or_a_panel_says_how_to_go_on(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    stopped = run_in_process(
        "flow",
        "run",
        "feature",
        "--task",
        "cancel",
        "--model",
        "test",
        "--root",
        root,
        "--stop-at-gates",
    )
    assert stopped.code == 0
    assert "stopped: at the gate after phase 1" in stopped.out
    *_, gate, reading, hint = stopped.err.splitlines()
    assert gate == "gate of phase 1: every requirement has a way to see it."
    assert reading.endswith("` prints [FEAT-1]")
    assert hint == "hint: `foreword flow resume feature-cancel` goes on"
    options = (
        "--no-stop-at-gates",
        "--timeout-seconds",
        "60",
        "--diff",
        str(Path(root, "change.diff")),
    )
    rejected = run_in_process("flow", "resume", "--root", root, *options)
    assert "going on with flow-feature-cancel-" in rejected.err
    assert "  1   Requirements    already done\n" in rejected.err
    assert rejected.out.splitlines()[0].endswith(
        "stopped: phase 4: the panel says changes requested"
    )
    assert "rejected  changes requested  fw_" in rejected.out
    assert (
        "hint: mend the change, then `foreword flow resume feature-cancel --diff REV|FILE`"
        in rejected.err
    )
    assert rejected.code == 1


def test_what_is_missing_is_said_in_one_line(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    for words, message in (
        (("flow", "run", "feature", "--task", "x"), "a flow needs a model"),
        (
            ("flow", "run", "nothing", "--task", "x", "--model", "test"),
            "unknown workflow 'nothing'",
        ),
        (("flow", "run", "feature", "--task", "x", "--model", "gpt-nothing"), "error: "),
        (
            ("flow", "run", "feature", "--task", "x", "--model", "test", "--db", "mysql://x"),
            "mysql",
        ),
        (
            ("flow", "run", "feature", "--task", "missing.md", "--model", "test"),
            "missing.md: there is no such file",
        ),
        (
            ("flow", "run", "feature", "--task", "tasks/one", "--model", "test"),
            "tasks/one: there is no such file",
        ),
        (
            ("flow", "run", "feature", "--task", "x", "--model", "test", "--diff", "project.yaml"),
            "project.yaml: ",
        ),
        (("flow", "resume"), "there is no flow that is not done"),
    ):
        done = run_in_process(*words, "--root", root)
        assert done.code == 2, done.err
        assert [line.split(": ")[0] for line in done.err.splitlines()] == ["error", "hint"]
        assert message in done.err
    model = run_in_process("flow", "run", "feature", "--task", "x", "--root", root)
    assert "`--model test` needs no key" in model.err
    assert run_in_process("flow", "status", "--root", root).err == "no flow has been run here yet\n"
    assert not state_path(Path(root)).exists()


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        WITHOUT_DBOS,
        "flow",
        "run",
        "feature",
        "--task",
        "x",
        "--model",
        "test",
    ]
    done = subprocess.run(
        [*command, "--root", str(project(tmp_path))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: this needs the extra 'flows': dbos is not installed",
        f"hint: {install_command('flows')}",
    ]
