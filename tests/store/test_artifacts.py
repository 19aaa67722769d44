"""Artifacts, on both databases: once in a run, the newest of each name over the runs of a task,
every version kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.store import artifacts
from foreword.store.database import Database
from tests.store.databases import KINDS, new_url, opened


@pytest.fixture(params=KINDS)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with opened(new_url(request.param, tmp_path)) as database:
        yield database


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr(artifacts, "stamp", lambda: f"2026-01-01T00:00:{next(ticks):02}.000+00:00")


def test_an_artifact_is_kept_once_in_a_run_and_corrected_only_on_purpose(db: Database) -> None:
    first = artifacts.keep(db, "run", "FEAT-1", "1", "Requirements", "first", 1)
    assert artifacts.keep(db, "run", "FEAT-1", "1", "Requirements", "second", 1) == first
    assert first.reference == "[FEAT-1] Requirements, 1 token"
    mended = artifacts.correct(db, "run", "FEAT-1", "2", "Requirements, again", "second", 2)
    assert artifacts.artifacts_of(db, "run") == [mended]
    assert artifacts.text_of(db, mended) == "second"
    assert artifacts.text_of(db, first) == "first"


def test_over_the_runs_of_a_task_the_newest_of_each_name_counts(db: Database) -> None:
    artifacts.keep(db, "flow-T-1", "FEAT-1", "1", "Requirements", "of the flow", 3, task="T")
    artifacts.keep(db, "flow-T-1", "FEAT-2", "2", "Design", "design", 1, task="T")
    artifacts.keep(db, "other", "FEAT-2", "2", "Design", "of another task", 3)
    artifacts.keep(db, "T", "FEAT-1", "1", "Requirements", "corrected", 1)
    found = artifacts.of_task(db, "T")
    assert [(one.name, artifacts.text_of(db, one)) for one in found] == [
        ("FEAT-2", "design"),
        ("FEAT-1", "corrected"),
    ]
    assert artifacts.of_task(db, "nothing") == []


def test_the_newest_of_a_name_is_found_whatever_task_it_is_of(db: Database) -> None:
    artifacts.keep(db, "A", "FEAT-1", "1", "Requirements", "older", 1)
    newer = artifacts.keep(db, "flow-B-1", "FEAT-1", "1", "Requirements", "newer", 1, task="B")
    assert artifacts.newest(db, "feat-1") == newer
    assert newer.task == "B"
    assert artifacts.newest(db, "FEAT-9") is None
