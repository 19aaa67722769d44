"""docs/director.md: a newcomer's way from nothing to a workflow that runs, gone with the
scripted model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from foreword.demos.scripted_model import scripted_model
from foreword.demos.site import site
from foreword.director.tool_table import TOOLS
from foreword.plan.action_words import markdown_table
from foreword.testing import fake_provider
from tests.docs.pages import check_page
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand

PAGE = Path(__file__).parents[2] / "docs" / "director.md"
SITE = "http://127.0.0.1:8123"
BROWSER = "http://127.0.0.1:9222"
# The commands that try a selector which matches nothing.
FAILING = re.compile(r"^(\$ foreword director (?:chat|run) letters)\b", re.MULTILINE)


@contextmanager
def shared_browser(root: Path) -> Iterator[str]:
    process = ForkedCommand(["browser", "start", "--root", root])
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def test_the_page_works_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with (
        site() as served,
        fake_provider(scripted_model(served.url, pages=1)) as provider,
        shared_browser(project) as address,
    ):
        monkeypatch.setenv("FOREWORD_DIRECTOR_MODEL", provider.openai)
        page = tmp_path / PAGE.name
        text = PAGE.read_text("utf-8").replace(SITE, served.url).replace(BROWSER, address)
        page.write_text(FAILING.sub(r"\1 --action-seconds 2", text), "utf-8")
        check_page(page, project)
        sent = list(served.sent)
        requests = str(provider.requests)
    assert len(sent) == 5 + 5 + 5  # the director's run, the repaired one, and that of the copy
    assert {(row["urgent"], row["note"]) for row in sent} == {("", "")}
    assert "harbour-7" not in requests


def test_every_tool_it_names_is_one() -> None:
    text = PAGE.read_text("utf-8")
    pattern = r"(?:^|^scout-1 )([a-z_]+)\(|director call letters ([a-z_]+)"
    tools = set()
    for call, command in re.findall(pattern, text, re.MULTILINE):
        tools.add(call or command)
    assert len(tools) > 5
    assert tools <= set(TOOLS)


def test_every_type_of_node_is_in_the_table_with_all_that_it_takes() -> None:
    assert markdown_table() in PAGE.read_text("utf-8")
