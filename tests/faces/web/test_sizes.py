"""How large a call is: the same figure, of the same whole, wherever the page shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import foreword
from tests.faces.http.running import Address, running, session_path, settings_for
from tests.faces.web.browsing import DESKTOP, tab
from tests.sessions import numbered_message

NARROW = (390, 844)
TOOL = {
    "name": "look",
    "description": "Look at a berth. " * 200,
    "input_schema": {"type": "object"},
}
# Each session with how it is opened, and what its sizes are shares of.
SESSIONS: dict[str, tuple[dict[str, Any], int]] = {
    "budget-1": ({"budget": 2_500}, 2_500),
    "window-1": ({"window": 32_000}, 32_000),
    "tight-1": ({"budget": 2_500, "warn_at": 2_490}, 2_500),
    "tools-1": ({"budget": 4_000, "tools": [TOOL]}, 4_000),
    "neither-1": ({}, 200_000),
}


@pytest.fixture(scope="module")
def sizes_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A server over sessions of every kind of limit, those with a budget cut to it."""
    folder = tmp_path_factory.mktemp("sizes")
    settings = settings_for(folder)
    for name, (options, _) in SESSIONS.items():
        with foreword.Session.open(settings.db, name, root=folder, **options) as session:
            for number in range(40):
                session.append(numbered_message(number, 60))
                if number % 10 == 9:
                    session.context()
    with running(settings) as (address, _):
        yield address


def shown(address: Address, path: str) -> str:
    """The words of a page, one space between them."""
    text = re.sub(r"<[^>]+>", " ", address.ask("GET", path).body.decode())
    return re.sub(r"\s+", " ", text)


def short(count: int) -> str:
    return f"{count / 1_000:g}K"


def test_a_size_is_a_share_of_the_budget_or_else_of_the_window_in_every_view(
    sizes_server: Address,
) -> None:
    every_session = shown(sizes_server, "/")
    every_report = shown(sizes_server, "/reports")
    for name, (options, whole) in SESSIONS.items():
        state = sizes_server.ask("GET", session_path(name)).json
        log = sizes_server.ask("GET", session_path(name, "usage")).json["log"]
        assert state["limits"]["budget"] == options.get("budget")
        history = re.search(rf" {name} .*? of ([\d.]+K) ", every_session)
        assert history
        assert history[1] == short(whole)
        assert f"of {whole:,} tokens" in shown(sizes_server, f"/sessions/{name}")
        assert f"of {short(whole)} " in shown(sizes_server, f"/sessions/{name}/chat")
        number = log[0]["report"]
        assert f"of {whole:,} tokens" in shown(sizes_server, f"/reports/{number}")
        report = re.search(rf" {number} · .*? of ([\d.]+K) ", every_report)
        assert report
        assert report[1] == short(whole)
    assert f"of {whole:,} tokens" in every_session  # what the model got last


def _number(text: str) -> int:
    return int(text.split()[0].replace(",", ""))


def _sum(page: Page, cells: str) -> int:
    return sum(map(_number, page.locator(cells).all_inner_texts()))


def test_with_the_tools_the_rows_add_up_to_the_total_in_every_view(
    browser: Browser, sizes_server: Address
) -> None:
    log = sizes_server.ask("GET", session_path("tools-1", "usage")).json["log"]
    call = log[0]
    total = call["total_tokens"] + call["tool_tokens"]
    assert call["tool_tokens"] > 500
    with tab(browser, sizes_server) as opened:
        page = opened.go("/sessions/tools-1")
        whole = _number(page.locator(".big .num").inner_text())
        assert _sum(page, ".legend tbody tr:not(.free) td:nth-child(2)") == whole
        assert _sum(page, ".legend tbody tr td:nth-child(2)") == 4_000
        newest = page.locator("section[aria-labelledby=calls] tbody tr").first
        assert _number(newest.locator("td.num").first.inner_text()) == total
        page = opened.go("/sessions/tools-1/context?budget=3500")
        assert _sum(page, ".section-size") == whole
        assert f"{whole:,} tokens in" in page.inner_text("#next")
        rows = page.locator("#refit tbody tr").all_inner_texts()
        assert [row.split("\t")[0] for row in rows] == [
            "Tool definitions",
            "Conversation history",
            "Total",
            "Left out",
        ]
        page = opened.go(f"/reports/{call['report']}")
        assert _number(page.locator(".big .num").inner_text()) == total
        assert _sum(page, "section[aria-labelledby=sections] td:nth-child(3)") == total
        page = opened.go(f"/reports/compare?old={log[1]['report']}&new={call['report']}")
        assert f"to {total:,}" in page.inner_text("#compared .big")
        assert _sum(page, "#compared td:nth-child(3)") == total
    state = sizes_server.ask("GET", session_path("tools-1")).json
    assert state["size_tokens"] == pytest.approx(whole, rel=0.01)


def test_no_label_of_an_axis_is_over_another(browser: Browser, sizes_server: Address) -> None:
    for size in (DESKTOP, NARROW):
        with tab(browser, sizes_server, size) as opened:
            for name in SESSIONS:
                page = opened.go(f"/sessions/{name}")
                assert page.evaluate(OVERLAPS) == [], (name, size)
                assert opened.overflow() <= 0


# Every pair of labels in the pictures that share a pixel of their lines, and every label that is
# out of the window.
OVERLAPS = """() => {
  const labels = [...document.querySelectorAll("svg text")].map(label => {
    const { left, right, top, bottom } = label.getBoundingClientRect();
    return { words: label.textContent, left, right, top: top + 1, bottom: bottom - 1 };
  });
  const isOver = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const isOut = ({ left, right }) => left < 0 || right > innerWidth;
  return labels
    .filter((one, place) => isOut(one) || labels.slice(0, place).some(other => isOver(one, other)))
    .map(({ words }) => words);
}"""
