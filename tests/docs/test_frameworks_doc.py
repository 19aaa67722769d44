"""docs/frameworks.md: the example of its check of requests runs."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import blocks, run_python

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"


def test_the_example_that_is_meant_to_run_does(tmp_path: Path) -> None:
    (example,) = [block for block in blocks(PAGE) if block.attribute == "run"]
    output, code = run_python(tmp_path, example.body)
    assert code == 0, output
