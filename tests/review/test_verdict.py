"""The verdict of a panel: by the thresholds of a profile, with its reasons."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from foreword.errors import BadSource
from foreword.review.findings import Finding
from foreword.review.verdict import (
    SCHEMA,
    MemberResult,
    PanelResult,
    ReviewedChange,
    Thresholds,
    confidence_in,
    decide,
    read_thresholds,
)

ANSWERED = (
    MemberResult(name="A", status="answered"),
    MemberResult(name="B", status="answered"),
)
WITHOUT_ANSWER = (
    MemberResult(name="C", status="late", why="no answer within 5 s"),
    MemberResult(name="D", status="nonsense", why="x"),
)


def findings_of(*severities: Any) -> list[Finding]:
    return [
        Finding(severity=severity, title=f"{severity} {number}", said_by=("A",))
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
    decided, reasons = decide(findings_of(*severities), members, Thresholds())
    assert decided == verdict
    assert reasons[0].startswith(reason)


def test_a_profile_may_ask_to_be_sure() -> None:
    assert confidence_in(findings_of("critical", "high", "medium", "low", "info")) == 0.39
    assert confidence_in(findings_of(*["critical"] * 9)) == 0.0
    strict = Thresholds(profile="strict", high=None, confidence=0.75)
    assert decide(findings_of("high"), ANSWERED, strict) == (
        "changes_requested",
        ("Confidence is 0.70; profile strict asks for 0.75.",),
    )


def test_thresholds_are_read_from_a_profile() -> None:
    data = {"critical": 0, "high": 1, "medium": None, "answered": 1, "hgih": "x"}
    thresholds = read_thresholds(data, where="p.yaml", profile="strict")
    assert thresholds == Thresholds(profile="strict", high=1, answered=1, ignored=("hgih",))
    assert read_thresholds(
        {"max_high": 7, "Low_findings": 3, "confidence_score": 0.7}, "p.yaml"
    ) == Thresholds(high=7, low=3, confidence=0.7)


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        "x",
        {"high": -1},
        {"high": True},
        {"high": "many"},
        {"answered": 75},
        {"confidence": "high"},
    ],
)
def test_thresholds_that_make_no_sense_are_an_error_that_names_the_file(data: object) -> None:
    with pytest.raises(BadSource, match=r"policy/x\.yaml: ") as caught:
        read_thresholds(data, "policy/x.yaml")
    assert "thresholds: {" in caught.value.hint


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
