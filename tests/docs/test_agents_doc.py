"""docs/agents.md: everything it shows happens, on the sample it tells to lay out."""

from __future__ import annotations

from pathlib import Path

from foreword.demos import samples
from foreword.review.verdict import BASE_CONFIDENCE, PENALTIES
from foreword.sources.references import references_in
from tests.docs.pages import check_page

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    check_page(PAGE, samples.lay_out(tmp_path / "tidepool", samples.FACTORY))


def test_what_it_says_about_confidence_is_what_is_worked_out() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"The confidence in a change is {BASE_CONFIDENCE}, less" in text
    for severity in ("critical", "high", "medium", "low"):
        assert f"{PENALTIES[severity]} for each {severity}" in text


def test_every_way_to_name_something_in_a_phase_is_one() -> None:
    table = (
        PAGE.read_text("utf-8")
        .partition("A phase names what it needs")[2]
        .partition("`foreword lint` reads")[0]
    )
    ways = [
        row.split(" | ")[0].removeprefix("| ")
        for row in table.splitlines()
        if row.startswith(("| `", '| "'))
    ]
    lines = [
        line
        for way in ways
        for line in (way.strip("`").split("`, `") if way[0] == "`" else [way.strip('"')])
    ]
    assert len(lines) == 8
    assert [line for line in lines if not list(references_in(line))] == []
