"""docs/repository.md: its examples run, and what it says is read is what is read."""

from __future__ import annotations

from pathlib import Path

from foreword.repository import file_tree
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "repository.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    check_page(PAGE, project)


def test_the_limits_are_those_of_the_code() -> None:
    text = PAGE.read_text("utf-8")

    assert f"{file_tree.MOST_FILES:,} files" in text
    assert f"files over {file_tree.LARGEST_BYTES // 1_000_000} MB" in text
