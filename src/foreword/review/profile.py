"""A project's profile: the rules by which its panels approve, block, or call for a person.

Two forms are read, alone or together: our own `thresholds`, and the rules that governance projects
write (`escalation.rules`, `block.conditions`, `auto_merge`, `risk_aggregation.rules`,
`required_panels`, `missing_panel_behavior`; `profile_rules` has what is said in other sections).
Pure; where the file is found is the business of `work.factory_project`, what the rules come to that
of `verdict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.plan.value_words import value_in_words
from foreword.review.profile_rules import (
    ProfileRule,
    condition_text,
    is_off,
    passed_name,
    rule_lines,
    rule_list,
    rule_questions,
    section_rules,
    unreadable_rule,
    with_known_names,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRule:
    """A condition, and the risk of the change where it holds."""

    condition: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """`auto_merge`: whether the profile approves without a person at all, and when."""

    enabled: bool
    conditions: tuple[str, ...] = ()
    any_suffices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewProfile:
    """What a project asks of a change."""

    name: str = "default"
    source: str = ""
    thresholds: Thresholds | None = None
    rules: tuple[ProfileRule, ...] = ()
    approval: Approval | None = None
    risk_rules: tuple[RiskRule, ...] = ()
    required_panels: tuple[str, ...] = ()
    missing_panel_behavior: str = ""
    default_rules: bool = False  # whether the user lets the built-in rules approve

    @property
    def has_rules(self) -> bool:
        """Whether it says anything that a panel can judge by."""
        has_thresholds = self.thresholds is not None and self.thresholds.written
        return bool(has_thresholds or self.rules or self.approval)

    @property
    def conditions(self) -> tuple[str, ...]:
        """All conditions that it asks about."""
        approval = self.approval.conditions if self.approval is not None else ()
        rules = [rule.condition for rule in self.rules]
        risks = [rule.condition for rule in self.risk_rules]
        return (*rules, *risks, *approval)


_THRESHOLD_KEYS = ("thresholds", "decision_thresholds", "findings")
_READ_HERE = (
    "auto_merge",
    "missing_panel_behavior",
    "required_panels",
    "risk_aggregation",
    "weighting",
)
# Of `auto_merge`: under what its conditions stand, and what says nothing about when it merges.
_APPROVAL_CONDITIONS = ("conditions", "criteria", "requirements", "requires", "when")
_ABOUT_MERGING = frozenset(
    ("delete_branch", "description", "enabled", "merge_method", "method", "notify", "operator")
)
_KNOWN_NAMES = (*_THRESHOLD_KEYS, *_READ_HERE, *_APPROVAL_CONDITIONS, "operator")
_EXAMPLES = {
    "auto_merge": "auto_merge: {enabled: true, conditions: [aggregate_confidence >= 0.8]}",
    "risk_aggregation": "risk_aggregation: {rules: [{condition: high_findings > 0, result: high}]}",
    "weighting": "weighting: {missing_panel_behavior: block}",
}
HIGHEST = "highest_severity"  # the one way to reckon a risk that needs no rules
_HINT = "for example thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}"


def read_profile(data: Mapping[str, Any], *, where: str, name: str) -> ReviewProfile:
    """The profile that a file has; what it says in a form that can't be read is an error, since
    no change is judged by half of the rules."""
    data = with_known_names(data, where, _KNOWN_NAMES)
    thresholds = None
    key = next((key for key in _THRESHOLD_KEYS if key in data), "")
    if key:
        thresholds = read_thresholds(data[key], where=where, profile=name)
    rules = section_rules(data, where, read_elsewhere=(*_READ_HERE, key))
    weighting = _mapping(data, "weighting", where)
    behavior = data.get("missing_panel_behavior", weighting.get("missing_panel_behavior", ""))
    return ReviewProfile(
        name=name,
        source=where,
        thresholds=thresholds,
        rules=(*rules, *_merge_questions(data)),
        approval=_approval(data, where),
        risk_rules=tuple(_risk_rules(data, where)),
        required_panels=_texts(data, "required_panels", where),
        missing_panel_behavior=str(behavior or ""),
    )


def decision_lines(data: Mapping[str, Any]) -> list[str]:
    """The rules of a profile as every agent of the project should know them: `condition: action`, a
    line each, and whether it approves on its own. What can't be read says nothing."""
    try:
        data = with_known_names(data, "", _KNOWN_NAMES)
    except BadSource:
        return []
    found = list(rule_lines(data))
    block = data.get("block")
    conditions = block.get("conditions") if isinstance(block, Mapping) else block
    if isinstance(conditions, list) and conditions:
        found.append(f"block: on any of {len(conditions)} conditions")
    auto_merge = data.get("auto_merge")
    if isinstance(auto_merge, Mapping):
        needed = auto_merge.get("conditions")
        count = len(needed) if isinstance(needed, list) else 0
        is_on = auto_merge.get("enabled") is True
        found.append(f"auto_merge: with {count} conditions" if is_on else "auto_merge: never")
    elif auto_merge is not None:
        found.append(f"auto_merge: {auto_merge}")
    return found


def _approval(data: Mapping[str, Any], where: str) -> Approval | None:
    if "auto_merge" not in data:
        return None
    if isinstance(data["auto_merge"], bool):
        return Approval(enabled=data["auto_merge"])
    auto_merge = _mapping(data, "auto_merge", where)
    conditions = list[str]()
    for key in _APPROVAL_CONDITIONS:
        conditions += map(condition_text, _list(auto_merge, key, where))
    joined = str(auto_merge.get("operator", "all")).casefold()
    if joined not in ("all", "and", "any", "or"):
        problem = f"auto_merge.operator must be all or any, not {joined!r}"
        raise BadSource(where, problem, hint="operator: all")
    return Approval(
        # anything but a plain yes is none: `enabled: "off"` must not approve
        enabled=auto_merge.get("enabled", bool(conditions)) is True,
        conditions=tuple(conditions),
        any_suffices=joined in ("any", "or"),
    )


def _merge_questions(data: Mapping[str, Any]) -> Iterator[ProfileRule]:
    """What `auto_merge` asks for in words of its own, as in `min_approvals: 2`."""
    auto_merge = data.get("auto_merge")
    if isinstance(auto_merge, Mapping) and not is_off(auto_merge):
        for key, value in auto_merge.items():
            if key in _APPROVAL_CONDITIONS:
                yield from rule_questions(f"auto_merge_{key}", list(rule_list(value)))
            elif key not in _ABOUT_MERGING and value is not None:
                yield unreadable_rule(f"auto_merge_{key}")


def _risk_rules(data: Mapping[str, Any], where: str) -> Iterator[RiskRule]:
    aggregation = _mapping(data, "risk_aggregation", where)
    if "rules" not in aggregation and aggregation.get("model", HIGHEST) != HIGHEST:
        yield RiskRule(condition=passed_name("risk_aggregation"), result="low")
    for number, entry in enumerate(_list(aggregation, "rules", where)):
        place = f"risk_aggregation.rules[{number}]"
        result = entry.get("result") if isinstance(entry, Mapping) else None
        if not isinstance(result, str):
            raise BadSource(where, f"{place} has no result", hint="result: high")
        yield RiskRule(condition=condition_text(entry), result=result)


def _mapping(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problem = f"{key} must be a mapping, not {value_in_words(value)}"
        raise BadSource(where, problem, hint=_EXAMPLES[key])
    return value


def _list(data: Mapping[str, Any], key: str, where: str) -> Sequence[object]:
    value = data.get(key)
    if value is None:
        return ()
    if not isinstance(value, str | Mapping | list):
        raise BadSource(where, f"{key} must be a list, not {value_in_words(value)}")
    return rule_list(value)


def _texts(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    names = []
    for entry in _list(data, key, where):
        named = entry.get("panel", entry.get("name")) if isinstance(entry, Mapping) else entry
        if not isinstance(named, str):
            raise BadSource(where, f"{key} must name panels, not {value_in_words(entry)}")
        names.append(named)
    return tuple(names)


# ---- thresholds ----


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
        name = _AFFIXES.sub("", str(written).casefold())
        if name in values:
            raise BadSource(where, f"{name} is there twice, once as {str(written)!r}", hint=_HINT)
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
    return Thresholds(profile=profile, **values, ignored=tuple(ignored), written=tuple(values))


_LIMITS = ("critical", "high", "medium", "low")
_SHARES = ("confidence", "answered")
_AFFIXES = lazy_pattern(r"^(?:max|min|most|least)_|_(?:findings|score|max|min)$")


def _is_limit(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
