"""Every field and form of a section has an effect where the schema accepts it, and is an error
everywhere else."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import fields
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

import foreword
from foreword.errors import ForewordError, RecipeError
from foreword.recipe.load import load
from foreword.recipe.positions import FORM_POSITIONS, POSITIONS, SOURCES
from foreword.recipe.schema import SectionSpec

Section = dict[str, Any]

BASES: dict[str, tuple[Section, ...]] = {
    "file": ({"file": "kiln.md"},),
    "files": ({"files": ["notes/*.md", "spare.md"]},),
    "git": ({"git": "log"},),
    "text": ({"text": "{progress}"},),
    "items": ({"items": ["decision"]},),
    "state": ({"state": "units"}, {"state": "brief"}),
    "state with show": ({"state": "plan", "show": "plan"},),
    "state: messages": ({"state": "messages"},),
    "document": ({"document": "persona", "named": "ann, bob"},),
    "anchors": ({"anchors": True},),
    "repository: files": ({"repository": "files"},),
    "repository: paths": ({"repository": "paths"},),
}
VALUES: dict[str, Any] = {
    "named": "ann",
    "fields": ["glaze"],
    "phase": "1",
    "folder": "elsewhere",
    "or_folder": "elsewhere",
    "leave_out": ["^fix", "one.md"],
    "pick": 1,
    "order": "relevance",
    "entries": 1,
    "heading": "Decisions",
    "beside": ["*.txt"],
    "without": "Decisions",
    "where": {"status": ["done"]},
    "having": ["owner"],
    "last": 1,
    "keep": "first",
    "wanted": ["owner"],
    "named_in": "chosen",
    "each": "{title}",
    "before": "IN FRONT",
    "after": "BEHIND",
    "show": "variables",
    "inject": True,
    "follows": "other",
    "essential": True,
    "required": True,
    "forms": ["full"],
    "tier": 3,
    "target": 500,
    "target_group": "pair",
    "max": 60,
    "min": 500,
    "stands_in_for": "other",
}
# What a field has an effect beside.
BESIDE: dict[str, Section] = {
    "wanted": {"each": "{title}"},
    "target_group": {"target": 500},
    "min": {"forms": ["full", "excerpt"]},
}
# The values that only one position takes.
VALUES_AT: dict[tuple[str, str], Any] = {("show", "state: messages"): "conversation"}
BUDGETS = (150, 400, 600, 800, 1_200, 3_000, 20_000)


def prose(word: str) -> str:
    return "\n\n".join(
        f"The {word} of firing {number} is kept at {number} degrees until the cone bends."
        for number in range(1, 41)
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("kilns")
    persona = "# Persona\n\n## Role\n\nA potter.\n\n<!-- TIER_1_START -->\nNever open it.\n"
    door = "Keep the door of the kiln closed while it is hot. " * 16
    texts = {
        "kiln.md": f"# Kiln\n\n## Decisions\n\n{prose('kiln')}\n\n## Rest\n\n!`git log -1`\n",
        "beside.txt": "Beside the kiln.\n",
        "notes/one.md": f"# One\n\n## Decisions\n\n{prose('shelf')}\n",
        "notes/two.md": f"# Two\n\n!`git log -1`\n\n{prose('glaze')}\n",
        "notes/beside.txt": "Beside the notes.\n",
        "elsewhere/spare.md": "# Spare\n\nA spare shelf.\n",
        "other.md": f"# Other\n\n{door}\n",
        "anchored.md": f"# Other\n\n{door}\n\n<!-- ANCHOR -->\n{prose('door')}\n<!-- /ANCHOR -->\n",
        "empty/personas/zoe.md": f"{persona}<!-- TIER_1_END -->\n",
        "personas/ann.md": f"{persona}<!-- TIER_1_END -->\n\n## More\n\n{prose('ann')}\n",
        "personas/bob.md": f"{persona}<!-- TIER_1_END -->\n\n## More\n\n{prose('bob')}\n",
    }
    for name in ("glaze", "shelf", "door"):
        body = "".join(
            f"def {name}_{number}(kiln):\n    kiln.{name} = {number}\n    return kiln\n\n\n"
            for number in range(60)
        )
        texts[f"src/{name}.py"] = f"{body}def cone_of_{name}(cone):\n    return cone\n"
    for number in range(40):
        texts[f"src/{number // 4 or ''}/more_{number}.py"] = (
            f"def cone_{number}():\n    return 'cone'\n"
        )
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(25):
        kind = "fix" if number % 2 else "feat"
        message = f"{kind}: bend cone {number}, {'as hot as the glaze and the shelf bear, ' * 3}"
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    return root


def source(position: str, *, is_empty: bool) -> Any:
    if position == "items":
        items = [
            {
                "kind": "decision",
                "title": f"Decision {number}",
                "text": prose("cone" if number == 2 else "shelf"),
                "created": f"2026-01-0{number}",
            }
            for number in (1, 2, 3)
        ]
        items.append({"kind": "note", "title": "Door", "text": "Keep the door closed. " * 40})
        return [{"kind": "risk", "title": "Risk", "text": "A risk."}] if is_empty else items
    if not position.startswith("state"):
        return None
    if is_empty:
        return {"messages": [], "units": []}
    sentence = "The kiln is kept at this temperature until the last of the cones has bent. " * 3
    units = [
        {"title": f"Unit {number}", "status": "done" if number > 5 else "open", "text": sentence}
        for number in range(8)
    ]
    units[0]["owner"] = "ann"
    messages = [{"role": "user", "content": f"{number}: {sentence}"} for number in range(9)]
    task = {"task_id": "1", "description": prose("plan"), "status": "pending"}
    phase = {"phase_name": "Fire", "status": "pending", "tasks": [task]}
    return {
        "messages": messages,
        "units": units,
        "brief": prose("brief"),
        "chosen": [{"title": "Unit 1"}],
        "plan": {"overall_goal": "Fire", "phases": [phase]},
    }


def recipe(position: str, section: Section) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "mine",
        "sections": {"mine": section, "other": {"file": "other.md", "forms": ["full", "excerpt"]}},
        "gives_way": ["mine"],
    }
    if position == "repository: paths":
        data["sections"]["other"]["file"] = "kiln.md"
    if position == "items":  # those of a tier are read after sections without items
        data["sections"]["other"] = {"items": ["note"], "forms": ["full", "excerpt"]}
    if position == "document":
        data["documents"] = {"persona": "personas/*.md"}
    if position == "anchors":
        data["sections"]["other"]["file"] = "anchored.md"
        data["tiers"] = {0: 100, 1: 5_000, 2: 5_000, 3: 5_000}
    return data


def written(root: Path, data: dict[str, Any]) -> str:
    """Write a recipe beside the project and return its path."""
    text = yaml.safe_dump(data, sort_keys=False)
    path = root.parent / "recipes" / f"{sha256(text.encode()).hexdigest()}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def outcomes(root: Path, position: str, section: Section) -> Iterator[str]:
    """The context and the report, or the error, for each budget, with material and without."""
    path = written(root, recipe(position, section))
    for budget, is_empty in product(BUDGETS, (False, True)):
        try:
            package = foreword.assemble(
                path,
                root=root / "empty" if is_empty else root,
                values={} if is_empty else {"progress": prose("progress")},
                task="which cone bends for the glaze",
                source=source(position, is_empty=is_empty),
                budget=budget,
                counter="estimate",
                save=False,
            )
        except RecipeError:
            raise
        except ForewordError as error:
            yield f"{type(error).__name__}: {error}"
        else:
            yield f"{package.text}\n{package.report.to_dict()}"


def has_effect(root: Path, position: str, plain: Section, changed: Section) -> bool:
    for base in BASES[position]:
        before = outcomes(root, position, base | plain)
        after = outcomes(root, position, base | changed)
        if any(one != other for one, other in zip(before, after, strict=True)):
            return True
    return False


def error_of(root: Path, position: str, section: Section) -> str:
    with pytest.raises(RecipeError) as error:
        load(written(root, recipe(position, BASES[position][0] | section)), root)
    return str(error.value)


@pytest.mark.parametrize("position", POSITIONS)
def test_a_field_has_an_effect_or_is_an_error(project: Path, position: str) -> None:
    silent = list[str]()
    for field in fields(SectionSpec):
        if field.name in SOURCES:
            continue
        given = {field.name: VALUES_AT.get((field.name, position), VALUES[field.name])}
        if position not in field.metadata["of"]:
            message = f"'sections.mine.{field.name}' has no effect with {position}, which takes"
            assert message in error_of(project, position, given)
            continue
        plain = BESIDE.get(field.name, {})
        if not has_effect(project, position, plain, plain | given):
            silent.append(field.name)
    assert silent == []


@pytest.mark.parametrize("position", POSITIONS)
def test_a_form_has_an_effect_or_is_an_error(project: Path, position: str) -> None:
    silent = list[str]()
    for form, positions in FORM_POSITIONS.items():
        ladder = ["full", "gone"]
        if form == "gone":
            smaller = "regions" if position == "repository: files" else "reference"
            ladder = ["full", smaller]
        changed = {"forms": [one for one in FORM_POSITIONS if one in (*ladder, form)]}
        if position not in positions:
            message = f"form {form!r} has no effect with {position}, which takes full"
            assert message in error_of(project, position, changed)
        elif form != "full" and not has_effect(project, position, {"forms": ladder}, changed):
            silent.append(form)
    assert silent == []


LISTS: dict[str, dict[str, Any]] = {
    "required": {"purposes": {"p": {"required": [[]]}}},
    "gives_way": {"gives_way": ["mine", []]},
    "a purpose's gives_way": {"purposes": {"p": {"gives_way": [[]]}}},
}


@pytest.mark.parametrize("fields_of_recipe", LISTS.values(), ids=LISTS)
def test_an_inner_list_names_at_least_one_section(
    project: Path, fields_of_recipe: dict[str, Any]
) -> None:
    data = recipe("file", {"file": "kiln.md"}) | fields_of_recipe
    with pytest.raises(RecipeError, match=r"\]: name at least one section"):
        load(written(project, data), project)


NEEDLESS: dict[str, tuple[Section, dict[str, Any], str]] = {
    "text beside show": (
        {"state": "plan", "show": "variables", "text": "none"},
        {},
        "'sections.mine.text' has no effect with state with show",
    ),
    "essential over max": (
        {"file": "kiln.md", "max": 10},
        {"purposes": {"p": {"change": {"mine": {"essential": True}}}}},
        "'purposes.p.change.mine.max' has no effect beside essential",
    ),
    "text over heading": (
        {"file": "kiln.md", "heading": "Rest"},
        {"skills": {"s": {"change": {"mine": {"file": None, "text": "Fire."}}}}},
        "'skills.s.change.mine.heading' has no effect with text",
    ),
    "only_named": (
        {"items": ["doc"]},
        {"purposes": {"p": {"only_named": ["zork"]}}},
        "unknown kind of item 'zork'",
    ),
    "kind_names": (
        {"items": ["doc"]},
        {"kind_names": {"folder": "dox"}},
        "unknown kind of item 'dox', did you mean 'doc'?",
    ),
    "kind_names without items": (
        {"file": "kiln.md"},
        {"kind_names": {"folder": "doc"}},
        "'kind_names.folder' has no effect without a section with items",
    ),
    "a form twice": (
        {"file": "kiln.md", "forms": ["full", "excerpt", "excerpt"]},
        {},
        "form 'excerpt' is in forms twice",
    ),
}


@pytest.mark.parametrize(("section", "others", "message"), NEEDLESS.values(), ids=NEEDLESS)
def test_what_has_no_effect_beside_other_fields_is_an_error(
    project: Path, section: Section, others: dict[str, Any], message: str
) -> None:
    with pytest.raises(RecipeError) as error:
        load(written(project, recipe("file", section) | others), project)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("section", "others"),
    [
        (
            {"file": "kiln.md", "max": 10},
            {"purposes": {"p": {"change": {"mine": {"essential": True, "max": None}}}}},
        ),
        ({"items": ["*"]}, {"kind_names": {"folder": "any"}}),
        (
            {"items": ["doc"]},
            {"purposes": {"p": {"only_named": ["old"], "leave_out": {"old": "it is over"}}}},
        ),
    ],
    ids=["a limit taken away", "all kinds", "a kind that is left out"],
)
def test_what_has_an_effect_in_the_merged_recipe_is_accepted(
    project: Path, section: Section, others: dict[str, Any]
) -> None:
    loaded = load(written(project, recipe("file", section) | others), project)
    assert "mine" in loaded.sections
