"""What is known of a change that a panel has reviewed, under the names that policies use.

Pure. What other panels found, or a build server, is not known here unless the user states it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from foreword.pattern import lazy_pattern
from foreword.review.condition import RISKS, Facts, Several, evaluate
from foreword.review.findings import SEVERITIES, Finding, count_severities

if TYPE_CHECKING:
    from foreword.review.policy import Policy

Status = Literal["answered", "failed", "late", "invalid", "missing"]

# A fact that the user may state: the panels that reviewed this change elsewhere.
EXECUTED = "panels_executed"
# In the words that policies use of a panel's report.
EMISSIONS: Mapping[Status, str] = {
    "answered": "complete",
    "failed": "failed",
    "late": "timeout",
    "invalid": "invalid",
    "missing": "missing",
}
# What a member comes to by its own findings: without a critical or high one, or with.
VOTES = ("approve", "request_changes")
_WORDS: Mapping[str, Sequence[str]] = {
    "risk_level": RISKS,
    "highest_severity": RISKS,
    "panel_risk": RISKS,
    "panel_verdict": VOTES,
    # what others call an old answer that stands in for a new one; there is none here
    "emission_status": (*EMISSIONS.values(), "fallback"),
    "policy_flag_severity": SEVERITIES,
    "finding_severity": SEVERITIES,
}
# Files of a change that are named in a result, which is read by people.
MOST_FILES = 1_000
_PLACE = lazy_pattern(r"[\w./*? -]+")  # neither a regular expression nor braces nor a negation


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberResult:
    """What became of one member; `why` says what went wrong, with its own words in quotes."""

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
    """The change that was reviewed: where it is from, its digest and its size."""

    source: str
    digest: str
    files: tuple[str, ...] = ()
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What there is to decide on: who reviewed which change, and what they found."""

    panel: str
    findings: Sequence[Finding]
    members: Sequence[MemberResult]
    change: ReviewedChange
    confidence: float
    facts: Mapping[str, object] = field(default_factory=dict)  # what the user states
    shown: str = ""  # how much of the change the members were shown, where that is not all of it
    # by member, why a human has to read its answer
    remarks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def executed_panels(self) -> Sequence[str]:
        """The panels that have reviewed the change, here or by what the user states."""
        stated = self.facts.get(EXECUTED, ())
        if isinstance(stated, str):
            stated = [name.strip() for name in stated.split(",")]
        return [self.panel, *map(str, stated if isinstance(stated, list | tuple) else ())]

    @property
    def answered(self) -> list[str]:
        """The members that gave an answer."""
        return [member.name for member in self.members if member.status == "answered"]


def confidence_of(members: Sequence[MemberResult], weights: Mapping[str, float]) -> float:
    """Return the average of the confidence that members state, by the policy's weights where it
    names one of them; a member that did not answer counts as 0."""
    names = {member.name for member in members}
    by_name = weights if names & weights.keys() else dict.fromkeys(names, 1.0)
    total = weight_sum = 0.0
    for member in members:
        weight = by_name.get(member.name, 0.0)
        stated = member.confidence if member.status == "answered" else None
        total += weight * (stated or 0.0)
        weight_sum += weight
    return round(total / weight_sum, 4) if weight_sum else 0.0


def facts_of(review: Review, policy: Policy) -> Facts:
    """Return what the conditions of a policy may ask about; no fact that the user states replaces
    what the panel itself has found."""
    severities = [finding.severity for finding in review.findings]
    risk = _highest_risk(review.findings)
    votes = _votes(review)
    executed = review.executed_panels
    counts = count_severities(review.findings)
    is_missing = not set(policy.required_panels).issubset(executed)
    found: dict[str, object] = {
        # where nobody answered there is none to be low
        "aggregate_confidence": review.confidence if review.answered else None,
        "highest_severity": risk,
        "panel": review.panel,
        "findings": len(severities),
        "files_changed": len(review.change.files),
        "lines_changed": review.change.lines,
        "members_answered": len(votes),
        "panel_disagreement_detected": len(set(votes)) > 1,
        # panels that ran elsewhere are not known here, so this is never simply true
        "required_panel_missing": None if is_missing else False,
    }
    for severity, count in counts.items():
        found[f"{severity}_findings"] = count
    facts = Facts(
        values={**review.facts, **found},
        lists={
            "panel_risk": [risk],
            "panel_verdict": votes,
            "emission_status": [EMISSIONS[member.status] for member in review.members],
            "policy_flag": _flags(review.findings),
            "policy_flag_severity": severities,
            "finding_severity": severities,
        },
        tests={
            "files_changed_in": lambda places: _files_in(review.change.files, places),
            "panel_executed": lambda name: True if name in executed else None,
            "panel_missing": lambda name: False if name in executed else None,
        },
        words=_WORDS,
    )
    return facts.with_values({"risk_level": _risk_level(policy, facts, risk)})


def unused_facts(review: Review, policy: Policy) -> list[str]:
    """Return the names of the stated facts that the panel itself has found out."""
    found = facts_of(replace(review, facts={}), policy)
    return [name for name in review.facts if name in found.values or found.several(name)]


def _risk_level(policy: Policy, facts: Facts, highest: str) -> str | None:
    """Return the risk by the policy's own rules, the first that holds; else the highest severity;
    None where a rule before it is unknown."""
    for rule in policy.risk_aggregation.rules:
        outcome = evaluate(rule.condition, facts, mixed=None)
        if outcome.value is not False:
            return rule.result if outcome.value else None
    return highest


def _highest_risk(findings: Sequence[Finding]) -> str:
    """Return the worst severity among the findings; notes alone are no risk."""
    worst = min((finding.severity for finding in findings), key=SEVERITIES.index, default="info")
    return "negligible" if worst == "info" else worst


def _votes(review: Review) -> list[str]:
    """Return what each member that answered comes to by its own findings."""
    objecting = set[str]()
    for finding in review.findings:
        if finding.severity in ("critical", "high"):
            objecting.update(finding.said_by)
    return [VOTES[name in objecting] for name in review.answered]


def _flags(findings: Sequence[Finding]) -> list[str | None]:
    """Return the flags of the findings; a finding without one may be any flag."""
    flags = list[str | None]()
    for finding in findings:
        flags += finding.flags or (None,)
    return flags


def _files_in(files: Sequence[str], places: object) -> Several | None:
    """Return of each file whether it is in one of these folders or fits one of these patterns, at
    any depth; None for a place in any other language."""
    patterns = [places] if isinstance(places, str) else places
    if not isinstance(patterns, list):
        return None
    outcomes = list[bool | None](
        any(_is_in(file, pattern) for pattern in patterns if isinstance(pattern, str))
        for file in files
    )
    if len(files) >= MOST_FILES:
        outcomes.append(None)  # the names of the others are not known
    are_places = all(isinstance(each, str) and _PLACE.fullmatch(each) for each in patterns)
    return Several(outcomes) if are_places else None


def _is_in(file: str, place: str) -> bool:
    pattern = place.casefold().removeprefix("./").strip("/").replace("**/", "*")
    return fnmatchcase(f"/{file.casefold()}/", f"*/{pattern}/*")
