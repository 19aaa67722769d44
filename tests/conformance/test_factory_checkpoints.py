"""Checkpoints of the factory, row by row (SPEC F12, and of F15 how work goes on from one)."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from foreword.store.urls import open_database
from foreword.work.checkpoint import Checkpoint, as_text
from foreword.work.task_checkpoints import newest, write
from tests.command import foreword
from tests.sources.test_git import repository, run
from tests.warm_process import ForkedCommand

# An agent half-way through a flow: two gates are behind it, and it is at work in the third phase
# when it dies.
AGENT = """
import sys
from pathlib import Path
from foreword.work.task_checkpoints import write
from foreword.store.urls import open_database
from foreword.work.checkpoint import Checkpoint

root = Path(sys.argv[1])
phases = ["1", "2", "3a", "3b", "4"]
db = open_database(None, root)
for gate in (1, 2):
    write(root, db, Checkpoint(
        task="FEAT-1",
        phase=phases[gate - 1],
        objective="Members can join a waiting list",
        flow="feature-implementation",
        state={
            "branch": "feat/waiting-list",
            "open_questions": gate - 1,
            "api_key": "sk-ant-REDACTED",
        },
        decisions=[{"what": "SQLite", "why": "one file"}][: gate],
        findings=[{"by": "security", "severity": "high", "file": "list.py", "line": 12}],
        artifacts={
            "FEAT-1": {"title": "Requirements", "path": "docs/requirements.md", "tokens": 900},
        },
        done=phases[:gate],
        pending=phases[gate:],
        tiers={"0": {"digest": "aa", "tokens": 380}},
    ))
print("working", flush=True)
sys.stdin.readline()
"""


def project(root: Path) -> Path:
    repository(root, "Begin")
    (root / "docs").mkdir()
    (root / "docs" / "requirements.md").write_text("# Requirements\n\nAll of the content.\n")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "Requirements")
    return root


def die_in_the_third_phase(root: Path) -> None:
    with ForkedCommand([root], program=AGENT) as agent:
        assert agent.stdout.readline() == "working\n"
        agent.kill()


def test_f12_every_gate_has_a_file_with_state_decisions_and_findings(tmp_path: Path) -> None:
    die_in_the_third_phase(project(tmp_path))
    files = sorted(path.name for path in (tmp_path / ".checkpoints").iterdir())
    assert files == ["FEAT-1-phase-1.json", "FEAT-1-phase-2.json"]
    data = json.loads((tmp_path / ".checkpoints" / "FEAT-1-phase-2.json").read_bytes())
    assert data["state"] == {
        "branch": "feat/waiting-list",
        "open_questions": 1,
        "api_key": "[hidden]",
    }
    assert data["decisions"] == [{"what": "SQLite", "why": "one file"}]
    assert data["findings"][0]["severity"] == "high"
    assert (data["done"], data["pending"]) == (["1", "2"], ["3a", "3b", "4"])
    assert (data["git"]["branch"], data["git"]["dirty"]) == ("main", False)
    assert (data["sequence"], data["previous"]) == (2, "FEAT-1-phase-1")


def test_f12_artifacts_are_references_never_content(tmp_path: Path) -> None:
    die_in_the_third_phase(project(tmp_path))
    for path in (tmp_path / ".checkpoints").iterdir():
        assert "All of the content" not in path.read_text()
        assert (
            json.loads(path.read_bytes())["artifacts"]["FEAT-1"]["path"] == "docs/requirements.md"
        )


def test_f15_a_new_process_goes_on_from_the_checkpoint_and_from_nothing_else(
    tmp_path: Path,
) -> None:
    die_in_the_third_phase(project(tmp_path))
    resumed = foreword("checkpoint", "resume", "FEAT-1", "--format", "json", "--root", tmp_path)
    assert (resumed.code, resumed.err) == (0, "")
    resumed_json = json.loads(resumed.out)
    assert resumed_json["changes"] == []
    assert resumed_json["checkpoint"]["phase"] == "2"
    assert resumed_json["checkpoint"]["pending"] == ["3a", "3b", "4"]
    store = open_database(None, tmp_path)
    try:
        write(
            tmp_path,
            store,
            Checkpoint(task="FEAT-1", phase="3a", done=["1", "2", "3a"], pending=["3b", "4"]),
        )
        last = newest(tmp_path, store, "FEAT-1").checkpoint
    finally:
        store.close()
    assert (last.sequence, last.previous) == (3, "FEAT-1-phase-2")


def test_f15_what_changed_while_nobody_worked_is_told_before_work_goes_on(tmp_path: Path) -> None:
    die_in_the_third_phase(project(tmp_path))
    run(tmp_path, "rm", "-q", "docs/requirements.md")
    run(tmp_path, "commit", "-q", "-m", "Somebody else's")
    with closing(open_database(None, tmp_path)) as db:
        restored = newest(tmp_path, db, "FEAT-1", tiers={"0": {"digest": "bb"}})
    moved, gone, tier = restored.changes
    assert moved.endswith(": 1 commit ahead")
    assert gone == "artifact FEAT-1: docs/requirements.md is missing"
    assert tier == "tier 0 reads differently: bb, it was aa"
    text = as_text(restored.checkpoint, restored.changes)
    assert all(f"- {change}\n" in text for change in restored.changes)
    assert "pending: 3a, 3b, 4\n" in text


def test_f15_where_the_newest_is_damaged_work_goes_on_from_the_one_before(tmp_path: Path) -> None:
    die_in_the_third_phase(project(tmp_path))
    path = tmp_path / ".checkpoints" / "FEAT-1-phase-2.json"
    path.write_bytes(path.read_bytes()[:300])
    restored = newest(tmp_path, None, "FEAT-1")
    assert restored.checkpoint.phase == "1"
    assert "FEAT-1-phase-2 can't be used" in restored.changes[0]


def test_a_gate_that_only_a_file_says_was_passed_is_for_a_person_to_decide(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    die_in_the_third_phase(root)
    own = foreword("checkpoint", "resume", "FEAT-1", "--root", root)
    assert "a person has to decide" not in own.out + own.err
    path = root / ".checkpoints" / "FEAT-1-phase-2.json"
    file = json.loads(path.read_text())
    path.write_text(json.dumps(file | {"done": [*file["done"], "3a"], "pending": ["4"]}))
    resumed = foreword("checkpoint", "resume", "FEAT-1", "--root", root)
    assert "only the file says that the gate of 3a was passed" in resumed.out
    clone = root.rename(tmp_path.with_name(f"{tmp_path.name}-clone"))
    elsewhere = foreword("checkpoint", "resume", "FEAT-1", "--root", clone)
    assert "only the file says that the gate of 1, 2, 3a was passed" in elsewhere.out
