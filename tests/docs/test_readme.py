"""README.md and the pages beside it that belong to no room: what they show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foreword.demos import samples
from foreword.faces.cli.main import COMMANDS
from tests.docs.pages import check_page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/contexts.md", "docs/conversations.md"])
def test_every_command_and_example_works_on_the_sample(page: str, tmp_path: Path) -> None:
    check_page(ROOT / page, samples.lay_out(tmp_path / "sample"))


def test_every_command_is_in_the_table() -> None:
    table = (ROOT / "docs" / "commands.md").read_text("utf-8")
    listed = set(re.findall(r"`(\w+)", table))
    assert set(COMMANDS) <= listed


def test_a_stranger_has_read_the_readme_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 170
