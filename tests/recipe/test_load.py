"""Reading recipes: where they are found, how they extend each other, and their schema."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
import yaml

from foreword.recipe.load import (
    BUILTIN,
    built_in_recipe,
    json_schema,
    layers,
    load,
    names,
    problems,
    validated_recipe,
)
from foreword.recipe.schema import RecipeSpec

MINE = "name: mine\nsections:\n  notes: {file: NOTES.md, target: 5-10%}\n"


def own(root: Path, name: str, text: str) -> Path:
    path = root / "foreword" / "recipes" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", sorted(BUILTIN.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_built_in_recipe_has_no_problem_and_fits_its_own_schema(path: Path) -> None:
    assert list(problems(layers(path.stem))) == []
    jsonschema.validate(yaml.safe_load(path.read_text()), json_schema())


@pytest.mark.parametrize("path", sorted(BUILTIN.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_built_in_recipe_is_read_as_a_stranger_with_the_same_text_is(
    tmp_path: Path, path: Path
) -> None:
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    assert layers(str(copy))[0].data == layers(path.stem)[0].data


@pytest.mark.parametrize("path", sorted(BUILTIN.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_built_in_recipe_is_the_same_read_without_checks_and_validated(path: Path) -> None:
    chain = layers(path.stem)
    recipe = built_in_recipe(chain)
    assert recipe == validated_recipe(chain)
    assert repr(recipe) == repr(validated_recipe(chain))  # a list is no tuple, 1 is not 1.0


def test_the_schema_refuses_what_the_loader_refuses() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"name": "x", "sections": {"a": {"file": "A.md", "essental": True}}}, json_schema()
        )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"name": "x", "sections": {"a": {"file": "A.md", "target": "lots"}}}, json_schema()
        )


def test_a_recipe_is_found_by_name_under_the_root_and_by_path(tmp_path: Path) -> None:
    path = own(tmp_path, "mine", MINE)
    assert load("mine", tmp_path).name == "mine"
    assert load(str(path)).name == "mine"
    assert "mine" in names(tmp_path)


def test_a_recipe_of_the_project_takes_the_place_of_a_built_in_one_it_extends(
    tmp_path: Path,
) -> None:
    own(tmp_path, "director", "name: director\nextends: director\nbudget: {share: 10%}\n")
    ours, theirs = load("director", tmp_path), load("director")
    assert ours.budget.share is not None
    assert theirs.budget.share is not None
    assert (ours.budget.share.value, theirs.budget.share.value) == (0.1, 0.3)
    assert list(ours.sections) == list(theirs.sections)


def test_extending_replaces_fields_adds_sections_in_their_place_and_takes_away(
    tmp_path: Path,
) -> None:
    own(
        tmp_path,
        "ours",
        "name: ours\nextends: director\nsections:\n  rules: {file: R.md, follows: task}\n"
        "  recent_changes: {entries: 5}\n  research: null\nagents:\n  mapper: null\n"
        "  builder: {sections: [vision, rules, task]}\n"
        "skills: null\ngives_way: [recent_changes]\n",
    )
    recipe = load("ours", tmp_path)
    order = list(recipe.sections)
    assert order[order.index("task") + 1] == "rules"
    assert recipe.sections["recent_changes"].entries == 5
    assert recipe.sections["recent_changes"].git == "log"
    assert "research" not in recipe.sections
    assert "mapper" not in recipe.agents


def test_every_problem_of_a_recipe_is_listed_not_only_the_first(tmp_path: Path) -> None:
    own(
        tmp_path,
        "bad",
        MINE + "agents:\n  a: {sections: [nots]}\n  b: {sections: [notez]}\ngives_way: [x]\n",
    )
    found = [problem.message for problem in problems(layers("bad", tmp_path))]
    assert len(found) == 3
    assert all("bad.yaml:" in message for message in found)


def test_what_other_skills_read_is_checked_like_any_profile(tmp_path: Path) -> None:
    own(tmp_path, "bad", MINE + "other_skills: {sections: [notse]}\n")
    (problem,) = problems(layers("bad", tmp_path))
    assert "did you mean 'notes'?" in problem.message


def test_every_rule_of_the_seeds_is_in_the_recipes_and_not_in_code() -> None:
    """The tables of the five documents: agents, skills, task types, purposes, kinds, phases."""
    director, package, phases = (load(name) for name in ("director", "package", "phases"))
    assert len(director.agents) == 11
    assert list(director.skills) == ["blueprint", "build", "brainstorm", "pivot", "inspect"]
    assert {purpose: profile.split for purpose, profile in package.purposes.items()} == {
        "design": "50/30/20",
        "implementation": "60/25/15",
        "review": "55/30/15",
        "handoff": "70/20/10",
        "subagent": "65/25/10",
    }
    assert list(phases.phases) == ["planning", "interface", "implementation", "testing"]
    for profile in package.purposes.values():
        assert {"interface", "decision", "blocker"} <= set(profile.tiers[1])


def test_the_schema_describes_every_field() -> None:
    schema = json_schema()
    assert set(schema["properties"]) == {field.name for field in fields(RecipeSpec)}
