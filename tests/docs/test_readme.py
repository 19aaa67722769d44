"""README.md: what it shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

from foreword.demos import samples
from foreword.faces.cli.main import COMMANDS
from tests.docs.pages import check_page

README = Path(__file__).parents[2] / "README.md"


def test_every_command_and_example_works_on_the_sample(tmp_path: Path) -> None:
    check_page(README, samples.lay_out(tmp_path / "sample"))


def test_every_command_is_in_the_table() -> None:
    table = README.read_text("utf-8").partition("## Commands")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`(\w+)", table))
    assert set(COMMANDS) <= listed
