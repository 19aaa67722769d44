"""docs/reference is what the code says, and every link in the documentation leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.reference import FOLDER, pages
from foreword.recipe import schema
from foreword.recipe.load import json_schema

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# what is shown and not meant: blocks, and examples in quotes in a table
FENCE = re.compile(r'^```.*?^```$|(?<=^\| )"[^"\n]*"', re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_reference_is_what_make_reference_writes() -> None:
    written = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    now = {name: text.rstrip("\n") + "\n" for name, text in pages().items()}
    assert sorted(written) == sorted(now)
    outdated = [name for name in now if written[name] != now[name]]
    assert outdated == [], "make reference"


def test_every_field_of_a_recipe_is_explained() -> None:
    described = json_schema()
    parts = {schema.RecipeSpec.__name__: described, **described["$defs"]}
    for name, part in parts.items():
        for field, says in part.get("properties", {}).items():
            assert says.get("description"), f"{name}.{field}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if heading:
            assert heading in headings(there), target


def headings(page: Path) -> set[str]:
    """The names under which links reach the headings of a page, as GitHub makes them."""
    found = set[str]()
    for title in HEADING.findall(FENCE.sub("", page.read_text("utf-8"))):
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(name)
    return found
