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
from foreword.review.verdict import ReviewedChange
from foreword.sources import git_command
from foreword.text.clean import clean

STDIN = "-"
NUL = b"\0"
LARGEST_BYTES = 32 * 1024 * 1024
MOST_FILES = 1_000  # that are named in a result
_SECONDS = 20.0
_HINT = "give a diff file, - for standard input, or a revision such as HEAD~1 or main..feature"

_REVISION = re.compile(r"[\w@][\w./@^~{}:+=-]{0,400}")
_FILE = re.compile(
    r"^(?:\+\+\+|---) (?:\"?[abciow]/)?([^\t\r\n\"]+)|^diff --git \"?a/(.+?)\"? \"?b/", re.MULTILINE
)
_PATCH = re.compile(
    r"^GIT binary patch\n(?:(?:literal|delta) \d+\n(?:[A-Za-z][^\n]*\n)*\n?)*", re.MULTILINE
)
_DIFF = re.compile(r"^(?:diff --git |@@ -|--- [^\n]*\n\+\+\+ |Binary files )", re.MULTILINE)
_UNSEEN = re.compile(r"^Binary files [^\n]* differ$", re.MULTILINE)
_BINARY = re.compile(rb"^Binary files [^\n]* differ$", re.MULTILINE)
_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_CHANGED = re.compile(r"^[+-](?!\+\+ |-- )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Diff:
    """The text of a change, what there is to say about it, and what was noticed on reading it."""

    text: str
    change: ReviewedChange
    notes: tuple[str, ...] = ()


def read_change(given: str, root: Path, stdin: Callable[[], bytes]) -> Diff:
    """The change that was named: `-`, a file, or a revision or range of the root's repository."""
    if given == STDIN:
        return as_diff(stdin(), "standard input")
    if not given.strip() or given.startswith("-"):
        raise UsageError(f"{given!r} is no diff", hint=_HINT)
    path = Path(given)
    try:
        if path.is_file() or path.is_fifo():
            return as_diff(regular_file.read_argument_beginning(path, LARGEST_BYTES + 1), given)
        if path.is_dir():
            raise BadSource(given, "is a folder, not a diff", hint=_HINT)
    except (
        ValueError,
        OSError,
        regular_file.Unusable,
    ) as problem:  # a NUL in the name, a name too long
        raise BadSource(given[:80], f"can't be read: {problem}", hint=_HINT) from None
    return as_diff(_between(given, root), given)


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
        raise BadSource(
            source, f"is {'binary and ' if NUL in raw[:8000] else ''}not a diff", hint=_HINT
        )
    notes = []
    text, patches = _PATCH.subn("(binary data left out)\n", text)
    if patches:
        notes.append(
            f"the binary data of {patches:,} file{'' if patches == 1 else 's'} was left out"
        )
    if unseen := len(_UNSEEN.findall(text)):
        notes.append(f"{unseen:,} binary file{' was' if unseen == 1 else 's were'} not looked at")
    text, cleaned = clean(text)
    notes += [f"the diff: {done}" for done in cleaned]
    named = [one or other for one, other in _FILE.findall(text)]
    files = tuple(dict.fromkeys(name.strip() for name in named if name.strip() != "/dev/null"))
    digest = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    return Diff(
        text,
        ReviewedChange(source, digest, files[:MOST_FILES], len(_CHANGED.findall(text))),
        tuple(notes),
    )


def _between(revision: str, root: Path) -> bytes:
    """What was committed since a revision, or between the two of a range.

    A change may come with attributes that call its own files binary, so that nobody sees them: what
    is text is shown.
    """
    shown = _diffed(revision, root)
    if _BINARY.search(shown) is None:
        return shown
    parts, texts = (_SECTION.split(one) for one in (shown, _diffed(revision, root, "--text")))
    if len(parts) != len(texts):
        return shown
    return b"".join(
        text if _BINARY.search(part) and NUL not in text else part
        for part, text in zip(parts, texts, strict=True)
    )


def _diffed(revision: str, root: Path, *how: str) -> bytes:
    if not _REVISION.fullmatch(revision):
        raise BadSource(revision, "is neither a file nor a revision", hint=_HINT)
    if not git_command.is_installed():
        raise BadSource(revision, "there is no such file, and git is not installed", hint=_HINT)
    words = [
        "diff",
        "--no-color",
        "--relative",
        *how,
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
        limit = (
            f"{_SECONDS:g} seconds" if output.timed_out else f"{LARGEST_BYTES // 1024 // 1024} MB"
        )
        raise BadSource(revision, f"git diff gave more than {limit}", hint="review it in parts")
    if output.exit_code:
        raise BadSource(revision, _reason(output.stderr.decode("utf-8", "replace")), hint=_HINT)
    return output.stdout


def _reason(complaint: str) -> str:
    if "not a git repository" in complaint.lower():
        return "there is no such file, and the root is not a git repository"
    if "unknown revision" in complaint or "bad revision" in complaint:
        return "is neither a file nor a revision of the root's repository"
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    return f"git failed: {lines[0].removeprefix('fatal: ') if lines else 'no reason given'}"
