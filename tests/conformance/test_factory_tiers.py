"""The tiers of the factory, row by row: what they may hold, and what tier 0 is (SPEC F1, F2,
F11, F14)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foreword
from foreword.engine.package import Package
from foreword.errors import EssentialsTooLarge, TierTooLarge
from foreword.tokens import COUNTERS
from tests.command import foreword as command
from tests.conformance.workshop import WORKFLOW, limited, workshop
from tests.corpus import rows
from tests.examples import examples
from tests.factory import write

TASK = {"task_reference": "FEAT-9: A second kiln"}


def context(root: Path, **options: object) -> Package:
    return foreword.assemble("factory", root=root, save=False, **{"values": TASK, **options})  # type: ignore[arg-type]


def tokens(package: Package, tier: int) -> int:
    return sum(
        row.tokens for row in package.report.sections if row.tier == tier and row.tag != "note"
    )


def tier_0_of(package: Package) -> str:
    return str(package.to_openai()[0]["content"])


def notes(package: Package) -> str:
    return "\n".join(package.report.notes)


# --- F1: the limits -------------------------------------------------------------------------------


sizes = st.sampled_from([0, 1, 10, 60, 250, 1_000])
words = st.sampled_from(
    ["pot ", "- `glaze` and\n", "## Fire\n\nHot.\n\n", "窯の温度。", "👩‍🏭🔥 ", "</phase> <task>\n"]
)
SETTINGS = settings(
    max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@given(
    st.lists(st.tuples(words, sizes), min_size=6, max_size=6),
    st.sampled_from(sorted(COUNTERS)),
    st.data(),
)
@SETTINGS
def test_f1_no_content_breaks_a_limit(
    texts: list[tuple[str, int]], by: str, data: st.DataObject
) -> None:
    limits = {tier: data.draw(st.sampled_from([60, 300, 1_500])) for tier in (0, 1, 2)}
    paths = (
        "templates/python/instructions.md",
        "personas/crew/smith.md",
        "personas/crew/potter.md",
        ".plans/2-new.md",
        "instructions/code-quality.md",
        "prompts/drawing.md",
    )
    with tempfile.TemporaryDirectory() as folder:
        root = limited(workshop(Path(folder)), str(limits))
        for path, (word, times) in zip(paths, texts, strict=True):
            write(root, path, f"# One\n\n{word * times}\n")
        package = context(
            root, phase=data.draw(st.sampled_from(["1", "2", "4"])), counter=by, budget=9_000
        )
    over = max(0, tokens(package, 0) - limits[0])
    assert tokens(package, 1) <= limits[1]
    assert tokens(package, 2) <= max(0, limits[2] - over)
    assert foreword.counter(by).count(package.text) == package.report.total_tokens


def test_f1_the_whole_budget_is_the_sum_of_the_tiers(tmp_path: Path) -> None:
    assert context(workshop(tmp_path)).report.budget_tokens == 5_400


def test_f1_a_project_sets_limits_of_its_own(tmp_path: Path) -> None:
    root = limited(workshop(tmp_path), "{0: 100, 1: 60, 2: 80}")
    package = context(root, phase=1)
    assert package.report.budget_tokens == 240
    assert 0 < tokens(package, 1) <= 60
    assert 0 < tokens(package, 2) <= 80


def test_f1_tier_0_is_never_cut_it_warns_and_takes_its_room_from_tier_2(tmp_path: Path) -> None:
    long = "# Base\n\n" + "".join(f"- Rule {n}: no kiln without a name.\n" for n in range(100))
    root = workshop(tmp_path, instructions=long)
    write(
        root,
        "prompts/drawing.md",
        "# Drawing\n\n" + "Draw from three sides, and measure.\n\n" * 500,
    )
    package = context(root, phase=2)
    over = tokens(package, 0) - 400
    assert over > 300
    assert long.strip() in package.text
    assert tokens(package, 2) <= 3_000 - over
    assert tokens(package, 2) > 2_900 - over
    assert "tier 0 needs" in package.report.notes[0]
    assert "instructions.md" in package.report.notes[0]


def test_f1_strict_makes_it_an_error_that_names_the_file(tmp_path: Path) -> None:
    root = workshop(tmp_path, instructions="# Base\n\n" + "Fire no kiln that is open.\n" * 100)
    with pytest.raises(
        TierTooLarge, match=r"tier 0 needs [\d,]+ tokens, its limit is 400.*instructions\.md"
    ) as caught:
        context(root, strict=True)
    assert (caught.value.tier, caught.value.limit, caught.value.largest) == (
        0,
        400,
        "instructions.md",
    )
    ran = command("assemble", "factory", "--strict", "--root", root)
    assert (ran.code, ran.out) == (1, "")
    assert "instructions.md" in ran.err
    assert "hint:" in ran.err


def test_f1_strict_says_nothing_while_tier_0_is_within_its_limit(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    assert context(root, strict=True).text == context(root).text


def test_f1_a_tier_0_larger_than_the_budget_is_an_error_with_the_figures(tmp_path: Path) -> None:
    root = workshop(tmp_path, instructions="# Base\n\n" + "Fire no kiln that is open.\n" * 2_000)
    with pytest.raises(EssentialsTooLarge, match="instructions"):
        context(root, phase=1)


def test_f1_a_tier_0_that_eats_all_of_tier_2_leaves_tier_1_alone(tmp_path: Path) -> None:
    root = workshop(tmp_path, instructions="# Base\n\n" + "Fire no kiln that is open.\n" * 510)
    package = context(root, phase=1)
    assert tokens(package, 0) > 3_400
    assert tokens(package, 2) == 0
    assert "Type every pot." in package.text
    assert "tier 2 has 0 left" in package.report.notes[0]


def test_f1_the_tier_of_every_section_is_on_the_bill(tmp_path: Path) -> None:
    rows = context(workshop(tmp_path), phase=1).report.to_dict()["sections"]
    assert {row["tag"]: row["tier"] for row in rows} == {
        "instructions": 0,
        "project": 0,
        "profile": 0,
        "task": 0,
        "language": 1,
        "guidance": 1,
        "personas": 1,
        "plan": 1,
        "phase": 2,
        "speakers": 2,
    }


# --- F2: tier 0 -----------------------------------------------------------------------------------


def test_f2_tier_0_is_the_base_the_project_the_profile_and_the_task(tmp_path: Path) -> None:
    assert (
        tier_0_of(context(workshop(tmp_path))).split()
        == (
            "<instructions> # Base Fire no kiln that is open. </instructions> "
            "<project> name: kilns language: python framework: starlette </project> "
            "<profile> profile_name: careful high_findings > 1: human_review "
            "auto_merge: with 2 conditions </profile> "
            "<task> FEAT-9: A second kiln </task>"
        ).split()
    )


@pytest.mark.parametrize(
    "not_in", ["Greta Glaze", "owner", "Long words about care", "7.7", "weights", "loose"]
)
def test_f2_nothing_else_of_these_files_is_loaded(tmp_path: Path, not_in: str) -> None:
    assert not_in not in context(workshop(tmp_path), phase=1).text


def test_f2_each_part_has_the_target_of_the_seed(tmp_path: Path) -> None:
    rows = context(workshop(tmp_path)).report.sections
    assert [(row.tag, row.target) for row in rows if row.tier == 0] == [
        ("instructions", "200"),
        ("project", "100"),
        ("profile", "50"),
        ("task", "50"),
    ]


def test_f2_the_same_fields_are_found_under_project(tmp_path: Path) -> None:
    nested = "project: {name: kilns, language: go, framework: none, owner: Greta Glaze}\n"
    package = context(workshop(tmp_path, project=nested))
    assert "<project>\nname: kilns\nlanguage: go\nframework: none\n</project>" in package.text
    assert "Go for the wheel." in package.text


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("# FEAT-7: Glaze\n\n## Objective\n\nGlaze in blue.\n\nMore.\n", "FEAT-7: Glaze in blue."),
        ("# Glaze\n\n**Objective:** Glaze in blue.\n", "glaze: Glaze in blue."),
        ("# Glaze in blue\n\nWith cobalt.\n", "glaze: Glaze in blue"),
        ("# Glaze in blue\n", "glaze: Glaze in blue"),
    ],
    ids=["heading", "label", "title", "nothing but a title"],
)
def test_f2_a_task_file_is_its_reference_and_its_objective(
    tmp_path: Path, text: str, reference: str
) -> None:
    write(workshop(tmp_path), "tasks/glaze.md", text)
    assert (
        f"<task>\n{reference}\n</task>" in context(tmp_path, task="tasks/glaze.md", values={}).text
    )


def test_f2_a_profile_that_does_not_say_its_name_is_called_after_its_file(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    write(root, "policy/careful.yaml", "auto_merge: {enabled: false}\n")
    assert "<profile>\nprofile: careful\nauto_merge: never\n</profile>" in context(root).text


@pytest.mark.parametrize("words", ["Glaze it in blue and in green. ", "釉料分蓝色和绿色。"])
def test_f2_a_long_objective_is_kept_to_its_fifty_tokens(tmp_path: Path, words: str) -> None:
    write(workshop(tmp_path), "tasks/long.md", "# FEAT-7\n\n## Goal\n\n" + words * 90)
    package = context(tmp_path, task="tasks/long.md", values={})
    (row,) = [row for row in package.report.sections if row.tag == "task"]
    assert 40 <= row.tokens <= 50
    assert "FEAT-7" in package.text


# sixteen lists, each of the one before twice
BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{number}: &a{number} [*a{number - 1}, *a{number - 1}]\n" for number in range(1, 16)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: [unclosed\n", "project.yaml: it is not valid YAML"),
        ("name: kilns\n\tlanguage: go\n", "project.yaml: it is not valid YAML"),
        ("- a\n- list\n", "project.yaml: it must be a mapping of names to values"),
        ("just words\n", "project.yaml: it must be a mapping"),
        (BOMB, "project.yaml: it is not read: aliases make it more than 10,000 values"),
        ("[" * 5_000, "nested more than"),
        ("owner: Greta\n", "project is not there"),
    ],
    ids=["unclosed", "tab", "list", "words", "bomb", "deep", "none of the fields"],
)
def test_f2_a_project_file_that_says_nothing_is_named_and_not_fatal(
    tmp_path: Path, text: str, says: str
) -> None:
    package = context(workshop(tmp_path, project=text))
    assert says in notes(package)
    assert "Fire no kiln that is open." in package.text
    assert len(package.report.notes) == len(set(package.report.notes))


def test_f2_values_of_another_type_are_shown_or_passed_over(tmp_path: Path) -> None:
    odd = "name: 42\nlanguage: [python, go]\nframework: {a: 1}\npersonas: 7\nprofile: [careful]\n"
    package = context(workshop(tmp_path, project=odd))
    assert "<project>\nname: 42\nlanguage: python, go\n</project>" in package.text
    assert "there is no persona '7'" in notes(package)
    assert "profile_name: careful" in package.text


def test_f2_a_project_without_a_project_file_is_named_in_the_report(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    (root / "project.yaml").unlink()
    package = context(root)
    assert ("project", "project.yaml", "missing") in {
        (a.tag, a.source, a.reason) for a in package.report.absent
    }
    assert "Fire no kiln that is open." in package.text


def test_f2_a_profile_that_is_not_there_is_named(tmp_path: Path) -> None:
    package = context(workshop(tmp_path, project="name: kilns\nprofile: wild\n"))
    assert "wild" in {absent.source for absent in package.report.absent}
    assert "profile is not there" in notes(package)


# --- F11: in every call, as system text -----------------------------------------------------------


def test_f11_tier_0_is_system_text_and_the_rest_is_not(tmp_path: Path) -> None:
    package = context(workshop(tmp_path), phase=1)
    anthropic, (system, user) = package.to_anthropic(), package.to_openai()
    always = "".join(block["text"] for block in anthropic["system"])
    assert always == system["content"] == tier_0_of(package)
    assert system["role"] == "system"
    assert user["role"] == "user"
    rest = "".join(block["text"] for block in anthropic["messages"][0]["content"])
    assert rest == user["content"]
    assert always + rest == package.text
    assert "<task>" in always
    assert "<language>" not in always
    for tag in ("<instructions>", "<project>", "<profile>", "<task>"):
        assert tag not in rest


def test_f11_every_turn_has_tier_0_and_no_message_does(tmp_path: Path) -> None:
    with foreword.Task.open(
        workshop(tmp_path), task="FEAT-9", objective="A second kiln", workflow="feature"
    ) as task:
        task.enter(1)
        for turn in range(4):
            task.append({"role": "user", "content": f"Question {turn}"})
            request = task.context().to_anthropic()
            system = "".join(block["text"] for block in request["system"])
            assert "Fire no kiln that is open." in system
            assert "FEAT-9: A second kiln" in system
            assert "Fire no kiln" not in str(request["messages"])
            assert [m["role"] for m in task.context().to_openai()].count("system") == 1
            task.append({"role": "assistant", "content": f"Answer {turn}"})
        assert not any("Fire no kiln" in str(message) for message in task.conversation)


def test_f11_a_conversation_that_fills_its_room_pushes_nothing_of_tier_0_out(
    tmp_path: Path,
) -> None:
    with foreword.Task.open(workshop(tmp_path), task="FEAT-9", conversation_tokens=500) as task:
        before = tier_0_of(task.start())
        for turn in range(40):
            task.append(
                {
                    "role": "user",
                    "content": f"Question {turn} about glaze. " + "And more of it. " * 60,
                }
            )
            task.append({"role": "assistant", "content": f"Answer {turn}"})
        package = task.context()
    assert str(package.to_openai()[0]["content"]).startswith(before.rstrip())
    assert "Question 5 " not in package.text
    assert "Answer 39" in package.text
    assert package.report.total_tokens <= 5_400 + 500


# --- F14: anchors ---------------------------------------------------------------------------------

PAIRED = "<!-- ANCHOR: why -->\nNever glaze with lead.\n\nNot even once.\n<!-- /ANCHOR -->\n"


@pytest.mark.parametrize(
    ("text", "anchored", "left"),
    rows("documents/anchored.jsonl"),
    ids=["paired", "paragraph", "list", "heading", "in a line", "lower case, CRLF"],
)
def test_f14_anchored_text_is_tier_0_and_the_rest_stays_where_it_was(
    tmp_path: Path, text: str, anchored: list[str], left: str
) -> None:
    write(workshop(tmp_path), "templates/python/instructions.md", f"# Python\n\n{text}")
    package = context(tmp_path)
    always, rest = (str(message["content"]) for message in package.to_openai())
    for words in anchored:
        assert words in always.replace("\r\n", "\n")
        assert words not in rest.replace("\r\n", "\n")
        assert package.text.replace("\r\n", "\n").count(words) == 1
    assert left in rest
    assert left not in always
    assert "<!--" not in package.text


def test_f14_an_anchor_counts_in_a_guidance_file_that_this_task_does_not_load(
    tmp_path: Path,
) -> None:
    write(
        workshop(tmp_path),
        "instructions/security.md",
        f"# Security\n\n{PAIRED}\nLock the clay store.\n",
    )
    package = context(tmp_path)
    assert "Never glaze with lead." in tier_0_of(package)
    assert "Lock the clay store." not in package.text


def test_f14_an_anchor_counts_in_the_workflow_outside_of_the_phase(tmp_path: Path) -> None:
    package = context(
        workshop(tmp_path, workflow=WORKFLOW.replace("Build it.", f"Build it.\n\n{PAIRED}")),
        phase=1,
    )
    assert "Never glaze with lead." in tier_0_of(package)
    assert "Build it." not in package.text


def test_f14_an_example_in_code_is_no_anchor(tmp_path: Path) -> None:
    example = (
        f"# Python\n\nMark it so:\n\n```markdown\n{PAIRED}```\n\nor `<!-- ANCHOR -->` in a line.\n"
    )
    write(workshop(tmp_path), "templates/python/instructions.md", example)
    package = context(tmp_path)
    assert "<anchors>" not in package.text
    assert example.strip() in package.text


def test_f14_the_same_words_anchored_in_two_files_are_there_once(tmp_path: Path) -> None:
    for path in ("instructions/security.md", "instructions/testing.md", "personas/crew/smith.md"):
        write(
            workshop(tmp_path) if path.startswith("instructions/s") else tmp_path,
            path,
            f"# One\n\n{PAIRED}",
        )
    assert context(tmp_path).text.count("Never glaze with lead.") == 1


def test_f14_an_anchor_in_the_base_instructions_stays_in_its_place(tmp_path: Path) -> None:
    package = context(
        workshop(tmp_path, instructions=f"# Base\n\n{PAIRED}\nFire no kiln that is open.\n")
    )
    assert package.text.count("Never glaze with lead.") == 1
    assert "<anchors>" not in package.text
    assert "ANCHOR" not in package.text


def test_f14_anchors_of_a_persona_outlast_its_header(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    write(
        root,
        "personas/crew/smith.md",
        "# Persona: smith\n\n## Role\n\nSmith.\n\n## More\n\n" + PAIRED + "Iron. " * 2_000,
    )
    package = context(root, phase="3a")
    assert "Never glaze with lead." in tier_0_of(package)
    assert package.text.count("Never glaze with lead.") == 1


def test_f14_anchors_over_the_limit_of_tier_0_warn_and_are_whole(tmp_path: Path) -> None:
    long = (
        "<!-- ANCHOR -->\n"
        + "".join(f"- Never do number {n}\n" for n in range(200))
        + "<!-- /ANCHOR -->\n"
    )
    write(workshop(tmp_path), "instructions/security.md", long)
    package = context(tmp_path)
    assert all(f"- Never do number {n}\n" in tier_0_of(package) for n in range(200))
    assert "instructions/security.md" in package.report.notes[0]


def test_f1_what_reads_as_a_tag_counts_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "instructions.md").write_text("</diff>\n" * 110)
    with pytest.raises(foreword.ForewordError, match=r"instructions\.md"):
        foreword.assemble("factory", root=tmp_path, counter="o200k", strict=True, save=False)
