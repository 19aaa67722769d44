"""The newest commits of a project, told in plain language.

Reads with `git_command`, so a repository's own configuration can neither start a program nor reach
the network. How many commits a context has room for is decided elsewhere.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.sources import git_command
from foreword.text.clean import clean, without_escapes

_SECONDS = 10.0  # for all of it; somebody waits for a context
_OUTPUT_BYTES = 8 * 1024 * 1024  # of one batch: a subject may have megabytes
_MOST = 2_000  # commits that are looked at: where nearly all are left out, it ends all the same
_BATCH = 100  # commits of one call to git, so that a few that are left out need no second call
_SUBJECT_CHARS = 500  # some seven lines; a subject is one
# Of a subject, by an expression with more than two repetitions: its time grows with that power of
# the length, and the time limit is only looked at between two subjects.
_SEARCHED_CHARS = 120
_MOST_REPETITIONS = 4

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
_MERGE = lazy_pattern(r"Merge (?:branch|branches|pull request|remote-tracking branch|tag|commit)\b")
_PREFIX = lazy_pattern(
    rf"(?P<kind>{'|'.join(_LABELS)})(?:\((?P<scope>[^()]*)\))?(?P<breaking>!?):\s*(?P<rest>\S.*)",
    re.I,
)
_REVERT = lazy_pattern(
    r'(?P<again>Re(?:vert "Re(?:vert|apply)|apply)) "(?P<redone>.+?)"+|Revert "(?P<rest>.+)"'
)
# What git itself writes for a commit that mends another one.
_MENDING = lazy_pattern(r"(?:(?:fixup|squash|amend)!\s*)+(?P<rest>\S.*)")
_REFERENCE = lazy_pattern(r"\s*\((?:[#!]|GH-)\d+\)(?=\s*$|\s*\()")
_ID = r"(?<![\w#./@-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![\w/@-]|\.\w)"
_NAMED = lazy_pattern(
    rf"\b(after|before|by|from|in|of|reverts?|see|since|to|with) (?:commit )?{_ID}", re.I
)
_HASH = lazy_pattern(rf"(?:\bcommit )?{_ID}", re.I)
_SHORTCODE = lazy_pattern(r"(?<!\S):[a-z0-9_+-]+:(?!\S)")
_SYMBOLS = lazy_pattern("^[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\\s]+")
_LEADING = lazy_pattern(r"^(?:[:;,-]+\s+)+")
# of an expression: escape, class, opening of a group, counted repetition, any other
_SYNTAX = lazy_pattern(
    r"\\."
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\((?:\?(?:[:=!>]|<[=!]|P?<\w+>|[a-zA-Z-]+:))?"
    r"|\{\d*,?\d*\}"
    r"|[^\\\[(]",
    re.DOTALL,
)
# would show the rest of a line in another order
_DIRECTION = lazy_pattern("[\u202a-\u202e\u2066-\u2069]")
# What is left of brackets around a hash; those of `rank()` are its own.
_HOLLOW = lazy_pattern(r"(?<!\w)(?:\(\s*\)|\[\s*\]|`\s*`)")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its day (ISO) and what it did, in plain language."""

    when: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchRule:
    """An expression to search for, and in how much of a subject."""

    pattern: re.Pattern[str]
    chars: int


def log(root: Path, entries: int, leave_out: Sequence[str] = ()) -> list[Commit] | str:
    """The newest commits that touch the root, newest first, or the reason there are none.

    Merges are never among them, nor subjects that match one of `leave_out`, and what several say
    is told once; older commits take their places.
    """
    rules = [rule(pattern) for pattern in leave_out]
    if not git_command.is_installed():
        return "git is not installed"
    deadline = time.monotonic() + _SECONDS
    found: list[Commit] = []
    told: set[str] = set()  # a subject that is repeated says nothing the second time
    looked_at = 0
    while len(found) < entries and looked_at < _MOST:
        wanted = min(max(entries, _BATCH), _MOST - looked_at)
        batch = _batch(root, looked_at, wanted, deadline)
        if isinstance(batch, str):
            return found or batch
        for when, subject in batch:
            if time.monotonic() > deadline:
                return found or f"leave_out takes longer than {_SECONDS:g} seconds"
            if _is_noise(subject, rules):
                continue
            text = plain(subject)
            if text.casefold() not in told:
                told.add(text.casefold())
                found.append(Commit(when, text))
        looked_at += len(batch)
        if len(batch) < wanted:
            break
    if not found and entries > 0:
        return _reason_for_none(looked_at)
    return found[:entries]


def plain(subject: str) -> str:
    """A commit's subject in plain language: no hashes, no shortcodes, conventional prefixes as
    words."""
    text = _bare(subject)
    mending = _MENDING.fullmatch(text)
    if mending:
        return f"Mended: {_prefix_in_words(_bare(mending['rest']), labelled=False)}"
    reverted = _REVERT.fullmatch(text)
    if reverted:
        label = "Redone" if reverted["again"] else "Undone"
        rest = _bare(reverted["redone"] or reverted["rest"])
        return f"{label}: {_prefix_in_words(rest, labelled=False)}"
    return _prefix_in_words(text) or "(no message)"


def _prefix_in_words(text: str, *, labelled: bool = True) -> str:
    """A subject with its conventional prefix turned into words: `feat(ui)!: x` is `New: x (ui)
    (breaking)`."""
    prefix = _PREFIX.fullmatch(text)
    if not prefix:
        return text
    kind = prefix["kind"].lower()
    rest = _LEADING.sub("", prefix["rest"])
    if kind == "revert" and labelled:
        return f"Undone: {_prefix_in_words(rest, labelled=False)}"
    words = f"{_LABELS[kind]}: {rest}" if labelled else rest
    scope = (prefix["scope"] or "").strip()
    if scope:
        words += f" ({scope})"
    if prefix["breaking"]:
        words += " (breaking)"
    return words


def _bare(subject: str) -> str:
    """The subject without references, hashes and symbols; one of which nothing goes is left as
    it is."""
    text = _REFERENCE.sub("", subject)
    text = _NAMED.sub(r"\1 an earlier commit", text)
    text = _HASH.sub("", text)
    text = _SHORTCODE.sub("", text)
    text = _SYMBOLS.sub("", text)
    if text == subject:
        return subject
    text = " ".join(_HOLLOW.sub("", text).split())
    text = re.sub(r"\s+([,;:.])(?=\s|$)", r"\1", text)
    text = _LEADING.sub("", text).rstrip(" :;,-")
    first_word = text.split(" ", 1)[0]
    if first_word.isalpha() and first_word.islower():
        return text[:1].upper() + text[1:]
    return text


def rule(pattern: str) -> SearchRule:
    """An expression of `leave_out`, or an error where it is none or could take for ever."""
    hint = "leave_out takes Python regular expressions, searched for in the commit's subject"
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise BadSource(
            f"leave_out {pattern!r}", problem=f"not a regular expression: {problem}", hint=hint
        ) from problem
    repetitions, nested = _repetitions(pattern)
    if nested or repetitions > _MOST_REPETITIONS:
        danger = f"has {repetitions} repetitions"
        if nested:
            danger = "repeats a group that repeats or chooses"
        hint = f"avoid what is like (a+)+ or (a|b)*, and repeat at most {_MOST_REPETITIONS} times"
        raise BadSource(
            f"leave_out {pattern!r}", problem=f"could take for ever: {danger}", hint=hint
        )
    return SearchRule(compiled, _SUBJECT_CHARS if repetitions <= 2 else _SEARCHED_CHARS)


def _repetitions(pattern: str) -> tuple[int, bool]:
    """How often an expression repeats something, and whether it repeats a group that repeats or
    chooses itself."""
    count = 0
    groups: list[list[str]] = [[]]  # the tokens of every group that is open, the innermost last
    closed = list[str]()  # those of a group that ends just before this token
    for token in _SYNTAX.findall(pattern):
        is_repeated = token[0] in "*+{" and any(_varies(part) for part in closed)
        if is_repeated and not _is_parted(closed):
            return count, True
        if _varies(token) and token not in ("?", "|"):
            count += 1
        closed = groups.pop() if token == ")" and len(groups) > 1 else []
        groups[-1] += [*closed, token]
        if token[0] == "(":
            groups.append([])
    return count, False


def _varies(token: str) -> bool:
    return token in ("*", "+", "?", "|") or (token[0] == "{" and "," in token)


def _is_parted(group: Sequence[str]) -> bool:
    """Whether a group begins with a character that nothing repeated in it can be, as ` \\S+`
    does: one way to match."""
    first, *rest = group
    if len(first) > 1 or _varies(first) or first in ".^$":
        return False
    if _varies(rest[0]) or "|" in rest or ")" in rest:
        return False
    try:
        for atom, after in itertools.pairwise(rest):
            is_repeated = _varies(after) and not _varies(atom)
            if is_repeated and re.fullmatch(atom, first, re.IGNORECASE):
                return False
    except re.error:
        return False
    return True


def _is_noise(subject: str, rules: Sequence[SearchRule]) -> bool:
    """Whether a subject is left out as it is, or without the symbol in front: `🔖 v0.2.0`."""
    spoken = _SYMBOLS.sub("", _SHORTCODE.sub("", subject))
    for text in dict.fromkeys((subject, spoken)):
        if _MERGE.match(text) or any(rule.pattern.search(text[: rule.chars]) for rule in rules):
            return True
    return False


def _reason_for_none(looked_at: int) -> str:
    if looked_at:
        return f"all of the {looked_at:,} newest commits are left out"
    return "no commit touches this folder"


def _batch(root: Path, skip: int, count: int, deadline: float) -> list[tuple[str, str]] | str:
    """Some commits as (day, subject), or why they can't be had."""
    words = ["log", "-z", "--no-merges", "--no-color", "--no-notes", "--encoding=UTF-8"]
    words += ["--format=%cI %s", f"--skip={skip}", f"--max-count={count}", "--"]
    if not (root / ".git").exists():
        words.append(".")  # a folder inside a repository: only what touches it
    left = max(0.0, deadline - time.monotonic())
    try:
        output = git_command.run(words, root, timeout_seconds=left, output_bytes=_OUTPUT_BYTES)
    except (OSError, ValueError) as problem:
        return f"git failed: {getattr(problem, 'strerror', None) or problem}"
    if output.timed_out:
        return f"git failed: it took longer than {_SECONDS:g} seconds"
    if output.exit_code and not output.cut:
        return _reason(output.stderr.decode("utf-8", "replace"))
    lines = output.stdout.decode("utf-8", "replace").split("\0")
    return [_day_and_subject(line) for line in lines if " " in line]


def _day_and_subject(line: str) -> tuple[str, str]:
    when, _, subject = line.partition(" ")
    text, _ = clean(subject[: 4 * _SUBJECT_CHARS])
    text = " ".join(_DIRECTION.sub("", without_escapes(text)).split())
    if len(text) > _SUBJECT_CHARS:
        text = f"{text[: _SUBJECT_CHARS - 3]}..."
    return when[:10], text


def _reason(complaint: str) -> str:
    if "not a git repository" in complaint:
        return "not a git repository"
    if "does not have any commits yet" in complaint or "bad default revision" in complaint:
        return "no commit yet"
    return git_command.failure_reason(complaint)
