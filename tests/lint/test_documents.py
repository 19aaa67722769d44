"""What authors are told about their instruction files, and what is repaired for them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import foreword
from foreword import lint
from foreword.lint import Problem
from foreword.lint.repair import apply_repairs, repairs
from foreword.sources.front_matter import without_front_matter
from foreword.sources.panel_file import read_panel
from foreword.text import marks
from tests.corpus import rows, text_of
from tests.docs.pages import save
from tests.factory import forbid_listing, project, write
from tests.work_done import lines_run

PERSONA = "# Reviewer\n\n## Role\n\nReads diffs.\n\n## Evaluate For\n\n- Bugs\n"
WORKFLOW = "# Fix\n\n## Phase 1: Find\n\nLook.\n\n## Phase 2: Mend\n\nMend.\n"
CIRCLE = "## Phase 1\n\n> **After:** 2\n\n## Phase 2\n\n> **After:** 1\n"
LONG = " ".join(f"word{number}" for number in range(30))
OWN = "name: mine\nextends: factory\n"


TIDY = {
    "instructions.md": "# Rules\n\nBe brief.\n",
    "personas/reviewer.md": PERSONA,
    "prompts/workflows/fix.md": WORKFLOW,
}


def factory(root: Path, changed: dict[str, str] | None = None) -> Path:
    """A small factory without a problem, but for what is changed."""
    for path, text in (TIDY | (changed or {})).items():
        save(root, path, text)
    return root


def problems(root: Path, recipe: str = "factory") -> list[tuple[str, str]]:
    """Where and what, without the words."""
    return [(f"{one.file}:{one.line}", one.code) for one in lint.check(root, recipe)]


def only(root: Path) -> Problem:
    (problem,) = lint.check(root)
    return problem


def test_a_tidy_factory_has_no_problems(tmp_path: Path) -> None:
    checked = lint.lint_project(factory(tmp_path))
    assert checked.problems == ()
    assert checked.documents == (
        "instructions.md",
        "personas/reviewer.md",
        "prompts/workflows/fix.md",
    )


def test_a_folder_that_is_no_factory_has_nothing_to_check(tmp_path: Path) -> None:
    save(tmp_path, "docs/guide.md", "[gone](gone.md)\n<!-- PHASE:1 -->\n")
    save(tmp_path, "project.yaml", "personas: [nobody]\n")
    assert lint.lint_project(tmp_path).documents == ()


# --- references -----------------------------------------------------------------------------------


def test_a_file_that_the_loader_follows_in_vain_is_an_error_and_one_in_prose_a_warning(
    tmp_path: Path,
) -> None:
    text = (
        WORKFLOW + "> **Adopt persona:** `personas/other/reviewer.md`\n\nSee [notes](notes.md).\n"
    )
    factory(tmp_path, {"prompts/workflows/fix.md": text})
    followed, prose = lint.check(tmp_path)
    assert (followed.line, followed.code, followed.severity) == (10, "dangling-reference", "error")
    assert followed.message.endswith("did you mean personas/reviewer.md?")
    assert (prose.line, prose.severity, prose.message) == (12, "warning", "there is no notes.md")


@pytest.mark.parametrize(
    "line",
    [
        "> **Adopt persona:** `personas/reviewer.md`",
        "> **Adopt persona:** reviewer",
        "**Invoke prompt:** [fix](../prompts/workflows/fix.md)",
        "> Invoke panel: none",
        "[up](../instructions.md), [site](https://example.org/a.md), `*.md`, `{name}.md`",
        "`project.yaml` and `CLAUDE.md` and `.artifacts/plans/1-thing.md` are the project's own",
        "```\n[in code](gone.md)\n> **Adopt persona:** `gone.md`\n```",
    ],
)
def test_what_is_there_or_is_no_document_is_no_dangling_reference(
    tmp_path: Path, line: str
) -> None:
    assert problems(factory(tmp_path, {"prompts/plan.md": f"# Plan\n\n{line}\n"})) == []


def test_a_path_in_code_counts_where_a_document_could_lie_and_once_for_each_file(
    tmp_path: Path,
) -> None:
    text = "# Plan\n\n`policy/strict.yaml`, again `policy/strict.yaml`\n\n`policy/strict.yaml`\n"
    assert problems(factory(tmp_path, {"prompts/plan.md": text})) == [
        ("prompts/plan.md:3", "dangling-reference")
    ]


def test_a_link_out_of_the_root_leads_nowhere(tmp_path: Path) -> None:
    save(tmp_path, "secret.md", "x")
    root = factory(tmp_path / "root", {"prompts/plan.md": "[up](../../secret.md)\n"})
    (root / "prompts/link.md").symlink_to(tmp_path / "secret.md")
    checked = lint.lint_project(root)
    assert [(one.file, one.code) for one in checked.problems] == [
        ("prompts/link.md", "unused-link"),
        ("prompts/plan.md", "dangling-reference"),
    ]
    assert "prompts/link.md" not in checked.documents


def test_a_folder_that_cannot_be_looked_into_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = factory(tmp_path)
    forbid_listing(root / "personas", monkeypatch)
    assert only(root) == Problem(
        file="personas",
        line=1,
        code="unreadable-folder",
        severity="error",
        message="unreadable: permission denied: left out",
    )


# --- tiers ----------------------------------------------------------------------------------------


def test_tier_0_counts_instructions_anchors_and_fields_of_the_project(tmp_path: Path) -> None:
    anchored = "# Style\n\n<!-- ANCHOR: always -->\n" + "rule " * 200 + "\n<!-- /ANCHOR -->\n"
    factory(
        tmp_path,
        {
            "instructions.md": "word " * 150,
            "instructions/style.md": anchored,
            "project.yaml": "name: " + "name " * 50 + "\n",
        },
    )
    (problem,) = (one for one in lint.check(tmp_path) if one.code == "tier-over-budget")
    assert (problem.file, problem.line, problem.severity) == ("instructions.md", 1, "warning")
    assert (
        problem.message
        == "tier 0 needs 402 tokens, its limit is 400: anchors of instructions/style.md 200,"
        " instructions.md 150, fields of project.yaml 52"
    )


def test_tier_1_counts_the_projects_own_language_and_personas(tmp_path: Path) -> None:
    large = PERSONA + "text " * 2000
    factory(
        tmp_path,
        {
            "personas/large.md": large,
            "personas/marked.md": (
                f"# M\n<!-- TIER_1_START -->\n{PERSONA}<!-- TIER_1_END -->\n" + "more " * 2000
            ),
            "templates/go/instructions.md": "go " * 100,
            "project.yaml": "name: x\nlanguage: go\npersonas:\n  - marked\n  - large\n",
        },
    )
    (problem,) = (one for one in lint.check(tmp_path) if one.code == "tier-over-budget")
    assert (problem.file, problem.line) == ("project.yaml", 4)
    assert problem.message.startswith("tier 1 needs 2,1")
    assert "personas/large.md 2,0" in problem.message
    assert "personas/marked.md 1" in problem.message


def test_tier_2_counts_a_phase_with_what_it_invokes(tmp_path: Path) -> None:
    workflow = WORKFLOW + "\n> **Invoke panel:** `prompts/reviews/all.md`\n"
    factory(
        tmp_path, {"prompts/workflows/fix.md": workflow, "prompts/reviews/all.md": "look " * 3000}
    )
    problem = only(tmp_path)
    assert (problem.file, problem.line) == ("prompts/workflows/fix.md", 7)
    assert problem.message.endswith("its limit is 3,000: prompts/reviews/all.md 3,000, phase 2 23")


# --- structure and the project's files ------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "place", "code", "says"), rows("documents/out_of_order.jsonl")
)
def test_what_is_missing_or_out_of_order_is_told_with_its_line(
    tmp_path: Path, path: str, text: str, place: int, code: str, says: str
) -> None:
    problem = only(factory(tmp_path, {path: text}))
    assert (problem.file, problem.line, problem.code) == (path, place, code)
    assert says in problem.message


def test_parallel_phases_leave_no_gap_and_lists_of_documents_need_no_phases(tmp_path: Path) -> None:
    text = "".join(f"## Phase {name}: x\n\ny\n\n" for name in ("1", "2", "3a", "3b", "4"))
    lists = {"prompts/workflows/index.md": "# All\n", "personas/README.md": "# Personas\n"}
    assert problems(factory(tmp_path, {"prompts/workflows/fix.md": text} | lists)) == []


# --- files that are no good -----------------------------------------------------------------------


def test_files_that_cannot_be_read_are_problems_and_the_rest_is_checked(tmp_path: Path) -> None:
    root = factory(tmp_path)
    (root / "personas/binary.md").write_bytes(b"\0\1\2" * 50)
    (root / "personas/empty.md").write_bytes(b"")
    (root / "personas/latin.md").write_bytes(PERSONA.replace("diffs", "caf\xe9").encode("latin-1"))
    with (root / "personas/huge.md").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    (root / "personas/large.md").write_text("<!-- PHASE:1 -->\n" * 80_000)
    assert problems(root) == [
        ("personas/binary.md:1", "unreadable-file"),
        ("personas/empty.md:1", "empty-file"),
        ("personas/huge.md:1", "unreadable-file"),
        ("personas/large.md:1", "too-large"),
        ("personas/latin.md:1", "not-utf8"),
    ]


# --- recipes and exceptions -----------------------------------------------------------------------


def test_a_recipe_that_extends_the_factory_sets_limits_and_exceptions(tmp_path: Path) -> None:
    root = factory(tmp_path, {"personas/large.md": PERSONA + "text " * 600})
    recipe = (
        OWN
        + "lint:\n  limits: {persona: {tokens: 10, error: 600}}\n  exceptions:\n"
        + "  - {file: personas/large.md, code: too-large, reason: being split}\n"
        + "  - {file: personas/*.md, code: no-phases, reason: of old}\n"
    )
    save(root, "foreword/recipes/mine.yaml", recipe)
    assert lint.own_recipe(root) == "mine"
    checked = lint.lint_project(root, "mine")
    assert [(one.file, one.line, one.code) for one in checked.problems] == [
        ("personas/reviewer.md", 1, "too-large"),
    ]
    assert [(one.file, one.severity, one.excused) for one in checked.excused] == [
        ("personas/large.md", "error", "being split")
    ]


def test_a_file_belongs_to_the_farthest_project_above_it(tmp_path: Path) -> None:
    root = factory(
        tmp_path / "work/it", {"governance/templates/go/instructions.md": "go", "notes/x.md": "x"}
    )
    assert lint.root_of(root / "governance/templates/go/instructions.md") == root
    assert lint.root_of(root / "personas/reviewer.md") == root
    assert lint.root_of(root / "notes/x.md") == root / "notes"


# --- repairs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), rows("documents/repaired.jsonl"))
def test_white_space_and_closing_marks_are_repaired(before: str, after: str) -> None:
    assert apply_repairs(before, repairs(before)) == after
    assert repairs(after) == ()


@pytest.mark.parametrize(
    "text",
    [
        "<!-- PHASE:1 -->\n## Phase 1\na\n## Appendix\nb\n",  # where does it end
        "<!-- PHASE:1 -->\na\n<!-- /PHASE:2 -->\n",  # a slip of the pen, or two phases
        "<!-- PHASE:1 -->\na\n<!-- PHASE:2 -->\nb\n<!-- /PHASE:1 -->\n",  # nested
        "a <!-- PHASE:1 --> b\n",
        "<!-- PHASE:1 -->\na\n```\ncode that never ends\n",  # a mark in there would be code
        "<!-- PHASE -->\na\n",
    ],
)
def test_what_is_in_doubt_is_left_alone(text: str) -> None:
    assert [problem.code for problem in marks.problems(text)]
    assert [repair for repair in repairs(text) if repair.code == "unclosed-marker"] == []


MARKS = [
    "<!-- PHASE:1 -->",
    "<!--PHASE:2-->",
    "<!-- /PHASE:1 -->",
    "<!-- /PHASE -->",
    "<!-- ANCHOR -->",
    "## H",
    "```",
    "a",
    "",
]


@given(st.lists(st.sampled_from(MARKS), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_a_repair_changes_no_word_and_is_done_once(rows: list[str], ending: str) -> None:
    text = ending.join(rows)
    after = apply_repairs(text, repairs(text))
    assert repairs(after) == ()
    assert words(after) == words(text)
    assert len(list(marks.problems(after))) <= len(list(marks.problems(text)))


def words(text: str) -> list[str]:
    return [row for row in text.split() if row in ("a", "##", "H", "```")]


def test_a_mark_that_is_tidied_and_stays_unclosed_is_no_repaired_one(tmp_path: Path) -> None:
    factory(tmp_path, {"prompts/p.md": "<!--PHASE:1-->\n## Phase 1\n\na\n\n## Appendix\n"})
    assert [(one.code, one.fixable) for one in lint.check(tmp_path)] == [
        ("unclosed-marker", False),
        ("untidy-marker", True),
    ]


def test_a_fix_keeps_bom_line_ends_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "personas/p.md"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf<!--PHASE:1-->\r\na\r\n")
    path.chmod(0o640)
    assert [repair.code for repair in lint.fix(tmp_path, "personas/p.md").repairs] == [
        "untidy-marker",
        "unclosed-marker",
    ]
    assert path.read_bytes() == b"\xef\xbb\xbf<!-- PHASE:1 -->\r\na\r\n<!-- /PHASE:1 -->\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert lint.fix(tmp_path, "personas/p.md").repairs == ()
    assert list(path.parent.iterdir()) == [path]


def test_a_fix_leaves_links_out_of_the_root_read_only_and_foreign_files_alone(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("<!--PHASE:1-->\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.md").symlink_to(outside)
    (root / "locked.md").write_text("<!--PHASE:1-->\n")
    (root / "locked.md").chmod(0o444)
    (root / "latin.md").write_bytes(b"<!--PHASE:1-->\n\xe9\n")
    refused = {name: lint.fix(root, name).refused for name in ("link.md", "locked.md", "latin.md")}
    assert refused == {
        "link.md": "outside the root",
        "locked.md": "read-only",
        "latin.md": "not UTF-8",
    }
    assert outside.read_text() == (root / "locked.md").read_text() == "<!--PHASE:1-->\n"


def test_a_fix_through_a_link_inside_the_root_changes_the_file_and_keeps_the_link(
    tmp_path: Path,
) -> None:
    save(tmp_path, "real.md", "<!--PHASE:1-->\na\n<!-- /PHASE:1 -->\n")
    (tmp_path / "link.md").symlink_to("real.md")
    lint.fix(tmp_path, "link.md")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text().startswith("<!-- PHASE:1 -->")


# --- speed ----------------------------------------------------------------------------------------


def many(root: Path, count: int) -> Path:
    """A factory of so many files that name one another."""
    for number in range(count // 2):
        prose = f"{LONG} {number}"
        save(
            root,
            f"personas/p{number}.md",
            f"{PERSONA}\n{prose}\n\n[other](p{number + 1}.md)\n\n`policy/{number}.yaml`\n",
        )
        adopt = (
            f"> **Adopt persona:** `personas/p{number}.md`\n> **Invoke prompt:**"
            f" `prompts/none/{number}.md`\n"
        )
        save(
            root,
            f"prompts/workflows/w{number}.md",
            f"<!-- PHASE:1 -->\n{adopt}\n{prose}\n\n<!--PHASE:2-->\nend\n",
        )
    return root


def test_four_times_the_files_take_about_four_times_the_work(tmp_path: Path) -> None:
    few, lot = many(tmp_path / "few", 40), many(tmp_path / "lot", 160)
    lint.check(few)  # the first time patterns are compiled
    assert lines_run(lambda: lint.check(lot)) < 6 * lines_run(lambda: lint.check(few))


def test_a_project_without_instructions_is_told_so(tmp_path: Path) -> None:
    save(tmp_path, "governance/personas/reviewer.md", PERSONA)
    save(tmp_path, "governance/project.yaml", "name: x\npersonas: [reviewr]\n")
    problems = {(one.file, one.code, one.severity) for one in lint.check(tmp_path)}
    assert ("instructions.md", "no-instructions", "warning") in problems
    assert ("governance/project.yaml", "unknown-persona", "error") in problems
    save(tmp_path, "governance/instructions.md", "# Rules\n\nBe brief.\n")
    assert "no-instructions" not in {one.code for one in lint.check(tmp_path)}


@pytest.mark.parametrize(("line", "severity"), rows("documents/labels.jsonl"))
def test_what_a_label_names_in_vain_is_told_and_what_loads_is_not(
    tmp_path: Path, line: str, severity: str
) -> None:
    factory(tmp_path, {"prompts/workflows/fix.md": WORKFLOW.replace("Look.", line)})
    assert [one.severity for one in lint.check(tmp_path)] == ([severity] if severity else [])


def test_a_panel_whose_member_is_not_there_is_an_error(tmp_path: Path) -> None:
    root = project(tmp_path, ["anna", "bert"], listed=["anna", "brt"])
    (problem,) = [one for one in lint.check(root) if one.code == "unknown-member"]
    assert (problem.severity, problem.line) == ("error", 6)
    assert "'brt'" in problem.message
    assert "did you mean 'bert'" in problem.message


def test_a_panel_in_another_form_gets_the_names_of_its_members_and_nothing_else_changes(
    tmp_path: Path,
) -> None:
    for name, (before, names) in yaml.safe_load(text_of("documents/panel_forms.yaml")).items():
        path = f"personas/round_tables/{name}.md"
        factory(tmp_path, {path: before})
        problems = [one for one in lint.check(tmp_path) if one.file == path]
        assert [one.code for one in problems if one.fixable] == (["panel-form"] if names else [])
        lint.fix(tmp_path, path, is_panel=True)
        after = (tmp_path / path).read_text("utf-8")
        assert without_front_matter(after).lstrip("\n") == without_front_matter(before)
        if names:
            panel = read_panel(after, name, path, lambda _: None)
            assert [member.name for member in panel.members] == names
        assert not any(one.code == "panel-form" for one in lint.check(tmp_path) if names)


def test_a_policy_is_checked_with_the_line_of_each_problem(tmp_path: Path) -> None:
    root = project(tmp_path, ["anna"])
    write(root, "policy/words.json", '{"type": "object", "properties": {"unless": {}}}')
    for policy, code, severity, line, words in rows("policies/linted.jsonl"):
        write(root, "policy/default.yaml", policy)
        (found,) = [one for one in lint.check(root) if one.file.startswith("policy/")]
        assert (found.code, found.severity, found.line) == (code, severity, line), found
        assert words in found.message


def test_artifacts_that_are_handed_on_twice_or_never_are_told(tmp_path: Path) -> None:
    root = project(tmp_path, ["anna"])
    phases = ["Output: [ST-1]", "Read [ST-9]. Output: [ST-1]", "Look at [ST-1]."]
    text = "# Workflow\n"
    for number, phase in enumerate(phases, 1):
        text += f"\n## Phase {number}: Part\n\n{phase}\n"
    write(root, "prompts/workflows/st.md", text)
    found = [one for one in lint.check(root) if "artifact" in one.code]
    assert [(one.line, one.code, one.severity) for one in found] == [
        (7, "artifact-never-given", "warning"),
        (7, "repeated-artifact", "error"),
        (7, "unnamed-artifact", "warning"),
        (11, "unnamed-artifact", "warning"),
    ]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("# Code\n\n<!-- PHASE:code -->\n\nShort functions.\n", []),
        ("# Code\n\n<!-- PHASE:1 -->\n\nShort functions.\n", ["unclosed-marker"]),
        ("<!-- PHASE:code -->\n\nA.\n\n<!-- PHASE:test -->\n\nB.\n", ["unclosed-marker"] * 2),
    ],
)
def test_one_mark_that_says_for_what_work_a_guidance_is_need_not_close(
    tmp_path: Path, text: str, codes: list[str]
) -> None:
    root = project(tmp_path, ["anna"])
    write(root, "instructions/code-quality.md", text)
    found = [one.code for one in lint.check(root) if one.file == "instructions/code-quality.md"]
    assert found == codes


def test_the_language_of_a_project_needs_no_document(tmp_path: Path) -> None:
    write(tmp_path, "instructions.md", "# Base\n\nBe kind.\n")
    write(tmp_path, "project.yaml", "name: x\nlanguage: python\n")
    assert "unknown-language" not in {one.code for one in lint.check(tmp_path)}
    package = foreword.assemble("factory", root=tmp_path, save=False)
    assert not any("python" in warning for warning in package.report.warnings)
    write(tmp_path, "templates/go/instructions.md", "# Go\n")
    (problem,) = [one for one in lint.check(tmp_path) if one.code == "unknown-language"]
    assert problem.severity == "warning"
