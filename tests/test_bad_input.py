"""Bad input: each gets one clear error that says what to do, or a reported skip, and leaves
nothing half-written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import foreword
from foreword.errors import InputMissing, UnknownName
from foreword.store.locations import register, state_path
from tests.command import foreword as command

pytestmark = pytest.mark.attack

VISION = "# Vision\n\nA booking system for a small harbour.\n"
STEP = "# Step 1: Berths\n\n## What This Delivers\n\nSkippers book a berth.\n"
TASK = "# Task: Berth page\n\n## What To Do\n\nShow the free berths on a page.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    step = root / ".director/goals/01-booking/01-berths"
    (step / "tasks").mkdir(parents=True)
    (root / ".director/VISION.md").write_text(VISION)
    (step / "STEP.md").write_text(STEP)
    (step / "tasks/01-page.md").write_text(TASK)
    return root


def task_file(project: Path) -> Path:
    return project / ".director/goals/01-booking/01-berths/tasks/01-page.md"


# --- names and numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        ("assemble directr", "unknown recipe 'directr', did you mean 'director'?", "director"),
        ("assemble director --agent bulider", "did you mean 'builder'?", "planner"),
        ("assemble director --skill brainstrom", "did you mean 'brainstorm'?", "blueprint"),
        ("assemble package --purpose reviw --source -", "did you mean 'review'?", "handoff"),
        ("assemble phases --phase testin --source -", "did you mean 'testing'?", "planning"),
        ("assemble director", "agent or skill is missing", "--agent"),
        ("assemble package", "purpose is missing", "--purpose"),
        ("assemble package --purpose review", "source is missing", "--source"),
        ("assemble director --agent builder --budget 0", "budget must be", "--budget"),
        ("assemble director --agent builder --budget -5", "budget must be", "--budget"),
        ("assemble director --agent builder --budget lots", "budget must be", "--budget"),
        ("assemble director --agent builder --window 1.5", "window must be", "--window"),
        ("assemble director --agent builder --counter o20k", "did you mean 'o200k'?", "estimate"),
        ("assemble director --agent builder --model gtp-4o", "unknown model", "gpt-4o"),
        ("assemble director --agent builder --root nowhere", "no such folder", "--root"),
        ("assemble director --agent builder --bugdet 5", "--bugdet", "--help"),
        ("asemble", "unknown command 'asemble', did you mean 'assemble'?", "--help"),
        ("count nowhere.md", "nowhere.md", "check the name"),
    ],
)
def test_wrong_use_is_one_error_line_one_hint_and_exit_2(
    project: Path, words: str, says: str, hint: str
) -> None:
    ran = command(*words.split(), cwd=project)
    assert ran.code == 2
    assert ran.out == ""
    lines = ran.err.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "hint"]
    assert says in lines[0]
    assert hint in lines[1]
    assert not state_path(project).exists()


def test_why_answers_even_where_there_is_no_context(project: Path) -> None:
    ran = command(
        "why",
        "director",
        "--agent",
        "builder",
        "--budget",
        "20",
        "--about",
        "recent_changes",
        cwd=project,
    )
    assert ran.code == 1
    assert "recent_changes: not in" in ran.out
    assert "essential sections need" in ran.out


def test_why_about_something_unknown_suggests_a_name(project: Path) -> None:
    ran = command("why", "director", "--agent", "builder", "--about", "recent_chnges", cwd=project)
    assert ran.code == 2
    assert "did you mean 'recent_changes'?" in ran.err


# --- task and step --------------------------------------------------------------------------------


def test_a_project_without_any_plan_is_an_error_for_a_builder(tmp_path: Path) -> None:
    (tmp_path / ".director").mkdir()
    with pytest.raises(InputMissing, match="task is missing"):
        foreword.assemble("director", root=tmp_path, agent="builder")


def test_a_syncer_without_a_step_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".director").mkdir()
    (tmp_path / ".director/VISION.md").write_text(VISION)
    with pytest.raises(InputMissing, match="current_step is missing"):
        foreword.assemble("director", root=tmp_path, agent="syncer")


# --- files ----------------------------------------------------------------------------------------


def absence_reason(project: Path, tag: str) -> str:
    report = foreword.assemble("director", root=project, agent="builder", save=False).report
    return next(gap.reason for gap in report.absent if gap.tag == tag)


def test_a_symlink_that_leads_out_of_the_root_is_a_reported_skip(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nkey 12345\n")
    (project / ".director/VISION.md").unlink()
    (project / ".director/VISION.md").symlink_to(tmp_path / "secret.md")
    package = foreword.assemble("director", root=project, agent="builder", save=False)
    assert "12345" not in package.text
    assert "outside" in absence_reason(project, "vision")


def test_a_folder_in_place_of_a_file_is_a_reported_skip(project: Path) -> None:
    (project / ".director/VISION.md").unlink()
    (project / ".director/VISION.md").mkdir()
    assert absence_reason(project, "vision")


def test_a_fifo_in_place_of_a_file_does_not_hang(project: Path) -> None:
    (project / ".director/VISION.md").unlink()
    os.mkfifo(project / ".director/VISION.md")
    assert absence_reason(project, "vision")


def test_text_that_is_not_utf_8_is_read_and_reported(project: Path) -> None:
    (project / ".director/VISION.md").write_bytes("# Vision\n\nFür Häfen.\n".encode("latin-1"))
    package = foreword.assemble("director", root=project, agent="builder", save=False)
    assert "Für Häfen." in package.text
    assert any("UTF-8" in warning for warning in package.report.warnings)


def test_crlf_stays_as_it_is(project: Path) -> None:
    (project / ".director/VISION.md").write_bytes(b"# Vision\r\n\r\nA harbour.\r\n")
    assert (
        "# Vision\r\n\r\nA harbour.\r\n"
        in foreword.assemble("director", root=project, agent="builder").text
    )


def test_a_line_of_many_megabytes_is_cut_to_the_budget_and_recalled_whole(project: Path) -> None:
    words = 2_500_000 if os.environ.get("FOREWORD_SOAK") else 400_000
    step = task_file(project).parents[1] / "STEP.md"
    step.write_text("# Step 1: Berths\n\n" + "berth free at noon, " * words)
    package = foreword.assemble("director", root=project, agent="builder", budget=2_000)
    row = next(row for row in package.report.sections if row.tag == "current_step")
    assert row.form == "summary"
    assert package.report.total_tokens <= 2_000
    omission = next(
        omission for omission in package.report.omissions if omission.tag == "current_step"
    )
    assert len(foreword.recall(omission.handle, root=project)) > 20 * words


# --- recipes --------------------------------------------------------------------------------------

GOOD = "name: mine\nsections:\n  notes: {file: NOTES.md}\n"


@pytest.mark.parametrize(
    ("recipe", "place", "says"),
    [
        ("name: mine\nsections: [", "", "not valid YAML"),
        ("- a\n- b\n", ":1", "a recipe is a mapping"),
        ("name: mine\n", ":1", "'sections' is missing"),
        (
            GOOD + "agents:\n  one: {sections: [ntoes]}\n",
            ":5:",
            "unknown section 'ntoes', did you mean 'notes'?",
        ),
        (GOOD + "gives_way: [nots]\n", ":4:", "did you mean 'notes'?"),
        (
            "name: mine\nsections:\n  notes: {file: A.md, essental: true}\n",
            ":3:",
            "did you mean 'essential'?",
        ),
        ("name: mine\nsections:\n  notes: {file: A.md, target: 10 percent}\n", ":3:", "5-10%"),
        ("name: mine\nsections:\n  notes: {file: A.md, forms: [full, sumary]}\n", ":3:", "forms"),
        ("name: mine\nsections:\n  notes: {file: A.md, text: b}\n", ":3:", "exactly one of"),
        ("name: mine\nsections:\n  Notes: {file: A.md}\n", ":3:", "lower-case"),
        ("name: mine\nname: yours\nsections:\n  notes: {file: A.md}\n", ":2:", "twice"),
        ("name: mine\nextends: mine\n" + GOOD.split("\n", 1)[1], ":2:", "extends itself"),
        ("name: mine\nextends: directr\n", ":2:", "did you mean 'director'?"),
    ],
)
def test_a_bad_recipe_is_an_error_with_file_line_and_what_was_meant(
    tmp_path: Path, recipe: str, place: str, says: str
) -> None:
    folder = tmp_path / "foreword/recipes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(recipe)
    ran = command("assemble", "mine", cwd=tmp_path)
    assert ran.code == 2
    assert f"mine.yaml{place}" in ran.err
    assert says in ran.err
    linted = command("lint", cwd=tmp_path)
    assert linted.code == 1
    assert f"mine.yaml{place}" in linted.out


def test_two_recipes_that_extend_each_other_are_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "foreword/recipes"
    folder.mkdir(parents=True)
    (folder / "one.yaml").write_text("name: one\nextends: two\n" + GOOD.split("\n", 1)[1])
    (folder / "two.yaml").write_text("name: two\nextends: one\n")
    ran = command("assemble", "one", cwd=tmp_path)
    assert ran.code == 2
    assert "extends itself" in ran.err


# --- the store ------------------------------------------------------------------------------------


def test_an_unknown_handle_exits_1_and_says_where_it_looked(tmp_path: Path) -> None:
    ran = command("recall", "fw_0123456789abcd", cwd=tmp_path)
    assert ran.code == 1
    assert "no original is kept under 'fw_0123456789abcd'" in ran.err


def test_a_damaged_store_is_an_error_that_names_it(project: Path) -> None:
    register(project)
    state_path(project).write_bytes(b"this is not a database, it is a long enough text" * 100)
    ran = command("assemble", "director", "--agent", "builder", cwd=project)
    assert ran.code == 1
    assert "state.db" in ran.err
    assert "Traceback" not in ran.err


def test_unknown_names_carry_their_facts() -> None:
    with pytest.raises(UnknownName) as caught:
        foreword.assemble("nothing-like-it")
    assert caught.value.kind == "recipe"
    assert set(caught.value.known) >= {"director", "package", "phases"}


def test_json_on_stdout_is_only_json(project: Path) -> None:
    ran = command("assemble", "director", "--agent", "builder", "--format", "json", cwd=project)
    loaded = json.loads(ran.out)
    assert set(loaded) == {"text", "messages", "report"}
    assert "total" in ran.err


def test_a_source_may_be_given_as_data(tmp_path: Path) -> None:
    items = {"items": [{"kind": "task", "title": "T", "text": "Do it."}]}
    assert (
        "Do it." in foreword.assemble("package", root=tmp_path, purpose="review", source=items).text
    )
    assert (
        "Do it."
        in foreword.assemble("package", root=tmp_path, purpose="review", source=items["items"]).text
    )


@pytest.mark.parametrize("budget", ["12k", "12,000", "12_000", 12_000])
def test_a_budget_may_be_written_as_people_write_it(project: Path, budget: int | str) -> None:
    package = foreword.assemble(
        "director", root=project, agent="builder", budget=budget, save=False
    )
    assert package.report.budget_tokens == 12_000


@pytest.mark.parametrize("budget", [True, 1.5, "1e9", "9" * 400, 10**13, "k"])
def test_what_is_no_number_of_tokens_is_refused(project: Path, budget: object) -> None:
    with pytest.raises(foreword.UsageError, match="budget must be"):
        foreword.assemble("director", root=project, agent="builder", budget=budget)  # type: ignore[arg-type]


def test_a_budget_above_the_window_is_warned_of_and_the_window_stands(project: Path) -> None:
    report = foreword.assemble(
        "director", root=project, agent="builder", budget=9_000, window=5_000
    ).report
    assert report.budget.window_tokens == 5_000
    assert any("larger than the window" in warning for warning in report.warnings)


@pytest.mark.parametrize("root", ["~nobody-by-that-name/x", "nowhere", "\x00"])
def test_a_root_that_is_no_folder_is_refused(root: str) -> None:
    with pytest.raises(foreword.ForewordError):
        foreword.assemble("director", root=root, agent="builder")
