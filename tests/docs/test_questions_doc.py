"""docs/questions.md: its examples run."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    project = tmp_path / "project"
    notes = project / "notes"
    notes.mkdir(parents=True)
    (notes / "cache.md").write_text("# Cache\n\nThe cache is in Redis.\n")
    (notes / "tea.md").write_text("# Tea\n\n" + "Tea is warm. " * 300)
    check_page(PAGE, project)
