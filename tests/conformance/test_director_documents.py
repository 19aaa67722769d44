"""Which documents of a project the recipe `director` reads (SPEC D8, D9, D16, D21)."""

from __future__ import annotations

from pathlib import Path

import pytest

import foreword
from tests.conformance.project import TASK, blocks, project, prose, sources, tags

FEATURES = ".director/research/FEATURES.md"
SUMMARY = ".director/research/SUMMARY.md"


def builder(root: Path) -> foreword.Package:
    return foreword.assemble("director", root=root, agent="builder", save=False)


def test_d21_the_summary_of_research_is_preferred_where_no_file_is_about_the_task(
    tmp_path: Path,
) -> None:
    task = "# Task: Slots\n\n## What To Do\n\nLet a member choose a lane and an hour.\n"
    about_members = "# Summary\n\nMembers choose a lane and an hour by the member list.\n"
    changed: dict[str, str | bytes | None] = {
        TASK: task,
        SUMMARY: about_members,
        FEATURES: prose("Invoices by mail to a member", 30),
    }
    package = builder(project(tmp_path, changed))
    assert "research" not in tags(package)
    assert sources(package, "research_summary") == {"SUMMARY.md"}
    assert "none has more to do with the task than the summary" in str(package.report)


def test_d21_a_file_that_is_about_the_task_comes_in_place_of_the_summary(tmp_path: Path) -> None:
    task = "# Task: Slots\n\n## What To Do\n\nLet a member choose a lane and an hour.\n"
    changed: dict[str, str | bytes | None] = {
        TASK: task,
        SUMMARY: "# Summary\n\nInvoices go by mail.\n",
        FEATURES: "# Features\n\nA member has to choose a lane first and then an hour.\n",
    }
    package = builder(project(tmp_path, changed))
    assert sources(package, "research") == {"FEATURES.md"}


@pytest.mark.parametrize("folder", ["reference", ".director/reference"])
def test_d21_reference_docs_are_found_where_projects_keep_them(tmp_path: Path, folder: str) -> None:
    project(tmp_path, {f"{folder}/terminology.md": "# Words\n\nA lane is a rope.\n"})
    assert "A lane is a rope." in blocks(builder(tmp_path).text)["reference_docs"]


def test_d9_an_agent_has_only_the_reference_docs_it_needs(tmp_path: Path) -> None:
    names = ("terminology", "plain-language-guide", "verification-patterns")
    project(tmp_path, {f"reference/{name}.md": f"# {name}\n\nAbout {name}.\n" for name in names})
    needed = {"builder": names[:2], "planner": names[:2], "verifier": names[2:]}
    for agent, wanted in needed.items():
        text = foreword.assemble("director", root=tmp_path, agent=agent, save=False).text
        assert {name for name in names if f"About {name}." in text} == set(wanted)


INIT_GAMEPLAN = """\
# Gameplan

> This file will be populated when you run `/director:blueprint`

## Goals

_No goals yet. Run `/director:blueprint` to make some._

## Current Focus

Run `/director:blueprint` to begin.
"""


def test_d16_the_gameplan_that_director_itself_puts_there_counts_as_unfilled(
    tmp_path: Path,
) -> None:
    project(tmp_path, {".director/GAMEPLAN.md": INIT_GAMEPLAN})
    package = foreword.assemble("director", root=tmp_path, agent="planner", save=False)
    assert "gameplan" not in tags(package)
    assert "unfilled template" in str(package.report)
    begun = INIT_GAMEPLAN + "\n## Goal 1: Bookings\n\n" + "Members book a lane by the hour. " * 12
    project(tmp_path, {".director/GAMEPLAN.md": begun})
    package = foreword.assemble("director", root=tmp_path, agent="planner", save=False)
    assert "gameplan" in tags(package)


def test_d8_sections_that_share_a_target_are_marked_together_where_they_are_over_it(
    tmp_path: Path,
) -> None:
    """Deep context is one target for four tags: each below it, all together above."""
    changed: dict[str, str | bytes | None] = {
        ".director/research/SUMMARY.md": prose("Harebell", 6),
        ".director/codebase/SUMMARY.md": prose("Kestrel", 6),
    }
    project(tmp_path, changed)
    whole = foreword.assemble("director", root=tmp_path, agent="planner", save=False).report
    deep = [row for row in whole.sections if row.tag in ("research_summary", "codebase_summary")]
    total = sum(row.tokens for row in deep)
    window = int(total / 0.1)  # 10% for both, about 5% for each, and the target ends at 8%
    report = foreword.assemble(
        "director", root=tmp_path, agent="planner", window=window, budget=window, save=False
    ).report
    marked = {row.tag for row in report.sections if row.over_target}
    assert {"research_summary", "codebase_summary"} <= marked
    assert "over its target" in str(report)
