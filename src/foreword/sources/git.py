"""The newest commits of a project, told in plain language.

Reads with the `git` command and writes nothing. A repository's own configuration can neither start a program nor
reach the network. How many commits a context has room for is decided elsewhere.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foreword.errors import BadSource
from foreword.sources import process
from foreword.text.clean import clean

_SECONDS = 10.0
_OUTPUT_BYTES = 8 * 1024 * 1024
_MOST = 2_000
_BATCH = 100
_SAFE = ("log.showSignature=false", "log.follow=false", "core.fsmonitor=false", "core.hooksPath=/dev/null")
_VARIABLES = {"LC_ALL": "C.UTF-8", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}

_LABELS = {
    "feat": "New",
    "feature": "New",
    "fix": "Fixed",
    "bugfix": "Fixed",
    "hotfix": "Fixed",
    "docs": "Docs",
    "doc": "Docs",
    "refactor": "Reworked",
    "perf": "Faster",
    "test": "Tests",
    "tests": "Tests",
    "chore": "Upkeep",
    "build": "Build",
    "ci": "CI",
    "style": "Style",
    "revert": "Undone",
}
_MERGE = re.compile(r"Merge (?:branch|branches|pull request|remote-tracking branch|tag|commit)\b")
_PREFIX = re.compile(
    rf"(?P<kind>{'|'.join(_LABELS)})(?:\((?P<scope>[^()]*)\))?(?P<breaking>!?):\s*(?P<rest>\S.*)", re.I
)
_REVERT = re.compile(r'Revert "(?P<rest>.+)"')
_REFERENCE = re.compile(r"\s*\((?:[#!]|GH-)\d+\)(?=\s*$|\s*\()")
_ID = r"(?<![\w#./@-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![\w/@-]|\.\w)"
_NAMED = re.compile(rf"\b(after|before|by|from|in|of|reverts?|see|since|to|with) (?:commit )?{_ID}", re.I)
_HASH = re.compile(rf"(?:\bcommit )?{_ID}", re.I)
_SHORTCODE = re.compile(r"(?<!\S):[a-z0-9_+-]+:(?!\S)")
_SYMBOLS = re.compile("^[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\\s]+")
_LEADING = re.compile(r"^(?:[:;,-]+\s+)+")
_HOLLOW = re.compile(r"\(\s*\)|\[\s*\]|`\s*`")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its day (ISO) and what it did, in plain language."""

    when: str
    text: str


def log(root: Path, entries: int, leave_out: Sequence[str] = ()) -> list[Commit] | str:
    """The newest commits that touch the root, newest first, or the reason there are none.

    Merges are never among them, nor subjects that match one of `leave_out`; older commits take their places.
    """
    rules = [_rule(pattern) for pattern in leave_out]
    if shutil.which("git", path=process.environment()["PATH"]) is None:
        return "git is not installed"
    deadline = time.monotonic() + _SECONDS
    found: list[Commit] = []
    looked = 0
    while len(found) < entries and looked < _MOST:
        wanted = min(max(entries, _BATCH), _MOST - looked)
        batch = _batch(root, looked, wanted, deadline)
        if isinstance(batch, str):
            return found or batch
        found += [Commit(when, plain(subject)) for when, subject in batch if not _noise(subject, rules)]
        looked += len(batch)
        if len(batch) < wanted:
            break
    return found[:entries] or (_nothing(looked) if entries > 0 else [])


def plain(subject: str) -> str:
    """A commit's subject in plain language: no hashes, no shortcodes, conventional prefixes as words."""
    text = _bare(subject)
    if reverted := _REVERT.fullmatch(text):
        return f"Undone: {_told(_bare(reverted['rest']), labelled=False)}"
    return _told(text) or "(no message)"


def _told(text: str, *, labelled: bool = True) -> str:
    """A subject with its conventional prefix turned into words: `feat(ui)!: x` is `New: x (ui) (breaking)`."""
    prefix = _PREFIX.fullmatch(text)
    if not prefix:
        return text
    kind, rest = prefix["kind"].lower(), _LEADING.sub("", prefix["rest"])
    if kind == "revert" and labelled:
        return f"Undone: {_told(rest, labelled=False)}"
    label = f"{_LABELS[kind]}: " if labelled else ""
    scope = f" ({prefix['scope'].strip()})" if (prefix["scope"] or "").strip() else ""
    return f"{label}{rest}{scope}{' (breaking)' if prefix['breaking'] else ''}"


def _bare(subject: str) -> str:
    """The subject without references, hashes and symbols; one of which nothing goes is left as it is."""
    text = _NAMED.sub(r"\1 an earlier commit", _REFERENCE.sub("", subject))
    text = _SYMBOLS.sub("", _SHORTCODE.sub("", _HASH.sub("", text)))
    if text == subject:
        return subject
    text = re.sub(r"\s+([,;:.])(?=\s|$)", r"\1", " ".join(_HOLLOW.sub("", text).split()))
    text = _LEADING.sub("", text).rstrip(" :;,-")
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _rule(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        hint = "leave_out takes Python regular expressions, searched for in the commit's subject"
        raise BadSource(f"leave_out {pattern!r}", f"not a regular expression: {problem}", hint=hint) from problem


def _noise(subject: str, rules: Sequence[re.Pattern[str]]) -> bool:
    return _MERGE.match(subject) is not None or any(rule.search(subject) for rule in rules)


def _nothing(looked: int) -> str:
    return f"all of the {looked:,} newest commits are left out" if looked else "no commit touches this folder"


def _batch(root: Path, skip: int, count: int, deadline: float) -> list[tuple[str, str]] | str:
    """Some commits as (day, subject), or why they can't be had."""
    options = [word for setting in _SAFE for word in ("-c", setting)]
    argv = ["git", "--no-pager", *options, "log", "-z", "--no-merges", "--no-color", "--no-notes", "--encoding=UTF-8"]
    argv += ["--format=%cI %s", f"--skip={skip}", f"--max-count={count}", "--"]
    if not (root / ".git").exists():
        argv.append(".")  # a folder inside a repository: only what touches it
    left = max(0.0, deadline - time.monotonic())
    try:
        output = process.run(argv, root, timeout_seconds=left, output_bytes=_OUTPUT_BYTES, **_VARIABLES)
    except (OSError, ValueError) as problem:
        return f"git failed: {getattr(problem, 'strerror', None) or problem}"
    if output.timed_out:
        return f"git failed: it took longer than {_SECONDS:g} seconds"
    if output.exit_code and not output.cut:
        return _reason(output.stderr.decode("utf-8", "replace"))
    return [_entry(line) for line in output.stdout.decode("utf-8", "replace").split("\0") if " " in line]


def _entry(line: str) -> tuple[str, str]:
    when, _, subject = line.partition(" ")
    return when[:10], clean(subject)[0]


def _reason(complaint: str) -> str:
    if "not a git repository" in complaint:
        return "not a git repository"
    if "does not have any commits yet" in complaint or "bad default revision" in complaint:
        return "no commit yet"
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    return f"git failed: {lines[0].removeprefix('fatal: ') if lines else 'no reason given'}"
