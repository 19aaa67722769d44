"""What is known of a change that a panel has looked at, in the words that profiles use.

Pure. A panel of ours is one panel to a profile; what other panels found, or a build server, is not
known here unless the user says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.review.condition import UNKNOWN, EachOutcome, Facts, evaluate
from foreword.review.condition_parsing import RISKS, fact_name
from foreword.review.findings import SEVERITIES, Finding, Severity, count_severities
from foreword.review.profile import ReviewProfile

Status = Literal["answered", "failed", "late", "nonsense", "missing"]

# A fact that the user may give: the panels that looked at this change elsewhere.
EXECUTED = "panels_executed"
# Of a member that states no confidence; documented in docs/agent-files.md. A change without
# findings is not certain: 0.85 is below any threshold that asks for certainty.
BASE_CONFIDENCE = 0.85
# What each finding takes away: three critical ones, or five high ones, leave next to nothing.
PENALTIES: Mapping[Severity, float] = {
    "critical": 0.25,
    "high": 0.15,
    "medium": 0.05,
    "low": 0.01,
    "info": 0.0,
}
# In the words that profiles use of a panel's report.
_EMISSIONS: Mapping[Status, str] = {
    "answered": "complete",
    "failed": "failed",
    "late": "timeout",
    "nonsense": "invalid",
    "missing": "missing",
}
# What a member comes to by its own findings: without a critical or high one, or with.
VOTES = ("approve", "request_changes")
# Files of a change that are named in a result, which is read by people.
MOST_FILES = 1_000
# Patterns of one condition: people write a dozen, and braces behind braces stand for any number.
MOST_PATTERNS = 500
_COMMA = lazy_pattern(r",\s+")  # `"db/, migrations/"`: two places in one text
# Not a place but a regular expression, or one that takes back what another says (`!docs/`), where
# whose turn it is differs from tool to tool.
_NO_PLACE = lazy_pattern(r"^!|[\\^$|()+]|\.\*")
_BRACES = lazy_pattern(r"\{([^{}]*,[^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberResult:
    """What became of one member; `why` says what went wrong, or what was left out of its answer."""

    name: str
    status: Status
    why: str = ""
    seconds: float = 0.0
    findings: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """The change that was looked at: where it is from, its digest and its size."""

    source: str
    digest: str
    files: tuple[str, ...] = ()
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What there is to judge: who looked at which change, and what they found."""

    panel: str
    findings: Sequence[Finding]
    members: Sequence[MemberResult]
    change: ReviewedChange
    facts: Mapping[str, object] = field(default_factory=dict)  # what the user knows besides
    shown: str = ""  # how much of the change the members were shown, where that is not all of it
    # by member, what its answer says besides findings that are read
    unread: Mapping[str, Sequence[str]] = field(default_factory=dict)


def confidence_of(review: Review, profile: ReviewProfile) -> float:
    """Return the average of the confidence that members state, by the profile's weights where it
    names one of them; a member that states none counts with what the findings leave."""
    answered = [member for member in review.members if member.status == "answered"]
    weights = dict.fromkeys([member.name for member in answered], 1.0)
    if weights.keys() & profile.weights.keys():
        weights = {name: profile.weights.get(name, 0.0) for name in weights}
    unstated = confidence_in(review.findings)
    if not sum(weights.values()):
        return unstated
    total = 0.0
    for member in answered:
        stated = unstated if member.confidence is None else member.confidence
        total += stated * weights[member.name]
    return round(total / sum(weights.values()), 4)


def confidence_in(findings: Sequence[Finding]) -> float:
    """How sure one may be of a change with these findings: 0.85, less for each by its severity,
    never below 0."""
    counts = count_severities(findings)
    penalty = sum(PENALTIES[severity] * count for severity, count in counts.items())
    return round(max(0.0, BASE_CONFIDENCE - penalty), 2)


def facts_of(review: Review, profile: ReviewProfile) -> Facts:
    """What the conditions of a profile may ask about."""
    counts = count_severities(review.findings)
    confidence = confidence_of(review, profile)
    risk = _highest_risk(review.findings)
    votes = _votes(review)
    values: dict[str, object] = {
        "aggregate_confidence": confidence,
        "confidence": confidence,
        "confidence_score": confidence,
        "highest_severity": risk,
        "max_severity": risk,
        "worst_severity": risk,
        "panel": review.panel,
        "files_changed": len(review.change.files),
        "lines_changed": review.change.lines,
        "members_answered": len(votes),
        "panel_disagreement_detected": len(set(votes)) > 1,
        "required_panel_missing": _required_panel_missing(review, profile),
    }
    for total in ("findings", "total_findings", "findings_count", "finding_count"):
        values[total] = len(review.findings)
    for severity in SEVERITIES:
        values[f"{severity}_findings"] = counts.get(severity, 0)
        values[f"findings.{severity}"] = counts.get(severity, 0)
    severities = [finding.severity for finding in review.findings]
    lists: dict[str, Sequence[object]] = {
        "panel_risk": [risk],
        "panel_verdict": votes,
        "emission_status": [_EMISSIONS[member.status] for member in review.members],
        "policy_flag": _flags(review.findings),
        "policy_flag_severity": severities,
        "policy_flag_auto_remediable": [UNKNOWN for _ in review.findings],
        "finding": severities,
        "finding_severity": severities,
        "severity": severities,
    }
    tests = {
        "files_changed_in": lambda places: _files_in(review.change.files, places),
        "panel_executed": lambda name: has_run(review, str(name)) or UNKNOWN,
        "panel_missing": lambda name: False if has_run(review, str(name)) else UNKNOWN,
        # of any other panel it is not known here
        "panel_risk": lambda name: risk if name == review.panel else UNKNOWN,
        "panel_confidence": lambda name: confidence if name == review.panel else UNKNOWN,
    }
    facts = Facts(values=values, lists=lists, tests=tests, words=_words(profile))
    facts = facts.with_values({"risk_level": _risk_level(profile, facts, risk)})
    given = {fact_name(name): value for name, value in review.facts.items()}
    return facts.with_values(
        {name: value for name, value in given.items() if not facts.knows(name)}
    )


def _words(profile: ReviewProfile) -> dict[str, Collection[str]]:
    """The words that each name may stand for; a profile's risks have names of its own."""
    results = [rule.result.strip().casefold() for rule in profile.risk_rules]
    return {
        "risk_level": (*RISKS, *results),
        "highest_severity": RISKS,
        "max_severity": RISKS,
        "worst_severity": RISKS,
        "panel_risk": RISKS,
        "panel_verdict": VOTES,
        # what others call an old answer that stands in for a new one; there is none here
        "emission_status": (*_EMISSIONS.values(), "fallback"),
        "policy_flag_severity": SEVERITIES,
        "finding": SEVERITIES,
        "finding_severity": SEVERITIES,
        "severity": SEVERITIES,
    }


def facts_in_vain(review: Review, profile: ReviewProfile) -> list[str]:
    """What the user says of the change that the panel itself has found out."""
    facts = facts_of(replace(review, facts={}), profile)
    return [name for name in review.facts if name != EXECUTED and facts.knows(fact_name(name))]


def _risk_level(profile: ReviewProfile, facts: Facts, highest: str) -> object:
    """The risk of the change: by the profile's own rules, the first that holds; else the highest
    severity."""
    for rule in profile.risk_rules:
        # which of the results is the milder one is not known here
        outcome = evaluate(rule.condition, facts, mixed=UNKNOWN)
        if outcome.value is None:
            return UNKNOWN
        if outcome.value:
            return rule.result
    return highest


def _highest_risk(findings: Sequence[Finding]) -> str:
    """The worst severity among the findings; notes alone are no risk."""
    found = {finding.severity for finding in findings}
    worst = next((severity for severity in SEVERITIES if severity in found), "info")
    return "negligible" if worst == "info" else worst


def _votes(review: Review) -> list[str]:
    """What each member that answered comes to by its own findings: who has a critical or high one
    does not approve."""
    objecting: set[str] = set()
    for finding in review.findings:
        if finding.severity in ("critical", "high"):
            objecting.update(finding.said_by)
    answered = [member.name for member in review.members if member.status == "answered"]
    return [VOTES[name in objecting] for name in answered]


def _required_panel_missing(review: Review, profile: ReviewProfile) -> object:
    """Panels that ran elsewhere are not known here, so this is never simply true."""
    everyone_ran = all(has_run(review, name) for name in profile.required_panels)
    return False if everyone_ran else UNKNOWN


def _flags(findings: Sequence[Finding]) -> list[object]:
    """The names of policy flags where members gave any, as in `pii_exposure`; a finding in a
    sentence may stand for any flag."""
    flags = list[object]()
    for finding in findings:
        flags += finding.flags or (UNKNOWN,)
    return flags


def _files_in(files: Sequence[str], places: object) -> object:
    """Of each file, whether it is in one of these folders, or fits one of these patterns."""
    if isinstance(places, str):
        places = (places,)
    if not isinstance(places, tuple | list):
        return UNKNOWN
    patterns = list[str]()
    for place in map(str, places):
        for part in _COMMA.split(place):
            patterns += islice(_patterns_of(part), MOST_PATTERNS + 1)
    if len(patterns) > MOST_PATTERNS or any(map(_NO_PLACE.search, patterns)):
        return UNKNOWN
    outcomes = tuple(_is_at_one_of(patterns, file) for file in files)
    is_cut = len(files) >= MOST_FILES
    return EachOutcome((*outcomes, UNKNOWN) if is_cut else outcomes)


def _patterns_of(place: str) -> Iterator[str]:
    """The patterns that a place stands for, as a shell reads it: `src/{a,b}/` is two, and the
    folders of `src/**/x.py` may be none."""
    plain = place.strip().removeprefix("./")
    braces = _BRACES.search(plain)
    if braces:
        for choice in braces[1].split(","):
            yield from _patterns_of(plain[: braces.start()] + choice + plain[braces.end() :])
        return
    yield plain
    if "**/" in plain:
        yield plain.replace("**/", "")


def _is_at_one_of(patterns: Sequence[str], file: str) -> object:
    """Whether a file is in one of these places. Where that depends on how a place is read, it is
    not known: `db/` may be that of the root alone or any folder of the name, as in `src/db/x.py`,
    and `docs/*` what is in it or below."""
    if ".." in file.split("/"):
        return UNKNOWN
    if any(_is_at(pattern, file) for pattern in patterns):
        return True
    return UNKNOWN if any(_may_be_at(pattern, file) for pattern in patterns) else False


def _is_at(pattern: str, file: str) -> bool:
    """By the narrow reading: from the root, a star in one folder, upper and lower case apart. A
    pattern for names alone (`*.sql`) is for files in any folder."""
    folders = file.split("/")
    parts = pattern.strip("/").split("/")
    if len(parts) == 1 and "*" in pattern:
        return fnmatchcase(folders[-1], pattern)
    if parts[-1] == "**":
        del parts[-1]
    elif "**" in parts:
        return fnmatchcase(file, pattern.lstrip("/"))
    elif len(folders) != len(parts) and "*" in parts[-1]:
        return False
    pairs = zip(parts, folders, strict=False)
    return len(parts) <= len(folders) and all(fnmatchcase(folder, part) for part, folder in pairs)


def _may_be_at(pattern: str, file: str) -> bool:
    """By the wide reading: in a folder of that name wherever it is, a star over any number of
    folders, in any case."""
    plain = pattern.casefold().strip("/")
    named = file.casefold()
    return fnmatchcase(named, plain) or fnmatchcase(f"/{named}/", f"*/{plain}/*")


def has_run(review: Review, panel: str) -> bool:
    """Whether a panel has looked at the change, here or by what the user says."""
    return panel in (review.panel, *_executed_names(review))


def _executed_names(review: Review) -> Sequence[str]:
    given = review.facts.get(EXECUTED, ())
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    return [str(name) for name in given] if isinstance(given, list | tuple) else ()
