"""The page as a stranger meets it: what it is for, words explained where they stand, and nothing
out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import foreword
from tests.faces.http.running import Address, running, settings_for
from tests.faces.web.browsing import PHONE, tab
from tests.faces.web.scene import HOME, WORKFLOW

SENTENCE = "Foreword puts together what a model reads on every call"
LARGE = "/sessions/large"


def large_plan(changed: str = "pending") -> dict[str, Any]:
    """Two hundred tasks in ten phases, of which three are completed; task 45 is of the third."""

    def task(number: int) -> dict[str, Any]:
        done = number < 60 and number != 45
        return {
            "task_id": number,
            "description": f"Copy table {number}",
            "status": "completed" if done else "pending",
        }

    phases = list[dict[str, Any]]()
    for place in range(10):
        phase = {
            "phase_name": f"Part {place}",
            "status": "completed" if place < 3 else "pending",
            "tasks": [task(number) for number in range(20 * place, 20 * place + 20)],
        }
        phases.append(phase)
    phases[2]["tasks"][5]["status"] = changed
    return {"overall_goal": "Copy every table", "phases": phases}


@pytest.fixture(scope="module")
def large_plan_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A plan of two hundred tasks, and a variable with a name and a value without a place to
    break."""
    folder = tmp_path_factory.mktemp("wide")
    settings = settings_for(folder)
    with foreword.Session.open(settings.db, "large", root=folder) as session:
        session.update_plan(large_plan(), "all of it")
        session.update_plan(large_plan("completed"), "one more")
        session.set_variable("x" * 150, "y" * 3_000, "z" * 400)
    with running(settings) as (address, _):
        yield address


def test_the_first_page_says_in_a_sentence_what_this_is_for_and_shows_it_on_the_newest_call(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go("/")
        expect(page.locator(".lede")).to_contain_text(SENTENCE)
        expect(page.locator("#last")).to_contain_text("tokens")
        expect(page.locator("#last .key-list li").first).to_be_visible()
        expect(page.locator("#last .strip rect.part-6")).to_have_count(1)
        page.click("#last >> text=its report")
        expect(page.locator("h1")).to_contain_text("Report")


def test_a_store_with_nothing_in_it_shows_an_example(browser: Browser, tmp_path: Path) -> None:
    with running(settings_for(tmp_path)) as (address, _), tab(browser, address, PHONE) as opened:
        page = opened.go("/")
        expect(page.locator(".lede")).to_contain_text(SENTENCE)
        expect(page.get_by_role("group", name="What a model gets")).to_contain_text("an example")
        assert opened.overflow() <= 0


def test_the_newest_call_on_the_first_page_follows_the_agent(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as opened:
        page = opened.live("/")
        made = agent.context()
        expect(page.locator("#last .big .num")).to_have_text(f"{made.report.total_tokens:,}")
        expect(page.locator("#last h2")).to_contain_text(WORKFLOW)


def test_every_figure_of_the_monitor_says_what_it_means(browser: Browser, address: Address) -> None:
    with tab(browser, address) as opened:
        page = opened.go(HOME)
        figures = page.locator(".stats > div")
        for place in range(figures.count()):
            assert len(figures.nth(place).locator(".meaning").inner_text().split()) > 3
        expect(page.locator(".stats")).to_contain_text("a prompt cache makes that part cheaper")
        summary = page.locator("#parts-meant summary")
        summary.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#parts-meant dl")).to_contain_text("its to-do list, as it stands now")


def test_every_size_in_the_inspector_has_its_unit_and_every_form_its_meaning(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go(f"{HOME}/context")
        sizes = page.locator(".section-size").all_inner_texts()
        assert sizes
        assert all(size.endswith(" tokens") for size in sizes)
        page.click("#forms-meant summary")
        expect(page.locator("#forms-meant dl")).to_contain_text("all of it, word for word")


def test_the_theme_is_named_also_where_only_its_icon_is_seen(
    browser: Browser, address: Address
) -> None:
    for size in (PHONE, (1280, 860)):
        with tab(browser, address, size) as opened:
            expect(opened.go("/").get_by_role("button", name="Theme: system")).to_be_visible()


@pytest.mark.parametrize(("path", "opener"), [(f"{HOME}/plan", "tick-3"), (HOME, "ask-compress")])
def test_a_form_that_is_left_gives_the_focus_back_to_what_opened_it(
    browser: Browser, address: Address, agent: foreword.Session, path: str, opener: str
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(path)
        for leave in ("Escape", "Enter"):
            page.locator(f"#{opener}").focus()
            page.keyboard.press("Enter")
            expect(page.locator("#change :focus, #compress :focus")).to_have_count(1)
            if leave == "Enter":
                page.locator("#cancel").focus()
            page.keyboard.press(leave)
            expect(page.locator("#cancel")).to_have_count(0)
            expect(page.locator(f"#{opener}")).to_be_focused()


@pytest.mark.parametrize("opener", ["tick-4", "status-4"])
def test_what_is_saved_by_keyboard_is_said_and_the_focus_goes_back_to_what_opened_the_form(
    browser: Browser, address: Address, agent: foreword.Session, opener: str
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(f"{HOME}/plan")
        page.locator(f"#{opener}").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#change :focus")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("#change .said")).to_be_visible()
        expect(page.locator(f"#{opener}")).to_be_focused()


def test_a_page_that_was_opened_with_a_form_has_a_focus_when_it_is_saved(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(f"{HOME}/plan?task=4")
        page.locator("#reason").press("Enter")
        expect(page.locator("#change .said")).to_be_focused()


def test_the_views_of_a_session_have_room_at_phone_width(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address, PHONE) as opened:
        page = opened.go(HOME)
        assert opened.overflow() <= 0
        tabs = page.locator(".tabs a")
        expect(tabs).to_have_count(7)
        for place in range(7):
            box = tabs.nth(place).bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE[0]


def test_of_a_large_plan_the_completed_phases_are_folded_but_not_what_has_just_changed(
    browser: Browser, large_plan_server: Address
) -> None:
    with tab(browser, large_plan_server, PHONE) as opened:
        page = opened.go(f"{LARGE}/plan")
        expect(page.locator("#tick-3")).to_be_hidden()
        expect(page.locator("#tick-45")).to_be_visible()
        expect(page.locator("#tick-61")).to_be_visible()
        page.click("#plan details summary")
        expect(page.locator("#tick-3")).to_be_visible()
        page.click("text=Version 2 of 2")
        expect(page.locator("#versions")).to_be_in_viewport()
        assert opened.overflow() <= 0


def test_a_long_name_of_a_variable_leaves_its_value_in_sight(
    browser: Browser, large_plan_server: Address
) -> None:
    with tab(browser, large_plan_server, PHONE) as opened:
        page = opened.go(f"{LARGE}/variables")
        box = page.locator(".pairs .value").first.bounding_box()
        assert box
        assert box["x"] + box["width"] <= PHONE[0]
        assert opened.overflow() <= 0
