"""A policy file as one pydantic model: the rules by which a project's panels approve, block, or
escalate to a human.

The fields are those of the factory's own policies; an unknown one is an error at any depth. Pure:
`work.factory_project` finds the file, `verdict` applies the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from foreword.errors import BadSource
from foreword.plan.validation import one_of, problem_lines
from foreword.plan.value_words import not_one_of

MOST_NAMED = 3  # problems of a policy in one error; `foreword lint` lists all of them
HINT = "docs/agent-files.md has all fields; `foreword lint` names each problem with its line"

Prose = str | int | float | bool | list[str] | None  # describes, and decides nothing
Risk = Literal["negligible", "low", "medium", "high", "critical"]
Place = tuple[str | int, ...]
Effect = Literal["block", "human_review", "note"]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]

# All but the first two escalate to a human; the last two only keep a machine from approving.
ACTIONS = (
    "block warn human_review human_review_required require_human_review flag_for_human_review"
    " block_auto_merge use_baseline_with_cap"
).split()
EFFECTS: Mapping[str, Effect] = {"block": "block", "warn": "note"}
Action = Annotated[str, one_of(ACTIONS)]

# The names in sections that a panel does not apply, at any depth. The first four ask for what it
# can't check, so that a human does; the others are about what is done beside a verdict.
Section = dict[str, Any]
HAVE_SWITCH = ("cross_repo_escalation", "multi_model")
SECTION_NAMES: Mapping[str, str] = {
    "plan_required": "default skip_when files_changed_lt",
    "plausibility_checks": """
        min_findings_for_nontrivial confidence_cap_without_trace identical_score_detection
        enabled action file_threshold min_findings max_confidence min_panels""",
    "cross_repo_escalation": """
        enabled rules name description criteria_type condition default_severity severity_override
        severity rate_limit max_per_session max_per_day cooldown_minutes dedup strategy
        marker_format hash_algorithm hash_length""",
    "multi_model": "enabled models consensus min_models panels",
    "auto_remediate": """
        enabled max_attempts cooldown_minutes conditions allowed_actions prohibited_actions""",
    "optional_panels": "panel trigger",
    "override": """
        enabled requirements min_approvals required_roles justification_required
        justification_min_length audit log_to_manifest create_github_issue
        create_compliance_ticket notify role expiry cooldown_hours post_override_review_required
        post_override_audit_required""",
    "threat_model_tiers": """
        enabled tier_1 tier_2 description sections criteria max_code_lines_changed
        allowed_extensions_only no_security_patterns force_for_profiles
        security_sensitive_patterns""",
}


class PolicyPart(BaseModel):
    """A mapping of a policy."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    description: Prose = None


class Role(PolicyPart):
    """Who is notified; nobody is by a panel."""

    role: str


# ---- rules that decide ----


class Rule(PolicyPart):
    """A condition, and by its kind what follows where it holds."""

    condition: str
    name: str = ""

    @property
    def effect(self) -> Effect:
        """What follows where the condition holds."""
        return "block"

    @property
    def title(self) -> str:
        """The name of the rule with its condition."""
        return f"{self.name} ({self.condition})" if self.name else self.condition


class ActionRule(Rule):
    """A rule that says what follows."""

    action: Action
    notify: list[Role] = []

    @property
    def effect(self) -> Effect:
        return EFFECTS.get(self.action, "human_review")


class VerificationRule(Rule):
    """A rule that requires a verification, of which a panel does not know whether it was done."""

    enforcement: Literal["warn", "block"]
    required_verification_level: Prose = None

    @property
    def effect(self) -> Effect:
        return "note" if self.enforcement == "warn" else "human_review"


class ActionRules(PolicyPart):
    """Rules, and where the configuration of what they are about is."""

    rules: list[ActionRule]
    config: Prose = None
    timeout_config: Prose = None


class Verification(PolicyPart):
    enabled: bool = True
    rules: list[VerificationRule]


class Block(PolicyPart):
    conditions: list[Rule]


class AutoMerge(PolicyPart):
    """Whether a change may be approved without a human, and under which conditions."""

    enabled: bool
    conditions: list[str] = []
    operator: Literal["all", "any"] = "all"


class RiskRule(PolicyPart):
    condition: str
    result: Risk


class RiskAggregation(PolicyPart):
    model: Literal["highest_severity"] = "highest_severity"
    rules: list[RiskRule]


class Weighting(PolicyPart):
    model: Literal["weighted_average"] = "weighted_average"
    weights: dict[str, Weight] = {}
    missing_panel_behavior: Literal["redistribute", "block"] = "block"

    @property
    def others_stand(self) -> bool:
        """Whether the weight of a missing panel goes to the others."""
        return self.missing_panel_behavior == "redistribute"


class TriggerConditions(PolicyPart):
    change_types: list[str]


class PanelOverride(PolicyPart):
    required_panels: list[str]
    optional_panels: list[str] = []


class Policy(PolicyPart):
    """What a project asks of a change."""

    profile_name: str = ""
    profile_version: Prose = None
    escalation: ActionRules = ActionRules(rules=[])
    panel_execution: ActionRules = ActionRules(rules=[])
    canary_calibration: ActionRules = ActionRules(rules=[])
    proof_of_correctness: Verification = Verification(rules=[])
    block: Block = Block(conditions=[])
    auto_merge: AutoMerge | None = None
    human_approval_required: bool = False
    required_panels: list[str] = []
    panel_overrides_by_change_type: dict[str, PanelOverride] = {}
    trigger_conditions: TriggerConditions | None = None
    risk_aggregation: RiskAggregation = RiskAggregation(rules=[])
    weighting: Weighting = Weighting()
    plan_required: Section = {}
    plausibility_checks: Section = {}
    cross_repo_escalation: Section = {}
    multi_model: Section = {}
    auto_remediate: Section = {}
    optional_panels: list[Section] = []
    override: Section = {}
    threat_model_tiers: Section = {}

    @field_validator(*SECTION_NAMES)
    @classmethod
    def check_names(cls, section: object, info: ValidationInfo) -> object:
        """Return a section that a panel does not apply, with names that are known at any depth."""
        known = SECTION_NAMES[str(info.field_name)].split()
        for place in _places_of_names(section):
            if place[-1] not in known:
                words = not_one_of(place[-1], known)
                raise PydanticCustomError("wrong_word", "{words}", {"words": words, "place": place})
        return section

    @property
    def has_rules(self) -> bool:
        """Whether it says anything besides what it is."""
        return bool(self.model_fields_set - {"description", "profile_name", "profile_version"})

    @property
    def unchecked_sections(self) -> list[str]:
        """The sections in force that no panel can check."""
        names = list[str]()
        for name in (
            "plan_required",
            "plausibility_checks",
            "cross_repo_escalation",
            "multi_model",
        ):
            section: Section = getattr(self, name)
            is_off = name in HAVE_SWITCH and section.get("enabled") is False
            if section and not is_off:
                names.append(name)
        return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The policy by which the panels of a project decide, under its name."""

    name: str
    source: str = ""
    policy: Policy
    default_rules: bool = False  # whether the user lets the built-in rules approve


def read_policy(data: Mapping[str, Any], where: str) -> Policy:
    """Return the policy that a file has; BadSource where a field is unknown or has a wrong value,
    at any depth."""
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        problems = list(problem_lines(error, Policy))
    more = len(problems) - MOST_NAMED
    named = "; ".join(problems[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    raise BadSource(where, named, hint=HINT)


def policy_rules(policy: Policy) -> Iterator[tuple[Place, Rule]]:
    """Yield every rule that may stop a change, with its place in the file; those about the kind of
    a change are made of the names that the policy has."""
    for section in ("escalation", "panel_execution", "canary_calibration", "proof_of_correctness"):
        rules = getattr(policy, section)
        for number, rule in enumerate(rules.rules if getattr(rules, "enabled", True) else ()):
            yield (section, "rules", number, "condition"), rule
    for number, rule in enumerate(policy.block.conditions):
        yield ("block", "conditions", number, "condition"), rule
    trigger = policy.trigger_conditions
    if trigger is not None:
        yield ("trigger_conditions",), _human(f"change_type not in {_quoted(trigger.change_types)}")
    for kind, override in policy.panel_overrides_by_change_type.items():
        place = ("panel_overrides_by_change_type", kind)
        for panel in override.required_panels:
            if panel not in policy.required_panels:
                has_run = f"panel_executed({_quoted(panel)})"
                yield place, _human(f"change_type == {_quoted(kind)} and not {has_run}")


def _places_of_names(section: object) -> Iterator[Place]:
    """Yield the place of every name in a section, however deep."""
    pending: list[tuple[Place, object]] = [((), section)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, list):
            pending += [((*place, number), item) for number, item in enumerate(value)]
        for name, member in value.items() if isinstance(value, dict) else ():
            yield (*place, name)
            pending.append(((*place, name), member))


def _human(condition: str) -> Rule:
    return ActionRule(condition=condition, action="human_review")


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def decision_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the rules that every agent of the project should know, `condition: action`, a line
    each, and whether the policy approves at all; nothing for a policy that can't be read."""
    try:
        policy = read_policy(data, "")
    except BadSource:
        return []
    lines = [f"{rule.condition}: {rule.action}" for rule in policy.escalation.rules]
    if policy.block.conditions:
        lines.append(f"block: on any of {len(policy.block.conditions)} conditions")
    if policy.auto_merge is not None:
        count = len(policy.auto_merge.conditions)
        is_on = policy.auto_merge.enabled
        lines.append(f"auto_merge: with {count} conditions" if is_on else "auto_merge: never")
    return lines
