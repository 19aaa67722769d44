"""The form in which members answer, and why a human has to read an answer."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from foreword.review import panel_result
from foreword.review.change_facts import MemberResult, ReviewedChange
from foreword.review.findings import Finding
from foreword.review.member_answer import (
    LONGEST_QUOTE,
    MOST_FINDINGS,
    MemberAnswer,
    findings_of,
    quoted,
    remarks_on,
)
from tests.corpus import rows

FINDING = {"severity": "low", "file": "a.py", "line": 3, "title": "Hot kiln", "reason": "It burns."}
ANSWER = {"saw_everything": True, "confidence": 0.9, "findings": [FINDING]}


def answer_of(change: dict[str, Any]) -> MemberAnswer:
    """An answer without findings; with one where a field of a finding is changed."""
    of_finding = {name: value for name, value in change.items() if name in FINDING}
    findings = [{**FINDING, **of_finding}] if of_finding else []
    whole = {name: value for name, value in change.items() if name not in FINDING}
    return MemberAnswer.model_validate({**ANSWER, "findings": findings, **whole})


def test_a_human_reads_an_answer_of_which_something_is_missing_or_made_up() -> None:
    for change, first, remark in rows("answers/remarks.jsonl"):
        remarks = "; ".join(remarks_on(answer_of(change), first, {"a.py"}))
        assert remark in remarks, (change, first, remarks)
        assert bool(remark) == bool(remarks), (change, first, remarks)


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "approve"},
        {"confidence": 1.5},
        {"confidence": None},
        {"findings": [FINDING] * (MOST_FINDINGS + 1)},
        {"findings": [{**FINDING, "severity": "blocker"}]},
        {"findings": [{**FINDING, "line": -1}]},
        {"findings": [{**FINDING, "reason": "x" * 601}]},
        {"findings": [{**FINDING, "flag": "PII exposure!"}]},
        {"findings": ["Hot kiln"]},
    ],
    ids=str,
)
def test_an_answer_in_another_form_is_none(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MemberAnswer.model_validate({**ANSWER, **wrong})


def test_the_words_of_a_member_are_quoted_on_one_short_line_without_secrets() -> None:
    key = "sk-ant-" + "REDACTED0" * 4
    words = quoted(f"The\nkey {key} is\tin the log. " + "la " * 1_000_000)
    assert words.startswith('"The key [hidden] is in the log. la')
    assert len(words) < LONGEST_QUOTE + 10


def test_the_findings_of_an_answer_have_its_member() -> None:
    flagged = {**ANSWER, "findings": [{**FINDING, "title": "Hot\nkiln ", "flag": "pii_exposure"}]}
    (finding,) = findings_of(MemberAnswer.model_validate(flagged), "Anna")
    assert finding == Finding(
        severity="low",
        title="Hot kiln",
        reason="It burns.",
        file="a.py",
        line=3,
        said_by=("Anna",),
        flags=("pii_exposure",),
    )


def test_the_result_follows_its_published_schema() -> None:
    schema = panel_result.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    result = panel_result.PanelResult(
        panel="code-review",
        title="Code Review",
        verdict="approve",
        reasons=("x",),
        confidence=0.85,
        profile="default",
        findings=(Finding(severity="low", title="t", said_by=("A",)),),
        members=(
            MemberResult(name="A", status="answered", confidence=0.9),
            MemberResult(name="B", status="missing", why="x"),
        ),
        change=ReviewedChange(source="HEAD~1", digest="sha256:0", files=("a.py",), lines=3),
    )
    jsonschema.validate(result.to_dict(), schema)
    assert panel_result.PanelResult.from_dict(result.to_dict()) == result
    assert [member.name for member in result.without_answer] == ["B"]
