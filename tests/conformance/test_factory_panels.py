"""Panels of the factory (SPEC F9): in parallel, independent, each with its own limit, and one
result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from threading import Barrier
from typing import Any

import jsonschema
import pytest

import foreword
from foreword.models import ask
from foreword.review.panel_result import PanelResult, schema
from foreword.sources.diff_source import as_diff
from foreword.testing import Reply, ToolCall, fake_provider
from foreword.work import factory_project, panel_runs
from foreword.work.panel_runs import PanelRequest
from tests.factory import DIFF, answer, project
from tests.patience import PATIENCE_SECONDS, within_time

SAMPLE = Path(foreword.__file__).parent / "demos" / "factory"


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """What is imported on first use is there before any time limit begins."""
    with fake_provider("hello") as provider:
        ask(provider.openai, "", "hello")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copytree(SAMPLE, tmp_path / "factory")


def test_all_members_are_asked_at_the_same_time(tmp_path: Path) -> None:
    together = Barrier(8)

    def script(body: Mapping[str, Any]) -> str:
        together.wait(PATIENCE_SECONDS)  # nobody is answered before all have been asked
        return answer()

    root = project(tmp_path, [f"m{number}" for number in range(8)])
    with fake_provider(script) as provider:
        result = panel_runs.run(
            root,
            "review",
            as_diff(DIFF.encode(), "x"),
            PanelRequest(provider.openai, timeout_seconds=PATIENCE_SECONDS),
        )
    assert [member.status for member in result.members] == ["answered"] * 8


def test_members_of_one_panel_know_nothing_of_each_other(sample: Path) -> None:
    diff = as_diff((sample / "change.diff").read_bytes(), "change.diff")
    payload = panel_runs.prepare(sample, "code-review", diff, PanelRequest("test"))
    members = factory_project.read_panel(sample, "code-review").members
    for member, question in zip(members, payload["questions"], strict=True):
        others = [other for other in members if other is not member]
        assert member.text.strip() in question["instructions"]
        assert not any(other.name in question["instructions"] for other in others)
        assert question["request"] == f"<diff>\n{diff.text.strip()}\n</diff>\n"
        assert "chart datum" not in question["instructions"]  # tier 1
        # anchored
        assert "Never publish a forecast that failed its checks" in question["instructions"]
        assert re.findall(r"^<(\w+)>$", question["instructions"], re.MULTILINE) == [
            "instructions",
            "project",
            "profile",
            "persona",
        ]


def test_the_sample_is_reviewed_without_a_key(sample: Path) -> None:
    diff = as_diff((sample / "change.diff").read_bytes(), "change.diff")
    result = panel_runs.run(sample, "code-review", diff, PanelRequest("test"))
    jsonschema.validate(result.to_dict(), schema())
    assert result.verdict == "changes_requested"
    assert [(one.severity, one.file, one.line) for one in result.findings] == [
        ("critical", "tidepool/stations.py", 5),
        ("critical", "tidepool/stations.py", 21),
        ("low", "tidepool/stations.py", 34),
    ]
    assert all(len(one.said_by) == 5 for one in result.findings)


def test_who_does_not_answer_in_time_is_named_and_the_moderator_goes_on(tmp_path: Path) -> None:
    flaw = answer("Open kiln", severity="high")

    def script(body: Mapping[str, Any]) -> str | Reply:
        if "You are cleo" in json.dumps(body):
            return Reply(hangs=True)
        return Reply(tool_calls=[ToolCall("final_result", json.loads(flaw))])

    def attempt(seconds: float) -> PanelResult:
        root = project(tmp_path / f"{seconds:g}", ["anna", "bert", "cleo", "dora"])
        with fake_provider(script) as provider:
            return panel_runs.run(
                root,
                "review",
                as_diff(DIFF.encode(), "x"),
                PanelRequest(provider.anthropic, timeout_seconds=seconds, attempts=1),
            )

    result = within_time(attempt, lambda result: len(result.without_answer) == 1)
    assert [(member.name, member.status) for member in result.without_answer] == [("cleo", "late")]
    assert [one.said_by for one in result.findings] == [("anna", "bert", "dora")]


def test_the_sample_keeps_to_its_own_limits() -> None:
    panels_of_it = {
        name: factory_project.read_panel(SAMPLE, name)
        for name in factory_project.panel_names(SAMPLE)
    }
    assert {name: len(panel.members) for name, panel in panels_of_it.items()} == {
        "code-review": 5,
        "release": 3,
    }
    assert not any(panel.missing for panel in panels_of_it.values())
    assert [phase.name for phase in factory_project.read_flow(SAMPLE, "feature").phases] == [
        "1",
        "2",
        "3a",
        "3b",
        "4",
    ]
