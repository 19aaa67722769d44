"""What a flow costs: openings of the store and recipes read, counted, never seconds.
And what it is run with, which stays a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foreword.plan.flow import Flow, Phase
from foreword.recipe import load
from foreword.work import flow_runs
from foreword.work.order import Order, from_json, to_json
from tests.work.flow_scene import PHASES, project

WHOLE = Order(
    run="flow-FEAT-7-abc",
    task="FEAT-7",
    objective="members can cancel",
    model="test",
    flow=Flow(
        name="feature",
        source="feature.md",
        phases=(
            Phase(
                name="1",
                title="One",
                after=("0",),
                artifact="A",
                gate=True,
                personas=("p",),
                prompts=("q",),
                panel="panel",
                text="text",
            ),
            Phase(name="0", title="Zero"),
        ),
    ),
    diff="+ a line",
    stop_at_gates=True,
)


@pytest.fixture
def openings() -> Iterator[list[str]]:
    """The file of every store that is opened meanwhile, as often as it is."""
    opened: list[str] = []

    def note_file(connection: apsw.Connection) -> None:
        path = connection.db_filename("main")
        if path:  # none for a database in memory
            opened.append(path)

    apsw.connection_hooks.append(note_file)
    yield opened
    apsw.connection_hooks.remove(note_file)


def test_a_flow_opens_its_store_a_few_times_and_reads_its_recipe_once(
    tmp_path: Path, openings: list[str]
) -> None:
    root = project(tmp_path)
    load._checked_spec.cache_clear()
    done = flow_runs.run(root, "feature", "members can cancel", "test", task_id="FEAT-7")
    assert (done.status, len(done.phases)) == ("done", len(PHASES))
    assert len(openings) <= 6
    assert load._checked_spec.cache_info().misses == 1


def test_a_flow_that_goes_on_opens_its_store_a_few_times(
    tmp_path: Path, openings: list[str]
) -> None:
    root = project(tmp_path)
    stopped = flow_runs.run(root, "feature", "cancel", "test", task_id="FEAT-7", stop_at_gates=True)
    assert stopped.status == "stopped"
    openings.clear()
    assert flow_runs.resume(root, stop_at_gates=False).status == "done"
    assert len(openings) <= 6


def test_what_a_flow_is_run_with_travels_as_json_and_comes_back_as_it_was() -> None:
    data = to_json(WHOLE)
    assert from_json(data) == WHOLE
    assert from_json({**data, "flow": {"name": 3}}) is None
    assert from_json("nonsense") is None
