"""Where a real repository stands, told at no risk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foreword.sources.git_status import GitStatus, commits_apart, git_status
from tests.sources.test_git import repository, run


def test_branch_head_and_changes_are_told(tmp_path: Path) -> None:
    repository(tmp_path, "Begin")
    head = run(tmp_path, "rev-parse", "HEAD")
    assert git_status(tmp_path) == GitStatus("main", head, False)
    (tmp_path / ".checkpoints").mkdir()
    (tmp_path / ".checkpoints" / "a-phase-1.json").touch()
    assert git_status(tmp_path, [".checkpoints"]) == GitStatus("main", head, False)
    assert git_status(tmp_path) == GitStatus("main", head, True)
    run(tmp_path, "checkout", "-q", "--detach")
    assert git_status(tmp_path, [".checkpoints"]) == GitStatus(None, head, False)


def test_a_folder_without_a_repository_or_a_commit_stands_nowhere(tmp_path: Path) -> None:
    assert git_status(tmp_path) == GitStatus()
    assert git_status(tmp_path / "none") == GitStatus()
    repository(tmp_path)
    assert git_status(tmp_path) == GitStatus("main", None, False)
    assert commits_apart(tmp_path, "1" * 40) is None


def test_without_the_command_there_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path, "Begin")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_status(tmp_path) == GitStatus()


def test_commits_are_counted_both_ways(tmp_path: Path) -> None:
    repository(tmp_path, "One", "Two")
    old = run(tmp_path, "rev-parse", "HEAD")
    run(tmp_path, "reset", "-q", "--hard", "HEAD~1")
    for subject in ("Other", "Another"):
        run(tmp_path, "commit", "-q", "--allow-empty", "-m", subject)
    assert commits_apart(tmp_path, old) == (2, 1)
    assert commits_apart(tmp_path, "0" * 40) is None
    assert commits_apart(tmp_path, "--output=x") is None


@pytest.mark.parametrize("setting", ["clean", "process"])
@pytest.mark.parametrize("driver", ["evil", "a=b"])
def test_a_filter_of_the_repository_is_never_run(tmp_path: Path, setting: str, driver: str) -> None:
    repository(tmp_path)
    (tmp_path / "file").write_text("one")
    run(tmp_path, "add", "file")
    run(tmp_path, "commit", "-q", "-m", "Begin")
    config = tmp_path / ".git" / "config"
    config.write_text(
        config.read_text() + f'[filter "{driver}"]\n\t{setting} = touch ran\n\trequired = true\n'
    )
    (tmp_path / ".git" / "info" / "attributes").write_text(f"* filter={driver}\n")
    (tmp_path / "file").write_text("two")
    os.utime(tmp_path / "file", (1, 1))  # git has to compare what is in it
    assert git_status(tmp_path).dirty
    assert not (tmp_path / "ran").exists()


def test_filters_that_are_too_many_to_be_switched_off_are_not_run_either(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "file").write_text("one")
    run(tmp_path, "add", "file")
    run(tmp_path, "commit", "-q", "-m", "Begin")
    config = tmp_path / ".git" / "config"
    padding = f'[filter "{"x" * 1000}"]\n' + "\trequired = false\n" * 9_000
    config.write_text(config.read_text() + padding + '[filter "evil"]\n\tclean = touch ran; cat\n')
    (tmp_path / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    (tmp_path / "file").write_text("two")
    os.utime(tmp_path / "file", (1, 1))
    assert git_status(tmp_path).head is not None
    assert not (tmp_path / "ran").exists()
