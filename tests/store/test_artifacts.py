"""Artifacts, on both databases: once in a run, the newest of each name over the runs of a task,
every version kept."""

from __future__ import annotations

import pytest

from foreword.store import artifacts
from foreword.store.artifacts import Artifact
from foreword.store.database import Database


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr(artifacts, "stamp", lambda: f"2026-01-01T00:00:{next(ticks):02}.000+00:00")


def keep(
    db: Database, run: str, text: str, *, name: str = "FEAT-1", phase: str = "1", task: str = ""
) -> Artifact:
    title = "Requirements" if name == "FEAT-1" else "Design"
    return artifacts.keep(
        db, run=run, name=name, phase=phase, title=title, text=text, tokens=1, task=task
    )


def test_an_artifact_is_kept_once_in_a_run_and_corrected_only_on_purpose(db: Database) -> None:
    first = keep(db, "run", "first")
    assert keep(db, "run", "second") == first
    assert first.reference == "[FEAT-1] Requirements, 1 token, assistant phase 1"
    new = {"phase": "2", "title": "Requirements, again", "text": "second"}
    mended = artifacts.keep(db, run="run", name="FEAT-1", **new, tokens=2, replaces=True)
    assert artifacts.artifacts_of(db, "run") == [mended]
    assert artifacts.text_of(db, mended) == "second"
    assert artifacts.text_of(db, first) == "first"


def test_over_the_runs_of_a_task_the_newest_of_each_name_counts(db: Database) -> None:
    keep(db, "flow-T-1", "of the flow", task="T")
    keep(db, "flow-T-1", "design", name="FEAT-2", phase="2", task="T")
    keep(db, "other", "of another task", name="FEAT-2", phase="2")
    keep(db, "T", "corrected")
    texts = [(one.name, artifacts.text_of(db, one)) for one in artifacts.of_task(db, "T")]
    assert texts == [("FEAT-2", "design"), ("FEAT-1", "corrected")]
    assert artifacts.of_task(db, "nothing") == []


def test_the_newest_of_a_name_is_found_whatever_task_it_is_of(db: Database) -> None:
    keep(db, "A", "older")
    newer = keep(db, "flow-B-1", "newer", task="B")
    assert artifacts.newest(db, "feat-1") == newer
    assert newer.task == "B"
    assert artifacts.newest(db, "FEAT-9") is None
