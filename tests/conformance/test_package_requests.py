"""What a request says of a package's budget, and what a package says of its items (SPEC P4, P7,
P8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.errors import BadBudget
from tests.command import foreword as command_line

ITEMS = [
    {"kind": "task", "title": "Calendar", "text": "Show the month."},
    {"kind": "blocker", "title": "Locks", "text": "The lane locks do not answer."},
    {"kind": "assumption", "title": "Tides", "text": "Nobody swims at low tide."},
    {"kind": "assumption", "title": "Hours", "text": "The pool opens at six.", "validated": True},
    {"kind": "exploration", "title": "Dead end", "text": "The old driver was tried."},
]


def package(root: Path, purpose: str = "design", **more: Any) -> foreword.Package:
    return foreword.assemble("package", root=root, purpose=purpose, source=ITEMS, **more)


def test_p4_all_four_parts_of_the_budget_can_be_given_and_are_in_the_report(
    tmp_path: Path,
) -> None:
    (tmp_path / "items.json").write_text(
        '[{"kind": "task", "title": "Calendar", "text": "Show the month."}]'
    )
    done = command_line(
        "assemble",
        "package",
        *("--purpose", "design", "--source", "items.json", "--window", "50k"),
        *("--system-prompt-tokens", "1,500", "--reserve", "6000", "--tool-overhead", "0"),
        cwd=tmp_path,
    )
    assert done.code == 0
    assert (
        "budget: window 50,000, less system prompt 1,500, less response reserve 6,000,"
        " less tool overhead 0, budget 42,500" in done.err
    )
    report = package(tmp_path, window=50_000, reserve=6_000).report
    assert report.budget_tokens == 50_000 - 8_000 - 6_000 - 2_000


def test_p4_a_recipe_that_keeps_nothing_free_does_so_where_it_is_asked_to(tmp_path: Path) -> None:
    (tmp_path / ".director").mkdir()
    (tmp_path / ".director" / "VISION.md").write_text("# Vision\n\nA calendar for the pool.\n")
    report = foreword.assemble(
        "director", root=tmp_path, agent="interviewer", window=100_000, reserve=4_000
    ).report
    assert report.budget_tokens == 26_000


def test_p4_a_budget_that_was_given_is_shown_as_given_with_no_window_made_up(
    tmp_path: Path,
) -> None:
    report = package(tmp_path, budget=4_000).report
    assert report.to_dict()["budget_calculation"] == [
        {"what": "given", "tokens": 4_000},
        {"what": "budget", "tokens": 4_000},
    ]
    assert report.to_dict()["window_tokens"] is None
    assert "window" not in str(report)
    assert "as given" in str(report)
    row = next(row for row in report.sections if row.tag == "tasks")
    assert row.share == pytest.approx(row.tokens / 4_000)


@pytest.mark.parametrize("name", ["system_prompt_tokens", "reserve", "tool_overhead"])
def test_p4_a_budget_and_what_would_be_taken_off_a_window_are_not_both_taken(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(BadBudget, match="a budget of 4,000 tokens is given"):
        package(tmp_path, "design", budget=4_000, **{name: 1_000})
    with pytest.raises(BadBudget, match="must be a positive whole number"):
        package(tmp_path, "design", **{name: "much"})


def test_p8_a_handoff_says_what_is_a_blocker_and_what_is_not_validated(tmp_path: Path) -> None:
    text = package(tmp_path, "handoff", budget=4_000, task="Go on with tides and hours").text
    assert "## Blocker: Locks" in text
    assert "## Assumption (not validated): Tides" in text
    assert "## Assumption (validated): Hours" in text


def test_p8_a_short_name_inside_a_word_of_the_task_is_not_named(tmp_path: Path) -> None:
    items = [
        {"kind": "glossary", "title": "Tide", "text": "The sea rises."},
        {"kind": "decision", "title": "UTC", "text": "All times are UTC."},
    ]
    for task, is_in in (("Go on with the tides", False), ("Go on with the tide.", True)):
        text = foreword.assemble(
            "package", root=tmp_path, purpose="handoff", source=items, task=task, budget=500
        ).text
        assert ("The sea rises." in text) is is_in


def test_p8_what_the_purpose_left_out_is_said_whole_beside_long_titles(tmp_path: Path) -> None:
    items = [
        {
            "kind": "decision",
            "title": "How the tides are kept in the book of locks",
            "text": "UTC.",
        },
        {"kind": "doc", "title": "Manual", "text": "Open the lock."},
    ]
    report = foreword.assemble(
        "package", root=tmp_path, purpose="handoff", source={"items": items}, budget=4_000
    ).report
    assert "whole, but for 1 section that the recipe leaves out\n" in str(report)


def test_p8_it_is_not_said_that_all_is_in_where_the_purpose_left_something_out(
    tmp_path: Path,
) -> None:
    report = package(tmp_path, "handoff", budget=4_000).report
    assert "everything is in" not in str(report)
    assert "3 sections that the recipe leaves out" in str(report)
    assert "everything is in" in str(package(tmp_path, "design", budget=4_000).report)


def test_p7_a_title_in_another_case_is_the_same_item(tmp_path: Path) -> None:
    def carried(*decisions: dict[str, str]) -> str:
        items = [{"kind": "decision", "text": "", **decision} for decision in decisions]
        source = [*items, ITEMS[0]]
        return foreword.assemble(
            "package", root=tmp_path, purpose="design", source=source, carry="pool"
        ).text

    carried({"title": "Use UTC", "text": "Times are UTC."})
    second = carried({"title": "use  utc", "text": "Times are UTC, without seconds."})
    assert "Times are UTC.\n" not in second
    third = carried()
    assert "Times are UTC, without seconds." in third
    assert "Times are UTC.\n" not in third
    carried({"title": "USE UTC", "text": "Withdrawn.", "status": "withdrawn"})
    assert "UTC" not in carried()


def test_p1_an_item_without_a_title_is_named_by_its_first_words(tmp_path: Path) -> None:
    first = "The buoy sends a packet every ten minutes, 51 bytes each. "
    items = [
        {"kind": "doc", "text": first * 80},
        {"kind": "doc", "text": "$ ./check.py\n" + "all is well\n" * 300},
    ]
    report = foreword.assemble(
        "package", root=tmp_path, purpose="design", source=items, budget=200
    ).report
    names = {omission.what for omission in report.omissions}
    assert any('"The buoy sends a packet every ten minutes, 51 ..."' in name for name in names)
    assert any('"$ ./check.py"' in name for name in names)


def test_p6_a_key_of_an_item_that_nobody_reads_is_told_and_a_date_is_one_by_any_name(
    tmp_path: Path,
) -> None:
    items = [
        {"kind": "feedback", "text": "old words", "date": "2026-01-01", "details": "and more"},
        {"kind": "feedback", "text": "new words", "created_at": "2026-02-01"},
    ]
    package = foreword.assemble(
        "package", root=tmp_path, purpose="design", source=items, budget=400
    )
    assert package.text.index("new words") < package.text.index("old words")
    (note,) = [one for one in package.report.warnings if "nobody reads" in one]
    assert "items[0]: nobody reads 'details'" in note


def test_p6_a_folder_whose_name_is_no_kind_holds_documents(tmp_path: Path) -> None:
    skills = {
        "canvas/SKILL.md": "---\nname: drawing-on-canvas\n---\n## Overview\n\nDraw.\n",
        "debugging/SKILL.md": "# Debugging\n\nLook first.\n",
        "decisions/a.md": "Keep the calendar.\n",
        "blokers/b.md": "The mast is missing.\n",
    }
    for path, text in skills.items():
        file = tmp_path / "skills" / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
    package = foreword.assemble(
        "package", root=tmp_path, purpose="handoff", source="skills", budget=2_000
    )
    assert "Keep the calendar." in package.text
    assert "Look first." not in package.text
    left_out = {omission.what for omission in package.report.omissions}
    assert left_out == {
        "all of canvas/SKILL.md",
        "all of debugging/SKILL.md",
        "all of blokers/b.md",
    }
    (note,) = [one for one in package.report.warnings if "is no kind" in one]
    assert note == "skills/blokers/b.md: 'blokers' is no kind; did you mean 'blocker'?"
