"""The small language of conditions: what it reads, and what it comes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foreword.review.condition import LONGEST, RISKS, Facts, Several, evaluate
from tests.corpus import rows

FACTS = Facts(
    values={"confidence": 0.8, "risk": "high", "ci": True, "files": 3},
    lists={"panel_risk": ["high", "low"], "policy_flag": ["pii_name", None], "finding": []},
    tests={
        "files_changed_in": lambda places: (
            Several([True, False]) if places == ["docs/"] else "db/" in str(places)
        )
    },
    words={"panel_risk": RISKS},
)


def test_a_condition_is_true_false_or_unknown_and_says_what_is_to_blame() -> None:
    for condition, value in rows("policies/conditions.jsonl"):
        outcome = evaluate(condition, FACTS, mixed=True)
        assert outcome.value is value, condition
        assert bool(outcome.unknown) == (value is None), condition


def test_what_is_no_condition_says_why_and_is_unknown() -> None:
    too_long = ["ci and " * (LONGEST // 6) + " ci", "longer than 2,000 characters"]
    too_deep = ["not " * 450 + "ci", ""]
    for condition, problem in [*rows("policies/no_conditions.jsonl"), too_long, too_deep]:
        outcome = evaluate(condition, FACTS, mixed=False)
        assert problem in outcome.unknown, condition
        assert outcome.value is None or condition.startswith("not not"), condition


def test_what_holds_for_some_of_several_values_is_what_the_caller_takes_it_for() -> None:
    for condition, outcomes in rows("policies/conditions_of_several.jsonl"):
        found = [evaluate(condition, FACTS, mixed=way).value for way in (True, False, None)]
        assert found == outcomes, condition


WORDS = ["ci", "risk", "(", ")", "[", "]", "not", "and", "or", "==", "in", '"x"', "3", "count", ","]


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_whatever_is_written_there_is_an_outcome(condition: str) -> None:
    outcome = evaluate(condition, FACTS, mixed=None)
    assert outcome.value is not None or outcome.unknown
