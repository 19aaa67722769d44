"""What the members of a panel found, and how findings that say the same become one.

Merging is by rule and needs no model: the same file, lines that are near, the same words in the
title. Findings in other words stay apart, unless a model groups them (`moderator`). Whatever the
order of the findings, the outcome is the same, and no member and no severity is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from foreword.pattern import lazy_pattern

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

# Members name the first line of a statement, or the one inside it that is wrong: lines this far
# apart may be one place. At double that, two findings of one function become one; at half, the
# first and the third line of a call are two.
NEAR_LINES = 3
_WORD = lazy_pattern(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, where, how bad, who said so; line 0 is no line in particular, and
    `flags` are the names that policies use, as in `pii_exposure`."""

    severity: Severity
    title: str
    reason: str = ""
    file: str = ""
    line: int = 0
    said_by: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def merge(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with those that say the same put together, the worst first."""
    groups = dict[tuple[object, ...], list[list[Finding]]]()
    for finding in sorted(findings, key=_place_and_words):
        claim = (finding.file, finding.line > 0, *_title_words(finding))
        same_title = groups.setdefault(claim, [])
        if same_title and finding.line - same_title[-1][0].line <= NEAR_LINES:
            same_title[-1].append(finding)
        else:
            same_title.append([finding])
    merged = list[Finding]()
    for same_title in groups.values():
        merged += map(combine, same_title)
    return worst_first(merged)


def combine(findings: Sequence[Finding]) -> Finding:
    """Return one finding in the words of the longest, with everyone who said it and the worst
    severity."""
    said_by = set[str]()
    flags = set[str]()
    for finding in findings:
        said_by.update(finding.said_by)
        flags.update(finding.flags)
    return replace(
        min(findings, key=_longest_first),
        line=min(finding.line for finding in findings),
        severity=min((finding.severity for finding in findings), key=SEVERITIES.index),
        said_by=tuple(sorted(said_by)),
        flags=tuple(sorted(flags)),
    )


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings by severity, then by file and line."""
    return tuple(sorted(findings, key=_severity_and_place))


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """Return how many findings there are of each severity."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}


def _title_words(finding: Finding) -> tuple[str, ...]:
    words = _WORD.findall(finding.title.casefold())
    return tuple(words) or (finding.title,)


def _longest_first(finding: Finding) -> tuple[object, ...]:
    return (-len(finding.reason), finding.reason, finding.title, finding.file)


def _place_and_words(finding: Finding) -> tuple[object, ...]:
    return (finding.file, finding.line, finding.title, finding.reason, finding.said_by)


def _severity_and_place(finding: Finding) -> tuple[object, ...]:
    return (SEVERITIES.index(finding.severity), *_place_and_words(finding))
