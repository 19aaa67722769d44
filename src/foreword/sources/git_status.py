"""Where a project's repository stands: its branch, its newest commit, whether there are changes not
committed.

Reads with `git_command`, which runs no program that a repository's configuration names. What is no
repository, or can't be asked, stands nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from foreword.pattern import lazy_pattern
from foreword.sources import git_command

# Somebody waits for a checkpoint; past that, only branch and commit are asked for.
_SECONDS = 10.0
_OUTPUT_BYTES = 8 * 1024 * 1024  # some 80,000 changed files of 100 bytes; more is no answer
_STATUS = (
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--ignore-submodules=all",
    "--no-renames",
    "--",
)
_MOST_COMMITS = 2_000  # that are looked through for the files of a folder; older ones count as old
_COMMIT = lazy_pattern(r"[0-9a-f]{40,64}")
_ABSENT = ("(initial)", "(detached)")


@dataclass(frozen=True, slots=True)
class GitStatus:
    """Where the repository stands; all of it `None` where there is none."""

    branch: str | None = None  # `None` too where no branch is checked out
    head: str | None = None
    dirty: bool | None = None


def git_status(root: Path, leave_out: Iterable[str] = ()) -> GitStatus:
    """Where the root's repository stands; folders in `leave_out` do not count as changes."""
    excluded = [f":(exclude){folder}" for folder in leave_out]
    output = _run(root, [*_STATUS, ".", *excluded])
    if output is None:  # no repository, or one that takes too long to look through
        branch = _run(root, ["symbolic-ref", "--quiet", "--short", "HEAD"])
        head = _run(root, ["rev-parse", "--quiet", "--verify", "HEAD"])
        return GitStatus(branch and branch.strip(), head and head.strip())
    lines = [line for line in output.split("\0") if line]
    return GitStatus(
        branch=_header(lines, "head"),
        head=_header(lines, "oid"),
        dirty=any(not line.startswith("# ") for line in lines),
    )


def last_changes(root: Path, paths: Sequence[str]) -> dict[str, int]:
    """A number for each file that is larger the later git has its last change; one with changes
    that are not committed is newer than any. Nothing where git can't tell.

    By the order of the commits, not by their times: a script makes several in a second.
    """
    words = ["log", "--format=%x00%H", "--name-only", "--relative", "-z", "--no-renames"]
    output = _run(root, [*words, f"--max-count={_MOST_COMMITS}", "--", *paths])
    changed = _run(root, ["ls-files", "-z", "--modified", "--others", "--", *paths])
    if output is None or changed is None:
        return {}
    wanted = set(paths)
    found: dict[str, int] = {}
    place = _MOST_COMMITS + 1
    for part in output.split("\0"):
        name = part.strip("\n")
        if _COMMIT.fullmatch(name):
            place -= 1
        elif name in wanted:
            found.setdefault(name, place)
    not_committed = wanted.intersection(changed.split("\0"))
    return found | dict.fromkeys(not_committed, _MOST_COMMITS + 1)


def commits_apart(root: Path, commit: str | None) -> tuple[int, int] | None:
    """How many commits HEAD has that a commit has not, and the other way; nothing where git
    can't tell."""
    if commit is None or not _COMMIT.fullmatch(commit):
        return None
    output = _run(root, ["rev-list", "--left-right", "--count", f"HEAD...{commit}", "--"])
    counts = output.split() if output else []
    return (int(counts[0]), int(counts[1])) if len(counts) == 2 else None


def _header(lines: list[str], name: str) -> str | None:
    start = f"# branch.{name} "
    for line in lines:
        if line.startswith(start):
            value = line.removeprefix(start)
            return None if value in _ABSENT else value
    return None


def _run(root: Path, words: list[str]) -> str | None:
    """What git says, or nothing where it fails, says too much, is too slow or is not there."""
    try:
        output = git_command.run(words, root, timeout_seconds=_SECONDS, output_bytes=_OUTPUT_BYTES)
    except (OSError, ValueError):
        return None
    if output.timed_out or output.cut or output.exit_code:
        return None
    return output.stdout.decode("utf-8", "replace")
