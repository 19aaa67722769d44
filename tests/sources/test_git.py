"""The log of a real repository, in plain language and at no risk."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.sources import git
from foreword.sources.git import Commit, plain
from tests.corpus import rows
from tests.git_history import write_history

CLOCK = itertools.count()


def run(root: Path, *argv: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    when = _next_moment().isoformat()
    environment = os.environ | {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    process = subprocess.run(
        ["git", *who, *argv], cwd=root, check=True, capture_output=True, env=environment, text=True
    )
    return process.stdout.strip()


def repository(root: Path, *subjects: str) -> Path:
    commits = [(_next_moment(), subject) for subject in subjects]
    return write_history(root, commits, author="A <a@example.org>")


def _next_moment() -> datetime:
    """No two commits are of the same moment."""
    return datetime(2024, 3, 5, 10, tzinfo=UTC) + timedelta(seconds=next(CLOCK))


def texts(found: list[Commit] | str) -> list[str]:
    assert isinstance(found, list), found
    return [commit.text for commit in found]


def test_the_newest_commits_come_first_with_their_day(tmp_path: Path) -> None:
    repository(tmp_path, "Begin", "feat(auth): add login", "fix: crash on start (#12)")
    assert git.log(tmp_path, 2) == [
        Commit("2024-03-05", "Fixed: crash on start"),
        Commit("2024-03-05", "New: add login (auth)"),
    ]
    assert git.log(tmp_path, 0) == []


def test_commits_left_out_make_room_for_older_ones(tmp_path: Path) -> None:
    noise = [f"auto-save 2024-03-{day:02}" for day in range(1, 8)]
    repository(tmp_path, "First", "Second", *noise, "Third")
    assert texts(git.log(tmp_path, 3, leave_out=["^auto-save", "never there"])) == [
        "Third",
        "Second",
        "First",
    ]


def test_a_symbol_in_front_of_a_subject_hides_it_from_no_rule(tmp_path: Path) -> None:
    repository(tmp_path, "First", "\U0001f516 v0.2.0", ":construction: WIP", "\U0001f680 Ship it")
    commits = git.log(tmp_path, 5, leave_out=[r"^v\d", "^WIP"])
    assert texts(commits) == ["Ship it", "First"]


def test_what_several_commits_say_is_told_once(tmp_path: Path) -> None:
    repository(tmp_path, "First", "update texts", "Second", "Update texts", "fixup! Second")
    assert texts(git.log(tmp_path, 3)) == ["Mended: Second", "Update texts", "Second"]
    assert len(texts(git.log(tmp_path, 9))) == 4


def import_commits(root: Path, subjects: list[str]) -> Path:
    """A repository with many commits, made in one go."""
    run(root, "init", "-q", "-b", "main")
    who = "committer A <a@example.org>"
    stream = ""
    for number, subject in enumerate(subjects):
        stream += f"commit refs/heads/main\n{who} {1_700_000_000 + number} +0000\n"
        stream += f"data {len(subject)}\n{subject}\n"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream.encode(), check=True)
    return root


def test_noise_longer_than_one_reading_is_passed(tmp_path: Path) -> None:
    ticks = [f"tick {number}" for number in range(350)]
    import_commits(tmp_path, ["Old", *ticks, "New one"])
    assert texts(git.log(tmp_path, 2, leave_out=["tick"])) == ["New one", "Old"]
    assert git.log(tmp_path, 2, leave_out=["."]) == "all of the 352 newest commits are left out"
    assert len(texts(git.log(tmp_path, 340))) == 340


def test_the_search_for_a_commit_worth_telling_has_an_end(tmp_path: Path) -> None:
    import_commits(tmp_path, ["Old", *["tick"] * 2_100, "New one"])
    assert texts(git.log(tmp_path, 2, leave_out=["tick"])) == ["New one"]


def test_a_bad_expression_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"leave_out '\(': not a regular expression"):
        git.log(tmp_path, 5, leave_out=["("])


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "(a*)*b",
        "(?:a|b)*c",
        "(?P<x>a?){40}",
        "((a+)b)+",
        "a*a*a*a*a*b",
        "(?:(x|y)z){2,}",
        "(aa*)+",
        "( .*)*",
        r"( \s?x)+",
        r"(x)( \1*)*",
    ],
)
def test_an_expression_that_could_take_for_ever_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(BadSource, match=r"repeats a group|has 5 repetitions"):
        git.log(tmp_path, 5, leave_out=[pattern])


@pytest.mark.parametrize(
    "pattern",
    [
        r"^auto-save",
        r"^(?:chore|build)\(deps.*\): bump .* from .* to ",
        r"\d{4}-\d{2}-\d{2}",
        r"[(+*]+x",
        r"\(a+\)+",
        r"(?i)^wip\b",
        r"(\d{4})+",
        r"^(fixup|squash)! ",
        r"(?i)^(checkpoint|snapshot|auto-?(save|commit))[:.]?( \S*\d\S*)*$",
    ],
)
def test_the_expressions_of_real_recipes_are_taken(pattern: str) -> None:
    assert git.rule(pattern).pattern.pattern == pattern


def test_a_subject_without_end_is_cut_before_anything_is_searched_in_it(tmp_path: Path) -> None:
    import_commits(tmp_path, ["fix: " + "a  " * 200_000, "a(" * 200_000, "abcdef0 " * 100_000])
    assert all(len(text) <= 510 for text in texts(git.log(tmp_path, 5, leave_out=["never$"])))


def test_the_mailmap_a_repository_names_is_not_read(tmp_path: Path) -> None:
    repository(tmp_path, "Begin")
    (tmp_path / "fifo.map").symlink_to("/dev/stdin")
    for name, value in {
        "log.mailmap": "true",
        "mailmap.file": "fifo.map",
        "mailmap.blob": "HEAD:none",
    }.items():
        run(tmp_path, "config", name, value)
    assert texts(git.log(tmp_path, 5)) == ["Begin"]


def test_merges_never_appear(tmp_path: Path) -> None:
    repository(tmp_path, "Begin")
    run(tmp_path, "checkout", "-q", "-b", "side")
    run(tmp_path, "commit", "-q", "--allow-empty", "-m", "Side work")
    run(tmp_path, "checkout", "-q", "main")
    run(tmp_path, "merge", "-q", "--no-ff", "-m", "A merge by any name", "side")
    run(tmp_path, "commit", "-q", "--allow-empty", "-m", "Merge pull request #7 from x/y")
    assert texts(git.log(tmp_path, 9)) == ["Side work", "Begin"]


def test_in_a_folder_of_a_repository_only_commits_that_touch_it_count(tmp_path: Path) -> None:
    repository(tmp_path)
    for name in ("app", "docs", "empty"):
        (tmp_path / name).mkdir()
    for name in ("app", "docs"):
        (tmp_path / name / "a.txt").write_text(name)
        run(tmp_path, "add", name)
        run(tmp_path, "commit", "-q", "-m", f"Add {name}")
    assert texts(git.log(tmp_path / "docs", 9)) == ["Add docs"]
    assert git.log(tmp_path / "empty", 9) == "no commit touches this folder"


def test_reasons_are_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git.log(tmp_path, 5) == "not a git repository"
    assert git.log(tmp_path / "none", 5) == "git failed: No such file or directory"
    repository(tmp_path)
    assert git.log(tmp_path, 5) == "no commit yet"
    (tmp_path / ".git/config").write_text("[broken")
    assert re.match(r"git failed: bad config line", str(git.log(tmp_path, 5)))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.log(tmp_path, 5) == "git is not installed"


def test_a_git_that_lies_in_the_project_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\ntouch harmed\n")
    (tmp_path / "git").chmod(0o755)
    repository(tmp_path, "Begin")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert texts(git.log(tmp_path, 5)) == ["Begin"]
    assert not (tmp_path / "harmed").exists()


def signed(root: Path, subject: str) -> None:
    """Put a commit on top that says it is signed, so that a look at its signature would start
    `gpg`."""
    tree = run(root, "rev-parse", "HEAD^{tree}")
    person = "A <a@example.org> 1800000000 +0000"
    head = (
        f"tree {tree}\nparent {run(root, 'rev-parse', 'HEAD')}\nauthor {person}\ncommitter"
        f" {person}\n"
    )
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n eA==\n -----END PGP SIGNATURE-----\n"
    (root / "commit").write_text(f"{head}{signature}\n{subject}\n")
    run(root, "reset", "-q", "--soft", run(root, "hash-object", "-w", "-t", "commit", "commit"))


def test_the_configuration_of_a_repository_runs_nothing(tmp_path: Path) -> None:
    signed(repository(tmp_path, "Begin"), "feat: add login")
    harm = tmp_path / "harm.sh"
    harm.write_text(f"#!/bin/sh\ntouch {tmp_path}/harmed\n")
    harm.chmod(0o755)
    settings = {
        "core.fsmonitor": harm,
        "core.pager": harm,
        "pager.log": harm,
        "core.hooksPath": tmp_path,
        "gpg.program": harm,
        "diff.external": harm,
        "core.sshCommand": harm,
        "log.showSignature": "true",
        "log.follow": "true",
        "color.ui": "always",
        "format.pretty": "raw",
        "log.decorate": "full",
        "i18n.logOutputEncoding": "UTF-16",
        "alias.log": f"!{harm}",
    }
    for name, value in settings.items():
        run(tmp_path, "config", name, str(value))
    assert texts(git.log(tmp_path, 5)) == ["New: add login", "Begin"]
    assert not (tmp_path / "harmed").exists()


def test_a_repository_named_by_the_environment_is_not_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        repository(tmp_path / name, f"Begin {name}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert texts(git.log(tmp_path / "mine", 5)) == ["Begin mine"]


def test_a_subject_can_not_steer_the_terminal_it_is_shown_on(tmp_path: Path) -> None:
    repository(tmp_path, "\x1b[2J\x1b]0;owned\x07Fix \x9b31mthe \x08\u202egolb\u2066 page\x7f")
    assert texts(git.log(tmp_path, 9)) == ["Fix 31mthe golb page"]


def test_odd_subjects_arrive_whole(tmp_path: Path) -> None:
    repository(tmp_path, "", "Tabs\tand spaces", "Grüße, 世界", "--all", "two\nlines")
    assert texts(git.log(tmp_path, 9)) == [
        "two lines",
        "--all",
        "Grüße, 世界",
        "Tabs and spaces",
        "(no message)",
    ]


def test_subjects_are_told_in_plain_language_or_stay_as_they_are() -> None:
    told = [[subject, plain(subject)] for subject, _ in rows("git/subjects.jsonl")]
    assert told == rows("git/subjects.jsonl")


@given(st.text(alphabet="abcdef0123 :()#!feat-[]`\u2728", max_size=60))
def test_no_subject_breaks_the_telling_and_no_hash_comes_through(subject: str) -> None:
    text = plain(subject)
    assert text
    for word in text.split(" "):
        assert not re.fullmatch(r"(?=.*[a-f])(?=.*[0-9])[0-9a-f]{7,40}", word)
