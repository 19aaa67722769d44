"""A change to look at: from a file, from standard input, from git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from foreword.errors import BadSource, ForewordError
from foreword.sources.diff_source import LARGEST_BYTES, Diff, as_diff, read_change

DIFF = b"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n old\n+new\n"


def never() -> bytes:
    raise AssertionError("standard input was read")


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    for number in range(3):
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "a.txt").write_text(f"line {number}\n")
        (tmp_path / "sub" / "b.txt").write_text(f"line {number}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", str(number))
    return tmp_path


def read(given: str, root: Path) -> Diff:
    return read_change(given, root, never)


def test_a_file_and_standard_input_are_the_same_change(tmp_path: Path) -> None:
    (tmp_path / "c.diff").write_bytes(DIFF)
    filed, piped = (
        read(str(tmp_path / "c.diff"), tmp_path),
        read_change("-", tmp_path, lambda: DIFF),
    )
    assert filed.text == piped.text == DIFF.decode()
    assert filed.change.digest == piped.change.digest
    assert (filed.change.files, filed.change.lines) == (("x.py",), 1)
    assert piped.change.source == "standard input"


def test_a_revision_stands_for_what_was_committed_since(repository: Path) -> None:
    (repository / "a.txt").write_text("not committed\n")
    diff = read("HEAD~1", repository)
    assert diff.change.files == ("a.txt", "sub/b.txt")
    assert "+line 2" in diff.text
    assert "not committed" not in diff.text
    assert "-line 0" in read("HEAD~2..HEAD~1", repository).text
    assert read("HEAD~1", repository / "sub").change.files == ("b.txt",)


def test_in_a_worktree_git_follows_its_file_to_the_repository(repository: Path) -> None:
    tree = repository.parent / f"{repository.name}-tree"
    git(repository, "worktree", "add", "-q", str(tree), "HEAD~1")
    assert (tree / ".git").is_file()
    assert "+line 1" in read("HEAD~1", tree).text


@pytest.mark.parametrize(
    "given",
    [
        "",
        " ",
        "--output=pwned",
        "-",
        "--no-index",
        "nosuch",
        "HEAD --output=pwned",
        "HEAD\n--output=pwned",
        "HEAD;id",
        "\0",
        "HEAD..HEAD",
        "x" * 5000,
        "HEAD~99",
        "sub",
    ],
)
def test_what_is_no_change_is_one_error_with_a_hint_and_changes_nothing(
    given: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    before = sorted(repository.rglob("*"))
    with pytest.raises(ForewordError) as caught:
        read_change(given, repository, lambda: b" \n")
    assert caught.value.hint
    assert sorted(repository.rglob("*")) == before


def test_outside_a_repository_a_revision_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ForewordError, match="there is no such file"):
        read("HEAD~1", tmp_path)


def test_binary_data_is_left_out_and_that_is_said() -> None:
    patch = b"GIT binary patch\nliteral 10\nRcmZQzU|?imU|?i00RjL30RR\n\nliteral 0\nHcmV?d00001\n\n"
    diff = as_diff(b"diff --git a/x.png b/x.png\nindex 1..2 100644\n" + patch + DIFF, "c.diff")
    assert "RcmZQ" not in diff.text
    assert "+new" in diff.text
    assert diff.notes == ("the binary data of 1 file was left out",)
    named = as_diff(
        b"diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n", "c.diff"
    )
    assert named.change.files == ("x.png",)
    with pytest.raises(ForewordError, match="is binary and not a diff"):
        as_diff(b"\x89PNG\x00\x00" * 10, "x.png")


@pytest.mark.parametrize(
    "text", [b"Just some words.\n", b"--- \nname: x\nlist:\n- one\n- two\n", b"+ plus\n- minus\n"]
)
def test_what_is_no_diff_is_refused(text: bytes) -> None:
    with pytest.raises(BadSource, match=r"notes\.txt: is not a diff"):
        as_diff(text, "notes.txt")


def test_other_encodings_and_controls_are_no_trouble() -> None:
    diff = as_diff(DIFF + "+caf\xe9\r\n".encode("latin-1") + b"+\x00\n", "c.diff")
    assert "caf\ufffd\n" in diff.text
    assert "\x00" not in diff.text
    assert any("NUL" in note for note in diff.notes)


def test_a_change_that_is_far_too_large_is_refused() -> None:
    with pytest.raises(ForewordError, match="is larger than 32 MB"):
        as_diff(b"+" * (LARGEST_BYTES + 1), "c.diff")


def test_a_change_can_not_hide_its_files_by_calling_them_binary(repository: Path) -> None:
    (repository / ".gitattributes").write_text("evil.py -diff\n")
    (repository / "evil.py").write_text("import os\nos.system('true')\n")
    (repository / "image.png").write_bytes(b"\x89PNG\0\0\1")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "more")

    found = read("HEAD~1", repository)

    assert "+os.system('true')" in found.text
    assert "1 binary file was not looked at" in found.notes


def test_a_file_that_was_only_moved_is_in_the_change_by_both_names(repository: Path) -> None:
    (repository / "auth").mkdir()
    git(repository, "mv", "sub/b.txt", "auth/b.txt")
    git(repository, "commit", "-q", "-m", "moved")
    assert read("HEAD~1", repository).change.files == ("sub/b.txt", "auth/b.txt")
