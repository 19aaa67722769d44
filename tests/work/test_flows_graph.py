"""Flows are graphs: a phase waits for those it names and for no other."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from threading import Barrier, Event

import pytest

from foreword.errors import UsageError
from foreword.store.urls import open_database
from foreword.testing import Reply, fake_provider
from foreword.tokens import calibrated, counter
from foreword.work import flow_runs
from foreword.work.flow_status import FlowStatus
from foreword.work.run_status import RunStatus
from tests.factory import answer
from tests.patience import PATIENCE_SECONDS
from tests.work.flow_scene import DIFF, Agent, checkpoints, project, workflow

MEMBERS = 5  # of the panel `code-review`
NOTHING_FOUND = answer()


def states(found: FlowStatus) -> dict[str, str]:
    return {phase.phase: phase.status for phase in found.phases}


def test_the_far_end_of_a_quick_branch_does_not_wait_for_a_slow_one(tmp_path: Path) -> None:
    """2b answers only when 4, behind 3 and 2a, was asked; 5 waits for both branches."""
    root = project(tmp_path)
    far = Event()
    name = workflow(root, "diamond", p1="", p2a="p1", p2b="p1", p3="p2a", p4="p3", p5="p4 p2b")

    def far_end() -> str:
        far.set()
        return "far"

    agent = Agent(
        {"2b": lambda: "slow" if far.wait(PATIENCE_SECONDS) else Reply(status=400), "4": far_end}
    )
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, name, "t", provider.openai, attempts=1)
    assert states(done) == dict.fromkeys(("1", "2a", "2b", "3", "4", "5"), "done")
    assert agent.asked == dict.fromkeys(("1", "2a", "2b", "3", "4", "5"), 1)


def test_panels_that_wait_for_nothing_of_each_other_sit_at_the_same_time_and_beside_a_phase(
    tmp_path: Path,
) -> None:
    """Nobody is answered before everybody was asked."""
    root = project(tmp_path)
    meet = Barrier(2 * MEMBERS + 1, timeout=PATIENCE_SECONDS)
    statuses: list[RunStatus] = []
    name = workflow(root, "panels", p1a="panel gate", p1b="panel", p1c="", p2="p1a p1b p1c")
    agent = Agent(dict.fromkeys(("panel", "1c"), lambda: NOTHING_FOUND if meet.wait() >= 0 else ""))
    with fake_provider(agent) as provider:
        done = flow_runs.run(
            root,
            name,
            "t",
            provider.openai,
            diff=DIFF.read_text(),
            attempts=1,
            watch=statuses.extend,
            timeout_seconds=PATIENCE_SECONDS,
        )
    assert states(done) == dict.fromkeys(("1a", "1b", "1c", "2"), "done")
    assert [phase.verdict for phase in done.phases] == ["approve", "approve", "", ""]
    assert agent.asked == {"panel": 2 * MEMBERS, "1c": 1, "2": 1}
    answered = [one for one in statuses if one.status == "answered"]
    assert len({one.agent for one in answered if one.title == "Part 1a"}) == MEMBERS
    assert len({one.agent for one in answered if one.title == "Part 1b"}) == MEMBERS


def test_a_panel_under_way_is_shown_as_running(tmp_path: Path) -> None:
    root = project(tmp_path)
    found_states: list[dict[str, str]] = []
    name = workflow(root, "panels", p1="panel")

    def look() -> str:
        found_states.append(states(flow_runs.status(root)[0]))
        return NOTHING_FOUND

    with fake_provider(Agent({"panel": look})) as provider:
        flow_runs.run(root, name, "t", provider.openai, diff=DIFF.read_text())
    assert found_states == [{"1": "running"}] * MEMBERS


def test_a_failure_stops_what_waits_for_it_and_nothing_else(tmp_path: Path) -> None:
    root = project(tmp_path)
    failed = Event()
    name = workflow(root, "branches", p1="", p2a="p1", p2b="p1", p3a="p2a", p3b="p2b", p4="p3a p3b")

    def fail() -> Reply:
        failed.set()
        return Reply("no more paper", status=400)

    agent = Agent(
        {"2a": fail, "2b": lambda: "after it failed" if failed.wait(PATIENCE_SECONDS) else ""}
    )
    with fake_provider(agent) as provider:
        first = flow_runs.run(root, name, "t", provider.openai, attempts=1)
        assert first.status == "failed"
        assert states(first) == {
            "1": "done",
            "2a": "failed",
            "2b": "done",
            "3a": "pending",
            "3b": "done",
            "4": "pending",
        }
        assert "no more paper" in first.why
        with pytest.raises(UsageError, match=f"{first.task} has a flow that is failed"):
            flow_runs.run(root, name, "t", provider.openai, task_id=first.task)
        agent.replies.clear()
        done = flow_runs.resume(root)
    assert done.attempt == 2
    assert len(checkpoints(root, done.task)) == 6
    with pytest.raises(UsageError, match="no flow that is not done"):
        flow_runs.resume(root)
    assert states(done) == dict.fromkeys(("1", "2a", "2b", "3a", "3b", "4"), "done")
    assert agent.asked == {"1": 1, "2a": 2, "2b": 1, "3a": 1, "3b": 1, "4": 1}


def test_behind_a_gate_nothing_begins_and_other_branches_end(tmp_path: Path) -> None:
    root = project(tmp_path)
    agent = Agent()
    name = workflow(
        root, "gates", p1a="gate", p1b="", p2a="p1a", p2b="p1b", p3b="p2b gate", p4="p2a p3b"
    )
    with fake_provider(agent) as provider:
        first = flow_runs.run(root, name, "t", provider.openai, stop_at_gates=True)
        assert (first.status, first.why) == ("stopped", "at the gate after phase 1a, 3b")
        assert states(first) == {
            "1a": "done",
            "1b": "done",
            "2a": "pending",
            "2b": "done",
            "3b": "done",
            "4": "pending",
        }
        done = flow_runs.resume(root)
    assert done.status == "done"
    assert set(agent.asked.values()) == {1}


def test_a_gate_is_told_beside_a_failure(tmp_path: Path) -> None:
    root = project(tmp_path)
    name = workflow(root, "gates", p1a="gate", p1b="", p2="p1a p1b")
    with fake_provider(Agent({"1b": lambda: Reply("out of ink", status=400)})) as provider:
        first = flow_runs.run(root, name, "t", provider.openai, stop_at_gates=True, attempts=1)
    assert first.status == "failed"
    assert "out of ink" in first.why
    assert first.why.endswith("; at the gate after phase 1a")


def test_what_was_charged_is_told_by_model_and_corrects_the_estimate(tmp_path: Path) -> None:
    """A phase has tools, whose descriptions are charged for, too; the members of a panel have
    none, and the schema of their answers is counted."""
    root = project(tmp_path)
    name = workflow(root, "panels", p1="panel", p2="p1")
    with fake_provider(Agent({"panel": lambda: NOTHING_FOUND})) as provider:
        done = flow_runs.run(root, name, "t", provider.openai, diff=DIFF.read_text())
        (usage,) = done.to_dict()["usage"].values()
    assert usage["answers"] == MEMBERS + 1
    assert usage["input_tokens"] > usage["charged_tokens"] > 0
    pair = (usage["counted_tokens"], usage["charged_tokens"])
    corrected = calibrated(counter("estimate"), [pair])
    assert corrected.count("x" * 4 * usage["counted_tokens"]) >= usage["charged_tokens"]
    assert corrected.name == "calibrated"


def test_a_context_that_is_only_tried_leaves_no_report(tmp_path: Path) -> None:
    root = project(tmp_path)
    with fake_provider(Agent()) as provider:
        flow_runs.run(root, "feature", "t", provider.openai, warn=print)
    with closing(open_database(None, root)) as store:
        assert store.rows("SELECT count(*) FROM reports") == [(5,)]
