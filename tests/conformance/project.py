"""A project planned in `.director/`, to assemble contexts from: small, complete, and made anew for
each test.

Every file holds one made-up name of its own (`Amberlight` is in VISION.md and nowhere else), so
that a test can tell where a passage came from. `commit` gives the project a real git history with
fixed dates.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from foreword import Package
from tests.corpus import tree
from tests.git_history import write_history

STEP = ".director/goals/02-bookings/01-calendar"
TASK = f"{STEP}/tasks/02-choose-a-slot.md"

DECISIONS = """\
### Locked
- Times are kept in UTC (Dovetail)

### Flexible
- How a full day is shown

### Deferred
- Waiting lists
"""

FILES = tree("projects/climbing")

OTHERS = (
    "Quicksilver",
    "Nettlebed",
    "Oxbow",
    "Pinwheel",
    "Rookery",
    "Sundial",
    "Tallowood",
    "Undertow",
    "Velveteen",
    "Wintergreen",
    "Yarrow",
)
"""The names in files that no agent may ever see: machine state, other tasks and steps, talk, other
agents' notes."""


def project(root: Path, changed: Mapping[str, str | bytes | None] | None = None) -> Path:
    """The project in a new folder; `changed` has other files, other contents, or None for a file
    to leave out."""
    for path, text in {**FILES, **(changed or {})}.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def commit(root: Path, *subjects: str) -> Path:
    """A real repository with these commits, the oldest first."""
    begin = datetime(2026, 2, 20, 10, tzinfo=UTC)
    commits = [
        (begin + timedelta(minutes=number), subject) for number, subject in enumerate(subjects)
    ]
    return write_history(root, commits, author="Ada <ada@example.org>")


def merge(root: Path, subject: str) -> None:
    """A merge commit on top: a side branch with one commit of its own, merged back."""
    _git(root, 50, "checkout", "--quiet", "-b", "side")
    _git(root, 51, "commit", "--quiet", "--allow-empty", "--message", "Work on the side branch")
    _git(root, 52, "checkout", "--quiet", "main")
    _git(root, 53, "merge", "--quiet", "--no-ff", "--message", subject, "side")


def _git(root: Path, minute: int, *arguments: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    when = f"2026-02-20T10:{minute:02}:00+00:00"
    alone = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }
    dated = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(
        ["git", *who, *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        env=os.environ | alone | dated,
    )


def prose(name: str, paragraphs: int) -> str:
    """A Markdown text of about 50 tokens a paragraph, each under a heading and about something
    of its own."""
    parts = (
        f"## {name} part {number}\n\n{name} has a rule number {number} which everyone keeps. It"
        f" came up when item {number * 7} was built and has been checked {number + 2} times since."
        " Nobody has asked for anything else in that place.\n"
        for number in range(1, paragraphs + 1)
    )
    return "\n".join([f"# {name}\n", *parts])


def blocks(text: str) -> dict[str, str]:
    """The blocks of a context by tag, in order; fails where tags are nested, repeated, or have
    text between them."""
    found: dict[str, str] = {}
    rest = re.sub(r"\n\[[^\n]* left out: foreword recall fw_[^\n]*\]\n\Z", "", text)
    while rest:
        opening = re.match(r"\n?<(\w+)>\n", rest)
        assert opening, f"text outside of all tags: {rest[:80]!r}"
        tag = opening[1]
        body, closing, rest = rest[opening.end() :].partition(f"</{tag}>\n")
        assert closing, f"<{tag}> is never closed"
        assert tag not in found, f"<{tag}> appears twice"
        found[tag] = body
    return found


def tags(package: Package) -> list[str]:
    """The tags of a context, in order."""
    return list(blocks(package.text))


def sources(package: Package, tag: str) -> set[str]:
    """The names of the files that a section was read from."""
    return {
        Path(row.source).name
        for row in package.report.sections
        if row.tag == tag and row.form != "gone"
    }


def tokens(package: Package, *wanted: str) -> int:
    """What these sections cost in all."""
    return sum(row.tokens for row in package.report.sections if row.tag in wanted)


def is_whole(package: Package, tag: str) -> bool:
    """Whether everything that came in under a tag is in, whole."""
    return all(row.form == "full" for row in package.report.sections if row.tag == tag)
