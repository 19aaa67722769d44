"""A browser that goes on in another process: signed in, with its tabs; and profiles that leave
nothing behind."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from foreword.browser import Browser, Rules, browser_state
from foreword.browser.profile_folders import BrowserProfile
from foreword.demos.site import Site
from foreword.errors import BrowserFailed
from tests.browser.working import in_the_page, sign_in

_HOLD_PROFILE = """
import sys
from pathlib import Path
from foreword.browser.profile_folders import BrowserProfile
held = BrowserProfile(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_saved_browser_goes_on_signed_in_with_its_tabs(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    sign_in(browser, desk, "/list")
    in_the_page(browser, "() => localStorage.setItem('seen', 'yes')")
    browser.open_tab(f"{desk.url}/help", name="Tides")
    browser.activate("Main Tab")
    before = browser.tabs()
    browser.save(tmp_path / "saved.json")

    rules = Rules(origins=(desk.url,))
    with Browser.start(
        rules, folder=tmp_path / "profiles", restore=tmp_path / "saved.json"
    ) as another:
        assert another.tabs() == before
        assert another.extract("tr.letter", many=True)["count"] == 5
        assert in_the_page(another, "() => localStorage.getItem('seen')") == "yes"
        assert another.click("text=Next")["url"].endswith("/list?page=2")


def test_what_is_saved_is_for_its_owner_alone_and_replaced_whole(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "saved.json"
    browser.save(path)
    browser.navigate(f"{desk.url}/help")
    browser.save(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["tabs"][0]["url"] == f"{desk.url}/help"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", '{"version": 1}', '{"version": 9, "tabs": []}'])
def test_a_damaged_file_is_an_error_and_leaves_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "saved.json").write_text(content)
    with pytest.raises(BrowserFailed, match="can't be used"):
        Browser.start(folder=tmp_path / "profiles", restore=tmp_path / "saved.json")
    with pytest.raises(BrowserFailed, match="no browser was saved"):
        Browser.start(folder=tmp_path / "profiles", restore=tmp_path / "missing.json")

    assert not (tmp_path / "profiles").exists() or not list((tmp_path / "profiles").iterdir())


@pytest.mark.attack
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/dev/tty", "folder"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "saved.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    with pytest.raises(BrowserFailed, match="can't be used"):
        browser_state.read(path)


def test_a_profile_is_closed_to_others_and_removed(tmp_path: Path) -> None:
    profile = BrowserProfile(tmp_path / "profiles")
    assert stat.S_IMODE(profile.folder.stat().st_mode) == 0o700

    profile.remove()
    assert list((tmp_path / "profiles").iterdir()) == []


def test_the_profile_of_a_killed_process_is_removed_by_the_next_start(tmp_path: Path) -> None:
    with Popen(
        [sys.executable, "-c", _HOLD_PROFILE, str(tmp_path)], stdout=PIPE, stdin=PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        [held] = tmp_path.iterdir()
        mine = BrowserProfile(tmp_path)
        assert set(tmp_path.iterdir()) == {held, mine.folder}
        mine.remove()

        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    again = BrowserProfile(tmp_path)
    assert list(tmp_path.iterdir()) == [again.folder]
    again.remove()
