"""The sample projects of the demo: copied to a folder of the user's, each with its history in git.

What is in them lies beside this file, `kilnbook/` and `factory/`. What is shown of them is the
command line's business.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from foreword.sources.process import environment

SAMPLES = Path(__file__).parent
KILNBOOK = "kilnbook"
FACTORY = "factory"
FIRST_COMMIT = 1_775_202_000  # 3 April 2026; one commit every other day from then on
COMMIT_SECONDS = 172_800  # two days
GIT_SECONDS = 20  # for a few dozen commits, which take a fraction of one; a git that hangs is left


def lay_out(root: Path, sample: str = KILNBOOK) -> Path:
    """Copy a sample to a new or empty folder and give it its history, where there is a git to
    give it."""
    shutil.copytree(SAMPLES / sample, root, dirs_exist_ok=True)
    if (root / "commits.txt").exists() and shutil.which("git"):
        subjects = (root / "commits.txt").read_text("utf-8").splitlines()
        _git(root, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
        _git(root, "fast-import", "--quiet", "--force", stdin=history(subjects))
    return root


def history(subjects: Sequence[str]) -> bytes:
    """Commits with these subjects, oldest first, as `git fast-import` reads them; the same bytes
    every time."""
    return b"".join(_commit(subject, number) for number, subject in enumerate(subjects))


def _commit(subject: str, number: int) -> bytes:
    who = f"Renske <renske@example.org> {FIRST_COMMIT + number * COMMIT_SECONDS} +0000"
    message = subject.encode()
    head = f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(message)}\n"
    return head.encode() + message + b"\n"


def _git(root: Path, *arguments: str, stdin: bytes = b"") -> None:
    """Run git here; without a history the demo still has something to show, so failing is not
    fatal."""
    # nobody's configuration, and no repository that the folder may lie in
    isolation = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }
    subprocess.run(
        ["git", *arguments],
        cwd=root,
        env=environment() | isolation,
        input=stdin,
        capture_output=True,
        timeout=GIT_SECONDS,
        check=False,
    )
