"""What the members of a panel found, and how the same thing said by several becomes one finding.

Merging is by rule and needs no model: the same file, lines that are near, words that are alike.
Whatever the order of the findings, the outcome is the same; merging twice changes nothing; no
member and no severity is lost. How an answer is read is the business of `answer_parsing`, what
follows from the findings that of `verdict`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, get_args

from foreword.pattern import lazy_pattern

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

# Members name the first line of a statement, or the one inside it that is wrong: lines this far
# apart may be one place. Every line more is a place more to look at for each finding.
NEAR_LINES = 3
# Different claims about one place that are compared word by word; behind them only the very same
# words are the same claim. Thousands of claims about one line stay linear.
MOST_COMPARED = 50
# Characters of the remedies of one finding, all members together: twice what one member may write.
LONGEST_REMEDIES = 4_000
# The four limits of likeness belong together. They are chosen so that the pairs in the tests come
# out right, of one flaw in two wordings and of two flaws of one line: lower ones put two flaws
# together, which hides one; higher ones report one flaw twice.
_LEAST_SHARED = 2  # words, where one title is part of another
_SIMILAR_TITLES = 0.6  # of the words of both titles
_SIMILAR_TEXTS = 1 / 3  # of the words of the shorter of two claims about the very same line
_LEAST_IN_COMMON = 3  # words, for two texts to be alike

_WORD = lazy_pattern(r"[^\W_]+(?:[_.][^\W_]+)*")
# Letters of a word that are compared: `inject`, `injected` and `injection` are one word.
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
    particular, and `flags` are the names that members gave it, as in `pii_exposure`."""

    severity: Severity
    title: str
    detail: str = ""
    file: str = ""
    line: int = 0
    said_by: tuple[str, ...] = ()
    remediation: str = ""
    flags: tuple[str, ...] = ()


def merge(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings with those that say the same put together, the worst first, then by file and
    line."""
    places: dict[tuple[str, int], _Place] = defaultdict(_Place)
    groups: list[_Group] = []
    for finding in sorted(findings, key=most_telling_first):
        group = _most_similar_group(finding, places)
        if group is None:
            group = _Group(_claim(finding))
            groups.append(group)
            places[finding.file, finding.line].add(group)
            if finding.line:
                places[finding.file, _ANY_LINE].add(group)
        group.findings.append(finding)
    return worst_first(combine(group.findings) for group in groups)


def combine(findings: Sequence[Finding]) -> Finding:
    """One finding in the words of the first, with everyone who said it, the worst severity and
    every remedy."""
    first = findings[0]
    if len(findings) == 1:
        return replace(first, said_by=tuple(sorted(set(first.said_by))))
    members: set[str] = set()
    flags: set[str] = set()
    for finding in findings:
        members.update(finding.said_by)
        flags.update(finding.flags)
    by_telling = sorted(findings, key=most_telling_first)
    return replace(
        first,
        severity=min((finding.severity for finding in findings), key=SEVERITIES.index),
        said_by=tuple(sorted(members)),
        remediation=_join_remedies(finding.remediation for finding in by_telling),
        flags=tuple(sorted(flags)),
    )


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by file and line."""
    return tuple(sorted(findings, key=_severity_and_place))


def _severity_and_place(finding: Finding) -> tuple[object, ...]:
    severity = SEVERITIES.index(finding.severity)
    return (severity, finding.file, finding.line, finding.title, finding.detail)


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}


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
    findings: list[Finding] = field(default_factory=list)


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
    return (
        not finding.line,
        -len(_claim(finding).text),
        finding.title,
        finding.detail,
        finding.file,
        finding.line,
        finding.remediation,
    )


def _most_similar_group(finding: Finding, places: dict[tuple[str, int], _Place]) -> _Group | None:
    """The group that says the same most clearly."""
    claim = _claim(finding)
    best = None
    highest = 0.0
    for line in _nearby_lines(finding.line):
        if (finding.file, line) not in places:
            continue
        same_line = line in (finding.line, _ANY_LINE)
        for group in places[finding.file, line].candidates(claim):
            likeness = _likeness(claim, group.claim, same_line=same_line)
            if likeness > highest:
                best = group
                highest = likeness
    return best


def _nearby_lines(line: int) -> Iterator[int]:
    """The line itself and those around it, the nearest first."""
    if not line:
        yield _ANY_LINE
        yield 0
        return
    yield line
    for step in range(1, NEAR_LINES + 1):
        yield line - step
        yield line + step


def _likeness(one: _Claim, other: _Claim, *, same_line: bool) -> float:
    """How alike two claims are; 0 where they are not the same.

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
        part_of_other = contained and len(one.title & other.title) >= _LEAST_SHARED
        if titles >= _SIMILAR_TITLES or part_of_other:
            return 1.0 + titles
        if same_line:
            return _shared_words(one.text, other.text)
    return 0.0


def _shared_words(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter text is in the longer one; 0 where that is too little to tell."""
    common = len(one & other)
    share = common / max(1, min(len(one), len(other)))
    return share if common >= _LEAST_IN_COMMON and share >= _SIMILAR_TEXTS else 0.0


def _another_subject(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles differ by one word each: the same claim about something else."""
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
    names_in_code: set[str] = set()
    for word in words:
        if "_" in word:
            names_in_code.update([word, *word.split("_")])
    return _Claim(
        title=frozenset(map(_stem, _words(title))),
        text=frozenset(_stem(word) for word in words if word not in names_in_code),
    )


def _words(text: str) -> list[str]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return [word for word in words if word not in _FILLERS]


def _stem(word: str) -> str:
    return word.rstrip("s")[:_STEM_CHARS] if word.isalpha() else word


def _join_remedies(remedies: Iterable[str]) -> str:
    """Every remedy that differs by more than its punctuation, one below the other, as far as
    there is room."""
    by_words: dict[frozenset[str], str] = {}
    for remedy in remedies:
        if remedy.strip():
            by_words.setdefault(frozenset(map(_stem, _words(remedy))), remedy.strip())
    lines: list[str] = []
    room = LONGEST_REMEDIES
    for remedy in by_words.values():
        room -= len(remedy) + 1
        if lines and room < 0:
            lines.append(f"and {len(by_words) - len(lines)} more")
            break
        lines.append(remedy)
    return "\n".join(lines)
