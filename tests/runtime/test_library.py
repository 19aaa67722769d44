"""The documents of a project, also while they change."""

from __future__ import annotations

from pathlib import Path

from foreword.runtime.factory import library_of, thresholds, thresholds_note
from tests.conformance.workshop import workshop
from tests.factory import write


def test_a_plan_that_vanishes_after_it_was_found_gives_way_to_the_next(tmp_path: Path) -> None:
    library = library_of(workshop(tmp_path))
    assert [document.name for document in library.of_kind("plan")] == ["1-old", "2-new"]
    (tmp_path / ".plans/2-new.md").unlink()
    newest = library.newest("plan")
    assert newest is not None
    assert newest.name == "1-old"


def test_a_profile_without_a_file_is_told_and_the_defaults_hold(tmp_path: Path) -> None:
    assert thresholds_note(workshop(tmp_path)) == ""
    write(tmp_path, "project.yaml", "name: x\nprofile: stern\n")
    assert thresholds_note(tmp_path) == "profile 'stern': no policy is called so, so the default thresholds hold"
    assert thresholds(tmp_path).profile == "stern"
    write(tmp_path, "project.yaml", "name: x\n")
    assert thresholds_note(tmp_path) == ""
