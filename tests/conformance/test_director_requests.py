"""What a request brings to the recipe `director` (SPEC D9, D16, D19, D20): a task in words, a step,
instructions, and a folder that is no such project."""

from __future__ import annotations

from pathlib import Path

import pytest

import foreword
from foreword.errors import InputMissing, UsageError
from tests.command import foreword as command_line
from tests.conformance.project import STEP, blocks, project


def test_a_folder_without_a_plan_is_an_error_with_a_hint_and_not_an_empty_context(
    tmp_path: Path,
) -> None:
    done = command_line("assemble", "director", "--agent", "planner", cwd=tmp_path)
    assert done.code == 2
    assert done.out == ""
    assert ".director is missing" in done.err
    assert "--root" in done.err


def test_a_folder_inside_of_a_project_is_told_where_the_project_is(tmp_path: Path) -> None:
    inside = project(tmp_path) / "src"
    inside.mkdir()
    with pytest.raises(InputMissing) as raised:
        foreword.assemble("director", root=inside, agent="planner")
    assert str(tmp_path) in raised.value.hint


def test_a_skill_with_a_text_of_its_own_needs_no_plan(tmp_path: Path) -> None:
    (tmp_path / "skills" / "brainstorm").mkdir(parents=True)
    (tmp_path / "skills" / "brainstorm" / "SKILL.md").write_text("# Think\n\nAsk first.\n")
    package = foreword.assemble("director", root=tmp_path, skill="brainstorm", save=False)
    assert "Ask first." in package.text


def test_d16_no_placeholder_of_the_recipe_reaches_a_person(tmp_path: Path) -> None:
    (tmp_path / ".director").mkdir()
    (tmp_path / ".director" / "VISION.md").write_text("# Vision\n\nA calendar for the pool.\n")
    for agent in ("planner", "deep_researcher", "interviewer"):
        report = foreword.assemble("director", root=tmp_path, agent=agent, save=False).report
        assert "{" not in str(report)
    planner = foreword.assemble("director", root=tmp_path, agent="planner", save=False).report
    assert "RESEARCH.md of the step" in str(planner)
    for agent in ("builder", "verifier", "researcher", "syncer"):
        with pytest.raises(UsageError) as raised:
            foreword.assemble("director", root=tmp_path, agent=agent, save=False)
        assert "{" not in raised.value.message + raised.value.hint


def test_the_task_may_be_said_in_words(tmp_path: Path) -> None:
    project(tmp_path)
    words = "Add a button to the page that shows the month."
    done = command_line("assemble", "director", "--agent", "builder", "--task", words, cwd=tmp_path)
    assert blocks(done.out)["task"].strip() == words
    assert "task type ui" in done.err
    assert "current_step" in blocks(done.out)


def test_a_task_file_that_is_not_there_is_an_error_and_not_the_task(tmp_path: Path) -> None:
    project(tmp_path)
    for name in ("tasks/nowhere.md", "nowhere.md"):
        with pytest.raises(UsageError):
            foreword.assemble("director", root=tmp_path, agent="builder", task=name)


def test_d20_instructions_of_the_call_stand_beside_the_agents_own(tmp_path: Path) -> None:
    project(tmp_path)
    own = blocks(foreword.assemble("director", root=tmp_path, agent="builder").text)["instructions"]
    note = tmp_path / "note.md"
    note.write_text("Use no new dependency.\n")
    for given in ("Use no new dependency.", str(note)):
        done = command_line(
            "assemble", "director", "--agent", "builder", "--instructions", given, cwd=tmp_path
        )
        told = blocks(done.out)["instructions"].strip()
        assert told.startswith(own.strip())
        assert told.endswith("Use no new dependency.")


def test_d20_a_recipe_without_a_place_for_instructions_says_so(tmp_path: Path) -> None:
    source = [{"kind": "task", "title": "Calendar", "text": "Show the month."}]
    report = foreword.assemble(
        "package", root=tmp_path, purpose="design", source=source, instructions="Be brief."
    ).report
    assert any("no place for instructions" in warning for warning in report.warnings)


def test_d19_a_deep_researcher_sent_for_a_step_gets_it_and_its_decisions_as_instructions(
    tmp_path: Path,
) -> None:
    project(tmp_path)
    step = (tmp_path / STEP / "STEP.md").read_text()
    without = foreword.assemble("director", root=tmp_path, agent="deep_researcher", save=False)
    assert step.splitlines()[0] not in without.text
    for given in (STEP, f"{STEP}/STEP.md", f"{STEP}/"):
        package = foreword.assemble(
            "director", root=tmp_path, agent="deep_researcher", step=given, save=False
        )
        told = blocks(package.text)
        assert list(told) == ["vision", "instructions"]
        assert step.strip() in told["instructions"]
        assert "locked decisions are followed" in told["instructions"]
        assert f"{STEP}/RESEARCH.md" in told["instructions"]
