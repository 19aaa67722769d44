"""A project's profile: the rules by which its panels approve, block, or call for a person.

Two forms are read, alone or together: our own `thresholds`, and the rules that governance projects
write (`escalation.rules`, `block.conditions`, `auto_merge`, `risk_aggregation.rules`,
`required_panels`, `missing_panel_behavior`). What a profile says besides is none of a panel's
business. Pure; where the file is found is the business of `work.factory_project`, what the rules
come to that of `verdict`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.plan.value_words import value_in_words

Action = Literal["block", "human_review", "approve", "note"]


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
class ProfileRule:
    """A condition and what follows where it holds; `where` is its place in the profile."""

    where: str
    condition: str
    action: Action
    name: str = ""


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
        return bool(self.thresholds or self.rules or self.approval)


_THRESHOLD_KEYS = ("thresholds", "decision_thresholds", "findings")
_HINT = "for example thresholds: {critical: 0, high: 2, medium: 5, confidence: 0.6, answered: 0.75}"


def read_profile(data: Mapping[str, Any], *, where: str, name: str) -> ReviewProfile:
    """The profile that a file has; what it says in a form that can't be read is an error, since
    no change is judged by half of the rules."""
    thresholds = None
    for key in _THRESHOLD_KEYS:
        if key in data:
            thresholds = read_thresholds(data[key], where=where, profile=name)
            break
    weighting = _mapping(data, "weighting", where)
    behavior = data.get("missing_panel_behavior", weighting.get("missing_panel_behavior", ""))
    return ReviewProfile(
        name=name,
        source=where,
        thresholds=thresholds,
        rules=(*_escalation_rules(data, where), *_block_rules(data, where)),
        approval=_approval(data, where),
        risk_rules=tuple(_risk_rules(data, where)),
        required_panels=_texts(data, "required_panels", where),
        missing_panel_behavior=str(behavior or ""),
    )


def decision_lines(data: Mapping[str, Any]) -> list[str]:
    """The rules of a profile as every agent of the project should know them: `condition: action`, a
    line each, and whether it approves on its own. What can't be read says nothing."""
    found: list[str] = []
    escalation = data.get("escalation")
    rules = escalation.get("rules") if isinstance(escalation, Mapping) else None
    acting = [rule for rule in _mappings(rules) if "action" in rule]
    found += [f"{_condition(rule)}: {rule['action']}" for rule in acting]
    block = data.get("block")
    conditions = block.get("conditions") if isinstance(block, Mapping) else None
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


def _mappings(value: object) -> list[Mapping[str, Any]]:
    members = value if isinstance(value, list) else []
    return [member for member in members if isinstance(member, Mapping)]


def _escalation_rules(data: Mapping[str, Any], where: str) -> Iterator[ProfileRule]:
    escalation = _mapping(data, "escalation", where)
    for number, entry in enumerate(_list(escalation, "rules", where)):
        place = f"escalation.rules[{number}]"
        action = entry.get("action", "") if isinstance(entry, Mapping) else ""
        yield ProfileRule(
            where=place,
            condition=_condition(entry),
            action=_action(str(action)),
            name=_name_of(entry),
        )


def _block_rules(data: Mapping[str, Any], where: str) -> Iterator[ProfileRule]:
    block = _mapping(data, "block", where)
    for number, entry in enumerate(_list(block, "conditions", where)):
        place = f"block.conditions[{number}]"
        name = _name_of(entry)
        yield ProfileRule(where=place, condition=_condition(entry), action="block", name=name)


def _approval(data: Mapping[str, Any], where: str) -> Approval | None:
    if "auto_merge" not in data:
        return None
    if isinstance(data["auto_merge"], bool):
        return Approval(enabled=data["auto_merge"])
    auto_merge = _mapping(data, "auto_merge", where)
    conditions = tuple(map(_condition, _list(auto_merge, "conditions", where)))
    joined = str(auto_merge.get("operator", "all")).casefold()
    if joined not in ("all", "and", "any", "or"):
        problem = f"auto_merge.operator must be all or any, not {joined!r}"
        raise BadSource(where, problem, hint="operator: all")
    return Approval(
        # anything but a plain yes is none: `enabled: "off"` must not approve
        enabled=auto_merge.get("enabled", bool(conditions)) is True,
        conditions=conditions,
        any_suffices=joined in ("any", "or"),
    )


def _risk_rules(data: Mapping[str, Any], where: str) -> Iterator[RiskRule]:
    aggregation = _mapping(data, "risk_aggregation", where)
    for number, entry in enumerate(_list(aggregation, "rules", where)):
        place = f"risk_aggregation.rules[{number}]"
        result = entry.get("result") if isinstance(entry, Mapping) else None
        if not isinstance(result, str):
            raise BadSource(where, f"{place} has no result", hint="result: high")
        yield RiskRule(condition=_condition(entry), result=result)


def _condition(entry: object) -> str:
    """The condition of a rule: the text itself, under `condition`, or as field, operator and
    value. Anything else is given as it is: it can't be evaluated, which a verdict then says."""
    if isinstance(entry, Mapping):
        for key in ("condition", "when", "if"):
            if key in entry:
                return _condition(entry[key])
        if "field" in entry and "value" in entry:
            sign = str(entry.get("operator", "=="))
            return f"{entry['field']} {sign} {json.dumps(entry['value'], default=str)}"
    if isinstance(entry, bool):
        return "true" if entry else "false"
    text = entry if isinstance(entry, str) else json.dumps(entry, default=str)
    return " ".join(text.split())


def _name_of(entry: object) -> str:
    if not isinstance(entry, Mapping):
        return ""
    return str(entry.get("name") or entry.get("description") or "").strip().rstrip(".")


def _action(words: str) -> Action:
    """What an action means to a verdict. One that nobody knows calls for a person, as does
    `block_auto_merge`, which only keeps a machine from approving."""
    plain = words.casefold().replace("-", "_").replace(" ", "_")
    if "auto" in plain and re.search(r"block|disable|no_|prevent", plain):
        return "human_review"
    if re.search(r"human|review|escalat|flag|manual", plain):
        return "human_review"
    if re.search(r"block|reject|deny|fail|request_changes|changes_requested", plain):
        return "block"
    if re.search(r"approve|merge|pass|allow", plain):
        return "approve"
    if re.search(r"notify|warn|log|comment|label|inform", plain):
        return "note"
    return "human_review"


def _mapping(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadSource(where, f"{key} must be a mapping, not {value_in_words(value)}")
    return value


def _list(data: Mapping[str, Any], key: str, where: str) -> Sequence[object]:
    value = data.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [{key: value[key]} for key in value]
    if not isinstance(value, list):
        raise BadSource(where, f"{key} must be a list, not {value_in_words(value)}")
    return value


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
_AFFIXES = lazy_pattern(r"^(?:max|min|most|least)_|_(?:findings|score|max|min)$")


def _is_limit(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
