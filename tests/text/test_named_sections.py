"""Sections by the name of their heading, however people write it."""

from __future__ import annotations

import pytest

from foreword.text.named_sections import section_text, text_without_sections
from tests.corpus import rows

TITLES = ("Decisions", "Locked", "Flexible", "Deferred", "Non-negotiables", "Decided")
BODY = "### Locked\n\n- Use SQLite"


@pytest.mark.parametrize("heading", rows("documents/headings.jsonl"))
def test_a_heading_is_found_however_it_is_written(heading: str) -> None:
    body = BODY if heading.startswith(("#", "D", "<")) else "- Use SQLite"
    text = f"# Step\n\nBuild it.\n\n{heading}\n\n{body}\n\n# Tasks\n\n- one\n"
    assert section_text(text, TITLES) == body
    assert text_without_sections(text, TITLES) == "# Step\n\nBuild it.\n\n# Tasks\n\n- one\n"


@pytest.mark.parametrize(
    "heading",
    ["## Open decisions", "## How we reach decisions", "## Locked out users", "## Undecided"],
)
def test_a_heading_of_something_else_is_not_taken_for_it(heading: str) -> None:
    text = f"# Step\n\n{heading}\n\nWords.\n"
    assert section_text(text, TITLES) is None
    assert text_without_sections(text, TITLES) == text


def test_what_stands_in_for_a_title_keeps_its_heading() -> None:
    text = (
        "# Step\n\n## Locked\n\n- Use SQLite\n\n## Notes\n\nn\n\n## Deferred decisions\n\n- Later\n"
    )
    assert section_text(text, TITLES) == (
        "## Locked\n\n- Use SQLite\n\n## Deferred decisions\n\n- Later"
    )
    assert text_without_sections(text, TITLES) == "# Step\n\n## Notes\n\nn\n"


def test_several_sections_are_all_taken_and_nested_ones_once() -> None:
    text = "## Decisions\n\n### Locked\n\n- a\n\n## Design\n\nd\n\n## User decisions\n\n- b\n"
    assert section_text(text, TITLES) == (
        "## Decisions\n\n### Locked\n\n- a\n\n## User decisions\n\n- b"
    )


@pytest.mark.parametrize("heading", ["## Decisions", "<h2>Decisions</h2>", "Decisions:\n- a"])
def test_a_heading_in_a_fence_is_none(heading: str) -> None:
    assert section_text(f"```\n{heading}\n```\n\ntext\n", TITLES) is None


@pytest.mark.parametrize("section", rows("documents/decisions.jsonl"))
def test_decisions_in_a_quote_a_list_or_under_another_word_are_found(section: str) -> None:
    text = f"# Step\n\n{section}\n\n## Tasks\n\n> # Locked out\n\n- one\n"
    found = section_text(text, TITLES)
    assert found is not None
    assert "Use SQLite" in found
    assert "one" not in found
    rest = text_without_sections(text, TITLES)
    assert "Use SQLite" not in rest
    assert "## Tasks\n\n> # Locked out\n\n- one\n" in rest


def test_a_heading_in_a_quote_ends_nothing_outside_of_it() -> None:
    text = "## Decisions\n\n> # Locked\n> see below\n\n- Use SQLite\n"
    assert section_text(text, TITLES) == "> # Locked\n> see below\n\n- Use SQLite"


def test_a_label_is_a_heading_of_its_list_alone() -> None:
    text = "# Step\n\nDecisions:\n- Use SQLite\n\nThen build it.\n"
    assert section_text(text, TITLES) == "- Use SQLite"
    assert text_without_sections(text, TITLES) == "# Step\n\nThen build it.\n"
    assert section_text("# Step\n\nDecisions:\n\nWe will see.\n", TITLES) is None


@pytest.mark.parametrize(
    "heading",
    ["## Entscheidungen", "## Décisions", "## 決定事項"],
)
def test_a_heading_in_another_language_is_found_by_its_own_title_alone(heading: str) -> None:
    text = f"# Schritt\n\n{heading}\n\n- In Cent.\n\n## Aufgaben\n\n- Eine.\n"
    assert section_text(text, ["Decisions", "Locked"]) is None
    assert section_text(text, [heading.removeprefix("## ")]) == "- In Cent."


def test_a_heading_that_says_of_which_kind_stays_with_what_is_below_it() -> None:
    text = "# Step\n\n## Locked decisions\n\n- In cents.\n"
    assert section_text(text, ["Decisions", "Locked"]) == "## Locked decisions\n\n- In cents."
    assert (
        section_text(text.replace("Locked d", "User d"), ["Decisions", "Locked"]) == "- In cents."
    )
