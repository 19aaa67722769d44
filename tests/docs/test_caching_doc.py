"""docs/caching.md: its example runs, and the reasons it explains are those the usage log gives."""

from __future__ import annotations

from pathlib import Path

from foreword.session import cache_reuse, call_memory, history_plan
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "caching.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    check_page(PAGE, project)


def test_every_reason_of_a_break_is_explained() -> None:
    text = PAGE.read_text("utf-8")
    for reason in (
        cache_reuse.FIRST,
        call_memory.COMPRESSED,
        call_memory.UNDONE,
        history_plan.LEFT_OUT,
        history_plan.SHORTENED,
        history_plan.SUMMARY_SHORTENED,
    ):
        assert f"`{reason}`" in text
