"""What members found, put together by rule, or by a model that is not believed blindly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.review.findings import NEAR_LINES, SEVERITIES, Finding, merge
from foreword.review.moderator import regroup, request
from tests.corpus import rows

INJECTION = Finding(
    severity="high",
    title="SQL injection in quiet_hours",
    reason="The station is put into the query by an f-string, so a name can end it.",
    file="stations.py",
    line=22,
    said_by=("Security Auditor",),
    flags=("injection",),
)
VAGUE = replace(
    INJECTION, severity="critical", reason="", line=21, said_by=("Code Reviewer",), flags=()
)


def test_the_same_thing_said_by_two_is_one_finding_with_both_names_and_the_worst_severity() -> None:
    (merged,) = merge([VAGUE, replace(INJECTION, title="sql injection, in `quiet_hours`")])
    assert (merged.severity, merged.file, merged.line) == ("critical", "stations.py", 21)
    assert merged.said_by == ("Code Reviewer", "Security Auditor")
    assert (merged.reason, merged.flags) == (INJECTION.reason, ("injection",))


def test_another_place_and_another_title_stay_apart() -> None:
    for other in (
        replace(INJECTION, file="web.py"),
        replace(INJECTION, line=22 + NEAR_LINES + 1),
        replace(INJECTION, line=0),
        replace(INJECTION, title="SQL injection in set_hours"),
    ):
        assert len(merge([INJECTION, other])) == 2


def test_the_worst_come_first_then_by_file_and_line() -> None:
    places = [("low", "a.py", 1), ("critical", "z.py", 9), ("critical", "b.py", 7)]
    found = merge(
        Finding(severity="low" if severity == "low" else "critical", title="x", file=file, line=at)
        for severity, file, at in [*places, ("critical", "b.py", 2)]
    )
    assert [(one.file, one.line) for one in found] == [
        ("b.py", 2),
        ("b.py", 7),
        ("z.py", 9),
        ("a.py", 1),
    ]


FINDINGS = st.lists(
    st.builds(
        Finding,
        severity=st.sampled_from(SEVERITIES),
        title=st.sampled_from(["unused import os", "Unused import: os", "lock held twice", "?"]),
        reason=st.sampled_from(["", "one", "another"]),
        file=st.sampled_from(["", "a.py", "b.py"]),
        line=st.integers(0, 12),
        said_by=st.sampled_from([("A",), ("B",), ("C",)]),
    ),
    max_size=14,
)


@settings(deadline=None)
@given(FINDINGS, st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_the_order_and_loses_nothing(
    findings: list[Finding], chance: object
) -> None:
    merged = merge(findings)
    shuffled = list(findings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge(shuffled) == merged
    assert merge(merged) == merged
    for finding in findings:
        heirs = [one for one in merged if one.file == finding.file]
        heirs = [one for one in heirs if set(finding.said_by) <= set(one.said_by)]
        heirs = [one for one in heirs if abs(one.line - finding.line) <= NEAR_LINES]
        severity = SEVERITIES.index(finding.severity)
        assert any(SEVERITIES.index(one.severity) <= severity for one in heirs)
    assert members_of(merged) == members_of(findings)


def members_of(findings: Iterable[Finding]) -> set[str]:
    return set(chain.from_iterable(finding.said_by for finding in findings))


# ---- a model as moderator ----

OTHERS = (
    INJECTION,
    replace(VAGUE, severity="low", title="Name can break out of the query", line=40),
    replace(VAGUE, severity="low", title="No test", file="web.py", line=2),
)


def test_a_moderator_puts_findings_together_and_no_place_is_lost() -> None:
    found, problem = regroup([[1, 2], []], OTHERS)
    assert problem == ""
    assert [one.title for one in found] == [INJECTION.title, "No test"]
    assert found[0].said_by == ("Code Reviewer", "Security Auditor")
    assert "Also at stations.py:40." in found[0].reason


def test_groups_that_do_not_add_up_are_not_used() -> None:
    for groups in rows("answers/moderator.jsonl"):
        found, problem = regroup(groups, OTHERS)
        assert (found, bool(problem)) == (OTHERS, True), groups


def test_a_moderator_is_shown_every_finding_on_a_line_of_its_own() -> None:
    lines = request([replace(one, reason="two\nlines") for one in OTHERS]).splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
