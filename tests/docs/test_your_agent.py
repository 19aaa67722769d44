"""docs/your-agent.md: the loop on the page is the loop that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.warm_process import run_program

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "# --- the loop: what the page shows ---\n", "# --- the end of the loop ---"


def test_the_page_shows_the_loop_as_it_is() -> None:
    program = (DOCS / "your-agent.py").read_text("utf-8")
    loop = program.partition(BEGIN)[2].partition(END)[0].strip()
    (shown,) = re.findall(r"```python\n(.*?)```", (DOCS / "your-agent.md").read_text("utf-8"), re.S)
    assert shown.strip() == loop


def test_the_loop_stays_inside_its_budget_and_recalls_what_it_no_longer_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    program = (DOCS / "your-agent.py").read_text("utf-8")
    said = run_program(program, folder=tmp_path)
    sizes = [int(size.replace(",", "")) for size in re.findall(r"^ *([\d,]+) tokens", said, re.M)]
    assert len(sizes) == 9
    assert max(sizes) <= 4_000
    last = said.partition("\nsystem_prompt:")[0].splitlines()[-1]
    assert last.endswith("The glaze of the bowls has cracked at 1101.")
    assert "summed up: not in" in said
