"""docs/caching.md: its example runs, and the reasons it explains are those the usage log gives."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from foreword.store import cuts
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "caching.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    check_page(PAGE, project)


def test_every_reason_of_a_cut_is_explained() -> None:
    text = PAGE.read_text("utf-8")
    for reason in get_args(cuts.CutReason):
        assert f"`{reason}`" in text
