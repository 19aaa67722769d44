"""What members found, put together by rule, or by a model that is not believed blindly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.review.findings import NEAR_LINES, SEVERITIES, Finding, combine, merge
from foreword.review.moderator import regroup, request
from tests.corpus import rows

INJECTION = Finding(
    severity="high",
    title="SQL injection in quiet_hours",
    detail="The station is put into the query by an f-string, so a name can end it.",
    file="stations.py",
    line=21,
    said_by=("Security Auditor",),
    remediation="Use a parameter.",
)


# ---- merging ----


def test_the_same_thing_said_by_two_is_one_finding_with_both_names_and_the_worst_severity() -> None:
    other = Finding(
        severity="critical",
        title="SQL injection",
        detail="",
        file="stations.py",
        line=22,
        said_by=("Code Reviewer",),
        remediation="Pass it as a parameter?",
    )
    (one,) = merge([other, INJECTION])
    assert (one.severity, one.file, one.line) == ("critical", "stations.py", 21)
    assert one.said_by == ("Code Reviewer", "Security Auditor")
    assert one.title == INJECTION.title
    assert one.remediation.splitlines() == ["Use a parameter.", "Pass it as a parameter?"]


@pytest.mark.parametrize(
    "other",
    [
        replace(INJECTION, file="web.py"),
        replace(INJECTION, line=21 + NEAR_LINES + 1),
        replace(
            INJECTION, title="No test for quiet hours", detail="Nobody would notice if it broke."
        ),
        replace(INJECTION, title="SQL injection in set_hours", detail="", line=22),
    ],
    ids=["another file", "a line far away", "another claim", "another subject"],
)
def test_what_is_clearly_something_else_stays_apart(other: Finding) -> None:
    assert len(merge([INJECTION, other])) == 2


def test_unused_os_and_unused_sys_are_two_findings() -> None:
    imports = [
        Finding(
            severity="low",
            title=f"Unused import {name}",
            detail=f"The import {name} is never used.",
            file="a.py",
            line=3,
        )
        for name in ("os", "sys")
    ]
    assert len(merge(imports)) == 2


def test_a_finding_without_a_line_joins_the_one_that_has_it_and_ties_no_others_together() -> None:
    far = replace(INJECTION, line=300, said_by=("B",))
    vague = replace(INJECTION, line=0, said_by=("C",), severity="critical")
    found = merge([vague, far, INJECTION])
    assert [finding.line for finding in found] == [21, 300]
    assert sum("C" in finding.said_by for finding in found) == 1
    assert found[0].severity == "critical"


def test_words_that_only_say_how_bad_it_is_do_not_keep_findings_apart() -> None:
    titles = ("SQL injection vulnerability", "Potential SQL injection", "SQL injection risk")
    assert len(merge(replace(INJECTION, title=title, detail="") for title in titles)) == 1


def test_the_worst_come_first_then_by_file_and_line() -> None:
    places: list[Any] = [
        ("low", "a.py", 1),
        ("critical", "z.py", 9),
        ("critical", "b.py", 7),
        ("critical", "b.py", 2),
    ]
    found = merge(
        Finding(severity=severity, title=f"Claim {file}{line}", detail="", file=file, line=line)
        for severity, file, line in places
    )
    assert [(one.file, one.line) for one in found] == [
        ("b.py", 2),
        ("b.py", 7),
        ("z.py", 9),
        ("a.py", 1),
    ]


# What two people wrote about the same line: of one flaw, and of two.
ONE_FLAW = rows("answers/one_flaw.jsonl")
TWO_FLAWS = rows("answers/two_flaws.jsonl")


@pytest.mark.parametrize(
    ("pair", "count"),
    [(pair, 1) for pair in ONE_FLAW] + [(pair, 2) for pair in TWO_FLAWS],
)
def test_two_accounts_of_one_flaw_are_one_finding_and_two_flaws_of_one_line_are_two(
    pair: tuple[tuple[str, str], tuple[str, str]], count: int
) -> None:
    findings = [
        Finding(severity="low", title=title, detail=detail, file="stations.py", line=21)
        for title, detail in pair
    ]
    assert len(merge(findings)) == count


WORDS = st.sampled_from(
    "sql injection query unused import os sys test missing lock held twice loop".split()
)
FINDINGS = st.lists(
    st.builds(
        Finding,
        severity=st.sampled_from(SEVERITIES),
        title=st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
        detail=st.lists(WORDS, max_size=6).map(" ".join),
        file=st.sampled_from(["", "a.py", "b.py"]),
        line=st.integers(0, 12),
        said_by=st.sampled_from([("A",), ("B",), ("C",)]),
        remediation=st.sampled_from(["", "Remove it.", "Add a test.", "add a test"]),
    ),
    max_size=14,
)


@settings(deadline=None)
@given(FINDINGS, st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_the_order(findings: list[Finding], chance: object) -> None:
    shuffled = list(findings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge(shuffled) == merge(findings)


@settings(deadline=None)
@given(FINDINGS)
def test_merging_twice_changes_nothing_and_loses_nothing(findings: list[Finding]) -> None:
    merged = merge(findings)
    assert merge(merged) == merged
    for finding in findings:
        same_file = [one for one in merged if one.file == finding.file]
        heirs = [one for one in same_file if set(finding.said_by) <= set(one.said_by)]
        severity = SEVERITIES.index(finding.severity)
        assert any(SEVERITIES.index(one.severity) <= severity for one in heirs)
        assert any(not finding.line or abs(one.line - finding.line) <= NEAR_LINES for one in heirs)
    assert members_of(merged) == members_of(findings)


def members_of(findings: Iterable[Finding]) -> set[str]:
    return set(chain.from_iterable(finding.said_by for finding in findings))


def test_thousands_of_findings_about_one_line_are_merged_without_comparing_all_with_all() -> None:
    findings = [
        Finding(severity="low", title=f"w{n} x{n}", detail="", file="a.py", line=7, said_by=("A",))
        for n in range(5_000)
    ]
    assert len(merge([*findings, *findings])) == 5_000


def test_remedies_are_bounded() -> None:
    group = [replace(INJECTION, remediation=f"remedy{n} " + "x" * 1500) for n in range(10)]
    remedies = combine(group).remediation
    assert len(remedies) < 5_000
    assert remedies.endswith("and 8 more")


# ---- a model as moderator ----

OTHERS = (
    INJECTION,
    Finding(
        severity="low",
        title="Name can break out of the query",
        detail="",
        file="stations.py",
        line=40,
        said_by=("Maintainer",),
    ),
    Finding(
        severity="low",
        title="No test",
        detail="",
        file="web.py",
        line=2,
        said_by=("Test Engineer",),
    ),
)


def test_a_moderator_puts_findings_together_and_no_place_is_lost() -> None:
    found, problem = regroup('Here: {"same": [[1, 2]]}', OTHERS)
    assert problem == ""
    assert [one.title for one in found] == [INJECTION.title, "No test"]
    assert found[0].said_by == ("Maintainer", "Security Auditor")
    assert "Also at stations.py:40." in found[0].detail


@pytest.mark.parametrize("answer", rows("answers/moderator.jsonl"))
def test_a_moderators_answer_that_does_not_add_up_is_not_used(answer: str) -> None:
    found, problem = regroup(answer, OTHERS)
    assert found == OTHERS
    assert problem


def test_a_moderator_is_shown_every_finding_on_a_line_of_its_own() -> None:
    lines = request([replace(one, detail="two\nlines") for one in OTHERS]).splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
