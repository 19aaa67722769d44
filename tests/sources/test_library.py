"""The documents of a project, also while they change."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import foreword
from foreword.errors import AmbiguousName, BadSource, UnknownName
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
    ("text", "problem"), [("block: {conditions: [}\n", "YAML"), ("", "empty"), ("a: b\0", "binary")]
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


def test_a_name_that_several_files_share_is_refused_with_their_paths(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path, f"personas/{folder}/auditor.md", "# Persona: Auditor\n\n## Role\n\nx\n")
    write(tmp_path, "personas/b/reader.md", "# Persona: Reader\n\n## Role\n\nx\n")
    library = library_of(tmp_path)
    with pytest.raises(AmbiguousName, match="2 files of kind persona are called 'auditor'") as said:
        library.choose("auditor", "persona")
    assert "personas/a/auditor.md, personas/b/auditor.md" in said.value.hint
    beside = library.choose("auditor", "persona", near="personas/b/reader.md")
    assert beside is not None
    assert beside.path == "personas/b/auditor.md"
    by_path = library.choose("a/auditor.md", "persona")
    assert by_path is not None
    assert by_path.path == "personas/a/auditor.md"


def test_a_projects_own_file_stands_before_the_one_at_the_same_place_elsewhere(
    tmp_path: Path,
) -> None:
    for folder in ("", "governance/", ".ai/governance/"):
        write(tmp_path, f"{folder}templates/python/instructions.md", f"# Python of {folder}\n")
    found = library_of(tmp_path).choose("python", "language")
    assert found is not None
    assert found.path == "templates/python/instructions.md"


def test_the_name_in_front_matter_tells_namesakes_apart(tmp_path: Path) -> None:
    for folder in ("web", "data"):
        text = f"---\nname: {folder}-auditor\n---\n\n# Auditor\n\n## Role\n\nx\n"
        write(tmp_path, f"personas/{folder}/auditor.md", text)
    library = library_of(tmp_path)
    found = library.choose("Data Auditor", "persona")
    assert found is not None
    assert found.path == "personas/data/auditor.md"
    assert library.choose("nobody", "persona") is None


def test_the_newest_plan_is_the_one_that_git_has_last(tmp_path: Path) -> None:
    for name in ("new", "old"):
        write(tmp_path, f".plans/{name}.md", f"# {name}\n")
    git(tmp_path, "init", "-q")
    for minute, name in enumerate(("old", "new")):
        git(tmp_path, "add", f".plans/{name}.md")
        git(tmp_path, "commit", "-q", "-m", name, minute=minute)
    os.utime(tmp_path / ".plans/old.md")  # a clone sets every time anew
    plan = library_of(tmp_path).newest("plan")
    assert plan is not None
    assert plan.path == ".plans/new.md"
    write(tmp_path, ".plans/old.md", "# old, changed in the same minute\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "old", minute=1)
    changed = library_of(tmp_path).newest("plan")
    assert changed is not None
    assert changed.path == ".plans/old.md"
    write(tmp_path, ".plans/draft.md", "# Draft\n")
    draft = library_of(tmp_path).newest("plan")
    assert draft is not None
    assert draft.path == ".plans/draft.md"


def git(root: Path, *words: str, minute: int = 0) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    when = f"2024-03-05T10:{minute:02}:00+00:00"
    dates = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(["git", *who, *words], cwd=root, check=True, env=os.environ | dates)
