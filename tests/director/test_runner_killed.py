"""Runs whose process is killed on the way: they finish, each result is there once, and what was
signed in stays so.

FOREWORD_SOAK=1 has every moment at every turn, on both databases; without it there are a few.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from foreword.demos.site import site
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_runs, node_steps
from tests.director.letters import KEYS, SUBJECTS, build, check
from tests.director.lives import WORKFLOW
from tests.store.databases import KINDS, new_url

SOAK = bool(os.environ.get("FOREWORD_SOAK"))
MOMENTS = ("began", "acted", "saved", "told")
# Of the browsers that are saved the tenth is the one behind the click of the first form.
CASES = [("sqlite", "acted", 10), ("postgresql", "saved", 10)]
if SOAK:
    CASES = []
    for kind, moment in product(KINDS, MOMENTS):
        CASES.append((kind, moment, 3 if moment == "began" else 2))


def run_lives(root: Path, *, db: str, url: str, moment: str, number: int) -> dict[str, Any]:
    """What became of a run in processes that were killed."""
    command = [
        sys.executable,
        "-m",
        "tests.director.lives",
        str(root),
        db,
        url,
        moment,
        str(number),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("kind", "moment", "number"), CASES)
def test_a_run_that_is_killed_again_and_again_comes_to_its_end(
    kind: str, moment: str, number: int, tmp_path: Path
) -> None:
    db = new_url(kind, tmp_path)
    with site() as desk, WorkflowState.open(db, WORKFLOW, root=tmp_path) as state:
        build(state, desk.url)
        result = run_lives(tmp_path, db=db, url=desk.url, moment=moment, number=number)
        check(state, result["run"])
        (run,) = node_runs.runs_of(state.db, state.workflow.id)
        assert result["lives"] > 1
        # A step that was under way when its process died has begun and has no end.
        unknown = moment in ("acted", "saved")
        steps = node_steps.of_run(state.db, state.workflow.id, run.run)
        lost = [step for step in steps if not step.ended]
        assert len(lost) == (result["lives"] - 1 if unknown else 0)
        assert {step.status for step in lost} <= {"running"}
        assert {step.key for step in steps} == set(KEYS)
        # Where the browser was saved behind a click, it is known to have happened; else it is asked
        # for, in an attempt of its own.
        clicks = [step for step in lost if step.node in ("node4", "node11")]
        assert clicks or moment in ("began", "told")
        questions = len(clicks) if moment == "acted" else 0
        assert (run.status, run.attempt) == ("success", result["lives"] + questions)
        # The site's own count: nothing happened twice.
        assert [row["subject"] for row in desk.sent] == SUBJECTS
        assert [row["sender"] for row in desk.sent].count("") == 0
        assert not [*tmp_path.glob("profiles/profile-*")]
    assert len(KEYS) == 20
