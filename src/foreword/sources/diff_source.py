"""A change to look at: a diff from a file, from standard input, or between commits.

Reads with `git_command`, which runs no program that a repository names. A revision stands for what
was committed since, so nothing of the working folder is read. How much of a large change a context
has room for is decided elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foreword import regular_file
from foreword.errors import BadSource, UsageError
from foreword.pattern import lazy_pattern
from foreword.review.change_facts import MOST_FILES, ReviewedChange
from foreword.sources import git_command
from foreword.text.clean import clean
from foreword.text.diffs import changed_files
from foreword.text.omission_mark import BINARY_LEFT_OUT
from foreword.text.quantity import quantity

STDIN = "-"
NUL = b"\0"
# A change of 32 MB is far more than any context holds; above that it is somebody's vendored tree.
LARGEST_BYTES = 32 * 1024 * 1024
_SECONDS = 20.0  # of git, twice a log's: a diff between far commits reads many objects
_HINT = "give a diff file, - for standard input, or a revision such as HEAD~1 or main..feature"

_REVISION = lazy_pattern(r"[\w@][\w./@^~{}:+=-]{0,400}")
_PATCH = lazy_pattern(
    r"^GIT binary patch\n(?:(?:literal|delta) \d+\n(?:[A-Za-z][^\n]*\n)*\n?)*", re.MULTILINE
)
_DIFF = lazy_pattern(r"^(?:diff --git |@@ -|--- [^\n]*\n\+\+\+ |Binary files )", re.MULTILINE)
_UNSEEN = lazy_pattern(r"^Binary files [^\n]* differ$", re.MULTILINE)
_BINARY = lazy_pattern(rb"^Binary files [^\n]* differ$", re.MULTILINE)
_SECTION = lazy_pattern(rb"^(?=diff --git )", re.MULTILINE)
_CHANGED = lazy_pattern(r"^[+-](?!\+\+ |-- )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Diff:
    """The text of a change, what there is to say about it, and what was noticed on reading it."""

    text: str
    change: ReviewedChange
    notes: tuple[str, ...] = ()


def read_change(name: str, root: Path, stdin: Callable[[], bytes]) -> Diff:
    """The change that was named: `-`, a file, or a revision or range of the root's repository."""
    if name == STDIN:
        return as_diff(stdin(), "standard input")
    if not name.strip() or name.startswith("-"):
        raise UsageError(f"{name!r} is no diff", hint=_HINT)
    path = Path(name)
    try:
        if path.is_file() or path.is_fifo():
            return as_diff(regular_file.read_argument_beginning(path, LARGEST_BYTES + 1), name)
        if path.is_dir():
            raise BadSource(name, "is a folder, not a diff", hint=_HINT)
    # a NUL in the name, a name too long
    except (ValueError, OSError, regular_file.Unusable) as problem:
        raise BadSource(name[:80], f"can't be read: {problem}", hint=_HINT) from None
    return as_diff(_diff_since(name, root), name)


def as_diff(raw: bytes, source: str) -> Diff:
    """A diff out of its bytes; `BadSource` where there is nothing to look at."""
    if len(raw) > LARGEST_BYTES:
        raise BadSource(
            source, f"is larger than {LARGEST_BYTES // 1024 // 1024} MB", hint="review it in parts"
        )
    if not raw.strip():
        raise BadSource(source, "the diff is empty, so there is nothing to look at", hint=_HINT)
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    if _DIFF.search(text) is None:
        problem = "is binary and not a diff" if NUL in raw[:8000] else "is not a diff"
        raise BadSource(source, problem, hint=_HINT)
    notes = []
    text, patches = _PATCH.subn(f"{BINARY_LEFT_OUT}\n", text)
    if patches:
        notes.append(f"the binary data of {quantity(patches, 'file')} was left out")
    unseen = len(_UNSEEN.findall(text))
    if unseen:
        files_were = "file was" if unseen == 1 else "files were"
        notes.append(f"{unseen:,} binary {files_were} not looked at")
    text, repairs = clean(text)
    notes += [f"the diff: {repair}" for repair in repairs]
    change = ReviewedChange(
        source,
        digest=f"sha256:{hashlib.sha256(raw).hexdigest()}",
        files=changed_files(text)[:MOST_FILES],
        lines=len(_CHANGED.findall(text)),
    )
    return Diff(text, change, tuple(notes))


def _diff_since(revision: str, root: Path) -> bytes:
    """What was committed since a revision, or between the two of a range.

    A change may come with attributes that call its own files binary, so that nobody sees them: what
    is text is shown.
    """
    diff = _run_diff(revision, root)
    if _BINARY.search(diff) is None:
        return diff
    sections = _SECTION.split(diff)
    text_sections = _SECTION.split(_run_diff(revision, root, "--text"))
    if len(sections) != len(text_sections):
        return diff
    parts = list[bytes]()
    for section, text in zip(sections, text_sections, strict=True):
        is_hidden_text = _BINARY.search(section) and NUL not in text
        parts.append(text if is_hidden_text else section)
    return b"".join(parts)


def _run_diff(revision: str, root: Path, *options: str) -> bytes:
    if not _REVISION.fullmatch(revision):
        raise BadSource(revision, "is neither a file nor a revision", hint=_HINT)
    if not git_command.is_installed():
        raise BadSource(revision, "there is no such file, and git is not installed", hint=_HINT)
    words = [
        "diff",
        "--no-color",
        "--relative",
        *options,
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--end-of-options",
    ]
    words += [revision] if ".." in revision else [revision, "HEAD"]
    try:
        output = git_command.run(
            [*words, "--", "."], root, timeout_seconds=_SECONDS, output_bytes=LARGEST_BYTES
        )
    except (OSError, ValueError) as problem:
        raise BadSource(revision, f"git failed: {problem}", hint=_HINT) from None
    if output.timed_out or output.cut:
        limit = f"{LARGEST_BYTES // 1024 // 1024} MB"
        if output.timed_out:
            limit = f"{_SECONDS:g} seconds"
        raise BadSource(revision, f"git diff gave more than {limit}", hint="review it in parts")
    if output.exit_code:
        raise BadSource(revision, _reason(output.stderr.decode("utf-8", "replace")), hint=_HINT)
    return output.stdout


def _reason(complaint: str) -> str:
    if "not a git repository" in complaint.lower():
        return "there is no such file, and the root is not a git repository"
    if "unknown revision" in complaint or "bad revision" in complaint:
        return "is neither a file nor a revision of the root's repository"
    return git_command.failure_reason(complaint)
