"""The fields of a state file and the tasks that are done, however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.recipe.load import load
from foreword.sources.locate import current_folder, field_of, pending_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("**Current step:** PDF generation", "PDF generation"),
        ("- current step : `02-pdf`  \r\nother: x", "02-pdf"),
        ("# State\n\n> Current step: 3 (of 5)!", "3 (of 5"),
        ("Current step:\nNext: x", ""),
        ("Current step: --\nCurrent step: 4", "4"),
        ("The current step: x", ""),
        ("", ""),
    ],
)
def test_a_field_is_read_from_its_own_line(text: str, value: str) -> None:
    assert field_of(text, "Current step") == value


@pytest.mark.parametrize("filler", ["\n", "-", " \n", "x -", "Current step", "Current step:\n"])
def test_a_long_state_file_costs_no_time(filler: str) -> None:
    assert field_of(filler * 200_000 + "\nCurrent step: 4" + "!" * 200_000, "Current step") == "4"


@pytest.mark.parametrize(
    ("name", "text", "is_done"),
    [
        ("01-form.done.md", "# Form", True),
        ("01-form.DONE.md", "# Form", True),
        ("01-form_DONE.md", "# Form", True),
        ("[done] 01-form.md", "# Form", True),
        ("01-form (done).md", "# Form", True),
        ("01-form.md", "---\nstatus: Done\n---\n# Form", True),
        ("01-form.md", "# Form\n\n**Status:** completed\n", True),
        ("01-form.md", "# Form\n\nStatus: done when it is green\n", False),
        ("01-form.md", "# Form\n\n**Status:** in progress\n", False),
        ("01-mark-as-done.md", "# Mark as done", False),
    ],
)
def test_a_task_is_done_by_its_name_or_by_its_status(
    tmp_path: Path, name: str, text: str, is_done: bool
) -> None:
    done_names = load("director", tmp_path).locate["task"].leave_out
    (tmp_path / name).write_text(text)
    assert pending_in(tmp_path, "*.md", done_names) == ([] if is_done else [name])


def test_a_state_file_that_is_not_there_is_not_said_to_name_another_step(tmp_path: Path) -> None:
    step = tmp_path / ".director/goals/01-a/01-b"
    (step / "tasks").mkdir(parents=True)
    (step / "STEP.md").write_text("# Step 1")
    (step / "tasks/01-c.md").write_text("# Task")
    how = load("director", tmp_path).locate["step"]
    found = current_folder(
        tmp_path,
        how.among or "",
        named_in=how.named_in,
        pending=how.pending or "",
        leave_out=how.leave_out,
    )
    assert found.note.startswith(".director/STATE.md: missing; took the first")
    (tmp_path / ".director/STATE.md").write_text("Current step: Harbour\n")
    found = current_folder(
        tmp_path,
        how.among or "",
        named_in=how.named_in,
        pending=how.pending or "",
        leave_out=how.leave_out,
    )
    assert found.note.startswith(".director/STATE.md names no folder we know")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("| Field | Value |\n|---|---|\n| **Current step** | PDF | since May |", "PDF"),
        ("Current step: [PDF export](goals/01/02-pdf/STEP.md)", "PDF export"),
    ],
)
def test_a_field_may_be_a_row_of_a_table_or_a_link(text: str, value: str) -> None:
    assert field_of(text, "Current step") == value


@pytest.mark.parametrize(
    ("line", "is_done"),
    [
        ("- [x] Task 2: Shrink photos", True),
        ("- [X] **Shrink photos** -- on the phone, before they are stored", True),
        ("2. [x] Aufgabe 2: Shrink photos", True),
        ("* [x] Task 2", True),
        ("- [x] 02 Shrink photos (3 May)", True),
        ("- [x] [small pictures](tasks/02-shrink.md)", True),
        ("- [x] `02-shrink`", True),
        ("| 2 | Shrink photos | \u2705 Done |", True),
        ("| Shrink photos | [x] |", True),
        ("- [ ] Shrink photos", False),
        ("| 2 | Shrink photos | in progress |", False),
        ("- [x] Step 2: The form works", False),
        ("- [x] Ask which photos to shrink (2)", False),
        ("2. [x] The form works", False),
    ],
)
def test_a_task_is_done_where_its_step_ticks_it_off(
    tmp_path: Path, line: str, is_done: bool
) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/02-shrink.md").write_text("# Task 2: Shrink photos\n\nBefore they go.\n")
    (tmp_path / "STEP.md").write_text(f"# Photos\n\n{line}\n")
    pending = pending_in(tmp_path, "tasks/*.md", (), ticked_in="STEP.md")
    assert pending == ([] if is_done else ["tasks/02-shrink.md"])
