"""What each agent, skill and type of task reads, in which order, and what none ever does: D4,
D6, D13-D15, D18."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.conformance.project import FILES, OTHERS, TASK, blocks, commit, project, sources, tags
from tests.corpus import check_each, rows

ROOM = 20_000

AGENTS = {
    "builder": "vision current_step decisions task recent_changes research codebase instructions",
    "planner": (
        "vision gameplan recent_changes project_state step_research research_summary"
        " codebase_summary instructions"
    ),
    "verifier": "vision current_step task recent_changes instructions",
    "interviewer": "vision instructions",
    "inspector": (
        "vision gameplan recent_changes project_state research_summary codebase_summary"
        " instructions"
    ),
    "syncer": "vision current_step recent_changes instructions",
    "mapper": "instructions",
    "researcher": "vision current_step task instructions",
    "deep_researcher": "vision instructions",
    "deep_mapper": "vision instructions",
    "synthesizer": "instructions",
}
SKILLS = {
    "blueprint": (
        "vision gameplan recent_changes project_state step_research research_summary instructions"
    ),
    "build": "vision current_step decisions task recent_changes codebase instructions",
    "brainstorm": "vision project_state research_summary research codebase instructions",
    "pivot": "vision project_state research_summary research codebase instructions",
    "inspect": "vision current_step task recent_changes codebase instructions",
}
SKILL_FILES: dict[str, dict[str, set[str]]] = {
    "blueprint": {"research_summary": {"SUMMARY.md"}},
    "build": {"codebase": {"CONVENTIONS.md"}},
    "brainstorm": {
        "research_summary": {"SUMMARY.md"},
        "research": {"FEATURES.md"},
        "codebase": {"ARCHITECTURE.md", "STACK.md"},
    },
    "pivot": {
        "research_summary": {"SUMMARY.md"},
        "research": {"FEATURES.md"},
        "codebase": {"ARCHITECTURE.md", "STACK.md"},
    },
    "inspect": {"codebase": {"CONVENTIONS.md", "TESTING.md"}},
}
ORDER = [
    {"vision"},
    {"gameplan", "current_step", "decisions", "task"},
    {
        "recent_changes",
        "project_state",
        "reference_docs",
        "step_research",
        "research",
        "research_summary",
        "codebase",
        "codebase_summary",
    },
    {"instructions"},
]
Request = dict[str, Any]
REQUESTS: list[Request] = [
    *({"agent": name} for name in AGENTS),
    *({"skill": name} for name in SKILLS),
]


# --- everybody ------------------------------------------------------------------------------------


def test_d4_tags_stand_side_by_side_once_each_and_in_order(tmp_path: Path) -> None:
    commit(project(tmp_path), *(f"Lay plank {number} of the floor" for number in range(30)))

    def is_in_order(request: Request) -> None:
        for budget in (ROOM, 700):
            package = foreword.assemble("director", root=tmp_path, budget=budget, **request)
            found = blocks(package.text)
            places = [
                next(place for place, group in enumerate(ORDER) if tag in group) for tag in found
            ]
            assert places == sorted(places)
            assert list(found)[-1] == "instructions"
            bodies = "".join(found.values())
            for group in ORDER:
                assert not [tag for tag in group if f"<{tag}>" in bodies]

    check_each(REQUESTS, is_in_order)


def test_d6_other_tasks_other_steps_and_talk_never_leak(tmp_path: Path) -> None:
    commit(project(tmp_path), "Begin")
    for request in REQUESTS:
        package = foreword.assemble("director", root=tmp_path, **request)
        assert [name for name in OTHERS if name in package.text] == [], request


def test_d18_a_steps_research_reaches_the_planner_and_nobody_else(tmp_path: Path) -> None:
    project(tmp_path)
    for request in REQUESTS:
        package = foreword.assemble("director", root=tmp_path, **request)
        planning = request in ({"agent": "planner"}, {"skill": "blueprint"})
        is_there = ("Foxglove" in package.text, "step_research" in tags(package))
        assert is_there == (planning, planning), request


# --- D13-D15: who reads what ----------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_d13_an_agent_reads_exactly_its_columns(tmp_path: Path, agent: str) -> None:
    commit(project(tmp_path), "Begin")
    assert (
        tags(foreword.assemble("director", root=tmp_path, agent=agent, budget=ROOM))
        == AGENTS[agent].split()
    )


@pytest.mark.parametrize("name", ["Deep Researcher", "deep-researcher", "DEEP_RESEARCHER"])
def test_d13_an_agent_may_be_called_as_the_seed_spells_it(tmp_path: Path, name: str) -> None:
    package = foreword.assemble("director", root=project(tmp_path), agent=name)
    assert (
        package.text == foreword.assemble("director", root=tmp_path, agent="deep_researcher").text
    )


def test_d13_the_deep_mapper_does_without_a_vision(tmp_path: Path) -> None:
    package = foreword.assemble(
        "director", root=project(tmp_path, {".director/VISION.md": None}), agent="deep_mapper"
    )
    assert tags(package) == ["instructions"]


def test_d13_the_builder_gets_the_one_research_file_its_task_is_about(tmp_path: Path) -> None:
    project(tmp_path, {TASK: "# Task: Zip\n\nPick small web frameworks for the stack.\n"})
    assert sources(foreword.assemble("director", root=tmp_path, agent="builder"), "research") == {
        "STACK.md"
    }


def test_d13_the_builder_gets_no_research_that_has_nothing_to_do_with_its_task(
    tmp_path: Path,
) -> None:
    package = foreword.assemble(
        "director", root=project(tmp_path, {TASK: "# Task: Zip\n\nZip it.\n"}), agent="builder"
    )
    assert "research" not in tags(package)


def test_d13_reference_docs_come_where_the_project_has_them(tmp_path: Path) -> None:
    project(tmp_path, {".director/reference/terminology.md": "# Words\n\nA lane is a rope.\n"})
    assert (
        "A lane is a rope."
        in blocks(foreword.assemble("director", root=tmp_path, agent="builder").text)[
            "reference_docs"
        ]
    )
    assert "reference_docs" not in tags(
        foreword.assemble("director", root=tmp_path, agent="interviewer")
    )


@pytest.mark.parametrize("skill", SKILLS)
def test_d14_a_skill_loads_exactly_its_files(tmp_path: Path, skill: str) -> None:
    commit(project(tmp_path), "Begin")
    package = foreword.assemble("director", root=tmp_path, skill=skill, budget=ROOM)
    deep = ("research", "research_summary", "codebase", "codebase_summary")
    assert tags(package) == SKILLS[skill].split()
    assert {tag: files for tag in deep if (files := sources(package, tag))} == SKILL_FILES[skill]


@pytest.mark.parametrize("skill", SKILLS)
def test_d14_a_skill_works_the_same_where_no_deep_context_exists(
    tmp_path: Path, skill: str
) -> None:
    gone = {path: None for path in FILES if "/research/" in path or "/codebase/" in path}
    package = foreword.assemble("director", root=project(tmp_path, gone), skill=skill)
    assert not [tag for tag in tags(package) if tag.startswith(("research", "codebase"))]
    assert package.report.warnings == ()


def test_d14_inspect_works_when_every_task_is_done(tmp_path: Path) -> None:
    """That is when people inspect."""
    done = {path: None for path in FILES if "/tasks/" in path and not path.endswith(".done.md")}
    package = foreword.assemble("director", root=project(tmp_path, done), skill="inspect")
    assert sources(package, "codebase") == {"CONVENTIONS.md", "TESTING.md"}


TYPES = {
    "ui": (
        "page component form layout button modal style CSS Tailwind responsive visual screen view"
        " template render"
    ),
    "api": (
        "endpoint route API request response database query schema model migration REST GraphQL"
        " server middleware"
    ),
    "testing": "test spec coverage assert expect mock fixture e2e",
}
TYPE_FILES = {
    "ui": {"CONVENTIONS.md", "STRUCTURE.md"},
    "api": {"ARCHITECTURE.md", "CONVENTIONS.md"},
    "testing": {"TESTING.md", "CONVENTIONS.md"},
    "general": {"CONVENTIONS.md"},
}


def test_d15_a_keyword_alone_tells_the_type_of_the_task(tmp_path: Path) -> None:
    def tells_the_type(case: tuple[str, str]) -> None:
        kind, word = case
        project(tmp_path, {TASK: f"# Task: Zip\n\nThe {word}, again.\n"})
        package = foreword.assemble("director", root=tmp_path, agent="builder", save=False)
        assert package.report.to_dict()["task_type"] == kind
        assert sources(package, "codebase") == TYPE_FILES[kind]

    check_each(
        [(kind, word) for kind, words in TYPES.items() for word in words.split()], tells_the_type
    )


@pytest.mark.parametrize(("text", "kinds"), rows("documents/keywords.jsonl"))
def test_d15_keywords_are_whole_words_and_types_add_up(
    tmp_path: Path, text: str, kinds: str
) -> None:
    project(tmp_path, {TASK: f"# Task: Zip\n\n{text}.\n"})
    package = foreword.assemble("director", root=tmp_path, agent="builder")
    assert package.report.to_dict()["task_type"] == kinds
    assert sources(package, "codebase") == set.union(
        *(TYPE_FILES[kind] for kind in kinds.split(", "))
    )
