"""The verdict of a panel: by the rules of a project's profile, with its reasons."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from foreword.errors import BadSource
from foreword.review.answer_parsing import parse_answer
from foreword.review.change_facts import (
    MOST_FILES,
    MemberResult,
    Review,
    ReviewedChange,
    confidence_in,
    facts_in_vain,
)
from foreword.review.findings import Finding, merge
from foreword.review.panel_result import SCHEMA, PanelResult
from foreword.review.profile import ReviewProfile, decision_lines, read_profile
from foreword.review.profile_rules import passed_name
from foreword.review.thresholds import Thresholds, read_thresholds
from foreword.review.verdict import decide
from tests.corpus import rows

ANSWERED = (
    MemberResult(name="A", status="answered"),
    MemberResult(name="B", status="answered"),
)
WITHOUT_ANSWER = (
    MemberResult(name="C", status="late", why="no answer within 5 s"),
    MemberResult(name="D", status="nonsense", why="x"),
)


CHANGE = ReviewedChange(source="HEAD~1", digest="sha256:0", files=("src/a.py",), lines=3)


def review_of(*severities: Any, members: Any = ANSWERED, **facts: object) -> Review:
    return Review(
        panel="code-review",
        findings=findings_of(*severities),
        members=members,
        change=CHANGE,
        facts=facts,
    )


def profile_of(**data: object) -> ReviewProfile:
    return read_profile(data, where="policy/strict.yaml", name="strict")


def findings_of(*severities: Any, by: tuple[str, ...] = ("A",)) -> list[Finding]:
    return [
        Finding(severity=severity, title=f"{severity} {number}", said_by=by)
        for number, severity in enumerate(severities)
    ]


@pytest.mark.parametrize(
    ("severities", "members", "verdict", "reason"),
    [
        (
            [],
            ANSWERED,
            "approve",
            "2 of 2 members answered with no findings, within what profile default allows.",
        ),
        (["high", "high", "low"], ANSWERED, "approve", "2 of 2 members answered with 3 findings"),
        (
            ["critical"],
            ANSWERED,
            "changes_requested",
            "1 critical finding; profile default allows none.",
        ),
        (
            ["high"] * 3,
            ANSWERED,
            "changes_requested",
            "3 high findings; profile default allows at most 2.",
        ),
        ([], WITHOUT_ANSWER, "inconclusive", "0 of 2 members answered; there is no opinion."),
        (
            [],
            [*ANSWERED[:1], *WITHOUT_ANSWER],
            "inconclusive",
            "1 of 3 members answered; profile default asks for 50%.",
        ),
        (["critical"], [*ANSWERED[:1], *WITHOUT_ANSWER], "changes_requested", "1 critical finding"),
        ([], [], "inconclusive", "0 of 0 members answered"),
    ],
)
def test_thresholds_decide(severities: list[str], members: Any, verdict: str, reason: str) -> None:
    profile = ReviewProfile(thresholds=Thresholds(), default_rules=True)
    decided, reasons = decide(review_of(*severities, members=members), profile)
    assert decided == verdict
    assert reasons[0].startswith(reason)


def test_a_profile_may_ask_to_be_sure() -> None:
    assert confidence_in(findings_of("critical", "high", "medium", "low", "info")) == 0.39
    assert confidence_in(findings_of(*["critical"] * 9)) == 0.0
    strict = Thresholds(profile="strict", high=None, confidence=0.75)
    profile = ReviewProfile(name="strict", thresholds=strict)
    assert decide(review_of("high"), profile) == (
        "changes_requested",
        ("Confidence is 0.70; profile strict asks for 0.75.",),
    )


def test_thresholds_are_read_from_a_profile() -> None:
    data = {"critical": 0, "high": 1, "medium": None, "answered": 1, "hgih": "x"}
    thresholds = read_thresholds(data, where="p.yaml", profile="strict")
    assert thresholds == Thresholds(
        profile="strict",
        high=1,
        answered=1,
        ignored=("hgih",),
        written=("critical", "high", "medium", "answered"),
    )
    assert read_thresholds(
        {"max_high": 7, "Low_findings": 3, "confidence_score": 0.7}, "p.yaml"
    ) == Thresholds(high=7, low=3, confidence=0.7, written=("high", "low", "confidence"))


@pytest.mark.parametrize("data", rows("policies/thresholds_without_sense.jsonl"))
def test_thresholds_that_make_no_sense_are_an_error_that_names_the_file(data: object) -> None:
    with pytest.raises(BadSource, match=r"policy/x\.yaml: ") as caught:
        read_thresholds(data, "policy/x.yaml")
    assert "thresholds: {" in caught.value.hint


def test_a_project_without_rules_is_approved_by_the_built_in_ones_only_if_asked() -> None:
    bare = profile_of(description="words only")
    verdict, reasons = decide(review_of(), bare)
    assert verdict == "human_review"
    assert "--default-rules" in reasons[0]
    assert decide(review_of(), replace(bare, default_rules=True))[0] == "approve"
    assert decide(review_of("critical"), bare)[0] == "changes_requested"


def test_a_threshold_that_no_panel_knows_is_never_taken_for_kept() -> None:
    verdict, reasons = decide(review_of(), profile_of(thresholds={"hgih": 0}))
    assert verdict == "human_review"
    assert "'hgih'" in reasons[0]


ESCALATION = {
    "rules": [
        {"name": "unsure", "condition": "aggregate_confidence < 0.70", "action": "human_review"},
        {"condition": 'any_policy_flag_severity in ["critical"]', "action": "block"},
        {"condition": 'files_changed_in ["db/"]', "action": "human_review_required"},
    ]
}
AUTO_MERGE = {
    "enabled": True,
    "conditions": ["aggregate_confidence >= 0.80", 'risk_level in ["low", "negligible"]'],
}


@pytest.mark.parametrize(
    ("severities", "verdict", "reason"),
    [
        ([], "approve", "2 of 2 members answered with no findings"),
        (["low"], "approve", "2 of 2 members answered with 1 finding"),
        (["high"], "human_review", "approves only with aggregate_confidence >= 0.80"),
        (["high"] * 2, "human_review", "unsure (aggregate_confidence < 0.70)"),
        (["critical"], "changes_requested", "Profile strict blocks: any_policy_flag_severity"),
    ],
)
def test_a_projects_own_rules_decide(severities: list[str], verdict: str, reason: str) -> None:
    profile = profile_of(escalation=ESCALATION, auto_merge=AUTO_MERGE)
    decided, reasons = decide(review_of(*severities), profile)
    assert decided == verdict
    assert reason in reasons[0]


@pytest.mark.parametrize("auto_merge", [False, {"enabled": False}, {"enabled": "yes"}, {}])
def test_a_profile_that_does_not_merge_on_its_own_never_approves(auto_merge: object) -> None:
    profile = profile_of(auto_merge=auto_merge, thresholds={"critical": 0})
    assert decide(review_of(), profile)[0] == "human_review"


@pytest.mark.parametrize(
    "section",
    [
        {"auto-merge": {"enabled": False}},
        {"autoMerge": {"Enabled": False}},
        {"AUTOMERGE": False},
        {"metadata": {"autoMerge": {"enabled": False}}},
        {"requiredPanels": ["threat-modeling"]},
    ],
)
def test_a_rule_holds_however_its_name_is_spelled(section: dict[str, object]) -> None:
    profile = profile_of(thresholds={"critical": 0, "high": 0}, **section)
    assert decide(review_of(), profile)[0] == "human_review"


def test_two_spellings_of_one_rule_are_an_error() -> None:
    with pytest.raises(BadSource, match="'auto_merge' is there twice, once as 'auto-merge'"):
        profile_of(**{"auto_merge": True, "auto-merge": {"enabled": False}})


@pytest.mark.parametrize("condition", rows("policies/conditions_not_known.jsonl"))
def test_a_condition_that_cant_be_evaluated_is_named_and_calls_for_a_person(
    condition: object,
) -> None:
    for profile in (
        profile_of(auto_merge={"enabled": True, "conditions": [condition]}),
        profile_of(
            thresholds={}, escalation={"rules": [{"condition": condition, "action": "block"}]}
        ),
    ):
        verdict, reasons = decide(review_of(), profile)
        assert verdict == "human_review"
        named = condition if isinstance(condition, str) else "coverage"
        assert any(named in reason for reason in reasons)


def test_what_the_user_knows_lets_a_condition_be_evaluated_but_changes_no_finding() -> None:
    rules = {"enabled": True, "conditions": ["ci_checks_passed == true", "critical_findings == 0"]}
    profile = profile_of(auto_merge=rules)
    assert decide(review_of(ci_checks_passed=True), profile)[0] == "approve"
    assert decide(review_of(ci_checks_passed=False), profile)[0] == "human_review"
    told = review_of("critical", ci_checks_passed=True, critical_findings=0)
    assert decide(told, profile)[0] == "human_review"


def test_one_condition_is_enough_only_where_the_profile_says_so() -> None:
    conditions = ["critical_findings > 7", "high_findings == 0"]
    any_of_them = {"enabled": True, "conditions": conditions, "operator": "any"}
    assert decide(review_of(), profile_of(auto_merge=any_of_them))[0] == "approve"
    all_of_them = {"enabled": True, "conditions": conditions}
    assert decide(review_of(), profile_of(auto_merge=all_of_them))[0] == "human_review"
    with pytest.raises(BadSource, match="operator must be all or any"):
        profile_of(auto_merge={**all_of_them, "operator": "most"})


@pytest.mark.parametrize(("condition", "severities"), rows("policies/conditions_met.jsonl"))
def test_conditions_are_met_in_the_words_that_people_use(
    condition: object, severities: list[str]
) -> None:
    profile = profile_of(auto_merge={"enabled": True, "conditions": condition})
    assert decide(review_of(*severities), profile)[0] == "approve"
    assert decide(review_of("high", "high", "critical"), profile)[0] == "human_review"


def test_a_limit_that_means_nothing_or_may_mean_the_opposite_approves_nothing() -> None:
    nothing = profile_of(auto_merge={"enabled": True, "conditions": {"min_high": 0}})
    assert decide(review_of("high"), nothing)[0] == "human_review"
    opposite = profile_of(auto_merge=True, block={"conditions": [{"max_high": 0}]})
    assert decide(review_of("high"), opposite)[0] == "human_review"


def test_what_the_user_knows_is_found_however_its_name_is_spelled() -> None:
    profile = profile_of(auto_merge={"enabled": True, "conditions": ["ciChecksPassed == true"]})
    for name in ("ciChecksPassed", "ci_checks_passed"):
        assert decide(review_of(**{name: True}), profile)[0] == "approve"


def test_who_is_missing_never_makes_an_approval_easier() -> None:
    rules = profile_of(auto_merge={"enabled": True, "conditions": ["aggregate_confidence >= 0.8"]})
    one_is_late = [*ANSWERED, WITHOUT_ANSWER[0]]
    assert decide(review_of(members=one_is_late), rules)[0] == "inconclusive"
    others_stand = replace(rules, missing_panel_behavior="redistribute")
    verdict, reasons = decide(review_of(members=one_is_late), others_stand)
    assert (verdict, reasons) == ("human_review", ("Human review: C did not answer.",))
    fewer_will_do = profile_of(thresholds={"high": 1, "answered": 0.6})
    assert decide(review_of(members=one_is_late), fewer_will_do)[0] == "approve"
    silent_about_it = profile_of(thresholds={"critical": 0, "high": 1})
    assert decide(review_of(members=one_is_late), silent_about_it)[0] == "inconclusive"
    by_default = replace(silent_about_it, default_rules=True)
    assert decide(review_of(members=one_is_late), by_default)[0] == "approve"
    one_is_nobody = [*ANSWERED, MemberResult(name="E", status="missing")]
    verdict, reasons = decide(review_of(members=one_is_nobody), others_stand)
    assert (verdict, reasons) == ("inconclusive", ("The panel names who is not there: E.",))


def test_a_required_panel_that_has_not_run_blocks_where_the_profile_says_so() -> None:
    profile = profile_of(
        thresholds={"critical": 0},
        required_panels=["code-review", "security-review"],
        weighting={"missing_panel_behavior": "block"},
    )
    verdict, reasons = decide(review_of(), profile)
    assert verdict == "human_review"
    assert "security-review" in reasons[0]
    assert decide(review_of(panels_executed="security-review"), profile)[0] == "approve"


@pytest.mark.parametrize("behavior", ["redistribute", "ignore", ""])
def test_no_change_is_approved_while_a_required_panel_is_not_known_to_have_run(
    behavior: str,
) -> None:
    profile = profile_of(
        auto_merge=True,
        required_panels=["code-review", "security-review"],
        missing_panel_behavior=behavior,
    )
    verdict, reasons = decide(review_of(), profile)
    assert verdict == "human_review"
    assert "requires these panels, too: security-review" in reasons[0]
    assert decide(review_of(panels_executed=["security-review"]), profile)[0] == "approve"


SECTIONS: dict[str, object] = {
    "plausibility_checks": {"min_findings": {"enabled": True, "action": "flag"}},
    "multi_model": {"enabled": True, "min_models": 2},
    "extends": "base.yaml",
    "conditions": ["coverage >= 80"],
    "default": "deny",
    "quality gates": [{"coverage": 80}],
    "escalation": {"on_critical": "page"},
    "findings": {"critical": 0},
    "2fa": True,
    "override": [{"path": "src/", "min_reviewers": 2}],
    "notifications": {"require_ack": True},
    "optional_panels": [{"panel": "security-review", "required": True}],
}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_part_of_a_profile_that_no_panel_can_apply_calls_for_a_person(section: str) -> None:
    profile = profile_of(thresholds={"critical": 0, "high": 0}, **{section: SECTIONS[section]})
    verdict, reasons = decide(review_of(), profile)
    assert verdict == "human_review"
    fact = passed_name(section)
    assert reasons == (
        f"Human review: no panel can apply all of profile strict: {section}. Say what is met with"
        f" --fact NAME=true: {fact}.",
    )
    assert decide(review_of(**{fact: True}), profile)[0] == "approve"


@pytest.mark.parametrize("section", rows("policies/off.jsonl"))
def test_what_is_off_or_about_something_else_decides_nothing(section: dict[str, object]) -> None:
    profile = profile_of(thresholds={"critical": 0, "high": 0}, **section)
    assert decide(review_of(), profile)[0] == "approve"


@pytest.mark.parametrize(("section", "verdict"), rows("policies/forms.jsonl"))
def test_rules_are_read_in_the_forms_that_projects_write(
    section: dict[str, object], verdict: str
) -> None:
    profile = profile_of(thresholds={"critical": 0, "high": 0}, **section)
    expected = {"block": "changes_requested", "human": "human_review"}.get(verdict, verdict)
    assert decide(review_of(), profile)[0] == expected


EVERY_FORM: dict[str, object] = {
    "name": "strict",
    "metadata": {"owner": "platform"},
    "thresholds": {"critical": 0, "high": 0},
    "weighting": {"model": "weighted_average", "weights": {"code-review": 1.0}},
    "required_panels": [{"panel": "code-review"}],
    "panel_overrides_by_change_type": {"chore": {"required_panels": ["code-review"]}},
    "risk_aggregation": {"rules": [{"condition": "critical_findings > 0", "result": "critical"}]},
    "escalation": {"rules": [{"condition": "high_findings > 0", "action": "block"}]},
    "block": {"conditions": [{"condition": "critical_findings > 0"}]},
    "canaries": {"rules": [{"condition": "files_changed > 900", "action": "block"}]},
    "rules": {"small": {"when": "lines_changed < 400", "then": "approve"}},
    "auto_merge": {"enabled": True, "conditions": [{"condition": "critical_findings == 0"}]},
}


def mappings_in(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            yield from mappings_in(member, (*path, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from mappings_in(member, (*path, number))


@pytest.mark.parametrize("path", list(mappings_in(EVERY_FORM)), ids=str)
def test_no_field_at_any_depth_is_passed_over(path: tuple[Any, ...]) -> None:
    data = copy.deepcopy(EVERY_FORM)
    assert decide(review_of(), profile_of(**data))[0] == "approve"
    inner: Any = data
    for key in path:
        inner = inner[key]
    inner["unless_alice"] = "says no"
    verdict, reasons = decide(review_of(), profile_of(**data))
    assert verdict != "approve"
    if path not in (("weighting", "weights"),):  # there it is a value that can't be read
        assert any("unless_alice" in reason for reason in reasons)


@pytest.mark.parametrize("section", rows("policies/ambiguous.jsonl"), ids=str)
def test_what_may_be_read_in_two_ways_approves_nothing(section: dict[str, object]) -> None:
    profile = profile_of(**{"thresholds": {"critical": 0, "high": 0}, **section})
    assert decide(review_of(), profile)[0] == "human_review"


@pytest.mark.parametrize(
    ("action", "verdict"),
    [
        ("notify", "approve"),
        ("warn-only", "approve"),
        ("notify_and_wait", "human_review"),
        ("login_required", "human_review"),
        ("block_auto_merge", "human_review"),
        ("Block", "changes_requested"),
    ],
)
def test_only_what_plainly_tells_somebody_stops_nothing(action: str, verdict: str) -> None:
    rules = [{"condition": "true", "action": action}]
    assert decide(review_of(), profile_of(auto_merge=True, escalation={"rules": rules}))[0] == (
        verdict
    )


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"action": "notify", "channel": "#dev"}, "approve"),
        ({"action": "notify", "required_approvals": 2}, "human_review"),
        ({"action": "notify", "slack": {"wait_for": "ana"}}, "human_review"),
        ({"enforcement": "warn", "required_verification_level": "basic"}, "approve"),
    ],
    ids=str,
)
def test_a_rule_that_tells_somebody_asks_for_nothing_besides(
    more: dict[str, object], verdict: str
) -> None:
    profile = profile_of(auto_merge=True, gate={"rules": [{"condition": "true", **more}]})
    assert decide(review_of(), profile)[0] == verdict


def test_what_a_member_says_besides_its_findings_calls_for_a_person() -> None:
    review = replace(review_of(), unread={"A": ("verdict: request_changes",)})
    verdict, reasons = decide(review, profile_of(thresholds={"critical": 0, "high": 0}))
    assert verdict == "human_review"
    assert "A says what is in none of its findings: verdict: request_changes" in reasons[0]


def test_a_profile_that_is_for_some_changes_decides_nothing_of_others() -> None:
    profile = profile_of(auto_merge=True, trigger_conditions={"change_types": ["docs_only"]})
    assert decide(review_of(change_type="docs_only"), profile)[0] == "approve"
    verdict, reasons = decide(review_of(change_type="feature"), profile)
    assert verdict == "human_review"
    assert 'change_type not in ["docs_only"]' in reasons[0]


@pytest.mark.parametrize("rules", rows("policies/blind_to_grave_findings.jsonl"))
def test_grave_findings_that_no_rule_looks_at_call_for_a_person(rules: dict[str, object]) -> None:
    profile = profile_of(**rules)
    facts = {"ci_checks_passed": True, "feature_flag_on": False}
    assert decide(review_of(**facts), profile)[0] == "approve"
    found = replace(review_of(**facts), findings=findings_of("high", "high", by=("A", "B")))
    verdict, reasons = decide(found, profile)
    assert verdict == "human_review"
    assert "says nothing of 2 high findings" in reasons[-1]


@pytest.mark.parametrize(
    "section",
    [
        {"thresholds": {"high": 2}},
        {"auto_merge": {"enabled": True, "conditions": ["aggregate_confidence >= 0.5"]}},
        {"auto_merge": {"enabled": True, "conditions": ['risk_level in ["high", "low"]']}},
        {"auto_merge": True, "block": ["high_findings > 5"]},
        {"auto_merge": True, "rules": [{"when": "count(finding) > 90", "then": "block"}]},
    ],
)
def test_grave_findings_pass_where_a_rule_looks_at_them_and_lets_them(
    section: dict[str, object],
) -> None:
    assert decide(review_of("high"), profile_of(**section))[0] == "approve"


@pytest.mark.parametrize(
    "fact",
    [
        "any_policy_flag_severity",
        "policy_flag_severity",
        "risk_level",
        "critical_findings",
        "criticalFindings",
        "no_critical_findings",
        "findings",
    ],
)
def test_no_fact_stands_for_what_the_panel_has_found(fact: str) -> None:
    rule = {"condition": 'any_policy_flag_severity == "critical"', "action": "block"}
    profile = profile_of(thresholds={"critical": None}, rules=[rule])
    told = review_of("critical", **{fact: "low"})
    assert decide(told, profile)[0] == "changes_requested"
    assert facts_in_vain(told, profile) == [fact]
    assert facts_in_vain(review_of(ci=True, panels_executed="x"), profile) == []


def test_only_facts_that_a_user_can_give_are_asked_for() -> None:
    conditions = [
        'any_policy_flag starts_with "pii_"',
        'panel_missing("security-review") and ci_failed',
        'panel_risk("security-review") == "high"',
    ]
    profile = profile_of(thresholds={"high": 5}, block={"conditions": conditions})
    _, reasons = decide(review_of("high"), profile)
    assert reasons[-1].endswith(
        "Say what you know with --fact NAME=VALUE: panels_executed, ci_failed."
    )


def test_the_risk_of_one_panel_is_known_of_this_one_alone() -> None:
    def blocked_by(condition: str) -> str:
        rules = [{"condition": condition, "action": "block"}]
        return decide(review_of("high"), profile_of(thresholds={"high": 5}, rules=rules))[0]

    assert blocked_by('panel_risk("code-review") == "high"') == "changes_requested"
    assert blocked_by('panel_confidence("code-review") > 0.9') == "approve"
    assert blocked_by('panel_risk("security-review") == "critical"') == "human_review"
    assert blocked_by('panel == "security-review" and canaries == 0') == "approve"


def test_the_risk_of_a_change_is_reckoned_as_the_profile_says() -> None:
    rules = [
        {"condition": 'any_panel_risk in ["critical", "high"]', "result": "critical"},
        {"condition": 'all_panels_risk in ["low", "negligible"]', "result": "low"},
    ]
    escalation = {"rules": [{"condition": 'risk_level == "critical"', "action": "block"}]}
    profile = profile_of(
        thresholds={"high": 5}, risk_aggregation={"rules": rules}, escalation=escalation
    )
    assert decide(review_of("high"), profile)[0] == "changes_requested"
    assert decide(review_of("low"), profile)[0] == "approve"


@pytest.mark.parametrize("condition", rows("policies/conditions_of_some.jsonl"))
def test_what_holds_for_some_of_several_values_approves_nothing(condition: str) -> None:
    """By the first that holds, a panel approved a critical finding for the low one beside it."""
    change = replace(CHANGE, files=("docs/a.md", "src/auth.py"))
    mixed = replace(review_of("critical", "low"), change=change)
    by_rule = profile_of(rules=[{"when": condition, "then": "approve"}])
    by_merging = profile_of(auto_merge={"enabled": True, "conditions": [condition]})
    for profile in (by_rule, by_merging):
        assert decide(mixed, profile)[0] == "human_review"


@pytest.mark.parametrize(
    "condition",
    [
        'finding_severity == "critical"',
        'finding_severity != "low"',
        'not (finding_severity == "low")',
        'panel_verdict != "approve"',
        'files_changed_in ["src/"]',
    ],
)
def test_what_holds_for_some_of_several_values_stops_a_change(condition: str) -> None:
    change = replace(CHANGE, files=("docs/a.md", "src/auth.py"))
    mixed = replace(review_of("critical", "low"), change=change)
    assert decide(mixed, profile_of(block=[condition]))[0] == "changes_requested"


def test_a_change_without_findings_has_none_that_a_profile_forbids() -> None:
    conditions = ['finding_severity != "critical"', "severity not in [high]"]
    profile = profile_of(
        auto_merge={"enabled": True, "conditions": conditions}, block=['finding_severity != "low"']
    )
    assert decide(review_of(), profile)[0] == "approve"


@pytest.mark.parametrize(("place", "is_in"), rows("policies/places.jsonl"))
def test_files_are_found_by_the_patterns_that_people_write(place: str, is_in: bool | None) -> None:
    profile = profile_of(auto_merge=True, block=[f'files_changed_in ["{place}"]'])
    verdicts = {True: "changes_requested", False: "approve", None: "human_review"}
    assert decide(review_of(), profile)[0] == verdicts[is_in]


def test_of_more_files_than_are_named_none_is_known_to_be_elsewhere() -> None:
    files = tuple(f"docs/{number}.md" for number in range(MOST_FILES))
    review = replace(review_of(), change=replace(CHANGE, files=files))
    assert decide(review, profile_of(auto_merge=True, block=['files_changed_in ["src/"]']))[0] == (
        "human_review"
    )


def test_a_finding_in_words_may_stand_for_any_flag() -> None:
    rules = [{"condition": 'any_policy_flag starts_with "pii_"', "action": "block"}]
    profile = profile_of(thresholds={"high": 5}, escalation={"rules": rules})
    assert decide(review_of(), profile)[0] == "approve"
    assert decide(review_of("high"), profile)[0] == "human_review"
    emission = '{"policy_flags": [{"flag": "pii_exposure", "severity": "low"}]}'
    flagged = replace(review_of(), findings=merge(parse_answer(emission, "A").findings))
    assert decide(flagged, profile)[0] == "changes_requested"


def test_the_result_follows_its_published_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    missing = MemberResult(name="E", status="missing", why="x")
    result = PanelResult(
        panel="code-review",
        title="Code Review",
        verdict="approve",
        reasons=("x",),
        confidence=0.85,
        profile="default",
        findings=tuple(findings_of("low", "high")),
        members=(*ANSWERED, *WITHOUT_ANSWER, missing),
        change=ReviewedChange(source="HEAD~1", digest="sha256:0", files=("a.py",), lines=3),
    )
    jsonschema.validate(result.to_dict(), SCHEMA)
    assert [member.name for member in result.without_answer] == ["C", "D", "E"]


def test_the_rules_of_a_profile_are_told_as_condition_and_action() -> None:
    data = {
        "escalation": ESCALATION,
        "block": {"conditions": ["a == 1"]},
        "auto_merge": {"enabled": False},
    }
    assert decision_lines(data) == [
        "aggregate_confidence < 0.70: human_review",
        'any_policy_flag_severity in ["critical"]: block',
        'files_changed_in ["db/"]: human_review_required',
        "block: on any of 1 conditions",
        "auto_merge: never",
    ]
    assert decision_lines(
        {
            "rules": {
                "wide": {"when": {"all": ["a == 1", "b"]}, "then": "deny"},
                "off": {"if": "c"},
            },
            "blocking": ["x"],
            "block": ["a", "b"],
            "escalations": {"enabled": False, "rules": [{"if": "c", "then": "block"}]},
        }
    ) == ["(a == 1) and (b): deny", "block: on any of 2 conditions"]
    assert decision_lines({"auto_merge": AUTO_MERGE}) == ["auto_merge: with 2 conditions"]
    assert decision_lines({"escalation": 3, "block": [], "thresholds": {}}) == []
