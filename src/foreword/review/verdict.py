"""What a panel comes to: a verdict by the thresholds of a profile, with its reasons, in one
structured result.

Pure. The verdict follows from the merged findings and from who answered, never from what a member
votes for. Where the findings come from is in `answer_parsing` and `findings`; who asks the members
is `work.panel_runs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from foreword.errors import BadSource
from foreword.plan.shape_check import value_in_words
from foreword.review.findings import SEVERITIES, Finding, Severity, count_severities

Verdict = Literal["approve", "changes_requested", "inconclusive"]
Status = Literal["answered", "failed", "late", "nonsense", "missing"]

# Both are documented (docs/agents.md), so that a profile's `confidence` can be chosen by them. A
# change without findings is not certain: 0.85 is below any threshold that asks for certainty.
BASE_CONFIDENCE = 0.85
# What each finding takes away: three critical ones, or five high ones, leave next to nothing.
PENALTIES: Mapping[Severity, float] = {
    "critical": 0.25,
    "high": 0.15,
    "medium": 0.05,
    "low": 0.01,
    "info": 0.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How many findings of each severity a profile lets pass (None: any number), and how sure it
    wants to be."""

    profile: str = "default"
    critical: int | None = 0
    high: int | None = 2
    medium: int | None = None
    low: int | None = None
    confidence: float = 0.0  # at least
    answered: float = 0.5  # of the members, at least
    ignored: tuple[str, ...] = ()  # what the profile says besides, which means nothing to a panel


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

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "name": self.name,
            "status": self.status,
            "why": self.why,
            "seconds": round(self.seconds, 3),
            "findings": self.findings,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """The change that was looked at: where it is from, its digest and its size."""

    source: str
    digest: str
    files: tuple[str, ...] = ()
    lines: int = 0

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "source": self.source,
            "digest": self.digest,
            "files": list(self.files),
            "lines": self.lines,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """The one result of a panel."""

    panel: str
    title: str
    verdict: Verdict
    reasons: tuple[str, ...]
    confidence: float
    profile: str
    findings: tuple[Finding, ...]
    members: tuple[MemberResult, ...]
    change: ReviewedChange
    merged_by: str = "rule"
    notes: tuple[str, ...] = ()

    @property
    def without_answer(self) -> tuple[MemberResult, ...]:
        """The members that gave no answer that can be read."""
        return tuple(member for member in self.members if member.status != "answered")

    def to_dict(self) -> dict[str, object]:
        """As JSON has it; `SCHEMA` describes it."""
        return {
            "panel": self.panel,
            "title": self.title,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "confidence": self.confidence,
            "profile": self.profile,
            "findings": [finding.to_dict() for finding in self.findings],
            "members": [member.to_dict() for member in self.members],
            "change": self.change.to_dict(),
            "merged_by": self.merged_by,
            "notes": list(self.notes),
        }


def read_thresholds(data: object, where: str, profile: str = "default") -> Thresholds:
    """Thresholds as a profile has them, `{critical: 0, high: 2, answered: 0.75}`; what it leaves
    out is the default.

    `max_critical`, `high_findings` and `confidence_score` are understood, too.
    """
    if not isinstance(data, Mapping):
        problem = f"thresholds must be a mapping, not {value_in_words(data)}"
        raise BadSource(where, problem, hint=_HINT)
    values: dict[str, Any] = {}
    ignored: list[str] = []
    for written, value in data.items():
        name = _AFFIXES.sub("", str(written).casefold())
        if name in (*_LIMITS, *_SHARES):
            values[name] = value
        else:
            ignored.append(str(written))
    for name in _LIMITS:
        if name in values and not _is_limit(values[name]):
            problem = f"{name} must be a whole number or null, not {value_in_words(values[name])}"
            raise BadSource(where, problem, hint=_HINT)
    for name in _SHARES:
        if name in values and not _is_share(values[name]):
            problem = f"{name} must be between 0 and 1, not {value_in_words(values[name])}"
            raise BadSource(where, problem, hint=_HINT)
    return Thresholds(profile=profile, **values, ignored=tuple(ignored))


_LIMITS = ("critical", "high", "medium", "low")
_SHARES = ("confidence", "answered")
_AFFIXES = re.compile(r"^(?:max|min|most|least)_|_(?:findings|score|max|min)$")
_HINT = "for example thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}"


def _is_limit(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def confidence_in(findings: Sequence[Finding]) -> float:
    """How sure one may be of a change with these findings: 0.85, less for each by its severity,
    never below 0."""
    counts = count_severities(findings)
    penalty = sum(PENALTIES[severity] * count for severity, count in counts.items())
    return round(max(0.0, BASE_CONFIDENCE - penalty), 2)


def decide(
    findings: Sequence[Finding], members: Sequence[MemberResult], thresholds: Thresholds
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and its reasons, as sentences."""
    against = _severity_reasons(findings, thresholds) + _confidence_reasons(findings, thresholds)
    too_few = _answer_reasons(members, thresholds)
    if against:
        return "changes_requested", (*against, *too_few)
    if too_few:
        return "inconclusive", tuple(too_few)
    return "approve", (_approval_reason(findings, members, thresholds),)


def _severity_reasons(findings: Sequence[Finding], thresholds: Thresholds) -> list[str]:
    reasons = []
    for severity, count in count_severities(findings).items():
        most = getattr(thresholds, severity, None)
        if most is not None and count > most:
            allowed = f"at most {most}" if most else "none"
            reasons.append(
                f"{_plural(count, f'{severity} finding')}; profile {thresholds.profile} allows"
                f" {allowed}."
            )
    return reasons


def _confidence_reasons(findings: Sequence[Finding], thresholds: Thresholds) -> list[str]:
    confidence = confidence_in(findings)
    if confidence >= thresholds.confidence:
        return []
    return [
        f"Confidence is {confidence:.2f}; profile {thresholds.profile} asks for"
        f" {thresholds.confidence:.2f}."
    ]


def _answer_reasons(members: Sequence[MemberResult], thresholds: Thresholds) -> list[str]:
    answered = sum(member.status == "answered" for member in members)
    if answered and answered >= thresholds.answered * len(members):
        return []
    consequence = "there is no opinion"
    if answered:
        consequence = f"profile {thresholds.profile} asks for {thresholds.answered:.0%}"
    return [f"{answered} of {_plural(len(members), 'member')} answered; {consequence}."]


def _approval_reason(
    findings: Sequence[Finding], members: Sequence[MemberResult], thresholds: Thresholds
) -> str:
    answered = sum(member.status == "answered" for member in members)
    found = _plural(len(findings), "finding") if findings else "no findings"
    who = f"{answered} of {_plural(len(members), 'member')} answered with {found}"
    return f"{who}, within what profile {thresholds.profile} allows."


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}


def _object(properties: Mapping[str, object]) -> dict[str, Any]:
    names = list(properties)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": names,
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "The result of a panel",
    **_object(
        {
            "panel": _TEXT,
            "title": _TEXT,
            "verdict": {"enum": list(get_args(Verdict))},
            "reasons": {"type": "array", "items": _TEXT, "minItems": 1},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "profile": _TEXT,
            "findings": {
                "type": "array",
                "items": _object(
                    {
                        "severity": {"enum": list(SEVERITIES)},
                        "title": {"type": "string", "minLength": 1},
                        "detail": _TEXT,
                        "file": {"type": ["string", "null"]},
                        "line": {"type": ["integer", "null"], "minimum": 1},
                        "said_by": {"type": "array", "items": _TEXT, "minItems": 1},
                        "remediation": _TEXT,
                    }
                ),
            },
            "members": {
                "type": "array",
                "items": _object(
                    {
                        "name": _TEXT,
                        "status": {"enum": list(get_args(Status))},
                        "why": _TEXT,
                        "seconds": {"type": "number", "minimum": 0},
                        "findings": _COUNT,
                        "input_tokens": _COUNT,
                        "output_tokens": _COUNT,
                        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                    }
                ),
            },
            "change": _object(
                {
                    "source": _TEXT,
                    "digest": _TEXT,
                    "files": {"type": "array", "items": _TEXT},
                    "lines": _COUNT,
                }
            ),
            "merged_by": {"type": "string", "description": "rule, or the model that was asked"},
            "notes": {"type": "array", "items": _TEXT},
        }
    ),
}
