"""docs/coding-agents.md: its commands run, and its events are answered as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from foreword.coding_agents import hooks, long_results
from foreword.faces.cli.init import KINDS
from tests.coding_agents.agent import CodingAgent, set_up
from tests.docs import pages

PAGE = Path(__file__).parents[2] / "docs" / "coding-agents.md"
LOG = "\n".join(
    f"reading {number} was taken at the pier and is {number % 7} metres" for number in range(5_000)
)


@pytest.fixture
def agent(tmp_path: Path) -> CodingAgent:
    ada = set_up(tmp_path / "ada")
    (ada.project / "foreword" / "recipes" / "coding.yaml").unlink()
    return ada


def test_the_page_works_from_top_to_bottom(agent: CodingAgent, tmp_path: Path) -> None:
    whole = PAGE.read_text("utf-8")
    first, second = whole.split("The hook answers with nothing")
    parts = {"before.md": first, "after.md": second}
    for name, text in parts.items():
        (tmp_path / name).write_text(text, "utf-8")
        pages.check_page(tmp_path / name, agent.project)
        check_events(tmp_path / name, agent)


def check_events(page: Path, agent: CodingAgent) -> None:
    """Every event through the hook; what it answers is what the block behind it shows."""
    blocks = list(pages.blocks(page))
    shown = [block for block in blocks if block.attribute.startswith(("event", "answer"))]
    for block, following in zip(shown, [*shown[1:], None], strict=True):
        if block.attribute == "answer":
            continue
        event = json.loads(block.body.replace("/home/ada", str(agent.home)))
        if block.attribute == "event large":
            event["tool_response"][block.value] = LOG
        ran = agent.hook(json.dumps(event).encode())
        expected = None
        if following and following.attribute == "answer":
            expected = json.loads(following.body)
        assert (ran.code, ran.err, agent.log) == (0, "", "")
        assert fits(json.loads(ran.out) if ran.out else None, expected), ran.out


def fits(answer: Any, shown: Any) -> bool:
    """Whether an answer is the one shown, `...` standing for anything."""
    if isinstance(answer, dict) and isinstance(shown, dict):
        if answer.keys() != shown.keys():
            return False
        return all(fits(answer[name], shown[name]) for name in answer)
    if isinstance(answer, str) and isinstance(shown, str):
        parts = re.split(r" ?[.]{3} ?", shown)
        pattern = ".*?".join(map(re.escape, parts))
        return re.fullmatch(pattern, answer, re.DOTALL) is not None
    return bool(answer == shown)


def test_the_figures_on_the_page_are_those_in_the_code() -> None:
    text = PAGE.read_text("utf-8")
    assert f"more than {long_results.BUDGET_TOKENS:,} tokens" in text
    assert f"after {hooks.TIMEOUT_SECONDS:g} seconds" in text
    assert all(f"`{kind}`" in text for kind in KINDS)
    assert all(f"`{tool}`" in text for tool in long_results.TEXTS)
