"""The documents of a project, also while they change."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.errors import BadSource, UnknownName
from foreword.sources.library import library_of
from foreword.work.factory_project import active_profile
from tests.conformance.workshop import workshop
from tests.factory import forbid_listing, write


def test_a_plan_that_vanishes_after_it_was_found_gives_way_to_the_next(tmp_path: Path) -> None:
    library = library_of(workshop(tmp_path))
    assert [document.name for document in library.of_kind("plan")] == ["1-old", "2-new"]
    (tmp_path / ".plans/2-new.md").unlink()
    newest = library.newest("plan")
    assert newest is not None
    assert newest.name == "1-old"


def test_a_name_in_the_project_that_is_also_the_number_of_the_phase_is_not_what_was_asked_for(
    tmp_path: Path,
) -> None:
    write(workshop(tmp_path), "project.yaml", "name: x\nplan: '1'\n")
    shutil.rmtree(tmp_path / ".plans")
    assert (
        "there is no plan '1'"
        in foreword.assemble("factory", root=tmp_path, phase=1, save=False).report.notes
    )


def test_a_profile_that_is_not_there_is_an_error_and_without_one_the_defaults_hold(
    tmp_path: Path,
) -> None:
    write(workshop(tmp_path), "project.yaml", "name: x\nprofile: stern\n")
    with pytest.raises(UnknownName, match="unknown policy 'stern'"):
        active_profile(tmp_path)
    write(tmp_path, "project.yaml", "name: x\n")
    assert active_profile(tmp_path).name == "default"


@pytest.mark.parametrize(
    ("text", "problem"), [("thresholds: {high: [}\n", "YAML"), ("", "empty"), ("a: b\0", "binary")]
)
def test_a_profile_that_cannot_be_read_is_an_error(tmp_path: Path, text: str, problem: str) -> None:
    write(workshop(tmp_path), "project.yaml", "name: x\nprofile: stern\n")
    write(tmp_path, "policy/stern.yaml", text)
    with pytest.raises(BadSource, match=rf"policy/stern.yaml.*{problem}"):
        active_profile(tmp_path)


def test_folders_and_links_that_cannot_be_looked_into_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = workshop(tmp_path)
    shutil.rmtree(root / "docs")
    forbid_listing(root / "policy", monkeypatch)
    (root / "docs").symlink_to("docs")  # a loop
    notes = [
        "policy: unreadable: permission denied, left out",
        "docs: a symbolic link that leads nowhere, left out",
    ]
    assert set(notes) <= set(
        foreword.assemble("factory", root=root, phase=1, save=False).report.notes
    )
    assert set(notes) <= set(foreword.lookup("pot", root=root, save=False).report.notes)


def test_a_project_that_cannot_be_looked_into_says_so_instead_of_being_empty(
    tmp_path: Path,
) -> None:
    (tmp_path / "personas").symlink_to("personas")
    with pytest.raises(
        BadSource, match=r"no document .*; personas: a symbolic link that leads nowhere, left out"
    ):
        foreword.assemble("factory", root=tmp_path, save=False)


def test_a_context_lists_every_folder_of_documents_once_and_reads_every_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = workshop(tmp_path)
    listed, opened = Counter[str](), Counter[int]()
    scandir, os_open = os.scandir, os.open

    def count_listing(path: Path) -> Any:
        listed[os.path.relpath(path, factory)] += 1
        return scandir(path)

    def count_opening(path: Any, *args: Any, **options: Any) -> int:
        descriptor = os_open(path, *args, **options)
        opened[os.fstat(descriptor).st_ino] += 1
        return descriptor

    monkeypatch.setattr(os, "scandir", count_listing)
    monkeypatch.setattr(os, "open", count_opening)
    foreword.assemble("factory", root=factory, phase="1", save=False)
    monkeypatch.undo()
    assert listed["personas"] == listed["prompts"] == 1
    # once for the documents, once for the pattern of a section of files
    assert max(listed.values()) == 2
    times_read: dict[str, int] = {}
    for path in factory.rglob("*.*"):
        if path.is_file() and opened[path.stat().st_ino]:
            times_read[path.name] = opened[path.stat().st_ino]
    assert times_read["project.yaml"] == 1
    assert set(times_read.values()) == {1}
