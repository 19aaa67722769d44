"""Which files were changed together, by the newest commits of a repository.

Asked of git once for each state of the repository and kept in the index; what it means for a task
is `file_ranking`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foreword.sources import git_command

MOST_COMMITS = 1_000  # the newest; older ones tell of a code base that has moved on
# Files of one commit: one that touches more is a rename or a formatter, and ties nothing together.
MOST_FILES = 20
_SECONDS = 10.0  # for git to answer: 600 commits with their files take it 0.1 s
_OUTPUT_BYTES = 4 * 1024 * 1024  # of its answer: those 600 commits have 0.3 MB
_MARK = "\x01"
_SIGNS = ("HEAD", "logs/HEAD", "packed-refs")


def state_of(root: Path) -> str:
    """What changes with every commit and checkout, without asking git; nothing where the root is
    not the top of a repository."""
    found: list[str] = []
    for name in _SIGNS:
        try:
            about = (root / ".git" / name).lstat()
        except OSError:
            continue
        found.append(f"{name} {about.st_size} {about.st_mtime_ns}")
    return "; ".join(found)


def commits(root: Path) -> list[tuple[str, ...]]:
    """The files of each commit, newest first; none where git can't say."""
    if not git_command.is_installed():
        return []
    words = ["log", "--no-merges", "--no-color", "--no-notes", "--name-only", "--no-renames"]
    words += ["--format=%x01", f"--max-count={MOST_COMMITS}"]
    try:
        output = git_command.run(words, root, timeout_seconds=_SECONDS, output_bytes=_OUTPUT_BYTES)
    except (OSError, ValueError):
        return []
    if output.exit_code and not output.cut:
        return []
    return list(_commits_in(output.stdout.decode("utf-8", "replace")))


def _commits_in(listing: str) -> Iterator[tuple[str, ...]]:
    for block in listing.split(_MARK):
        paths = [line for line in block.splitlines() if line and not line.startswith('"')]
        if 1 < len(paths) <= MOST_FILES:
            yield tuple(paths)
