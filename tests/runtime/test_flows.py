"""Flows as a library runs them: order, artifacts, checkpoints, gates, failures, and going on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier

import pytest

from foreword.errors import CyclicFlow, UnknownName, UsageError
from foreword.runtime import flows
from foreword.runtime.artifacts import looked_up
from foreword.runtime.flow_status import FlowStatus
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
from foreword.workflow.flow import Flow, Phase
from tests.runtime.flowing import ARTIFACTS, DIFF, PHASES, Agent, checkpoints, kept, phase_of, project

TASK = "members can cancel a turn"


def states(found: FlowStatus) -> dict[str, str]:
    return {phase.phase: phase.status for phase in found.phases}


def request_of(provider: FakeProvider, phase: str) -> str:
    """All that was sent to the model for a phase."""
    return next(json.dumps(body, ensure_ascii=False) for body in provider.requests if phase_of(body) == phase)


def test_a_flow_asks_every_phase_once_and_keeps_what_each_hands_on(tmp_path: Path) -> None:
    """3a and 3b each wait until the other was asked: one after the other would never end."""
    root, agent, meet = project(tmp_path), Agent(), Barrier(2, timeout=60)
    agent.replies = {phase: lambda phase=phase: agent.texts[phase][meet.wait() * 0] for phase in ("3a", "3b")}  # type: ignore[misc]
    with fake_provider(agent) as provider:
        done = flows.run(root, "feature", TASK, provider.openai, task_id="FEAT-7")
    assert done.status == "done"
    assert states(done) == dict.fromkeys(PHASES, "done")
    assert agent.asked == dict.fromkeys(PHASES, 1)
    assert kept(root, None, done.run) == {ARTIFACTS[phase]: agent.texts[phase][0] for phase in PHASES}
    written = checkpoints(root, "FEAT-7")
    assert {one["sequence"] for one in written.values()} == {1, 2, 3, 4, 5}
    assert written["4"]["done"] == list(PHASES)
    assert written["2"]["pending"] == ["3a", "3b", "4"]
    assert flows.status(root)[0] == done
    # Earlier artifacts are references: their names are in the context, their words are not.
    fourth = request_of(provider, "4")
    assert "[FEAT-1]" in fourth
    assert "tokens" in fourth
    assert "answer number 1" not in fourth


def test_a_long_artifact_is_looked_up_within_its_budget(tmp_path: Path) -> None:
    root = project(tmp_path)
    long = "\n\n".join(f"Paragraph {number} is about station {number} and its tide." for number in range(2_000))
    flow = Flow("one", "prompts/workflows/feature.md", (Phase("1", "Requirements", artifact="FEAT-1"),))
    with fake_provider(long) as provider:
        done = flows.run(root, flow, TASK, provider.openai)
    found = looked_up(None, root, done.run, "FEAT-1", about="station 1234", most_tokens=300)
    assert "station 1234 " in found
    assert "left out" in found
    assert len(found) < 2_000
    with pytest.raises(UnknownName, match="unknown artifact 'FEAT-9'"):
        looked_up(None, root, done.run, "FEAT-9")


def test_a_phase_that_fails_is_named_and_only_it_is_asked_again(tmp_path: Path) -> None:
    root = project(tmp_path)
    agent = Agent({"3a": lambda: Reply("the disk is full", status=400)})
    with fake_provider(agent) as provider:
        failed = flows.run(root, "feature", TASK, provider.openai, task_id="FEAT-7", attempts=1)
        assert failed.status == "failed"
        assert states(failed) == {"1": "done", "2": "done", "3a": "failed", "3b": "done", "4": "pending"}
        assert "the disk is full" in failed.why
        with pytest.raises(UsageError, match="FEAT-7 has a flow that is failed"):
            flows.run(root, "feature", TASK, provider.openai, task_id="FEAT-7")
        agent.replies.clear()
        done = flows.resume(root)
    assert done.status == "done"
    assert done.attempt == 2
    assert agent.asked == {"1": 1, "2": 1, "3a": 2, "3b": 1, "4": 1}
    assert {one["sequence"] for one in checkpoints(root, "FEAT-7").values()} == {1, 2, 3, 4, 5}
    with pytest.raises(UsageError, match="no flow that is not done"):
        flows.resume(root)


def test_a_model_that_answers_nothing_fails_the_phase(tmp_path: Path) -> None:
    agent = Agent({"1": lambda: "   "})
    with fake_provider(agent) as provider:
        failed = flows.run(project(tmp_path), "feature", TASK, provider.openai, attempts=1)
    assert failed.status == "failed"
    assert "phase 1: " in failed.why


def test_a_checkpoint_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".checkpoints").write_text("in the way")
    failed = flows.run(root, "feature", TASK, "test", task_id="FEAT-7")
    assert failed.status == "failed"
    assert ".checkpoints can't be used" in failed.why
    (root / ".checkpoints").unlink()
    assert flows.resume(root, "FEAT-7").status == "done"
    written = checkpoints(root, "FEAT-7")
    assert {phase: one["sequence"] for phase, one in written.items()} == {"1": 1, "2": 2, "3a": 3, "3b": 4, "4": 5}


def test_a_flow_stops_at_gates_and_later_agents_look_up_what_earlier_ones_made(tmp_path: Path) -> None:
    root = project(tmp_path)
    calls: Iterator[str | Reply] = iter([Reply(tool_calls=[ToolCall("lookup", {"name": "[FEAT-1]"})]), "built on it"])
    agent = Agent({"2": lambda: next(calls)})
    with fake_provider(agent) as provider:
        stopped = flows.run(root, "feature", TASK, provider.openai, stop_at_gates=True)
        assert (stopped.status, stopped.why) == ("stopped", "at the gate after phase 1")
        assert agent.asked == {"1": 1}
        stopped = flows.resume(root)
        assert (stopped.status, stopped.why) == ("stopped", "at the gate after phase 2")
        first, second = [json.dumps(body) for body in provider.requests if phase_of(body) == "2"]
        assert agent.texts["1"][0] not in first
        assert agent.texts["1"][0] in second
        done = flows.resume(root, stop_at_gates=False)
    assert done.status == "done"
    assert agent.asked == {**dict.fromkeys(PHASES, 1), "2": 2}


def test_a_phase_with_a_panel_has_the_panel_look_at_the_change(tmp_path: Path) -> None:
    root, agent = project(tmp_path), Agent()
    agent.replies["panel"] = lambda: json.dumps({"findings": [], "confidence": 0.9})
    with fake_provider(agent) as provider:
        done = flows.run(root, "feature", TASK, provider.openai, diff=DIFF.read_text(), diff_source="change.diff")
    assert done.status == "done"
    assert agent.asked["4"] == 0
    assert agent.asked["panel"] > 1
    result = json.loads(kept(root, None, done.run)["FEAT-5"])
    assert result["verdict"] == "approve"


def test_bad_flows_are_refused_before_anything_is_kept(tmp_path: Path) -> None:
    root = project(tmp_path)
    circle = Flow("circle", "f.md", (Phase("1", "a"), Phase("2", "b", ("1", "3")), Phase("3", "c", ("2",))))
    with pytest.raises(CyclicFlow, match="2 -> 3 -> 2"):
        flows.run(root, circle, TASK, "test")
    with pytest.raises(UnknownName, match="unknown phase '9'"):
        flows.run(root, Flow("f", "f.md", (Phase("1", "a", ("9",)),)), TASK, "test")
    with pytest.raises(UsageError, match="has no phases"):
        flows.run(root, Flow("f", "f.md", ()), TASK, "test")
    with pytest.raises(UnknownName, match="unknown workflow 'featur'"):
        flows.run(root, "featur", TASK, "test")
    with pytest.raises(UsageError, match="the task is empty"):
        flows.run(root, "feature", "  ", "test")
    with pytest.raises(UsageError):
        flows.run(root, "feature", TASK, "no-such-provider:model")
    with pytest.raises(UnknownName, match="unknown flow 'nothing'"):
        flows.status(root, "nothing")
    assert not (root / ".foreword" / "flows.db").exists()
    assert flows.status(root) == []
