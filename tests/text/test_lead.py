"""What a text leads with."""

from __future__ import annotations

import pytest

from foreword.text.lead import lead
from tests.corpus import rows

REST = "\n\nMore of it follows here, and then some more."


@pytest.mark.parametrize(("text", "expected"), rows("documents/leads.jsonl"))
def test_a_text_leads_with_its_first_sentence(text: str, expected: str) -> None:
    assert lead(text) == expected


@pytest.mark.parametrize(("text", "kind", "expected"), rows("documents/leads_in_markup.jsonl"))
def test_documents_in_other_markup_lead_with_a_sentence(
    text: str, kind: str, expected: str
) -> None:
    assert lead(text, kind) == expected


def test_a_tag_that_opens_in_a_lead_also_closes_in_it() -> None:
    text = f"# Lanes\n\n<ROLE>You keep lanes. You like it.\n</ROLE>\n\nA lane is a rope.{REST}"
    found = lead(text)
    assert found is not None
    assert found.count("<ROLE>") == found.count("</ROLE>")
    assert found.endswith("A lane is a rope.")


def test_a_title_stays_where_what_is_under_it_gives_way_to_a_mark() -> None:
    comment = f"<!-- {'note ' * 60} -->"
    assert lead(f"# Lanes\n\n{comment}\n\nA lane is a rope.{REST}") == (
        "# Lanes\n\n[...]\n\nA lane is a rope."
    )


@pytest.mark.parametrize("text", rows("documents/without_lead.jsonl"))
def test_code_data_and_a_single_sentence_have_none(text: str) -> None:
    assert lead(text) is None


def test_a_lead_stands_under_its_own_heading_with_a_mark_in_every_gap() -> None:
    skill = (
        "---\nname: pump-care\ndescription: "
        + "Look after pumps. " * 8
        + "\n---\n\n# Pump care\n\n"
        "<ROLE>\nSomeone careful.\n</ROLE>\n\n## Before\n\nRead the gauge. Then knock on it.\n"
    )
    assert lead(skill) == "[...]\n\n# Pump care\n\n[...]\n\n## Before\n\nRead the gauge."
