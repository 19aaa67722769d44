"""The verdict of a panel by the policy of its project, with its reasons.

Pure. The verdict follows from the merged findings and from who answered, never from what a member
votes for. First comes what speaks against a change, then whether enough members answered, then
what escalates to a human, and only then approval.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from foreword.review.change_facts import EXECUTED, Review, facts_of
from foreword.review.condition import Facts, NotACondition, evaluate, parse
from foreword.review.findings import Severity, count_severities
from foreword.review.policy import AutoMerge, Block, Policy, Profile, Rule, policy_rules
from foreword.text.quantity import quantity

Verdict = Literal["approve", "changes_requested", "human_review", "inconclusive"]

SEVERE: tuple[Severity, ...] = ("critical", "high")
# Of a project without rules; they approve only where the user asks for it (`--default-rules`).
BUILT_IN = Policy(
    block=Block(
        conditions=[Rule(condition="critical_findings > 0"), Rule(condition="high_findings > 2")]
    ),
    auto_merge=AutoMerge(enabled=True, conditions=["critical_findings == 0", "high_findings <= 2"]),
)


def decide(review: Review, profile: Profile) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict by a project's policy, and its reasons as sentences."""
    policy = profile.policy if profile.policy.has_rules else BUILT_IN
    facts = facts_of(review, policy)
    against = list[str]()
    human = list(_remark_reasons(review))
    unknown = list[str]()
    for _, rule in policy_rules(policy):
        outcome = evaluate(rule.condition, facts, mixed=True)
        if rule.effect == "note" or outcome.value is False:
            continue
        if outcome.value is None:
            unknown.append(f"{rule.condition} ({outcome.unknown})")
        elif rule.effect == "block":
            against.append(f"Profile {profile.name} blocks: {rule.title}.")
        else:
            human.append(f"Human review, as profile {profile.name} requires: {rule.title}.")
    human += _requirement_reasons(review, policy, profile.name)
    unanswered = _quorum_reasons(review, policy)
    if against:
        human += _unknown_reasons(unknown, profile.name)
        return "changes_requested", (*against, *unanswered, *human)
    unmet, unknown_too = _approval_reasons(review, policy, facts, profile.name)
    human += _unknown_reasons([*unknown, *unknown_too], profile.name)
    if unanswered:
        return "inconclusive", (*unanswered, *human)
    human += [*_shown_reasons(review), *unmet]
    if policy is BUILT_IN and not profile.default_rules:
        human.append(
            f"Human review: profile {profile.name} has no rules; the built-in ones approve only"
            " with --default-rules."
        )
    if human:
        return "human_review", tuple(human)
    return "approve", (_approval_reason(review, profile.name),)


def _remark_reasons(review: Review) -> Iterator[str]:
    for name, remarks in review.remarks.items():
        yield f"Human review: {name} {'; '.join(remarks)}."


def _requirement_reasons(review: Review, policy: Policy, name: str) -> Iterator[str]:
    """Yield what a policy requires besides its conditions."""
    if policy.human_approval_required:
        yield f"Human review: profile {name} requires human approval."
    for section in policy.unchecked_sections:
        fact = f"{section}_passed"
        if review.facts.get(fact) is not True:
            yield (
                f"Human review: a panel can't check {section} of profile {name}; state that it is"
                f" met with --fact {fact}=true."
            )
    required = list(policy.required_panels)
    if not policy.weighting.others_stand:
        required += [panel for panel, weight in policy.weighting.weights.items() if weight]
    executed = review.executed_panels
    missing = [panel for panel in dict.fromkeys(required) if panel not in executed]
    if missing:
        yield (
            f"Human review: profile {name} requires these panels, too: {', '.join(missing)} (state"
            f" which have run with --fact {EXECUTED}=NAME,NAME)."
        )


def _quorum_reasons(review: Review, policy: Policy) -> list[str]:
    """Return why too few members answered: all have to, or half where the policy lets the others
    stand."""
    reasons = list[str]()
    answered = len(review.answered)
    least = 0.5 if policy.weighting.others_stand else 1.0
    if not answered or answered < least * len(review.members):
        consequence = f"at least {least:.0%} have to" if answered else "there is no opinion"
        members = quantity(len(review.members), "member")
        reasons.append(f"{answered} of {members} answered; {consequence}.")
    missing = [member.name for member in review.members if member.status == "missing"]
    if missing:
        reasons.append(f"No persona was found for {', '.join(missing)}.")
    return reasons


def _shown_reasons(review: Review) -> Iterator[str]:
    """Yield which members did not answer, and which part of the change the others were shown."""
    silent = [member.name for member in review.members if member.status != "answered"]
    if silent:
        yield f"Human review: {', '.join(silent)} did not answer."
    if review.shown:
        yield f"Human review: members were shown {review.shown} of the change."


def _approval_reasons(
    review: Review, policy: Policy, facts: Facts, name: str
) -> tuple[list[str], list[str]]:
    """Return why a policy does not approve without a human, and its conditions that are
    unknown."""
    merge = policy.auto_merge
    if merge is None or not merge.enabled:
        why = "never approves on its own" if merge else "does not say when it approves"
        return [f"Human review: profile {name} {why} (auto_merge)."], []
    # where a human is called for, that alone keeps a change from being approved
    facts = facts.with_values({"requires_human_review": False})
    reasons = list[str]()
    unknown = list[str]()
    is_met = False
    for condition in merge.conditions:
        outcome = evaluate(condition, facts, mixed=False)
        is_met = is_met or outcome.value is True
        if outcome.value is None:
            unknown.append(f"{condition} ({outcome.unknown})")
        elif not outcome.value:
            reasons.append(f"Human review: profile {name} approves only with {condition}.")
    unlimited = _unlimited_severities(review, merge, name)
    if merge.operator == "any" and is_met:
        return unlimited, []
    return [*reasons, *unlimited], unknown


def _unlimited_severities(review: Review, merge: AutoMerge, name: str) -> list[str]:
    """Return the severe findings for which `auto_merge` sets no limit by their name, as in
    `high_findings <= 1`: its silence is no permission."""
    named = set[str]()
    for condition in merge.conditions if merge.operator == "all" else ():
        with suppress(NotACondition):
            named.update(
                node.id for node in ast.walk(parse(condition)) if isinstance(node, ast.Name)
            )
    reasons = list[str]()
    counts = count_severities(review.findings)
    for severity in SEVERE:
        if counts[severity] and f"{severity}_findings" not in named:
            found = quantity(counts[severity], f"{severity} finding")
            reasons.append(
                f"Human review: profile {name} sets no limit for {found} (auto_merge:"
                f" {severity}_findings)."
            )
    return reasons


def _unknown_reasons(unknown: Sequence[str], name: str) -> Iterator[str]:
    if unknown:
        yield (
            f"Human review: profile {name} has conditions that can't be evaluated:"
            f" {'; '.join(dict.fromkeys(unknown))}. State what you know with --fact NAME=VALUE."
        )


def _approval_reason(review: Review, name: str) -> str:
    count = len(review.findings)
    found = quantity(count, "finding") if count else "no findings"
    members = quantity(len(review.members), "member")
    answered = len(review.answered)
    return f"{answered} of {members} answered with {found}, within what profile {name} allows."
