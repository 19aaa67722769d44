"""A project's profile: the rules by which its panels approve, block, or call for a person.

Two forms are read, alone or together: our own `thresholds`, and the rules that governance projects
write (`escalation.rules`, `block.conditions`, `auto_merge`, `risk_aggregation.rules`,
`required_panels`, `missing_panel_behavior`; `profile_rules` has what is said in other sections).
Pure; where the file is found is the business of `work.factory_project`, what the rules come to that
of `verdict`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.plan.value_words import value_in_words
from foreword.review.condition_parsing import fact_name
from foreword.review.profile_parts import (
    IDENTITY,
    ProfilePart,
    ProfileReading,
    asks_for_something,
    is_off,
    names_in,
    plain_name,
    says_nothing,
)
from foreword.review.profile_rules import (
    BLOCK_SECTIONS,
    JOINING,
    RULE_SECTIONS,
    ProfileRule,
    condition_text,
    has_condition,
    person_rule,
    rule_lines,
    rule_list,
    section_rules,
    take_condition,
    unreadable_rule,
)
from foreword.review.thresholds import LIMITS, Thresholds, read_thresholds, threshold_name


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
    weights: Mapping[str, float] = field(default_factory=dict)  # of panels, or of members
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
# Of `auto_merge`: under what its conditions stand, and what says how it merges, not when.
_APPROVAL_CONDITIONS = ("conditions", "criteria", "requirements", "requires", "when")
_ABOUT_MERGING = ("delete_branch", "notify")
_MERGE_METHODS = ("merge", "rebase", "squash")
_LIMIT = lazy_pattern(r"(?P<bound>max|min)_(?P<name>\w+)")
# Switches: set, they call for a person whatever was found.
_PERSON_SWITCHES = (
    "human_approval_required",
    "human_review_required",
    "require_human_approval",
    "require_human_review",
    "requires_human_approval",
    "requires_human_review",
)
# Sections about what is done beside or after a verdict: what is repaired or overruled, which other
# panels may look, and who is told. No change is approved by them, and none is stopped.
_ELSEWHERE = (
    "auto_remediate",
    "auto_remediation",
    "optional_panels",
    "override",
    "retention",
    "threat_model_tiers",
)
_ABOUT_TELLING = ("logging", "notification", "notifications", "notify", "reporting")
# What nothing of that has inside, however deep: `override` for some folders may have an
# `auto_merge` of its own.
_DECIDING = frozenset(
    map(
        plain_name,
        (
            *RULE_SECTIONS,
            *BLOCK_SECTIONS,
            *_THRESHOLD_KEYS,
            *_PERSON_SWITCHES,
            "auto_merge",
            "required",
            "required_panels",
        ),
    )
)
# Sections that only ever ask for more. Off, they ask for nothing; of any other that is off nobody
# can say whether a hurdle is gone or a permission (`auto_approval: {enabled: false}`).
_HURDLES = lazy_pattern(r"(?:check|gate|escalation|freeze|block|rule)s?$|^(?:multimodel|proof)")
# Where people keep what anchors repeat, and what they have put aside.
_ASIDE = ("x-", "_", ".")
_IN_FORCE = ("active", "approved", "current", "enabled", "inforce", "live", "stable")
# What `missing_panel_behavior` says where a panel that has not run takes nothing from the others.
OTHERS_STAND = ("redistribute", "ignore", "skip")
_BEHAVIORS = (*OTHERS_STAND, "block", "fail", "error", "human_review", "escalate")
HIGHEST = "highest_severity"  # the one way to reckon a risk that needs no rules
_AVERAGE = "weighted_average"
_MERGE_EXAMPLE = "auto_merge: {enabled: true, conditions: [aggregate_confidence >= 0.8]}"
_RISK_EXAMPLE = "risk_aggregation: {rules: [{condition: high_findings > 0, result: high}]}"
_WEIGHT_EXAMPLE = "weighting: {missing_panel_behavior: block}"


def read_profile(data: Mapping[str, Any], *, where: str, name: str) -> ReviewProfile:
    """The profile that a file has. What it says in a known place and a form that makes no sense is
    an error; whatever else is not understood becomes a rule that calls for a person."""
    reading = ProfileReading(where)
    top = reading.open(data)
    top.take_prose(*IDENTITY)
    _take_metadata(top)
    thresholds = None
    threshold_keys = [key for key in _THRESHOLD_KEYS if key in top]
    if threshold_keys:
        limits = top.take(threshold_keys[0])
        thresholds = read_thresholds(limits, where=where, profile=name)
    approval = _approval(top)
    risk_rules = tuple(_risk_rules(top))
    required = _panel_names(top, "required_panels")
    behavior, weights = _weighting(top)
    if behavior not in OTHERS_STAND:
        required += [panel for panel in weights if panel not in required]
    rules = [*_switches(top), *_change_type_rules(top)]
    rules += _panel_rules_by_change_type(top, required)
    for section in top.names():
        value = top.take(section)
        if not _is_about_something_else(section, value):
            rules += section_rules(reading, section, value)
    rules += map(unreadable_rule, reading.unread_paths())
    return ReviewProfile(
        name=name,
        source=where,
        thresholds=thresholds,
        rules=tuple(rules),
        approval=approval,
        risk_rules=risk_rules,
        required_panels=tuple(required),
        missing_panel_behavior=behavior,
        weights=weights,
    )


def decision_lines(data: Mapping[str, Any]) -> list[str]:
    """The rules of a profile as every agent of the project should know them: `condition: action`, a
    line each, and whether it approves on its own. What can't be read says nothing."""
    known = (*RULE_SECTIONS, "block", "auto_merge")
    spelled = {plain_name(name): name for name in known}
    data = {spelled.get(plain_name(str(key)), str(key)): value for key, value in data.items()}
    try:
        found = list(rule_lines(data))
    except BadSource:
        return []
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


# ---- what decides nothing ----


def _take_metadata(top: ProfilePart) -> None:
    """`metadata` with nothing but descriptions in it."""
    path = top.path_of("metadata")
    value = top.take("metadata")
    if isinstance(value, Mapping):
        top.reading.open(value, path).take_prose(*IDENTITY, "labels")
    elif not says_nothing(value):
        top.reading.refuse(path)


def _is_about_something_else(section: str, value: object) -> bool:
    """Whether a section says nothing about when a change passes; else its rules are asked for."""
    if says_nothing(value) or section.startswith(_ASIDE):
        return True
    name = plain_name(section)
    if name in _ABOUT_TELLING:
        return not asks_for_something(value)
    if name in map(plain_name, _ELSEWHERE):
        has_rules_for_places = name == "override" and isinstance(value, list)
        return _DECIDING.isdisjoint(names_in(value)) and not has_rules_for_places
    return is_off(value) and _HURDLES.search(plain_name(section)) is not None


# ---- what calls for a person ----


def _switches(top: ProfilePart) -> Iterator[ProfileRule]:
    """`human_approval_required: true`, `enabled: false` or `status: draft` of a whole profile."""
    for key in _PERSON_SWITCHES:
        path = top.path_of(key)
        value = top.take(key)
        if value is True:
            yield person_rule(path, value)
        elif value not in (None, False):
            top.reading.refuse(path)
    if top.take_switch() is False:
        yield person_rule("enabled", False)
    status = top.take("status")
    if status is not None and plain_name(str(status)) not in _IN_FORCE:
        yield person_rule("status", status)


def _change_type_rules(top: ProfilePart) -> Iterator[ProfileRule]:
    """Which changes a profile is for: of any other kind, it decides nothing."""
    trigger = _open(top, "trigger_conditions")
    if trigger is None:
        return
    trigger.take_prose()
    types = trigger.take("change_types")
    if isinstance(types, list):
        condition = f"change_type not in {json.dumps(types, default=str)}"
        yield ProfileRule(where=trigger.path, condition=condition, action="human_review")
    else:
        top.reading.refuse(trigger.path)


# ---- auto_merge, risk, panels ----


def _approval(top: ProfilePart) -> Approval | None:
    if "auto_merge" not in top:
        return None
    if isinstance(top.peek("auto_merge"), bool | None):
        return Approval(enabled=top.take("auto_merge") is True)
    auto_merge = _open(top, "auto_merge", example=_MERGE_EXAMPLE)
    if auto_merge is None:
        return Approval(enabled=False)
    conditions = list[str]()
    used = 0
    for key in _APPROVAL_CONDITIONS:
        if key in auto_merge:
            used += 1
            conditions += _approval_conditions(auto_merge, key)
    joined = _operator(auto_merge)
    if used > 1 and joined == "or":
        auto_merge.reading.refuse(auto_merge.path_of("operator"))  # one of which of the lists
    # anything but a plain yes is none: `enabled: "off"` must not approve
    is_named = "enabled" in auto_merge
    enabled = auto_merge.take("enabled") is True if is_named else bool(conditions)
    if not enabled:
        auto_merge.take_all()
    auto_merge.take_prose()
    for about in _ABOUT_MERGING:
        if not asks_for_something(auto_merge.peek(about)):
            auto_merge.take(about)
    for method in ("merge_method", "method"):
        if auto_merge.peek(method) in _MERGE_METHODS:
            auto_merge.take(method)
    return Approval(enabled=enabled, conditions=tuple(conditions), any_suffices=joined == "or")


def _approval_conditions(auto_merge: ProfilePart, key: str) -> Iterator[str]:
    reading = auto_merge.reading
    path = auto_merge.path_of(key)
    for number, entry in enumerate(_list(auto_merge, key)):
        if not isinstance(entry, Mapping) or not has_condition(entry):
            yield _limit_condition(entry) or condition_text(entry)
            continue
        part = reading.open(entry, f"{path}[{number}]")
        condition = take_condition(part)
        part.take_prose()
        yield condition if condition is not None else condition_text(entry)


def _limit_condition(entry: object) -> str:
    """`{max_critical: 0}` as `critical <= 0`; nothing where an entry is no limit. Of what stops a
    change it could mean the opposite, so only what approves is read so."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        return ""
    ((written, limit),) = entry.items()
    named = _LIMIT.fullmatch(fact_name(str(written)))
    if named is None or not _is_number(limit):
        return ""
    bound, name = named["bound"], named["name"]
    if bound == "min" and threshold_name(name) in LIMITS:
        return ""  # nobody asks for so many findings
    return f"{name} {'<=' if bound == 'max' else '>='} {limit}"


def _operator(auto_merge: ProfilePart) -> str:
    written = auto_merge.take("operator")
    joined = JOINING.get(str(written or "all").casefold())
    if joined is None:
        problem = f"auto_merge.operator must be all or any, not {value_in_words(written)}"
        raise BadSource(auto_merge.reading.where, problem, hint="operator: all")
    return joined


def _risk_rules(top: ProfilePart) -> Iterator[RiskRule]:
    aggregation = _open(top, "risk_aggregation", example=_RISK_EXAMPLE)
    if aggregation is None:
        return
    aggregation.take_prose()
    if aggregation.take("model") not in (None, HIGHEST):
        aggregation.reading.refuse(f"{aggregation.path}.model")
    for number, entry in enumerate(_list(aggregation, "rules")):
        place = f"{aggregation.path}.rules[{number}]"
        rule = aggregation.reading.open(entry, place) if isinstance(entry, Mapping) else None
        result = rule.take("result") if rule is not None else None
        if rule is None or not isinstance(result, str):
            problem = f"{place} has no result"
            raise BadSource(top.reading.where, problem, hint="result: high")
        condition = take_condition(rule)
        rule.take_prose()
        yield RiskRule(condition=condition or condition_text(entry), result=result)


def _weighting(top: ProfilePart) -> tuple[str, dict[str, float]]:
    """What becomes of the weight of a panel that is missing, and the weights that are not 0."""
    behaviors = [top.take("missing_panel_behavior")]
    found = dict[str, float]()
    weighting = _open(top, "weighting", example=_WEIGHT_EXAMPLE)
    if weighting is not None:
        weighting.take_prose()
        behaviors.append(weighting.take("missing_panel_behavior"))
        if weighting.take("model") not in (None, _AVERAGE):
            weighting.reading.refuse(f"{weighting.path}.model")
        weights = weighting.take("weights")
        if isinstance(weights, Mapping) and all(map(_is_weight, weights.values())):
            found = {str(name): float(weight) for name, weight in weights.items() if weight}
        elif not says_nothing(weights):
            weighting.reading.refuse(f"{weighting.path}.weights")
    named = {str(behavior).casefold() for behavior in behaviors if behavior}
    if len(named) > 1 or not named <= set(_BEHAVIORS):
        top.reading.refuse("missing_panel_behavior")
    return (next(iter(named)) if len(named) == 1 else ""), found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_weight(value: object) -> bool:
    return _is_number(value) and 0 <= float(str(value)) < inf


def _panel_rules_by_change_type(top: ProfilePart, required: Sequence[str]) -> Iterator[ProfileRule]:
    """The panels that some kinds of changes need besides those that all need."""
    types = _open(top, "panel_overrides_by_change_type")
    for change_type in types.names() if types is not None else ():
        override = _open(types, change_type) if types is not None else None
        if override is None:
            continue
        override.take_prose("optional_panels")
        for panel in _panel_names(override, "required_panels"):
            if panel not in required:
                kind = f"change_type == {json.dumps(change_type)}"
                yield ProfileRule(
                    where=override.path,
                    condition=f"{kind} and not panel_executed({json.dumps(panel)})",
                    action="human_review",
                )


def _panel_names(part: ProfilePart, key: str) -> list[str]:
    """The panels of a list, by their names or under `panel`."""
    panels = list[str]()
    path = part.path_of(key)
    for number, entry in enumerate(_list(part, key)):
        named: object = entry
        if isinstance(entry, Mapping):
            inner = part.reading.open(entry, f"{path}[{number}]")
            _, named = inner.take_one(("panel", "name"))
            inner.take_prose()
        if not isinstance(named, str):
            problem = f"{path} must name panels, not {value_in_words(entry)}"
            raise BadSource(part.reading.where, problem)
        panels.append(named)
    return panels


def _open(part: ProfilePart, key: str, *, example: str = "") -> ProfilePart | None:
    """A field that is a mapping, opened as a part; None where there is nothing. Anything else is
    an error where there is an example of what it should be, else unread."""
    path = part.path_of(key)
    value = part.take(key)
    if isinstance(value, Mapping):
        return part.reading.open(value, path)
    if value is not None and example:
        problem = f"{path} must be a mapping, not {value_in_words(value)}"
        raise BadSource(part.reading.where, problem, hint=example)
    if not says_nothing(value):
        part.reading.refuse(path)
    return None


def _list(part: ProfilePart, key: str) -> Sequence[object]:
    path = part.path_of(key)
    value = part.take(key)
    if value is None:
        return ()
    if not isinstance(value, str | Mapping | list):
        raise BadSource(part.reading.where, f"{path} must be a list, not {value_in_words(value)}")
    return rule_list(value)
