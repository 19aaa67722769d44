"""The rules of a profile: conditions, and what follows where one holds.

A closed set of forms is understood, whatever the section is called that has them; the rest stays
unread (`profile_parts`). Pure; what a condition comes to is the business of `condition`.
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
from foreword.review.profile_parts import (
    ProfilePart,
    ProfileReading,
    asks_for_something,
    is_off,
    plain_name,
    says_nothing,
)

Action = Literal["block", "human_review", "approve", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRule:
    """A condition and what follows where it holds; `where` is its place in the profile."""

    where: str
    condition: str
    action: Action
    name: str = ""

    @property
    def is_unapplied(self) -> bool:
        """Whether it stands for a part of the profile that no panel can apply."""
        return self.condition == f"not {passed_name(self.where)}"


RULE_SECTIONS = ("escalation", "escalations", "rules")
BLOCK_SECTIONS = ("block", "blocks", "blocking")
_ENTRIES = ("rules", "conditions", "criteria")  # where a section keeps its rules
_CONDITIONS = ("condition", "when", "if")
_ACTIONS = ("action", "then", "effect", "decision", "verdict", "outcome")
# What a rule that stops a change may say besides: how bad that is, and who is told. Of one that
# approves it may be the very condition (`severity: low`).
_ABOUT_STOPPING = (
    "category code cooldown_minutes example examples explanation hint level link notify owner"
    " owners priority remediation risk severity url"
).split()
# What stands in a section beside its rules and says nothing about when they hold.
_ABOUT_SECTION = ("config", "model", "notify")
_CONFIG = lazy_pattern(r"config$")  # `timeout_config: panel-timeout.yaml`
# `required_verification_level`: asked where the rule holds
_REQUIRED = lazy_pattern(r"required?s?[a-z]+")
# Nothing but these words: `hold_merge` and `require_merge_approval` approve nothing, and
# `notify_and_wait` does more than to tell somebody.
_APPROVING = lazy_pattern(r"(?:auto)?(?:approved?|merge|pass|allow|accept)(?:change|merge|pr)?")
_TELLING = lazy_pattern(
    r"(?:notify|warn|warning|log|comment|label|inform|info|note|advisory)(?:only)?"
    r"|(?:add|post)(?:comment|label|warning)"
)
_BLOCKING = lazy_pattern(r"block|reject|deny|fail|requestchanges|changesrequested")
# What only keeps a machine from approving (`block_auto_merge`), or asks for a person.
_CALLING = lazy_pattern(r"auto|human|review|escalat|flag|manual")
JOINING = {"all": "and", "and": "and", "any": "or", "or": "or"}
_OPERATORS = {
    "eq": "==",
    "equal": "==",
    "equals": "==",
    "is": "==",
    "ne": "!=",
    "neq": "!=",
    "notequals": "!=",
    "gt": ">",
    "greaterthan": ">",
    "gte": ">=",
    "ge": ">=",
    "lt": "<",
    "lessthan": "<",
    "lte": "<=",
    "le": "<=",
    "notin": "not in",
}


def section_rules(reading: ProfileReading, path: str, value: object) -> Iterator[ProfileRule]:
    """The rules of a section: a list, under `rules`, or by name. One that is off has none; of a
    section that nobody knows, only `rules` can be told from anything else."""
    name = plain_name(path)
    is_known = name in RULE_SECTIONS or name in BLOCK_SECTIONS
    if is_known and is_off(value):
        return
    if is_known and isinstance(value, list):
        yield from _entry_rules(reading, path, value, section=name)
    elif isinstance(value, Mapping) and (is_known or _has_rules(value)):
        yield from _mapping_rules(reading, path, value)
    elif is_known:
        problem = f"{path} must be a mapping, not {value_in_words(value)}"
        raise BadSource(reading.where, problem)
    else:
        reading.refuse(path)


def _mapping_rules(
    reading: ProfileReading, path: str, value: Mapping[str, object]
) -> Iterator[ProfileRule]:
    """The rules of a section that is a mapping: under `rules`, or each by its own name."""
    name = plain_name(path)
    section = reading.open(value, path)
    section.take_switch()
    section.take_prose()
    for about in [*_ABOUT_SECTION, *filter(_is_config, section.names())]:
        section.take(about)
    inner, entries = section.take_one(_ENTRIES)
    if inner:
        place = f"{path}.{inner}"
        yield from _entry_rules(reading, place, rule_list(entries), section=name)
        return
    rule_names = [written for written in section.names() if has_condition(section.peek(written))]
    for written in rule_names:
        place = f"{path}.{written}"
        entry = section.take(written)
        yield from _entry_rules(reading, place, [entry], section=name, named=written)
    if not rule_names and any(section.left_over()):
        section.take_all()
        reading.refuse(path)  # the whole of it


def _has_rules(value: Mapping[str, object]) -> bool:
    """Whether a section of any name has rules, of which each says what follows: a list of
    conditions (`gates: [...]`) may be of what has to be so."""
    return not is_off(value) and isinstance(value.get("rules"), list)


def _is_config(name: str) -> bool:
    return _CONFIG.search(plain_name(name)) is not None


def _entry_rules(
    reading: ProfileReading, path: str, entries: Sequence[object], *, section: str, named: str = ""
) -> Iterator[ProfileRule]:
    for number, entry in enumerate(entries):
        place = path if named else f"{path}[{number}]"
        if is_off(entry) or says_nothing(entry):
            continue
        rule = _read_rule(reading, place, entry, section)
        if rule is None:
            reading.refuse(place)
        elif named and not rule.name:
            yield ProfileRule(where=place, condition=rule.condition, action=rule.action, name=named)
        else:
            yield rule


def _read_rule(
    reading: ProfileReading, place: str, entry: object, section: str
) -> ProfileRule | None:
    """One rule; None where it does not say what follows, and its section does not either:
    `critical_findings == 0` may be what stops a change or what has to be so."""
    in_block = section in BLOCK_SECTIONS
    says_what_follows = in_block or section.startswith("escalation")
    if not isinstance(entry, Mapping) or not has_condition(entry):
        if not says_what_follows:
            return None
        action: Action = "block" if in_block else "human_review"
        return ProfileRule(where=place, condition=condition_text(entry), action=action)
    part = reading.open(entry, place)
    rule = _take_rule(part, section)
    if rule is None:
        part.take_all()  # the whole of it is refused
    return rule


def _take_rule(part: ProfilePart, section: str) -> ProfileRule | None:
    condition = take_condition(part)
    is_warning = "enforcement" in part  # whatever it asks for is advice
    action = _take_action(part, section)
    if condition is None or action is None:
        return None
    name = str(part.peek("name") or part.peek("description") or "").strip().rstrip(".")
    part.take_switch()
    part.take_prose()
    if action == "note":
        for about in part.names():
            if is_warning or not asks_for_something({about: part.peek(about)}):
                part.take(about)
    elif action != "approve":
        for about in [*_ABOUT_STOPPING, *filter(_is_requirement, part.names())]:
            part.take(about)
    return ProfileRule(where=part.path, condition=condition, action=action, name=name)


def _take_action(part: ProfilePart, section: str) -> Action | None:
    """What follows where a rule holds; None where neither the rule nor its section says so."""
    written, words = part.take_one(_ACTIONS)
    strictness = part.take("enforcement")
    if section in BLOCK_SECTIONS:
        return "block"
    if written:
        action = action_of(words)
        # `exceptions: [{when: ..., then: approve}]` may mean anything
        may_approve = section in RULE_SECTIONS and strictness is None
        return action if action != "approve" or may_approve else None
    if strictness is not None:
        return "note" if action_of(strictness) == "note" else "human_review"
    return "human_review" if section.startswith("escalation") else None


def _is_requirement(name: str) -> bool:
    return _REQUIRED.fullmatch(plain_name(name)) is not None


def take_condition(part: ProfilePart) -> str | None:
    """The condition of a rule, read with that; None where there are two (`if` and `when`)."""
    name, value = part.take_one(_CONDITIONS)
    if name:
        return condition_text(value)
    if "field" in part and "value" in part:
        field, sign, value = part.take("field"), part.take("operator"), part.take("value")
        return _comparison(field, sign, value)
    return None


def rule_list(value: object) -> Sequence[object]:
    """Rules as a list; those of a mapping have their key as their name."""
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return [value]
    entries: list[object] = []
    for key, entry in value.items():
        entries.append({"name": str(key), **entry} if has_condition(entry) else {key: entry})
    return entries


def condition_text(entry: object) -> str:
    """A condition as a text: as it is, joined by `all` or `any`, or as field, operator and value.
    Anything else is given as JSON: it can't be evaluated, which a verdict then says."""
    if isinstance(entry, Mapping):
        names = {plain_name(str(key)): value for key, value in entry.items()}
        if names.keys() in ({"field", "value"}, {"field", "operator", "value"}):
            return _comparison(names["field"], names.get("operator"), names["value"])
        if len(names) == 1:
            ((key, value),) = names.items()
            joined = _joined_conditions(key, value)
            if joined:
                return joined
    if isinstance(entry, bool):
        return "true" if entry else "false"
    text = entry if isinstance(entry, str) else json.dumps(entry, default=str)
    return " ".join(text.split())


def _joined_conditions(key: str, value: object) -> str:
    """`{all: [a, b]}` as `(a) and (b)`; nothing where a mapping is not that."""
    if key in _CONDITIONS:
        return condition_text(value)
    if key == "not":
        return f"not ({condition_text(value)})"
    if key not in JOINING or not isinstance(value, list) or not value:
        return ""
    return f" {JOINING[key]} ".join(f"({condition_text(member)})" for member in value)


def _comparison(field: object, sign: object, value: object) -> str:
    written = "==" if sign is None else str(sign)
    operator = _OPERATORS.get(plain_name(written), written)
    return f"{field} {operator} {json.dumps(value, default=str)}"


def rule_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """The rules that say what follows, as `condition: action`, in the project's own words."""
    for key in RULE_SECTIONS:
        value = data.get(key)
        if is_off(value):
            continue
        entries = value.get("rules", value) if isinstance(value, Mapping) else value
        for entry in rule_list(entries) if isinstance(entries, Mapping | list) else ():
            if isinstance(entry, Mapping) and has_condition(entry) and not is_off(entry):
                part = ProfileReading("").open(entry)
                condition = take_condition(part)
                _, action = part.take_one(_ACTIONS)
                if condition is not None and action is not None:
                    yield f"{condition}: {action}"


def unreadable_rule(path: str) -> ProfileRule:
    """The question that stands for a part of the profile that no panel can apply."""
    return ProfileRule(where=path, condition=f"not {passed_name(path)}", action="human_review")


def passed_name(path: str) -> str:
    """The fact by which a user says that a part no panel can apply is met."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_")
    return f"{plain if plain[:1].isalpha() else f'section_{plain}'}_passed"


def person_rule(path: str, value: object) -> ProfileRule:
    """A switch that calls for a person whatever was found."""
    name = f"{path}: {json.dumps(value, default=str)}"
    return ProfileRule(where=path, condition="true", action="human_review", name=name)


def has_condition(entry: object) -> bool:
    """Whether a rule has its condition under a name of its own."""
    if not isinstance(entry, Mapping):
        return False
    names = {plain_name(str(key)) for key in entry}
    return not names.isdisjoint((*_CONDITIONS, "field"))


def action_of(words: object) -> Action:
    """What an action means to a verdict; one that nobody knows calls for a person."""
    plain = plain_name(str(words))
    if _APPROVING.fullmatch(plain):
        return "approve"
    if _TELLING.fullmatch(plain):
        return "note"
    if _BLOCKING.search(plain) and not _CALLING.search(plain):
        return "block"
    return "human_review"
