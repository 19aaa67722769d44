"""docs/agents.md and agent-files.md: everything they show happens, on the sample."""

from __future__ import annotations

from pathlib import Path

from foreword.demos import samples
from foreword.sources.references import references_in
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
FILES = PAGE.with_name("agent-files.md")


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    check_page(PAGE, samples.lay_out(tmp_path / "tidepool", samples.FACTORY))


def test_every_way_to_name_something_in_a_phase_is_one() -> None:
    _, _, behind = FILES.read_text("utf-8").partition("A phase names what it needs")
    table, _, _ = behind.partition("`foreword lint` reads")
    ways: list[str] = []
    for row in table.splitlines():
        first_cell = row.split(" | ")[0].removeprefix("| ")
        if row.startswith("| `"):
            ways += first_cell.strip("`").split("`, `")
        elif row.startswith('| "'):
            ways.append(first_cell.strip('"'))
    assert len(ways) == 8
    assert [way for way in ways if not list(references_in(way))] == []
