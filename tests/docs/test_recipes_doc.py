"""docs/recipes.md and recipe-sources.md: recipes are checked, commands run, tables complete."""

from __future__ import annotations

import re
import shutil
from itertools import chain
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml

from foreword.demos import samples
from foreword.recipe import schema
from foreword.recipe.load import load
from tests.docs.pages import blocks, check_page, save

DOC = Path(__file__).parents[2] / "docs" / "recipes.md"
SOURCES = DOC.with_name("recipe-sources.md")
TASK = ".director/goals/02-shelf-reservations/02-reserve-a-shelf/tasks/03-reservation-form.md"


def field_names(part: type[schema.RecipePart]) -> set[str]:
    return set(get_type_hints(part)) - set(get_type_hints(schema.RecipePart))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The small web app whose output the page shows."""
    sample = samples.lay_out(tmp_path / "sample")
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    shutil.copytree(sample / ".git", root / ".git")
    shutil.copy(sample / ".director" / "VISION.md", root / "README.md")
    shutil.copy(sample / TASK, root / "TASK.md")
    for path in (sample / ".director" / "codebase").glob("*.md"):
        shutil.copy(path, root / "docs" / path.name.lower())
    return root


def test_the_page_works_from_top_to_bottom(project: Path) -> None:
    check_page(DOC, project)


def test_every_recipe_on_the_page_loads_but_the_wrong_one(project: Path) -> None:
    recipes = [block for block in blocks(DOC) if block.attribute == "recipe"]
    for block in recipes:
        save(project, f"foreword/recipes/{block.value}.yaml", block.body)

    loaded = [load(block.value, project).name for block in recipes if block.value != "wrong"]
    assert loaded == [block.value for block in recipes if block.value != "wrong"]


def test_the_first_recipe_has_six_lines() -> None:
    first = next(block for block in blocks(DOC) if block.value == "first")
    assert len(first.body.splitlines()) == 6


def test_fragments_of_recipes_use_fields_that_exist() -> None:
    for block in blocks(DOC):
        if block.language == "yaml" and not block.attribute:
            assert yaml.safe_load(block.body).keys() <= field_names(schema.RecipeSpec)


def test_the_page_of_sources_works_from_top_to_bottom(project: Path) -> None:
    check_page(SOURCES, project)


def test_the_table_of_kinds_is_that_of_the_recipe() -> None:
    purposes = load("package").purposes
    head, *rows = table_under("The source of `package`", SOURCES, having="kind |")
    assert list(purposes) == head[1:]
    listed = set()
    for row in rows:
        kind = row[0].strip("`")
        listed.add(kind)
        assert row[1:] == [tier_of(kind, purpose) for purpose in purposes.values()]
    assert listed == set(chain.from_iterable(purposes["design"].tiers.values()))


def test_the_table_of_forms_is_that_of_the_engine() -> None:
    from foreword.section import FORMS

    listed = [row[0].strip("`") for row in table_under("3. What a section may become", DOC)[1:]]
    assert sorted(listed) == sorted(FORMS)


def test_the_table_of_state_keys_is_that_of_the_recipe() -> None:
    recipe = load("phases")
    listed = {row[0].strip("`") for row in table_under("The source of `phases`", SOURCES)[1:]}
    assert listed == {section.state for section in recipe.sections.values()}


def tier_of(kind: str, purpose: Any) -> str:
    return next((str(tier) for tier, kinds in purpose.tiers.items() if kind in kinds), "-")


def table_under(heading: str, page: Path, having: str = "") -> list[list[str]]:
    """The cells of the first table after a heading whose first line has that text."""
    after = re.split(rf"^#+ {re.escape(heading)}$", page.read_text("utf-8"), flags=re.MULTILINE)[1]
    tables = re.findall(r"(?:^\|.*\n)+", after, flags=re.MULTILINE)
    table = next(found for found in tables if having in found.splitlines()[0])
    head, _, *rows = [cells(line) for line in table.splitlines()]
    return [head, *rows]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
