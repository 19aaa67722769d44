"""Flows as a library runs them: order, artifacts, checkpoints, gates, failures, and going on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

import foreword
from foreword.errors import CyclicFlow, StoreError, UnknownName, UsageError
from foreword.plan.flow import Flow, Phase
from foreword.store.locations import project_directory
from foreword.store.urls import open_database
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
from foreword.work import flow_runs
from foreword.work.artifact_lookup import artifact_text, lookup_tool
from foreword.work.flow_status import FlowStatus
from foreword.work.run_status import RunStatus
from foreword.work.worker_process import run_worker
from tests.factory import answer
from tests.patience import PATIENCE_SECONDS
from tests.work.flow_scene import (
    ARTIFACTS,
    DIFF,
    PHASES,
    Agent,
    artifact_texts,
    checkpoints,
    phase_of,
    project,
)

TASK = "members can cancel a turn"
ONE = Flow(
    "one",
    "prompts/workflows/feature.md",
    (Phase(name="1", title="Requirements", artifact="FEAT-1"),),
)


def states(found: FlowStatus) -> dict[str, str]:
    return {phase.phase: phase.status for phase in found.phases}


def request_of(provider: FakeProvider, phase: str) -> str:
    """All that was sent to the model for a phase."""
    return next(
        json.dumps(body, ensure_ascii=False)
        for body in provider.requests
        if phase_of(body) == phase
    )


def test_a_flow_asks_every_phase_once_and_keeps_what_each_hands_on(tmp_path: Path) -> None:
    """3a and 3b each wait until the other was asked: one after the other would never end."""
    root = project(tmp_path)
    agent = Agent()
    meet = Barrier(2, timeout=PATIENCE_SECONDS)

    def together(phase: str) -> str:
        meet.wait()
        return agent.texts[phase][0]

    agent.replies = {phase: partial(together, phase) for phase in ("3a", "3b")}
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, "feature", TASK, provider.openai, task_id="FEAT-7")
    assert done.status == "done"
    assert states(done) == dict.fromkeys(PHASES, "done")
    assert agent.asked == dict.fromkeys(PHASES, 1)
    assert artifact_texts(root, None, done.run) == {
        ARTIFACTS[phase]: agent.texts[phase][0] for phase in PHASES
    }
    written = checkpoints(root, "FEAT-7")
    assert {one["sequence"] for one in written.values()} == {1, 2, 3, 4, 5}
    assert written["4"]["done"] == list(PHASES)
    assert {"0", "1"} <= written["4"]["tiers"].keys()
    assert written["2"]["pending"] == ["3a", "3b", "4"]
    assert flow_runs.status(root)[0] == done
    # Earlier artifacts are references: their names are in the context, their words are not.
    fourth = request_of(provider, "4")
    assert "[FEAT-1]" in fourth
    assert "tokens" in fourth
    assert "answer number 1" not in fourth


def test_tier_1_is_the_same_in_every_phase_and_what_changed_meanwhile_is_told(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    plan = next(iter(sorted((root / ".plans").glob("*.md"))))
    agent = Agent()

    def edit_plan() -> str:
        plan.write_text(plan.read_text() + "\nOne more word in the plan.\n")
        return agent.texts["1"][0]

    agent.replies = {"1": edit_plan}
    warnings: list[str] = []
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, "feature", TASK, provider.openai, warn=warnings.append)
    assert done.status == "done"
    (told,) = [warning for warning in warnings if "changed since the session began" in warning]
    assert plan.name in told
    contexts = [system_text(provider, phase) for phase in PHASES]
    tier_1, _, behind = contexts[0].partition("</plan>")
    assert "<plan>" in tier_1
    assert "<phase>" in behind
    assert all(context.startswith(f"{tier_1}</plan>") for context in contexts)
    assert not any("One more word" in context for context in contexts)


def system_text(provider: FakeProvider, phase: str) -> str:
    """The context that the agent of a phase was given."""
    body = next(body for body in provider.requests if phase_of(body) == phase)
    return str(body["messages"][0]["content"])


def test_a_long_artifact_is_looked_up_within_its_budget(tmp_path: Path) -> None:
    root = project(tmp_path)
    long = "\n\n".join(
        f"Paragraph {number} is about station {number} and its tide." for number in range(2_000)
    )
    with fake_provider(long) as provider:
        done = flow_runs.run(root, ONE, TASK, provider.openai)
    with closing(open_database(None, root)) as store:
        found = artifact_text(
            store, task=done.task, name="FEAT-1", about="station 1234", most_tokens=300
        )
        assert "station 1234 " in found
        assert re.match(r"<artifact>\n# \[FEAT-1\] .+, assistant phase 1\n", found)
        assert "left out" in found
        assert len(found) < 2_000
        with pytest.raises(UnknownName, match="unknown artifact 'FEAT-9'"):
            artifact_text(store, task=done.task, name="FEAT-9")


def test_agents_look_up_documents_where_the_project_is_on_their_machine(tmp_path: Path) -> None:
    root = project(tmp_path)
    calls: Iterator[str | Reply] = iter(
        [Reply(tool_calls=[ToolCall("lookup", {"name": "glossary"})]), "as it says"]
    )
    glossary = (root / "docs" / "glossary.md").read_text().splitlines()[-1]
    with fake_provider(Agent({"1": lambda: next(calls)})) as provider:
        done = flow_runs.run(root, ONE, TASK, provider.openai)
        first, second = [json.dumps(body, ensure_ascii=False) for body in provider.requests]
    assert done.status == "done"
    assert (glossary in first, glossary in second) == (False, True)
    with closing(open_database(None, root)) as store:
        near = lookup_tool(lambda: nullcontext(store), task=done.task, project=root)
        far = lookup_tool(lambda: nullcontext(store), task=done.task)
        assert glossary in near("glossary")
        assert near("[FEAT-1]") == far("feat-1")
        assert far("feat-1").endswith(", assistant phase 1\nas it says\n</artifact>")
        for tool, name in ((far, "glossary"), (near, "FEAT-9")):
            with pytest.raises(UnknownName, match=f"unknown artifact '{name}'"):
                tool(name)


def test_a_process_without_the_projects_folder_offers_artifacts_alone(tmp_path: Path) -> None:
    root = project(tmp_path)
    offered: dict[str, str] = {}
    question = {
        "model": "",
        "instructions": "",
        "request": "Hello.",
        "timeout_seconds": PATIENCE_SECONDS,
        "artifacts_of": "T",
    }
    with fake_provider("hello") as provider, run_worker(None, root) as engine:
        for agent, folder in (("near", root), ("far", tmp_path / "elsewhere")):
            engine.start(
                "answer",
                agent,
                {**question, "agent": agent, "model": provider.openai, "root": str(folder)},
            )
            assert engine.result(agent)["text"] == "hello"
            tool, recall = provider.requests[-1]["tools"]
            assert recall["function"]["name"] == "recall"
            offered[agent] = tool["function"]["description"]
    assert "document" in offered["near"]
    assert "document" not in offered["far"]


def test_what_is_amiss_is_said_before_anybody_is_asked_and_the_whole_task_is_sent_once(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    agent = Agent()
    said: list[str] = []
    settings = root / "project.yaml"
    settings.write_text(
        settings.read_text().replace("personas:", "personas:\n  - nobody-of-that-name", 1)
    )
    words = [f"Line {number} of what is to be done." for number in range(60)]

    def warn(line: str) -> None:
        assert not agent.asked
        said.append(line)

    reviewed = Flow(
        ONE.name,
        ONE.source,
        (Phase(name="1", title="Review", panel="personas/round_tables/code-review.md"),),
    )
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, reviewed, "\n".join(words), provider.openai, warn=warn)
        (asked,) = [json.dumps(body) for body in provider.requests]
    assert said.count("phase 1: panel code-review not run, no --diff given") == 1
    assert sum("nobody-of-that-name" in line for line in said) == 1
    assert len(said) == len(set(said))
    assert done.phases[0].note == "panel code-review not run, no diff was given"
    assert asked.count(words[59]) == 1


def test_a_name_that_has_checkpoints_is_refused_and_one_that_was_made_is_another_each_time(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    made = [flow_runs.run(root, ONE, TASK, "test").task for _ in range(2)]
    assert made == ["one-members-can-cancel-a-turn", "one-members-can-cancel-a-turn-2"]
    with pytest.raises(
        UsageError, match=f"task {made[0]} has checkpoints already, of flow-{made[0]}-"
    ):
        flow_runs.run(root, ONE, "something else", "test", task_id=made[0])
    assert len(flow_runs.status(root)) == 2


def test_a_name_that_another_folder_has_used_in_the_same_store_is_refused(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path}/shared.db"
    first, second = project(tmp_path / "first"), project(tmp_path / "second")
    flow_runs.run(first, ONE, TASK, "test", db, task_id="FEAT-7")
    with pytest.raises(UsageError, match="FEAT-7 has checkpoints already, of work whose files are"):
        flow_runs.run(second, ONE, TASK, "test", db, task_id="FEAT-7")


def test_a_model_that_answers_nothing_fails_the_phase(tmp_path: Path) -> None:
    agent = Agent({"1": lambda: "   "})
    with fake_provider(agent) as provider:
        failed = flow_runs.run(project(tmp_path), "feature", TASK, provider.openai, attempts=1)
    assert failed.status == "failed"
    assert "phase 1: " in failed.why


def test_checkpoints_that_can_not_be_written_are_an_error_before_anybody_is_asked(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    (root / ".checkpoints").write_text("in the way")
    with pytest.raises(StoreError, match=r"\.checkpoints can't be used"):
        flow_runs.run(root, ONE, TASK, "test", task_id="FEAT-7")
    assert flow_runs.status(root) == []


def test_a_checkpoint_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    root = project(tmp_path)
    folder = root / ".checkpoints"

    def in_the_way() -> str:
        folder.rmdir()
        folder.write_text("in the way")
        return "requirements"

    with fake_provider(Agent({"1": in_the_way})) as provider:
        failed = flow_runs.run(root, "feature", TASK, provider.openai, task_id="FEAT-7")
        assert failed.status == "failed"
        assert ".checkpoints can't be used" in failed.why
        folder.unlink()
        assert flow_runs.resume(root, "FEAT-7").status == "done"
    written = checkpoints(root, "FEAT-7")
    numbers = {phase: one["sequence"] for phase, one in written.items()}
    beside_each_other = {numbers.pop("3a"), numbers.pop("3b")}
    assert numbers == {"1": 1, "2": 2, "4": 5}
    assert beside_each_other == {3, 4}


def test_a_flow_stops_at_gates_and_later_agents_look_up_what_earlier_ones_made(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    calls: Iterator[str | Reply] = iter(
        [Reply(tool_calls=[ToolCall("lookup", {"name": "[FEAT-1]"})]), "built on it"]
    )
    agent = Agent({"2": lambda: next(calls)})
    with fake_provider(agent) as provider:
        stopped = flow_runs.run(root, "feature", TASK, provider.openai, stop_at_gates=True)
        assert (stopped.status, stopped.why) == ("stopped", "at the gate after phase 1")
        assert agent.asked == {"1": 1}
        told: list[RunStatus] = []
        stopped = flow_runs.resume(root, timeout_seconds=77, watch=told.extend)
        assert (stopped.status, stopped.why) == ("stopped", "at the gate after phase 2")
        assert stopped.phases[0].gate == "every requirement has a way to see it."
        assert stopped.order.timeout_seconds == 77
        assert {(one.agent, one.title) for one in told if one.status == "already done"} == {
            ("1", "Requirements")
        }
        assert {one.agent for one in told} == set(PHASES)
        first, second = [json.dumps(body) for body in provider.requests if phase_of(body) == "2"]
        assert agent.texts["1"][0] not in first
        assert agent.texts["1"][0] in second
        done = flow_runs.resume(root, stop_at_gates=False)
    assert done.status == "done"
    assert agent.asked == {**dict.fromkeys(PHASES, 1), "2": 2}


def test_a_panel_with_a_gate_must_approve_and_is_asked_again_after_the_change_was_mended(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    agent = Agent()
    titles = ["Hard-coded secret"]
    agent.replies["panel"] = lambda: answer(*titles, severity="critical", line=0)
    with fake_provider(agent) as provider:
        stopped = flow_runs.run(
            root, "feature", TASK, provider.openai, diff=DIFF.read_text(), diff_source="change.diff"
        )
        assert (stopped.status, stopped.why) == (
            "stopped",
            "phase 4: the panel says changes requested",
        )
        assert "FEAT-5" not in artifact_texts(root, None, stopped.run)
        last = stopped.phases[-1]
        assert (last.status, last.verdict) == ("rejected", "changes_requested")
        assert "Hard-coded secret" in foreword.recall(last.handle, root=root)
        asked = agent.asked["panel"]
        assert asked > 1
        titles.clear()
        done = flow_runs.resume(
            root, diff=DIFF.read_text().replace("secret", "word"), diff_source="HEAD~1"
        )
    assert (done.status, done.phases[-1].verdict) == ("done", "approve")
    assert agent.asked == {**dict.fromkeys(PHASES[:-1], 1), "panel": 2 * asked}
    result = json.loads(artifact_texts(root, None, done.run)["FEAT-5"])
    assert (result["verdict"], result["change"]["source"]) == ("approve", "HEAD~1")


def test_bad_flows_are_refused_before_anything_is_kept(tmp_path: Path) -> None:
    root = project(tmp_path)
    circle = Flow(
        "circle",
        "f.md",
        (
            Phase(name="1", title="a"),
            Phase(name="2", title="b", after=("1", "3")),
            Phase(name="3", title="c", after=("2",)),
        ),
    )
    with pytest.raises(CyclicFlow, match="2 -> 3 -> 2"):
        flow_runs.run(root, circle, TASK, "test")
    with pytest.raises(UnknownName, match="unknown phase '9'"):
        flow_runs.run(
            root, Flow("f", "f.md", (Phase(name="1", title="a", after=("9",)),)), TASK, "test"
        )
    with pytest.raises(UsageError, match=r"f\.md has no phases") as caught:
        flow_runs.run(root, Flow("f", "f.md", ()), TASK, "test")
    assert "<!-- PHASE:1 --> or `## Phase 1: Name`" in caught.value.hint
    with pytest.raises(UnknownName, match="unknown workflow 'featur'"):
        flow_runs.run(root, "featur", TASK, "test")
    with pytest.raises(UsageError, match="the task is empty"):
        flow_runs.run(root, "feature", "  ", "test")
    with pytest.raises(UsageError):
        flow_runs.run(root, "feature", TASK, "no-such-provider:model")
    with pytest.raises(UnknownName, match="unknown flow 'nothing'"):
        flow_runs.status(root, "nothing")
    assert not (project_directory(root) / "flows.db").exists()
    assert flow_runs.status(root) == []


def test_an_answer_with_two_names_is_found_under_both(tmp_path: Path) -> None:
    root = project(tmp_path)
    outputs = "### Outputs\n\n- [W-1a] the list\n- [W-1b] the map\n"
    phases = f"## Phase 1: Look\n\n{outputs}\n## Phase 2: Mend\n\nMend by [W-1b].\n"
    (root / "prompts/workflows/plain.md").write_text(f"# Workflow: Plain\n\n{phases}")
    agent = Agent()
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, "plain", task=TASK, model=provider.openai)
    assert states(done) == {"1": "done", "2": "done"}
    texts = artifact_texts(root, None, done.run)
    assert texts["W-1a"] == texts["W-1b"] == agent.texts["1"][0]
    assert "as [W-1a] and [W-1b]" in request_of(provider, "1")
    assert "[W-1b] Look" in request_of(provider, "2")


def test_a_phase_that_names_nothing_hands_its_answer_on_under_its_phase(tmp_path: Path) -> None:
    root = project(tmp_path)
    phases = "## Phase 1: Look\n\nLook.\n\n## Phase 2: Mend\n\nMend what phase 1 found.\n"
    (root / "prompts/workflows/plain.md").write_text(f"# Workflow: Plain\n\n{phases}")
    agent = Agent()
    with fake_provider(agent) as provider:
        done = flow_runs.run(root, "plain", task=TASK, model=provider.openai)
    assert states(done) == {"1": "done", "2": "done"}
    assert set(artifact_texts(root, None, done.run)) == {"phase 1", "phase 2"}
    assert "[phase 1] Look" in request_of(provider, "2")
    with closing(open_database(None, root)) as store:
        text = artifact_text(store, task=done.task, name="[phase 1]")
    assert agent.texts["1"][0] in text
