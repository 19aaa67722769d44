"""What a text leads with."""

from __future__ import annotations

import pytest

from foreword.text.lead import lead

REST = "\n\nMore of it follows here, and then some more."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The lane is shut. Nobody knows why.", "The lane is shut."),
        ("# Lanes\n\nThe lane is shut. Nobody knows why.", "# Lanes\n\nThe lane is shut."),
        (f"Use a rope, e.g. a red one.{REST}", "Use a rope, e.g. a red one."),
        (f"Ropes are red. Except on Fridays. Ask.{REST}", "Ropes are red. Except on Fridays."),
        (f"- The first lane\n- The second lane{REST}", "- The first lane"),
        (f"It must have:\n\n- a rope\n- a float{REST}", "It must have:\n\n- a rope"),
        (f"*Red. Dry. Cheap.* Take three.{REST}", "*Red. Dry. Cheap.*"),
        (
            f"# Lanes\n\n:::{{warning}}\nThe lane is shut. Wait.\n:::{REST}",
            "# Lanes\n\n[...]\n\nThe lane is shut.",
        ),
        (
            f"(lanes)=\n\n# Lanes\n\n```sh\nswim\n```\n\nThe lane is shut. Wait.{REST}",
            "(lanes)=\n\n# Lanes\n\n```sh\nswim\n```\n\nThe lane is shut.",
        ),
    ],
)
def test_a_text_leads_with_its_first_sentence(text: str, expected: str) -> None:
    assert lead(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (
            f".. _lanes:\n\nLanes\n=====\n\n.. module:: pool\n\nIt is shut. Wait.{REST}",
            "rst",
            ".. _lanes:\n\nLanes\n=====\n\n.. module:: pool\n\nIt is shut.",
        ),
        (
            f"Lanes\n~~~~~\n\n.. note::\n\n   {'Bring a towel. ' * 9}\n\nIt is shut. Wait.{REST}",
            "rst",
            "Lanes\n~~~~~\n\n[...]\n\nIt is shut.",
        ),
        (f"= Lanes\n\nIt is shut. Wait.{REST}", "asciidoc", "= Lanes\n\nIt is shut."),
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n",
        "```python\nx = 1\n```\n\nAfter it.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        '{\n  "lane": 1\n}\n',
        "2026-05-01 10:00 lane shut\n2026-05-01 10:01 lane open\n",
        "It must have:\n\n```\na rope\n```\n",
        "The lane is shut.",
        "",
    ],
)
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
