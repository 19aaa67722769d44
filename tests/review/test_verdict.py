"""The verdict of a panel: by the policy of its project, with its reasons."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from foreword.errors import BadSource
from foreword.review.change_facts import (
    MOST_FILES,
    MemberResult,
    Review,
    ReviewedChange,
    confidence_of,
    unused_facts,
)
from foreword.review.findings import Finding, count_severities
from foreword.review.policy import Policy, Profile, decision_lines, read_policy
from foreword.review.verdict import decide
from tests.corpus import rows, text_of
from tests.review.policy_cases import POLICIES, cases

OLD_LETTERS = {
    "approve": "a",
    "changes_requested": "c",
    "human_review": "h",
    "inconclusive": "i",
    "error": "e",
}
# By severity, how much less sure the old reader was of a change for each finding.
PENALTIES = {"critical": 0.25, "high": 0.15, "medium": 0.05, "low": 0.01, "info": 0.0}


def review_of(case: dict[str, Any]) -> Review:
    """The review that a row of `verdicts.yaml` describes."""
    findings = list[Finding]()
    for number, severity in enumerate(case.get("findings", [])):
        flags = (case["flag"],) if case.get("flag") else ()
        finding = Finding(severity=severity, title=f"t{number}", said_by=("A",), flags=flags)
        findings.append(finding)
    statuses = case.get("members", ["answered", "answered"])
    return Review(
        panel="code-review",
        findings=findings,
        members=[MemberResult(name=n, status=s) for n, s in zip("ABC", statuses, strict=False)],
        change=ReviewedChange("HEAD~1", "sha256:0", tuple(case.get("files", ["src/a.py"])), 3),
        confidence=case.get("confidence", 0.9),
        facts=case.get("facts", {}),
        shown=case.get("shown", ""),
        remarks=case.get("remarks", {}),
    )


def profile_of(data: Any, **more: Any) -> Profile:
    return Profile(name="strict", policy=read_policy(data, "policy/strict.yaml"), **more)


def test_the_policy_decides() -> None:
    for case in yaml.safe_load(text_of("policies/verdicts.yaml")):
        profile = profile_of(case["policy"], default_rules=case.get("default_rules", False))
        verdict, reasons = decide(review_of(case), profile)
        assert verdict == case["verdict"], (case, reasons)
        assert any(case["reason"] in reason for reason in reasons), (case, reasons)


def test_a_field_that_is_unknown_or_has_a_wrong_value_is_an_error_that_names_the_right_one() -> (
    None
):
    for data, problem in rows("policies/wrong.jsonl"):
        with pytest.raises(BadSource, match=r"^policy/strict\.yaml: ") as caught:
            profile_of(data)
        assert problem in caught.value.message, caught.value.message


def test_no_field_at_any_depth_is_passed_over() -> None:
    places = [place for _, place in mappings_in(POLICIES)]
    assert len(places) > 60
    for name, place in mappings_in(POLICIES):
        damaged = json.loads(json.dumps(POLICIES[name]))
        inner = damaged
        for step in place:
            inner = inner[step]
        if place and place[-1] in ("weights", "panel_overrides_by_change_type"):
            continue  # their names are those of panels and of kinds of changes
        inner["unles"] = "says no"
        with pytest.raises(BadSource, match=r"unles: "):
            profile_of(damaged)


def mappings_in(policies: dict[str, Any]) -> list[tuple[str, tuple[Any, ...]]]:
    """The places of all mappings in policies, by the policy."""
    found = list[tuple[str, tuple[Any, ...]]]()
    for name, policy in policies.items():
        pending: list[tuple[tuple[Any, ...], Any]] = [((), policy)]
        while pending:
            place, value = pending.pop()
            if isinstance(value, dict):
                found.append((name, place))
                pending += [((*place, key), member) for key, member in value.items()]
            elif isinstance(value, list):
                pending += [((*place, at), member) for at, member in enumerate(value)]
    return found


def verdict_letter(policy: Any, case: dict[str, Any]) -> str:
    """What becomes of a random review, with the confidence that the old reader had of it."""
    findings = list[Finding]()
    for row in case["findings"]:
        flags = (row["flag"],) if row["flag"] else ()
        finding = Finding(
            severity=row["severity"], title=row["title"], said_by=(row["said_by"],), flags=flags
        )
        findings.append(finding)
    counts = count_severities(findings)
    penalty = sum(PENALTIES[severity] * count for severity, count in counts.items())
    members = zip("AB", case["statuses"], strict=True)
    review = Review(
        panel=case["panel"],
        findings=findings,
        members=[MemberResult(name=name, status=status) for name, status in members],
        change=ReviewedChange("x", "d", tuple(case["files"]), 3),
        confidence=round(max(0.0, 0.85 - penalty), 2),
        facts=case["facts"],
        shown=case["shown"],
        remarks=case["remarks"],
    )
    try:
        return OLD_LETTERS[decide(review, profile_of(policy))[0]]
    except BadSource:
        return "e"


def test_nothing_is_approved_that_the_reader_of_any_spelling_refused() -> None:
    for seed, old in json.loads(text_of("policies/old_verdicts.json")).items():
        reviews = cases(int(seed), intact=200, damaged=1_000)
        for number, ((policy, case), expected) in enumerate(zip(reviews, old, strict=True)):
            letter = verdict_letter(policy, case)
            if number < 200:
                assert letter == expected, (seed, number, policy, case)
            else:
                assert letter != "a" or expected == "a", (seed, number, policy, case)


def test_confidence_is_what_members_state_and_0_of_who_did_not_answer() -> None:
    anna = MemberResult(name="anna", status="answered", confidence=1.0)
    bert = MemberResult(name="bert", status="answered", confidence=0.6)
    cleo = MemberResult(name="cleo", status="late", confidence=None)
    assert confidence_of([anna, bert], {}) == 0.8
    assert confidence_of([anna, bert], {"code-review": 1.0}) == 0.8
    assert confidence_of([anna, bert], {"anna": 3, "bert": 1}) == 0.9
    assert confidence_of([anna, bert, cleo], {}) == 0.5333
    assert confidence_of([cleo], {}) == 0.0
    assert confidence_of([], {}) == 0.0


def test_of_more_files_than_are_named_none_is_known_to_be_elsewhere() -> None:
    block = {"conditions": [{"condition": 'files_changed_in ["src/"]'}]}
    profile = profile_of({"auto_merge": {"enabled": True}, "block": block})
    files = [f"docs/{number}.md" for number in range(MOST_FILES)]
    assert decide(review_of({"files": files}), profile)[0] == "human_review"


def test_facts_that_the_panel_finds_out_itself_are_named() -> None:
    facts = {"risk_level": "low", "any_finding_severity": "low", "ci": True, "panels_executed": "x"}
    assert unused_facts(review_of({"facts": facts}), Policy()) == [
        "risk_level",
        "any_finding_severity",
    ]


def test_the_rules_of_a_policy_are_told_as_condition_and_action() -> None:
    assert decision_lines(POLICIES["regulated"]) == [
        'risk_level in ["critical", "high", "medium"]: human_review_required',
        'any_policy_flag starts_with "pii_": block',
        'files_changed_in ["db/", "models/"]: human_review_required',
        "block: on any of 3 conditions",
        "auto_merge: never",
    ]
    assert decision_lines(POLICIES["quick"])[-1] == "auto_merge: with 2 conditions"
    assert decision_lines({"escalation": 3}) == decision_lines({}) == []
