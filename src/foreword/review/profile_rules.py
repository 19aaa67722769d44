"""The rules in the sections of a profile: conditions with what follows, switches, and what nobody
here understands.

Every section of a profile is a rule, or known to be about something else, or not understood. What
is not understood is a question too, `SECTION_passed`, so that no change is approved by half of a
project's rules. Pure.
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
class ProfileRule:
    """A condition and what follows where it holds; `where` is its place in the profile."""

    where: str
    condition: str
    action: Action
    name: str = ""


# What a profile may say besides, which decides nothing about a change: what it is called, who is
# told, what is repaired or overruled afterwards, which other panels may look. Who has to approve
# (`approvers`) or what has to be there (`plan_required`) is a question, and not among them.
ABOUT = frozenset(
    (
        "$schema about apiversion audit author authors auto_remediate auto_remediation"
        " changelog comment comments contact contacts created cross_repo_escalation date"
        " description docs id kind label labels last_updated logging maintainer maintainers"
        " metadata name notes notification notifications notify optional_panels override overrides"
        " owner owners panel_overrides_by_change_type profile profile_name"
        " profile_version references reporting retention schema schema_version status summary"
        " tags threat_model_tiers title updated version"
    ).split()
)
_RULE_SECTIONS = ("escalation", "escalations", "rules")
_BLOCK_SECTIONS = ("block", "blocks", "blocking")
# What no part that describes a profile has inside.
_DECIDING = frozenset((*_RULE_SECTIONS, *_BLOCK_SECTIONS, "auto_merge", "thresholds"))
# Switches: set, they call for a person whatever was found.
_PERSON_SWITCHES = (
    "human_approval_required",
    "human_review_required",
    "require_human_approval",
    "require_human_review",
    "requires_human_approval",
    "requires_human_review",
)
_ENTRIES = ("rules", "conditions", "criteria")  # where a section keeps its rules
_CONDITIONS = ("condition", "when", "if")
_ACTIONS = ("action", "then", "effect", "decision", "verdict", "outcome")
# Of a section or a rule, what says nothing about when it holds.
_DESCRIBING = frozenset(
    ("config", "description", "enabled", "id", "message", "model", "name", "notify", "reason")
)
# And of a rule alone. Anything else may change when it holds (`unless`, `or`, `min_count`).
_ABOUT_RULE = frozenset(
    (
        "category code cooldown_minutes example examples explanation field hint level link operator"
        " priority rationale remediation result risk severity type url value weight"
    ).split()
)
# What `status` says of a profile that is not in force.
_NOT_IN_FORCE = frozenset("archived deprecated disabled draft inactive off retired".split())
# Nothing but these words: `hold_merge` and `require_merge_approval` approve nothing.
_APPROVING = lazy_pattern(
    r"(?:auto_?)?(?:approved?|merge|pass|allow|accept)(?:_(?:change|merge|pr|pull_request))?"
)
_JOINING = {"all": "and", "and": "and", "any": "or", "or": "or"}
_OPERATORS = {
    "eq": "==",
    "equal": "==",
    "equals": "==",
    "is": "==",
    "ne": "!=",
    "neq": "!=",
    "not_equals": "!=",
    "gt": ">",
    "greater_than": ">",
    "gte": ">=",
    "ge": ">=",
    "lt": "<",
    "less_than": "<",
    "lte": "<=",
    "le": "<=",
    "not_in": "not in",
}


_NOT_LETTERS = lazy_pattern(r"[^a-z0-9]")


def with_known_names(data: Mapping[str, Any], where: str, names: Sequence[str]) -> dict[str, Any]:
    """The profile with the names that mean something here as they are spelled here: `auto-merge`,
    `autoMerge` and `Automerge` are all `auto_merge`, for to pass over `enabled: false` there would
    be to approve by other rules."""
    known = (*names, *_RULE_SECTIONS, *_BLOCK_SECTIONS, *_PERSON_SWITCHES, *_ENTRIES)
    spelled = {_letters_of(name): name for name in (*known, *_CONDITIONS, *_ACTIONS, "enabled")}
    return _rename_keys(data, where, spelled)


def _rename_keys(data: Mapping[str, Any], where: str, spelled: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = spelled.get(_letters_of(str(key)), str(key))
        if name in found:
            raise BadSource(where, f"{name!r} is there twice, once as {str(key)!r}")
        found[name] = _rename_inside(value, where, spelled)
    return found


def _rename_inside(value: object, where: str, spelled: Mapping[str, str]) -> object:
    if isinstance(value, Mapping):
        return _rename_keys(value, where, spelled)
    if isinstance(value, list):
        return [_rename_inside(member, where, spelled) for member in value]
    return value


def _letters_of(name: str) -> str:
    return _NOT_LETTERS.sub("", name.casefold())


def section_rules(
    data: Mapping[str, Any], where: str, *, read_elsewhere: Sequence[str]
) -> Iterator[ProfileRule]:
    """The rules of every section that is not read elsewhere."""
    for key, value in data.items():
        if key in read_elsewhere or value is None:
            continue
        if key == "status" and str(value).casefold() in _NOT_IN_FORCE:
            yield _person_rule(key, value)
        if _is_about(key, value):
            continue
        if key == "enabled":
            yield from _switch(key, value, calls_for_person=False)
        elif key in _PERSON_SWITCHES:
            yield from _switch(key, value, calls_for_person=True)
        elif key == "trigger_conditions":
            yield _change_type_rule(value)
        elif not is_off(value):
            yield from _section(key, value, where)


def rule_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """The rules that say what follows, as `condition: action`, in the project's own words."""
    for key in _RULE_SECTIONS:
        value = data.get(key)
        found = None if is_off(value) else _entries(key, value)
        for entry in found[1] if found is not None else ():
            if isinstance(entry, Mapping) and not is_off(entry):
                action = next((entry[name] for name in _ACTIONS if name in entry), None)
                if action is not None:
                    yield f"{condition_text(entry)}: {action}"


def is_off(value: object) -> bool:
    """Whether a section or a rule is switched off; anything but a plain no is not."""
    return isinstance(value, Mapping) and value.get("enabled") is False


def unreadable_rule(section: str) -> ProfileRule:
    """The question that stands for a part of the profile that no panel can apply."""
    return ProfileRule(
        where=section, condition=f"not {passed_name(section)}", action="human_review"
    )


def passed_name(section: str) -> str:
    """The fact by which a user says that a part no panel can apply is met."""
    plain = re.sub(r"[\W_]+", "_", section).strip("_")
    return f"{plain if plain[:1].isalpha() else f'section_{plain}'}_passed"


def _is_about(key: str, value: object) -> bool:
    """Whether a part of a profile says nothing about when a change passes."""
    # `x-base:`, `_base:` and `.base:` are where people keep what anchors repeat
    if key.startswith(("x-", "_", ".")):
        return True
    return key.casefold() in ABOUT and not _decides(value)


def _decides(value: object) -> bool:
    """Whether there is anything in it, however deep, that decides about a change: `overrides` for
    some folders may have an `auto_merge` of their own."""
    if isinstance(value, list):
        return any(map(_decides, value))
    if not isinstance(value, Mapping):
        return False
    return not value.keys().isdisjoint(_DECIDING) or any(map(_decides, value.values()))


def _switch(key: str, value: object, *, calls_for_person: bool) -> Iterator[ProfileRule]:
    """`human_approval_required: true`, and `enabled: false` of a whole profile."""
    if value is calls_for_person:
        yield _person_rule(key, value)
    elif not isinstance(value, bool):
        yield unreadable_rule(key)


def _person_rule(key: str, value: object) -> ProfileRule:
    name = f"{key}: {value}".lower()
    return ProfileRule(where=key, condition="true", action="human_review", name=name)


def _change_type_rule(value: object) -> ProfileRule:
    """Which changes a profile is for: of any other kind, it decides nothing."""
    fields = value if isinstance(value, Mapping) else {}
    types = fields.get("change_types")
    others = [str(name) for name in fields if name != "change_types"]
    if not isinstance(types, list) or not all(map(_describes, others)):
        return unreadable_rule("trigger_conditions")
    return ProfileRule(
        where="trigger_conditions.change_types",
        condition=f"change_type not in {json.dumps(types, default=str)}",
        action="human_review",
    )


def _section(key: str, value: object, where: str) -> Iterator[ProfileRule]:
    """A section with rules in it, as a list, under `rules`, or by name."""
    is_block = key in _BLOCK_SECTIONS
    is_known = is_block or key in _RULE_SECTIONS
    found = _entries(key, value)
    if found is None and is_known and not isinstance(value, Mapping | list):
        raise BadSource(where, f"{key} must be a mapping, not {value_in_words(value)}")
    if found is None or not (is_known or all(map(_has_condition, found[1]))):
        if value not in ({}, []):
            yield unreadable_rule(key)
        return
    place, entries = found
    for number, entry in enumerate(entries):
        if is_off(entry):
            continue
        rule = ProfileRule(
            where=f"{place}[{number}]",
            condition=condition_text(entry),
            action="block" if is_block else _entry_action(entry),
            name=_name_of(entry),
        )
        yield rule
        if rule.action != "note":
            yield from rule_questions(rule.where, entry)


def _entries(key: str, value: object) -> tuple[str, Sequence[object]] | None:
    """Where a section keeps its rules, and the rules; None where it has none that can be told."""
    if isinstance(value, list):
        return key, value
    if not isinstance(value, Mapping):
        return None
    for inner in _ENTRIES:
        if inner in value:
            others = [name for name in value if name != inner and not _describes(str(name))]
            return None if others else (f"{key}.{inner}", rule_list(value[inner]))
    named = {name: member for name, member in value.items() if not _describes(str(name))}
    if named and all(map(_has_condition, named.values())):
        return key, rule_list(named)
    return None


def _describes(name: str) -> bool:
    return name in _DESCRIBING or name.endswith("_config")


def _has_condition(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    return any(key in entry for key in (*_CONDITIONS, "field"))


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
        entries.append({"name": str(key), **entry} if _has_condition(entry) else {key: entry})
    return entries


def condition_text(entry: object) -> str:
    """The condition of a rule: the text itself, under `condition`, joined by `all` or `any`, or as
    field, operator and value. Anything else is given as it is: it can't be evaluated, which a
    verdict then says."""
    if isinstance(entry, Mapping):
        for key in _CONDITIONS:
            if key in entry:
                return condition_text(entry[key])
        if "field" in entry and "value" in entry:
            written = str(entry.get("operator", "=="))
            sign = _OPERATORS.get(written.casefold(), written)
            return f"{entry['field']} {sign} {json.dumps(entry['value'], default=str)}"
        joined = _joined_conditions(entry)
        if joined:
            return joined
    if isinstance(entry, bool):
        return "true" if entry else "false"
    text = entry if isinstance(entry, str) else json.dumps(entry, default=str)
    return " ".join(text.split())


def _joined_conditions(entry: Mapping[str, Any]) -> str:
    """`{all: [a, b]}` as `(a) and (b)`; nothing where a mapping is not that alone."""
    if len(entry) != 1:
        return ""
    ((key, members),) = entry.items()
    sign = _JOINING.get(str(key).casefold())
    if key == "not":
        return f"not ({condition_text(members)})"
    if sign is None or not isinstance(members, list) or not members:
        return ""
    return f" {sign} ".join(f"({condition_text(member)})" for member in members)


def rule_questions(place: str, entry: object) -> Iterator[ProfileRule]:
    """What a rule says beside its condition, in words that nobody here knows: `unless: ...` may
    change when it holds."""
    if isinstance(entry, list):
        for member in entry:
            yield from rule_questions(place, member)
    if not isinstance(entry, Mapping):
        return
    has_condition = _has_condition(entry)
    for key, value in entry.items():
        if key in _CONDITIONS or not has_condition:
            yield from rule_questions(place, value)
        elif not _describes_rule(str(key)):
            yield unreadable_rule(f"{place}_{key}")


def _describes_rule(key: str) -> bool:
    is_known = key in (*_ACTIONS, "enforcement") or _describes(key)
    return is_known or key in _ABOUT_RULE or key.casefold() in ABOUT


def _name_of(entry: object) -> str:
    if not isinstance(entry, Mapping):
        return ""
    return str(entry.get("name") or entry.get("description") or "").strip().rstrip(".")


def _entry_action(entry: object) -> Action:
    """What follows from a rule. One that only says how strictly it is enforced asks for more than
    its condition, so a person has to see to that."""
    if not isinstance(entry, Mapping):
        return "human_review"
    for key in _ACTIONS:
        if key in entry:
            return action_of(str(entry[key]))
    enforced = action_of(str(entry.get("enforcement", "")))
    return "note" if enforced == "note" else "human_review"


def action_of(words: str) -> Action:
    """What an action means to a verdict. One that nobody knows calls for a person, as does
    `block_auto_merge`, which only keeps a machine from approving."""
    plain = words.casefold().replace("-", "_").replace(" ", "_")
    if "auto" in plain and re.search(r"block|disable|no_|prevent", plain):
        return "human_review"
    if re.search(r"human|review|escalat|flag|manual", plain):
        return "human_review"
    if re.search(r"block|reject|deny|fail|request_changes|changes_requested", plain):
        return "block"
    if _APPROVING.fullmatch(plain):
        return "approve"
    if re.search(r"notify|warn|log|comment|label|inform", plain):
        return "note"
    return "human_review"
