"""What a panel comes to: a verdict by the thresholds of a profile, with its reasons, in one
structured result.

Pure. The verdict follows from the merged findings and from who answered, never from what a member
votes for.
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

BASE_CONFIDENCE = 0.85
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


@dataclass(frozen=True, slots=True)
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
    def unheard(self) -> tuple[MemberResult, ...]:
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
        raise BadSource(
            where, f"thresholds must be a mapping, not {value_in_words(data)}", hint=_HINT
        )
    named = {_AFFIXES.sub("", str(name).casefold()): value for name, value in data.items()}
    limits: dict[str, Any] = {
        name: named[name] for name in ("critical", "high", "medium", "low") if name in named
    }
    shares: dict[str, Any] = {
        name: named[name] for name in ("confidence", "answered") if name in named
    }
    for name, limit in limits.items():
        if limit is not None and (
            not isinstance(limit, int) or isinstance(limit, bool) or limit < 0
        ):
            raise BadSource(
                where,
                f"{name} must be a whole number or null, not {value_in_words(limit)}",
                hint=_HINT,
            )
    for name, share in shares.items():
        if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
            raise BadSource(
                where, f"{name} must be between 0 and 1, not {value_in_words(share)}", hint=_HINT
            )
    ignored = tuple(
        str(name)
        for name in data
        if _AFFIXES.sub("", str(name).casefold()) not in {*limits, *shares}
    )
    return Thresholds(profile=profile, **limits, **shares, ignored=ignored)


_AFFIXES = re.compile(r"^(?:max|min|most|least)_|_(?:findings|score|max|min)$")
_HINT = "for example thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}"


def confidence_in(findings: Sequence[Finding]) -> float:
    """How sure one may be of a change with these findings: 0.85, less for each by its severity,
    never below 0."""
    lost = sum(
        PENALTIES[severity] * count for severity, count in count_severities(findings).items()
    )
    return round(max(0.0, BASE_CONFIDENCE - lost), 2)


def decide(
    findings: Sequence[Finding], members: Sequence[MemberResult], thresholds: Thresholds
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and its reasons, as sentences."""
    against = [*_too_many(findings, thresholds), *_too_unsure(findings, thresholds)]
    unheard = _too_few_answers(members, thresholds)
    if against:
        return "changes_requested", (*against, *unheard)
    if unheard:
        return "inconclusive", tuple(unheard)
    return "approve", (_nothing_in_the_way(findings, members, thresholds),)


def _too_many(findings: Sequence[Finding], thresholds: Thresholds) -> list[str]:
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


def _too_unsure(findings: Sequence[Finding], thresholds: Thresholds) -> list[str]:
    sure = confidence_in(findings)
    if sure >= thresholds.confidence:
        return []
    return [
        f"Confidence is {sure:.2f}; profile {thresholds.profile} asks for"
        f" {thresholds.confidence:.2f}."
    ]


def _too_few_answers(members: Sequence[MemberResult], thresholds: Thresholds) -> list[str]:
    answered = sum(member.status == "answered" for member in members)
    if answered and answered >= thresholds.answered * len(members):
        return []
    asked = f"profile {thresholds.profile} asks for {thresholds.answered:.0%}"
    return [
        f"{answered} of {_plural(len(members), 'member')} answered;"
        f" {asked if answered else 'there is no opinion'}."
    ]


def _nothing_in_the_way(
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
