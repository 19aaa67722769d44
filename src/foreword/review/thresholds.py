"""Thresholds, the short form of a profile: how many findings of each severity may pass.

    thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}

Pure; what they come to is the business of `verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.plan.value_words import value_in_words
from foreword.review.profile_parts import plain_name

_HINT = "for example thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}"
_LIMIT_NAME = lazy_pattern(
    r"(?:max|most|maximum)?(?P<name>critical|high|medium|low)(?:findings)?(?:max)?"
)
_SHARE_NAME = lazy_pattern(r"(?:min|least|minimum)?(?P<name>confidence|answered)(?:score)?(?:min)?")
LIMITS = ("critical", "high", "medium", "low")
_SHARES = ("confidence", "answered")


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
    written: tuple[str, ...] = ()  # what the profile itself says; the rest are our defaults


def read_thresholds(data: object, where: str, profile: str = "default") -> Thresholds:
    """Thresholds as a profile has them, `{critical: 0, high: 2, answered: 0.75}`; what it leaves
    out is the default, by which nothing is approved unless the user says so.

    `max_critical`, `high_findings` and `confidence_score` are understood, too.
    """
    if not isinstance(data, Mapping):
        problem = f"thresholds must be a mapping, not {value_in_words(data)}"
        raise BadSource(where, problem, hint=_HINT)
    values: dict[str, Any] = {}
    ignored: list[str] = []
    for written, value in data.items():
        name = threshold_name(str(written))
        if name in values:
            raise BadSource(where, f"{name} is there twice, once as {str(written)!r}", hint=_HINT)
        if name:
            values[name] = value
        else:
            ignored.append(str(written))
    for name, value in values.items():
        shown = value_in_words(value)
        if name in LIMITS and not _is_limit(value):
            problem = f"{name} must be a whole number or null, not {shown}"
            raise BadSource(where, problem, hint=_HINT)
        if name in _SHARES and not _is_share(value):
            raise BadSource(where, f"{name} must be between 0 and 1, not {shown}", hint=_HINT)
    return Thresholds(profile=profile, **values, ignored=tuple(ignored), written=tuple(values))


def threshold_name(written: str) -> str:
    """Which threshold a name means; none where it may mean another thing: `min_high` is no most."""
    plain = plain_name(written)
    limit = _LIMIT_NAME.fullmatch(plain)
    share = _SHARE_NAME.fullmatch(plain)
    return limit["name"] if limit else share["name"] if share else ""


def _is_limit(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
