"""Where a project's repository stands: its branch, its newest commit, whether there are changes not committed.

Reads with the `git` command and writes nothing. The filters that a repository's configuration names are programs, so
they are switched off for the comparison. What is no repository, or can't be asked, stands nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from foreword.sources import process
from foreword.sources.git import VARIABLES
from foreword.workflow.checkpoint import Git

_SECONDS = 10.0
_OUTPUT_BYTES = 8 * 1024 * 1024
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_ABSENT = ("(initial)", "(detached)")


def standing(root: Path, leave_out: Iterable[str] = ()) -> Git:
    """Where the root's repository stands; folders in `leave_out` do not count as changes."""
    filters = _filters(root)
    excluded = [f":(exclude){folder}" for folder in leave_out]
    asked = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=all", "--no-renames", "--"]
    told = None if filters is None else _run(root, [*asked, ".", *excluded], **_without(filters))
    if told is None:  # no repository, or one that takes too long to look through
        branch = _run(root, ["symbolic-ref", "--quiet", "--short", "HEAD"])
        head = _run(root, ["rev-parse", "--quiet", "--verify", "HEAD"])
        return Git(branch and branch.strip(), head and head.strip())
    lines = [line for line in told.split("\0") if line]
    head, branch = (_header(lines, name) for name in ("oid", "head"))
    return Git(branch, head, any(not line.startswith("# ") for line in lines))


def apart(root: Path, commit: str | None) -> tuple[int, int] | None:
    """How many commits HEAD has that a commit has not, and the other way; nothing where git can't tell."""
    if commit is None or not _COMMIT.fullmatch(commit):
        return None
    told = _run(root, ["rev-list", "--left-right", "--count", f"HEAD...{commit}", "--"])
    counts = told.split() if told else []
    return (int(counts[0]), int(counts[1])) if len(counts) == 2 else None


def _filters(root: Path) -> list[str] | None:
    """The settings of filters that git knows here; None where not all of them are known, so none can be run safely."""
    output = _output(root, ["config", "--null", "--name-only", "--get-regexp", r"^filter\."])
    if output is None or output.timed_out or output.cut:
        return None
    if output.exit_code and (output.exit_code, output.stdout) != (1, b""):  # 1 and nothing: there is none
        return None
    return output.stdout.decode("utf-8", "replace").split("\0")


def _header(lines: list[str], name: str) -> str | None:
    start = f"# branch.{name} "
    found = next((line.removeprefix(start) for line in lines if line.startswith(start)), None)
    return None if found in _ABSENT else found


def _without(settings: Iterable[str]) -> dict[str, str]:
    """Variables that empty these settings, behind those that every `git` gets."""
    count = int(process.environment()["GIT_CONFIG_COUNT"])
    names = [name for name in dict.fromkeys(settings) if name]
    emptied = {f"GIT_CONFIG_KEY_{count + place}": name for place, name in enumerate(names)}
    emptied |= {f"GIT_CONFIG_VALUE_{count + place}": _nothing(name) for place, name in enumerate(names)}
    return {"GIT_CONFIG_COUNT": str(count + len(names)), **emptied}


def _nothing(name: str) -> str:
    return "false" if name.endswith(".required") else ""


def _run(root: Path, argv: list[str], **variables: str) -> str | None:
    """What git says, or nothing where it fails, says too much, is too slow or is not there."""
    output = _output(root, argv, **variables)
    if output is None or output.timed_out or output.cut or output.exit_code:
        return None
    return output.stdout.decode("utf-8", "replace")


def _output(root: Path, argv: list[str], **variables: str) -> process.Output | None:
    command = ["git", "--no-pager", *argv]
    try:
        return process.run(
            command, root, timeout_seconds=_SECONDS, output_bytes=_OUTPUT_BYTES, **{**VARIABLES, **variables}
        )
    except (OSError, ValueError):
        return None
