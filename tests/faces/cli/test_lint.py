"""`foreword lint` as authors use it: lines, JSON, exit codes, repairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import foreword as command
from tests.docs.pages import save

PERSONA = "# Reviewer\n\n## Role\n\nReads diffs.\n\n## Evaluate For\n\n- Bugs\n"
UNCLOSED = (
    "<!-- PHASE:1 -->\n## Phase 1: Look\n\nLook.\n\n<!-- PHASE:2 -->\n## Phase 2:"
    " Mend\n\nMend.\n<!-- /PHASE:2 -->\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A factory with one error that can be fixed and one warning."""
    save(tmp_path, "instructions.md", "# Rules\n\nBe brief.\n")
    save(tmp_path, "personas/p2.md", PERSONA + "text " * 500)
    save(tmp_path, "personas/p10.md", PERSONA)
    save(tmp_path, "prompts/workflows/fix.md", UNCLOSED)
    return tmp_path


def test_problems_are_lines_on_stdout_and_the_sum_is_on_stderr(root: Path) -> None:
    ran = command("lint", cwd=root)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "personas/p2.md:1: too-large 517 tokens, a persona may have 500 [warning]",
        "prompts/workflows/fix.md:1: unclosed-marker PHASE:1 is never closed [error, fixable]",
    ]
    assert ran.err.splitlines() == [
        "prompts/workflows/fix.md",
        "  phase 1 Look: hands on [phase 1]",
        "  phase 2 Mend: is given [phase 1], hands on [phase 2]",
        "4 documents checked, 1 error, 1 warning (1 can be fixed with --fix)",
    ]


def test_warnings_alone_are_no_failure(root: Path) -> None:
    save(root, "prompts/workflows/fix.md", "## Phase 1\n")
    assert command("lint", root).code == 0


def test_json_has_every_problem_and_the_sums(root: Path) -> None:
    ran = command("lint", root, "--format", "json")
    found = json.loads(ran.out)
    assert ran.code == 1
    assert {key: found[key] for key in ("checked", "errors", "warnings")} == {
        "checked": 4,
        "errors": 1,
        "warnings": 1,
    }
    (flow,) = found["flows"]
    assert flow["phases"][0]["hands_on"] == ["phase 1"]
    assert found["problems"][1] == {
        "file": f"{root}/prompts/workflows/fix.md",
        "line": 1,
        "code": "unclosed-marker",
        "severity": "error",
        "message": "PHASE:1 is never closed",
        "fixable": True,
    }


def test_fix_repairs_once_and_says_what(root: Path) -> None:
    ran = command("lint", "--fix", cwd=root)
    assert ran.code == 0
    assert "fixed prompts/workflows/fix.md:1: unclosed-marker <!-- /PHASE:1 -->\n" in ran.err
    fixed = (root / "prompts/workflows/fix.md").read_text()
    assert fixed == UNCLOSED.replace("Look.\n\n", "Look.\n\n<!-- /PHASE:1 -->\n")
    again = command("lint", "--fix", "--format", "json", cwd=root)
    assert json.loads(again.out)["fixed"] == []
    assert (root / "prompts/workflows/fix.md").read_text() == fixed


def test_one_file_is_checked_as_part_of_its_project(root: Path) -> None:
    save(
        root,
        "prompts/plan.md",
        "> **Adopt persona:** `personas/p10.md`\n> **Adopt persona:** `personas/p11.md`\n",
    )
    for path, cwd in (
        ("prompts/plan.md", root),
        (root / "prompts/plan.md", root.parent),
        ("plan.md", root / "prompts"),
    ):
        ran = command("lint", path, cwd=cwd)
        assert ran.out == f"{path}:2: dangling-reference there is no personas/p11.md [error]\n"
        assert "1 document checked, 1 error, 0 warnings" in ran.err


def test_the_projects_yaml_file_is_checked_as_such(root: Path) -> None:
    save(root, "project.yaml", "name: x\npersonas: [p3]\n")
    path = f"{root.name}/project.yaml"
    ran = command("lint", path, cwd=root.parent)
    assert ran.out == f"{path}:2: unknown-persona personas: no persona is called 'p3' [error]\n"


def test_a_folder_of_a_project_is_checked_as_part_of_it(root: Path) -> None:
    save(
        root,
        "governance/prompts/plan.md",
        "`governance/personas/new.md`, `governance/personas/old.md`\n",
    )
    save(root, "governance/personas/new.md", PERSONA)
    for path, cwd in (
        ("governance/prompts", root),
        (root / "governance", root.parent),
        ("prompts", root / "governance"),
    ):
        ran = command("lint", path, cwd=cwd)
        line = (
            f"{root / 'governance/prompts/plan.md' if cwd == root.parent else f'{path}/plan.md'}:1:"
            " dangling-reference"
        )
        assert ran.out == f"{line} there is no governance/personas/old.md [warning]\n"


def test_a_markdown_file_of_no_project_is_checked_for_its_marks_and_links(tmp_path: Path) -> None:
    save(tmp_path, "notes.md", "[gone](gone.md)\n<!-- /PHASE:1 -->\n")
    ran = command("lint", "notes.md", cwd=tmp_path)
    assert [line.split()[1] for line in ran.out.splitlines()] == [
        "dangling-reference",
        "unopened-marker",
    ]


def test_recipes_and_documents_of_a_project_are_checked_together(root: Path) -> None:
    save(root, "foreword/recipes/other.yaml", "name: other\nsections: {a: {fil: A.md}}\n")
    ran = command("lint", root)
    assert f"{root}/foreword/recipes/other.yaml:2:" in ran.out
    assert "\n1 recipe and 4 documents checked, " in ran.err


def test_the_projects_own_recipe_excuses_with_a_reason(root: Path) -> None:
    rules = (
        "lint: {exceptions: [{file: 'personas/**/*.md', code: too-large, reason: being split}]}\n"
    )
    save(root, "foreword/recipes/mine.yaml", f"name: mine\nextends: factory\n{rules}")
    assert "too-large" not in command("lint", cwd=root).out
    output = command("lint", "--show-excused", cwd=root).out
    assert (
        "personas/p2.md:1: too-large 517 tokens, a persona may have 500 [excused: being split]\n"
        in output
    )
    listed = json.loads(command("lint", "--show-excused", "--format", "json", cwd=root).out)
    assert [one["reason"] for one in listed["excused"]] == ["being split"]
    assert "too-large" in command("lint", "--recipe", "factory", cwd=root).out


def test_a_broken_recipe_of_the_projects_own_is_told_and_the_documents_wait(root: Path) -> None:
    save(
        root, "foreword/recipes/factory.yaml", "name: factory\nextends: factory\nlint: {limit: 1}\n"
    )
    ran = command("lint", cwd=root)
    assert ran.code == 1
    assert ran.out.startswith("foreword/recipes/factory.yaml:3:")
    assert "documents are not checked" in ran.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere/at/all"], "nowhere/at/all: there is no such file or folder"),
        (["gone.md"], "gone.md: there is no such file"),
        (["gone.yaml"], "gone.yaml: there is no such file"),
        (["--recipe", "factry"], "did you mean 'factory'?"),
        (["--recipe", "director"], "says nothing about documents"),
        (["--counter", "abacus"], "unknown counter 'abacus'"),
    ],
)
def test_wrong_use_is_one_error_and_exit_2(root: Path, words: list[str], says: str) -> None:
    ran = command("lint", *words, cwd=root)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_the_counter_decides(root: Path) -> None:
    assert "p2.md:1: too-large 5" in command("lint", "--counter", "o200k", cwd=root).out


def test_a_name_cannot_forge_a_line(root: Path) -> None:
    save(root, "personas/a\nb.md:1: fine.md", "# A\n")
    lines = command("lint", cwd=root).out.splitlines()
    assert len(lines) == 3
    assert "personas/a b.md:1: fine.md:1: missing-section" in lines[0]


def test_a_project_without_files_for_agents_has_nothing_to_check(tmp_path: Path) -> None:
    for path in ("docs/a.md", "README.md", "compose.yaml"):
        save(tmp_path, f"other/{path}", "services: {}\n[gone](gone.md)\n")
    ran = command("lint", "other", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("nothing to check: no recipes in ")
    assert "SKILL.md, AGENTS.md" in ran.err


def test_files_for_agents_are_checked_in_projects_of_other_kinds(tmp_path: Path) -> None:
    good = "---\nname: build\ndescription: Builds it.\n---\n# Build\n"
    save(tmp_path, "skills/build/SKILL.md", good)
    save(tmp_path, "skills/plan/SKILL.md", "---\nname: Plan It\n---\n# Plan\n")
    save(tmp_path, "skills/test/SKILL.md", "---\nname: test\ndescription: a: b\n---\n# Test\n")
    save(tmp_path, "agents/builder.md", "[the rules](gone.md)\n")
    save(tmp_path, ".director/VISION.md", "# Vision\n")
    save(tmp_path, "team/writer.md", "---\nname: writer\n---\n[words](gone.md)\n")
    save(tmp_path, "docs/a.md", "[gone](gone.md)\n")
    ran = command("lint", cwd=tmp_path)
    assert ran.code == 1
    assert [line.split(" [")[0] for line in ran.out.splitlines()] == [
        "agents/builder.md:1: dangling-reference there is no gone.md",
        "skills/plan/SKILL.md:1: bad-skill name 'Plan It' should be at most 64 small letters,"
        " digits and single hyphens",
        "skills/plan/SKILL.md:1: bad-skill no description: it is all that an agent knows of a skill"
        " before it loads it",
        "skills/test/SKILL.md:1: bad-front-matter front matter is not valid YAML: mapping values"
        " are not allowed in this context (line 3)",
        "team/writer.md:4: dangling-reference there is no gone.md",
    ]
    assert ran.err.startswith("6 documents checked, 1 error, 4 warnings")
