"""The five rules by which the model `test` reviews a diff, so that a panel can be tried without a
key.

Each added line is checked by itself. This is a test double, not a scanner; `docs/agents.md` lists
the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from foreword.pattern import lazy_pattern
from foreword.secrets.masking import mask

HUNK = lazy_pattern(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
FILE = lazy_pattern(r"(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)")
NO_FILE = "/dev/null"


class AddedLine(NamedTuple):
    """A line that a diff adds, with its number in the new file."""

    file: str
    number: int
    text: str


class ReviewRule(NamedTuple):
    """A check of an added line, and the finding for a line that fails it."""

    breaks: Callable[[str], object]
    severity: str
    title: str
    reason: str


_QUOTED_SECRET = lazy_pattern(r"[\"'`][^\"'`\s]*\[hidden\]")
_SQL = lazy_pattern(
    r"(?i)\bf[\"'](?:select|insert|update|delete)\b.*\{"
    r"|[\"'](?:select|insert|update|delete)\b.*[\"']\s*(?:\+|%|\.format\()"
)


def _has_secret(line: str) -> bool:
    """Return whether a line has a secret in quotes."""
    return _QUOTED_SECRET.search(mask(line)) is not None


RULES = [
    ReviewRule(
        breaks=_has_secret,
        severity="critical",
        title="Hard-coded secret",
        reason="Anyone who can read the code can use it: read it from the environment.",
    ),
    ReviewRule(
        breaks=_SQL.search,
        severity="critical",
        title="SQL built from a string",
        reason="A value can change the statement: pass it as a parameter.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"(?<![\w.])eval\(").search,
        severity="high",
        title="eval of a string",
        reason="Whatever the string says is run: parse it instead.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"\bverify\s*=\s*False\b").search,
        severity="high",
        title="TLS check switched off",
        reason="Anyone on the way can read and change what is sent: trust the certificate instead.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"\b(?:TODO|FIXME)\b").search,
        severity="low",
        title="Unfinished work",
        reason="Finish it, or say where it is tracked.",
    ),
]


def review(text: str) -> list[dict[str, Any]]:
    """Return a finding for every added line of the diffs in a text that breaks a rule."""
    findings = list[dict[str, Any]]()
    for line in added_lines(text):
        for rule in RULES:
            if rule.breaks(line.text):
                findings.append(_finding(line, rule))
    return findings


def _finding(line: AddedLine, rule: ReviewRule) -> dict[str, Any]:
    return {
        "severity": rule.severity,
        "file": line.file,
        "line": line.number,
        "title": rule.title,
        "reason": rule.reason,
    }


def added_lines(text: str) -> Iterator[AddedLine]:
    """Yield the lines that the hunks in a text add; a hunk is as long as its head says, or ends
    where it was cut."""
    file = ""
    number = 0  # of the next line of the new file
    old_left = new_left = 0  # lines of the hunk that are still to come
    for row in text.split("\n"):
        sign = row[:1] or " "
        if (old_left > 0 or new_left > 0) and sign in " +-\\":
            if sign == "+":
                yield AddedLine(file, number, row[1:].rstrip("\r"))
            old_left -= sign in " -"
            new_left -= sign in " +"
            number += sign in " +"
            continue
        old_left = new_left = 0
        hunk = HUNK.match(row)
        named = FILE.match(row)
        if hunk:
            number = int(hunk[3])
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
        elif named and named[1].strip() != NO_FILE:
            file = named[1].strip()
