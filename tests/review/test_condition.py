"""The small language of conditions: what it reads, and what it comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.review.condition import UNKNOWN, Facts, evaluate
from foreword.review.condition_parsing import check
from tests.corpus import rows

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


@pytest.mark.parametrize(("condition", "value"), rows("policies/conditions.jsonl"))
def test_a_condition_is_true_false_or_not_known(condition: str, value: bool | None) -> None:
    outcome = evaluate(condition, FACTS)
    assert outcome.value is value
    assert outcome.problem == ""
    assert bool(outcome.unknown) == (value is None)


@pytest.mark.parametrize(("condition", "problem"), rows("policies/no_conditions.jsonl"))
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
    rows("policies/conditions_of_several.jsonl"),
)
def test_what_holds_for_some_of_several_values_is_what_the_caller_takes_it_for(
    condition: str, outcomes: list[bool | None]
) -> None:
    ways = (True, False, UNKNOWN)
    assert [evaluate(condition, FACTS, mixed=way).value for way in ways] == outcomes
