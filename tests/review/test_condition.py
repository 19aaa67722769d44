"""The small language of conditions: what it reads, and what it comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.review.condition import UNKNOWN, Facts, evaluate
from foreword.review.condition_parsing import check

FACTS = Facts(
    values={
        "confidence": 0.8,
        "risk": "high",
        "ci": True,
        "files": 3,
        "ci_checks_passed": True,
        "critical_findings": 0,
        "low_findings": 2,
    },
    lists={"panel_risk": ["high", "low"], "policy_flag": ["pii_name", UNKNOWN], "finding": []},
    tests={"files_changed_in": lambda places: "db/" in str(places)},
)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("confidence >= 0.8", True),
        ("confidence < 70%", False),
        ('risk == "HIGH"', True),
        ("risk in [low, medium]", False),
        ("risk not in ['low']", True),
        ('risk >= "medium"', True),
        ("ci", True),
        ("not ci", False),
        ("!ci || files == 3", True),
        ("ci && (files > 5 or confidence == 0.8)", True),
        ("ci = true", True),
        ("ci == false", False),
        ('any_panel_risk == "high"', True),
        ('all_panels_risk in ["high"]', False),
        ('no_panel_risk == "critical"', True),
        ('count(panel_risk == "high") == 1', True),
        ("count(panel_risk) >= 3", False),
        ("count(findings) == 0", True),
        ('all_findings == "low"', True),
        ('any_finding == "low"', False),
        ('any_policy_flag starts_with "pii_"', True),
        ('files_changed_in ["db/", "x/"]', True),
        ('files_changed_in(["x/"])', False),
        ("unheard_of == 1", None),
        ("unheard_of and false", False),
        ("unheard_of or true", True),
        ("not unheard_of", None),
        ('any_policy_flag == "other"', None),
        ('no_policy_flag == "other"', None),
        ('risk == "high" and unheard_of("x")', None),
        ('confidence == "high"', None),
        ('confidence != "high"', None),
        ("confidence > risk", None),
        ("confidence", None),
        ('risk in "high"', None),
        ("count(1) > 0", None),
        ("risk == null", False),
        ("true", True),
        ("ciChecksPassed == TRUE", True),
        ("ci-checks-passed", True),
        ("no_critical_findings", True),
        ("any_critical_findings", False),
        ("no_low_findings", False),
        ("not any_low_findings", False),
        ("no_confidence", None),
        ("critical == 0 and low <= 2", True),
        ("0 == low", False),
        ("low == critical", False),
        ("findings == 0", None),
        ("panel_risk >= 1", None),
    ],
)
def test_a_condition_is_true_false_or_not_known(condition: str, value: bool | None) -> None:
    outcome = evaluate(condition, FACTS)
    assert outcome.value is value
    assert outcome.problem == ""
    assert bool(outcome.unknown) == (value is None)


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("", "it is empty"),
        ("ci ci", "'ci' is not expected there"),
        ("(ci", "')' is missing"),
        ("risk in [high", "']' is missing"),
        ("risk ==", "it ends where a value should be"),
        ("== 3", "'==' stands where a value should be"),
        ("is it good?", "'?' can't be read"),
        ("(" * 30 + "ci" + ")" * 30, "more than 20 brackets"),
        ("ci " * 1000, "longer than 2,000 characters"),
    ],
)
def test_what_is_no_condition_says_why_and_is_never_true(condition: str, problem: str) -> None:
    outcome = evaluate(condition, FACTS)
    assert outcome.value is None
    assert problem in outcome.problem
    assert problem in check(condition)


WORDS = ["ci", "risk", "(", ")", "[", "]", "not", "and", "or", "==", "in", '"x"', "3", "count", ","]


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_whatever_is_written_there_is_an_outcome(condition: str) -> None:
    outcome = evaluate(condition, FACTS)
    assert outcome.value is not None or outcome.problem or outcome.unknown


@pytest.mark.parametrize(
    ("condition", "outcomes"),  # where mixed values count as so, as not so, and as not known
    [
        ('panel_risk == "high"', (True, False, None)),
        ('not panel_risk == "high"', (True, False, None)),
        ('panel_risk != "high"', (True, False, None)),
        ('panel_risk in ["high", "low"]', (True, True, True)),
        ('panel_risk == "critical"', (False, False, False)),
        ('any_panel_risk == "high"', (True, True, True)),
        ('policy_flag == "pii_name"', (True, None, None)),
        ('policy_flag == "other"', (None, False, None)),
        ('finding == "low"', (False, False, False)),
        ('finding != "low"', (False, True, False)),
    ],
)
def test_what_holds_for_some_of_several_values_is_what_the_caller_takes_it_for(
    condition: str, outcomes: tuple[bool | None, ...]
) -> None:
    ways = (True, False, UNKNOWN)
    assert tuple(evaluate(condition, FACTS, mixed=way).value for way in ways) == outcomes
