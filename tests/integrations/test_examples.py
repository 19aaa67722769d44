"""The examples of `docs/integrations` whose packages are there anyway, each with the real SDK or
framework, against a provider on this machine; `make frameworks` runs the others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.integrations.example_runs import (
    EXAMPLES,
    FEW_LINES,
    FRAMEWORKS,
    LIGHT,
    ROOT,
    SMALL,
    check_conversation,
    run_adapters,
)

TURNS = 16  # enough to cross the budget of the examples twice


@pytest.mark.parametrize("example", LIGHT)
def test_a_conversation_with_the_real_framework_stays_within_its_budget(
    tmp_path: Path, example: str
) -> None:
    check_conversation(tmp_path, sys.executable, example, TURNS, SMALL)


@pytest.mark.parametrize("framework", ["openai", "pydantic-ai"])
def test_what_an_integration_has_beside_its_example_works(tmp_path: Path, framework: str) -> None:
    run_adapters(sys.executable, framework, tmp_path)


def test_every_example_is_run_by_somebody() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")} - {"practice"}
    others = {"claude_agent_run", "deep_agent"}
    assert names == {*LIGHT, *FRAMEWORKS.values(), *FEW_LINES.values(), *others}


def test_no_integration_is_longer_than_a_page_or_two() -> None:
    for path in (ROOT / "src" / "foreword" / "integrations").glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) < 150, path.name
