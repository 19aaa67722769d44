"""What a panel comes to: a verdict by the rules of a project's profile, with its reasons.

Pure. The verdict follows from the merged findings and from who answered, never from what a member
votes for. Where the findings come from is in `answer_parsing` and `findings`; who asks the members
is `work.panel_runs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from foreword.review.change_facts import (
    EXECUTED,
    MemberResult,
    Review,
    confidence_of,
    facts_of,
    has_run,
)
from foreword.review.condition import ConditionOutcome, Facts, evaluate
from foreword.review.findings import Finding, Severity, count_severities
from foreword.review.panel_result import Verdict
from foreword.review.profile import OTHERS_STAND, Approval, ReviewProfile
from foreword.review.profile_rules import ProfileRule, passed_name
from foreword.review.thresholds import Thresholds
from foreword.text.quantity import quantity

_GRAVE: tuple[Severity, ...] = ("critical", "high")
# Findings of one kind that no profile lets pass if it looks at them at all.
_MANY = 1_000
MOST_NAMED = 5  # unknown thresholds in a reason: one is a typing error, many are another format


def decide(review: Review, profile: ReviewProfile) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict by a project's profile, and its reasons as sentences.

    Whatever speaks against a change comes first, then whether enough members have answered, then
    whatever calls for a person. A profile approves by its own words; the built-in rules only where
    the user asks for them.
    """
    thresholds = profile.thresholds
    if thresholds is None and not profile.has_rules:
        thresholds = Thresholds(profile=profile.name)
    against: list[str] = []
    for_a_person: list[str] = []
    if thresholds is not None:
        against += _severity_reasons(review.findings, thresholds)
        against += _confidence_reasons(review, profile, thresholds)
        for_a_person += _unknown_threshold_reasons(thresholds)
    blocked, escalated = _rule_reasons(review, profile)
    against += blocked
    for_a_person += escalated
    for name, statements in review.unread.items():
        said = "; ".join(statements)
        for_a_person.append(f"Human review: {name} says what is in none of its findings: {said}.")
    too_few = _answer_reasons(review.members, _answer_quorum(profile, thresholds), profile.name)
    if against:
        return "changes_requested", (*against, *too_few, *for_a_person)
    if too_few:
        return "inconclusive", (*too_few, *for_a_person)
    if review.shown:
        for_a_person.append(f"Human review: members were shown {review.shown} of the change.")
    for_a_person += _silent_reasons(review.members, profile)
    for_a_person += _unjudged_reasons(review, profile)
    if not profile.has_rules and not profile.default_rules:
        for_a_person.append(_no_rules_reason(profile))
    if for_a_person:
        return "human_review", tuple(for_a_person)
    return "approve", (_approval_reason(review.findings, review.members, profile.name),)


def _severity_reasons(findings: Sequence[Finding], thresholds: Thresholds) -> list[str]:
    reasons = []
    for severity, count in count_severities(findings).items():
        most = getattr(thresholds, severity, None)
        if most is not None and count > most:
            allowed = f"at most {most}" if most else "none"
            reasons.append(
                f"{quantity(count, f'{severity} finding')}; profile {thresholds.profile} allows"
                f" {allowed}."
            )
    return reasons


def _confidence_reasons(
    review: Review, profile: ReviewProfile, thresholds: Thresholds
) -> list[str]:
    confidence = confidence_of(review, profile)
    if confidence >= thresholds.confidence:
        return []
    return [
        f"Confidence is {confidence:.2f}; profile {thresholds.profile} asks for"
        f" {thresholds.confidence:.2f}."
    ]


def _unknown_threshold_reasons(thresholds: Thresholds) -> list[str]:
    """A threshold that no panel knows: mistyped or not, it can't be said to be kept."""
    if not thresholds.ignored:
        return []
    names = ", ".join(map(repr, thresholds.ignored[:MOST_NAMED]))
    return [f"Human review: profile {thresholds.profile} has a threshold no panel knows: {names}."]


def _answer_quorum(profile: ReviewProfile, thresholds: Thresholds | None) -> float:
    """Which share of the members has to answer: all of them, unless the profile or the user says
    that fewer will do."""
    if thresholds is not None and ("answered" in thresholds.written or profile.default_rules):
        return thresholds.answered
    others_stand = profile.missing_panel_behavior.casefold() in OTHERS_STAND
    return Thresholds().answered if others_stand else 1.0


def _silent_reasons(members: Sequence[MemberResult], profile: ReviewProfile) -> list[str]:
    """A profile that shares out the weight of a missing panel says nothing of a missing member: the
    others are heard, and a person sees who was not."""
    silent = [member.name for member in members if member.status != "answered"]
    thresholds = profile.thresholds
    is_allowed = thresholds is not None and "answered" in thresholds.written
    if not silent or is_allowed or profile.default_rules:
        return []
    return [f"Human review: {', '.join(silent)} did not answer."]


def _answer_reasons(members: Sequence[MemberResult], least: float, profile: str) -> list[str]:
    reasons = []
    answered = sum(member.status == "answered" for member in members)
    if not answered or answered < least * len(members):
        consequence = (
            f"profile {profile} asks for {least:.0%}" if answered else "there is no opinion"
        )
        reasons.append(f"{answered} of {quantity(len(members), 'member')} answered; {consequence}.")
    missing = ", ".join(member.name for member in members if member.status == "missing")
    if missing:
        reasons.append(f"The panel names who is not there: {missing}.")
    return reasons


def _unjudged_reasons(review: Review, profile: ReviewProfile) -> list[str]:
    """Grave findings that no rule of the project looks at: its silence is no permission."""
    if profile.default_rules or not profile.has_rules:
        return []
    counts = count_severities(review.findings)
    found = [severity for severity in _GRAVE if counts[severity]]
    unjudged = [severity for severity in found if not _is_judged(severity, review, profile)]
    if not unjudged:
        return []
    what = ", ".join(quantity(counts[severity], f"{severity} finding") for severity in unjudged)
    return [f"Human review: profile {profile.name} says nothing of {what}."]


def _is_judged(severity: Severity, review: Review, profile: ReviewProfile) -> bool:
    """Whether a profile has a limit for such findings, lets them pass by their name, or would say
    anything else of a change that had very many of them."""
    if profile.thresholds is not None and severity in profile.thresholds.written:
        return True
    conditions = [rule.condition for rule in profile.rules if rule.action == "approve"]
    if profile.approval is not None:
        conditions += profile.approval.conditions
    by_name = re.compile(rf"(?<![a-z]){severity}(?![a-z])", re.IGNORECASE)
    if any(by_name.search(condition) for condition in conditions):
        return True
    such = [finding for finding in review.findings if finding.severity == severity]
    others = [finding for finding in review.findings if finding.severity != severity]
    without_them = replace(review, findings=others)
    with_many = replace(review, findings=[*others, *such * _MANY])
    return _judgement(with_many, profile) != _judgement(without_them, profile)


def _judgement(review: Review, profile: ReviewProfile) -> tuple[list[str], ...]:
    """What a profile says of a change by its own rules and by how sure it wants to be."""
    unsure = list[str]()
    if profile.thresholds is not None:
        unsure = _confidence_reasons(review, profile, profile.thresholds)
    return (unsure, *_rule_reasons(review, profile))


def _no_rules_reason(profile: ReviewProfile) -> str:
    what = f"Profile {profile.name}" if profile.source else "The project"
    return (
        f"Human review: {what} has no rules that a panel can judge by; the built-in ones approve"
        " only with --default-rules."
    )


def _rule_reasons(review: Review, profile: ReviewProfile) -> tuple[list[str], list[str]]:
    """What the rules of a profile say against a change, and why a person has to look at it."""
    facts = facts_of(review, profile)
    against: list[str] = []
    for_a_person: list[str] = []
    unknown: list[tuple[str, ConditionOutcome]] = []
    is_approved_by_rule = False
    unapplied: list[ProfileRule] = []
    for rule in profile.rules:
        outcome = evaluate(rule.condition, facts, mixed=rule.action != "approve")
        if outcome.value is not False and rule.is_unapplied:
            unapplied.append(rule)
            continue
        if outcome.value is None and rule.action != "note":
            unknown.append((rule.condition, outcome))
        if not outcome.value:
            continue
        condition = "" if rule.condition == "true" else f" ({rule.condition})"
        named = f"{rule.name}{condition}" if rule.name else rule.condition
        if rule.action == "block":
            against.append(f"Profile {profile.name} blocks: {named}.")
        elif rule.action == "human_review":
            for_a_person.append(f"Human review, as profile {profile.name} asks: {named}.")
        elif rule.action == "approve":
            is_approved_by_rule = True
    for_a_person += _missing_panel_reasons(review, profile)
    if profile.approval is not None:
        # where a person is called for, that alone keeps it from being approved
        facts_besides = facts.with_values({"requires_human_review": False})
        unmet, unknown_too = _approval_reasons(profile, facts_besides)
        unknown += unknown_too
        # what is not met says nothing new of a change that is sent back anyway
        for_a_person += [] if against else unmet
    only_rules = bool(profile.rules) and profile.thresholds is None
    is_said = any(rule.action == "approve" for rule in profile.rules)
    if profile.approval is None and not is_approved_by_rule and (is_said or only_rules):
        why = "has no rule that approves this" if is_said else "does not say when it approves"
        for_a_person.append(f"Human review: profile {profile.name} {why} (auto_merge).")
    for_a_person += _unapplied_reasons(unapplied, profile)
    return against, [*for_a_person, *_unknown_reasons(unknown, profile, facts)]


def _approval_reasons(
    profile: ReviewProfile, facts: Facts
) -> tuple[list[str], list[tuple[str, ConditionOutcome]]]:
    """Why a profile does not approve without a person, and the conditions nobody can judge."""
    approval = profile.approval or Approval(enabled=False)
    if not approval.enabled:
        never = f"Human review: profile {profile.name} never approves on its own (auto_merge)."
        return [never], []
    unmet: list[str] = []
    unknown: list[tuple[str, ConditionOutcome]] = []
    for condition in approval.conditions:
        outcome = evaluate(condition, facts, mixed=False)
        if outcome.value is None:
            unknown.append((condition, outcome))
        elif not outcome.value:
            unmet.append(
                f"Human review: profile {profile.name} approves only with {condition}, which is"
                " not so."
            )
    are_met = len(approval.conditions) - len(unmet) - len(unknown)
    return ([], []) if approval.any_suffices and are_met else (unmet, unknown)


def _unapplied_reasons(rules: Sequence[ProfileRule], profile: ReviewProfile) -> list[str]:
    """The parts of a profile that nobody here understands, by their paths."""
    if not rules:
        return []
    paths = ", ".join(rule.where for rule in rules)
    facts = ", ".join(passed_name(rule.where) for rule in rules)
    return [
        f"Human review: no panel can apply all of profile {profile.name}: {paths}. Say what is met"
        f" with --fact NAME=true: {facts}."
    ]


def _unknown_reasons(
    unknown: Sequence[tuple[str, ConditionOutcome]], profile: ReviewProfile, facts: Facts
) -> list[str]:
    """The conditions that can't be evaluated, each by its words, and what would tell."""
    reasons = []
    asked: list[str] = []
    names: list[str] = []
    for condition, outcome in unknown:
        if outcome.problem:
            reasons.append(
                f"Human review: a condition of profile {profile.name} can't be evaluated:"
                f" {condition} ({outcome.problem})."
            )
        else:
            asked.append(condition)
            names += outcome.unknown
    if asked:
        what = "; ".join(dict.fromkeys(asked))
        reason = f"Human review: profile {profile.name} asks what can't be evaluated here: {what}."
        telling = dict.fromkeys(_telling_facts(names, facts))
        if telling:
            reason += f" Say what you know with --fact NAME=VALUE: {', '.join(telling)}."
        reasons.append(reason)
    return reasons


def _telling_facts(names: Sequence[str], facts: Facts) -> Iterator[str]:
    """The facts that a user could give: none about what the panel itself has found."""
    for name in names:
        if name.startswith(("panel_missing(", "panel_executed(", "required_panel_missing")):
            yield EXECUTED
        elif name.isidentifier() and not facts.knows(name):
            yield name


def _missing_panel_reasons(review: Review, profile: ReviewProfile) -> list[str]:
    """Panels that must have looked at a change, and of which nobody here knows that they have."""
    missing = [name for name in profile.required_panels if not has_run(review, name)]
    if not missing:
        return []
    blocks = profile.missing_panel_behavior.casefold() == "block"
    what = "blocks until these panels have run" if blocks else "requires these panels, too"
    return [
        f"Human review: profile {profile.name} {what}: {', '.join(missing)} (say which have run"
        f" with --fact {EXECUTED}=NAME,NAME)."
    ]


def _approval_reason(
    findings: Sequence[Finding], members: Sequence[MemberResult], profile: str
) -> str:
    answered = sum(member.status == "answered" for member in members)
    found = quantity(len(findings), "finding") if findings else "no findings"
    who = f"{answered} of {quantity(len(members), 'member')} answered with {found}"
    return f"{who}, within what profile {profile} allows."
