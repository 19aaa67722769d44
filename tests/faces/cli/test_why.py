"""`foreword why`: the right answer for the right section, also where there are many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreword.context.explain import why
from foreword.errors import UnknownName
from foreword.section import handle_of
from tests.conformance.workshop import workshop

RECIPE = """\
name: mine
sections:
  notes: {files: "notes/*.md"}
  long: {file: LONG.md, forms: [full, gone]}
  short: {file: SHORT.md, stands_in_for: long, forms: [full]}
gives_way: [long, notes]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in {
        "foreword/recipes/mine.yaml": RECIPE,
        "notes/one.md": "# One\n\nThe first of two notes.\n",
        "LONG.md": "# Long\n\n" + "Many words are in this one. " * 40,
        "SHORT.md": "# Short\n\n" + "Fewer are in here. " * 20,
        "OTHER.md": "# Other\n\nNobody reads me.\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def explanation(root: Path, about: str, budget: int = 2_000) -> str:
    return why("mine", about, root=root, budget=budget).text


def test_a_section_goes_by_its_tag_its_path_its_file_name_and_its_handle(project: Path) -> None:
    handle = handle_of((project / "notes/one.md").read_bytes())
    answers = {
        explanation(project, about)
        for about in ("notes", "notes/one.md", "one.md", handle, f"{project}/notes/one.md")
    }
    assert len(answers) == 1
    assert "in, whole" in answers.pop()


def test_a_file_that_no_section_reads_is_told_so(project: Path) -> None:
    assert "no section of recipe 'mine' reads this file" in explanation(project, "OTHER.md")
    with pytest.raises(UnknownName):
        explanation(project, "NOWHERE.md")


def test_a_stand_in_that_is_not_in_says_whether_it_was_needed(project: Path) -> None:
    assert "it stands in for long, which is in by itself" in explanation(project, "short")
    assert "it stands in for long, and it did not fit" in explanation(project, "short", budget=60)


def test_many_sections_with_the_same_answer_are_told_together(tmp_path: Path) -> None:
    items = [
        {"kind": "learning", "title": f"Lesson {number}", "text": "word " * 9}
        for number in range(30)
    ]
    (tmp_path / "items.json").write_text(json.dumps({"items": items}))
    text = why(
        "package", "learnings", root=tmp_path, purpose="design", source="items.json", budget=9_000
    ).text
    assert text.splitlines()[0] == "learnings: in, whole (30 sections)"
    assert text.splitlines()[-1] == "  and 22 more"
    assert len(text.splitlines()) == 2 + 8 + 1


def test_items_that_share_their_title_each_have_their_own_size(tmp_path: Path) -> None:
    items = [
        {"kind": "learning", "title": "Same", "text": "word " * many, "source": "x"}
        for many in (10, 50)
    ]
    (tmp_path / "items.json").write_text(json.dumps({"items": items}))
    text = why(
        "package", "Same", root=tmp_path, purpose="design", source="items.json", budget=9_000
    ).text
    sizes = {line.split("(")[1].split()[0] for line in text.splitlines()[2:]}
    assert len(sizes) == 2


def test_of_a_document_that_is_only_looked_up_it_says_how(tmp_path: Path) -> None:
    answer = why("factory", "docs/firing.md", root=workshop(tmp_path), phase="3a").text
    assert answer.startswith("docs/firing.md: not in")
    assert "`foreword lookup firing`" in answer


def test_a_persona_may_be_in_as_its_header(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    (root / "personas/crew/smith.md").write_text(
        "# Smith\n\n## Role\n\nA smith.\n\n## More\n\n" + "hot iron\n" * 1_200
    )
    assert "in, as its header" in why("factory", "personas/crew/smith.md", root=root).text
