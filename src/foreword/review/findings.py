"""What the members of a panel found, and how the same thing said by several becomes one finding.

Merging is by rule and needs no model: the same file, lines that are near, words that are alike.
Whatever the order of the findings, the outcome is the same; merging twice changes nothing; no
speaker and no severity is lost. How an answer is read is the business of `answers`, what follows
from the findings that of `verdict`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, get_args

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

NEAR_LINES = 3
# different claims about one place, before only the same words are the same claim
MOST_COMPARED = 50
LONGEST_REMEDIES = 4_000
_LEAST_SHARED = 2  # words, where one title is part of another
_ALIKE_TITLES = 0.6
_ALIKE_TEXTS = 1 / 3  # of the words of the shorter of two claims about the very same line
_LEAST_TELLING = 3  # words in common, for two texts to be alike

_WORD = re.compile(r"[^\W_]+(?:[_.][^\W_]+)*")
_STEM_CHARS = 6
_FILLERS = frozenset(
    """
    a an the and or of in on at to for from with without by as is are be been was were it its this
    that these those can could may might will would should must not no than then when where which
    while there here into via so if because any all each every some only also one does do did done
    has have had use used uses using make makes made add missing change changes issue problem bug
    concern risk vulnerability weakness flaw potential possible possibly potentially likely function
    method code line file
    """.split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, where, how bad, who said so, and what to do; line 0 is no line in
    particular."""

    severity: Severity
    title: str
    detail: str = ""
    file: str = ""
    line: int = 0
    said_by: tuple[str, ...] = ()
    remediation: str = ""

    def to_dict(self) -> dict[str, object]:
        """As JSON has it; what is not known is null."""
        return {
            "severity": self.severity,
            "title": self.title,
            "detail": self.detail,
            "file": self.file or None,
            "line": self.line or None,
            "said_by": list(self.said_by),
            "remediation": self.remediation,
        }


def merge(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings with those that say the same put together, the worst first, then by file and
    line."""
    places: dict[tuple[str, int], _Place] = defaultdict(_Place)
    groups: list[_Group] = []
    for finding in sorted(findings, key=most_telling_first):
        group = _like(finding, places)
        if group is None:
            group = _Group(_claim(finding))
            groups.append(group)
            places[finding.file, finding.line].add(group)
            if finding.line:
                places[finding.file, _ANY_LINE].add(group)
        group.said.append(finding)
    return in_order(as_one(group.said) for group in groups)


def as_one(findings: Sequence[Finding]) -> Finding:
    """One finding in the words of the first, with everyone who said it, the worst severity and
    every remedy."""
    first = findings[0]
    if len(findings) == 1:
        return replace(first, said_by=tuple(sorted(set(first.said_by))))
    return replace(
        first,
        severity=min((finding.severity for finding in findings), key=SEVERITIES.index),
        said_by=tuple(sorted({name for finding in findings for name in finding.said_by})),
        remediation=_remedies(
            finding.remediation for finding in sorted(findings, key=most_telling_first)
        ),
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by file and line."""
    return tuple(
        sorted(
            findings,
            key=lambda one: (SEVERITIES.index(one.severity), one.file, one.line, _words_of(one)),
        )
    )


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}


def alike(one: Finding, other: Finding) -> bool:
    """Whether two findings are about the same place and say the same; symmetric."""
    if one.file != other.file or (
        one.line and other.line and abs(one.line - other.line) > NEAR_LINES
    ):
        return False
    same_line = one.line == other.line or not (one.line and other.line)
    return _likeness(_claim(one), _claim(other), same_line) > 0


# ---- by rule ----

# where a finding without a line looks for those that have one; near no line
_ANY_LINE = -1 - NEAR_LINES


@dataclass(frozen=True, slots=True)
class _Claim:
    """The words of a finding."""

    title: frozenset[str]
    text: frozenset[str]


@dataclass(slots=True)
class _Group:
    """Findings that say the same as the first of them, which is the most telling."""

    claim: _Claim
    said: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """The groups about one line of a file; beyond the first few they are only found by the same
    words."""

    groups: list[_Group] = field(default_factory=list)
    by_words: dict[_Claim, _Group] = field(default_factory=dict)

    def add(self, group: _Group) -> None:
        self.groups.append(group)
        self.by_words.setdefault(group.claim, group)

    def candidates(self, claim: _Claim) -> Iterator[_Group]:
        yield from self.groups[:MOST_COMPARED]
        if len(self.groups) > MOST_COMPARED and claim in self.by_words:
            yield self.by_words[claim]


def most_telling_first(finding: Finding) -> tuple[object, ...]:
    """An order that only depends on what merging leaves alone: a known line first, then the most
    words."""
    place = (finding.file, finding.line)
    return (
        not finding.line,
        -len(_claim(finding).text),
        *_words_of(finding),
        *place,
        finding.remediation,
    )


def _words_of(finding: Finding) -> tuple[str, str]:
    return finding.title, finding.detail


def _like(finding: Finding, places: dict[tuple[str, int], _Place]) -> _Group | None:
    """The group that says the same most clearly."""
    claim, best, most = _claim(finding), None, 0.0
    for line in _near(finding.line):
        if (finding.file, line) not in places:
            continue
        same_line = line in (finding.line, _ANY_LINE)
        for group in places[finding.file, line].candidates(claim):
            likeness = _likeness(claim, group.claim, same_line)
            if likeness > most:
                best, most = group, likeness
    return best


def _near(line: int) -> tuple[int, ...]:
    if not line:
        return (_ANY_LINE, 0)
    return (line, *(line + step * way for step in range(1, NEAR_LINES + 1) for way in (-1, 1)))


def _likeness(one: _Claim, other: _Claim, same_line: bool) -> float:
    """How alike two claims are; nothing where they are not the same.

    `Unused import os` and `Unused import sys` have all but one word in common, and are not the
    same.
    """
    if one == other:
        return 3.0
    if one.title.isdisjoint(other.title) and not same_line:
        return 0.0
    titles = _overlap(one.title, other.title)
    if not _another_subject(one.title, other.title):
        contained = one.title <= other.title or other.title <= one.title
        if titles >= _ALIKE_TITLES or (contained and len(one.title & other.title) >= _LEAST_SHARED):
            return 1.0 + titles
        if same_line:
            return _shared(one.text, other.text)
    return 0.0


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter text is in the longer one; nothing where that is too little to
    tell."""
    common = len(one & other)
    share = common / max(1, min(len(one), len(other)))
    return share if common >= _LEAST_TELLING and share >= _ALIKE_TEXTS else 0.0


def _another_subject(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one) > 1 and len(one - other) == 1 and len(other - one) == 1


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _claim(finding: Finding) -> _Claim:
    return _claim_of(finding.title, finding.detail)


@lru_cache(maxsize=2048)
def _claim_of(title: str, detail: str) -> _Claim:
    """The words of the title, and those of the whole that say more than where it is: names in
    code do not."""
    words = _words(f"{title} {detail}") or [f"{title} {detail}"]
    places = {part for word in words if "_" in word for part in [word, *word.split("_")]}
    return _Claim(
        frozenset(map(_stem, _words(title))),
        frozenset(_stem(word) for word in words if word not in places),
    )


def _words(text: str) -> list[str]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return [word for word in words if word not in _FILLERS]


def _stem(word: str) -> str:
    return word.rstrip("s")[:_STEM_CHARS] if word.isalpha() else word


def _remedies(remedies: Iterable[str]) -> str:
    """Every remedy that differs by more than its punctuation, one below the other, as far as
    there is room."""
    kept: dict[frozenset[str], str] = {}
    for remedy in remedies:
        if remedy.strip():
            kept.setdefault(frozenset(map(_stem, _words(remedy))), remedy.strip())
    told, left = list[str](), LONGEST_REMEDIES
    for remedy in kept.values():
        left -= len(remedy) + 1
        if told and left < 0:
            return "\n".join([*told, f"and {len(kept) - len(told)} more"])
        told.append(remedy)
    return "\n".join(told)
