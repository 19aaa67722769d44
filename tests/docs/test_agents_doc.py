"""docs/agents.md: everything it shows happens, on the sample it tells to lay out."""

from __future__ import annotations

from pathlib import Path

from foreword.faces.cli import demo
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    check_page(PAGE, demo.lay_out(tmp_path / "tidepool", demo.FACTORY))
