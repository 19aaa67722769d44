"""The folder of a browser is ours alone: nothing that somebody else has put there is used,
waited for or removed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from foreword.browser import Browser
from foreword.browser.profile_folders import BrowserProfile
from foreword.errors import BrowserFailed

pytestmark = pytest.mark.attack


def somebodys_folder(folder: Path) -> Path:
    """Somebody's folder that looks like one of ours, and has something in it."""
    theirs = folder / "profile-x"
    theirs.mkdir(parents=True)
    (theirs / "in-use").touch()
    (theirs / "letters.txt").write_text("dear")
    os.utime(theirs, (1, 1))
    return theirs


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that everybody knows, and a home with an empty cache."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    return folder


def test_a_link_planted_in_the_folder_for_temporary_files_leads_to_nothing_that_is_removed(
    shared: Path, tmp_path: Path
) -> None:
    theirs = somebodys_folder(tmp_path / "victim")
    for name in (f"foreword-browser-{os.getuid()}", "foreword-browser", "foreword"):
        (shared / name).symlink_to(tmp_path / "victim")
    with Browser.start() as browser:
        assert browser.tabs()
        assert not list((tmp_path / "victim").glob("profile-[!x]*"))

    assert (theirs / "letters.txt").read_text() == "dear"
    assert not list(tmp_path.glob("home/.cache/**/profile-*"))


def _link(cache: Path, victim: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.symlink_to(victim)


def _open_to_all(cache: Path, victim: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)


def _open_above(cache: Path, victim: Path) -> None:
    cache.mkdir(parents=True)
    cache.parent.chmod(0o777)


def _file(cache: Path, victim: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.touch()


@pytest.mark.parametrize("plant", [_link, _open_to_all, _open_above, _file])
def test_a_cache_that_others_can_change_is_not_used(
    shared: Path, tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    theirs = somebodys_folder(tmp_path / "victim")
    plant(tmp_path / "home" / ".cache" / "foreword" / "browser", tmp_path / "victim")
    profile = BrowserProfile()
    try:
        assert profile.folder.parent.parent == shared
        assert profile.folder.parent.stat().st_mode & 0o777 == 0o700
    finally:
        profile.remove()
    assert (theirs / "letters.txt").exists()
    assert not list(shared.iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o702])
def test_a_folder_that_was_named_and_is_open_to_all_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(BrowserFailed, match="can be changed by others") as failure:
        BrowserProfile(folder)
    assert "chmod 700" in failure.value.hint


def test_a_folder_that_was_named_and_is_a_link_is_refused(tmp_path: Path) -> None:
    theirs = somebodys_folder(tmp_path / "victim")
    (tmp_path / "profiles").symlink_to(tmp_path / "victim")
    with pytest.raises(BrowserFailed, match="is a symbolic link, so it is not used"):
        BrowserProfile(tmp_path / "profiles")
    assert theirs.exists()


def test_only_what_is_ours_and_without_a_user_is_removed_and_no_link_is_followed(
    tmp_path: Path,
) -> None:
    theirs = somebodys_folder(tmp_path / "victim")
    base = tmp_path / "profiles"
    stale = somebodys_folder(base)
    (stale / "data").symlink_to(tmp_path / "victim")
    (base / "profile-link").symlink_to(theirs)
    (base / "profile-file").touch()
    for name in ("fifo", "folder", "lock-elsewhere"):
        (base / f"profile-{name}").mkdir()
    os.mkfifo(base / "profile-fifo" / "in-use")  # whoever opened it would wait for ever
    (base / "profile-folder" / "photographs").mkdir()
    os.utime(base / "profile-folder", (1, 1))
    (base / "profile-lock-elsewhere" / "in-use").symlink_to(theirs / "in-use")
    BrowserProfile(base).remove()

    assert not stale.exists()
    assert (theirs / "letters.txt").read_text() == "dear"
    left = {
        "profile-link",
        "profile-file",
        "profile-fifo",
        "profile-folder",
        "profile-lock-elsewhere",
    }
    assert {one.name for one in base.iterdir()} == left


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_neither_used_nor_removed(tmp_path: Path) -> None:
    theirs = somebodys_folder(tmp_path / "profiles")
    os.chown(theirs, 4_321, 4_321)
    BrowserProfile(tmp_path / "profiles").remove()
    assert theirs.exists()

    os.chown(tmp_path / "profiles", 4_321, 4_321)
    with pytest.raises(BrowserFailed, match="can be changed by others"):
        BrowserProfile(tmp_path / "profiles")


def test_a_folder_that_is_removed_when_a_link_has_taken_its_place_leaves_the_links_target_alone(
    tmp_path: Path,
) -> None:
    theirs = somebodys_folder(tmp_path / "victim")
    profile = BrowserProfile(tmp_path / "profiles")
    profile.folder.rename(tmp_path / "moved")
    profile.folder.symlink_to(theirs)
    profile.remove()
    assert (theirs / "letters.txt").exists()
