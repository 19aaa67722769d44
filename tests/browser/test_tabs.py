"""Which tabs are open, what they are called, where they are and which one is active."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from foreword.browser import Browser, Rules
from foreword.demos.site import Site
from foreword.errors import BrowserFailed
from tests.browser.working import in_the_page, sign_in, until


def test_the_address_is_the_one_after_all_redirects(browser: Browser, desk: Site) -> None:
    browser.navigate(desk.url)

    assert browser.tabs()[0]["url"] == f"{desk.url}/login?next=/dashboard"


def test_the_address_follows_a_page_that_changes_it_itself(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/moving")
    result = browser.click("#push")

    assert result["url"] == browser.tabs()[0]["url"] == f"{desk.url}/moved/on"


def test_a_link_to_a_new_tab_gives_a_tab_with_the_name_of_its_title(
    browser: Browser, desk: Site
) -> None:
    sign_in(browser, desk)
    result = browser.click("#letters")

    assert result["opened"] == ["Letters - Harbour Desk"]
    assert browser.tabs() == [
        {"name": "Main Tab", "url": f"{desk.url}/dashboard", "active": False},
        {"name": "Letters - Harbour Desk", "url": f"{desk.url}/list", "active": True},
    ]


def test_two_tabs_never_have_the_same_name(browser: Browser, desk: Site) -> None:
    sign_in(browser, desk)
    browser.click("#letters", tab="Main Tab")
    browser.click("#letters", tab="Main Tab")
    browser.open_tab(f"{desk.url}/help", name="Main Tab")

    names = [tab["name"] for tab in browser.tabs()]
    assert names == [
        "Main Tab",
        "Letters - Harbour Desk",
        "Letters - Harbour Desk (2)",
        "Main Tab (2)",
    ]


def test_a_popup_is_a_tab_and_is_gone_when_it_closes_itself(browser: Browser, desk: Site) -> None:
    sign_in(browser, desk)
    browser.click("#help")
    assert [tab["active"] for tab in browser.tabs()] == [False, True]

    result = browser.click("text=Close", tab="Tide table - Harbour Desk")

    assert result["closed"] is True
    assert browser.tabs() == [{"name": "Main Tab", "url": f"{desk.url}/dashboard", "active": True}]


def test_a_tab_can_be_opened_activated_and_closed(browser: Browser, desk: Site) -> None:
    opened = browser.open_tab(f"{desk.url}/help", name="Tides")
    assert opened == {
        "tab": "Tides",
        "url": f"{desk.url}/help",
        "title": "Tide table - Harbour Desk",
    }

    assert browser.activate("Main Tab")["tab"] == "Main Tab"
    assert [tab["active"] for tab in browser.tabs()] == [True, False]

    assert browser.close_tab("Tides")["closed"] == "Tides"
    assert [tab["name"] for tab in browser.tabs()] == ["Main Tab"]


def test_the_last_tab_gives_way_to_an_empty_one(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")
    browser.close_tab("Main Tab")

    [only] = browser.tabs()
    assert only == {"name": "Main Tab", "url": "about:blank", "active": True}
    assert browser.navigate(f"{desk.url}/help")["title"] == "Tide table - Harbour Desk"


def test_an_unknown_tab_is_an_error_that_names_those_that_are_open(browser: Browser) -> None:
    with pytest.raises(BrowserFailed, match="no tab is called 'Man Tab'; open: ") as failure:
        browser.click("#a", tab="Man Tab")

    assert failure.value.hint.startswith("did you mean ")


def test_a_tab_that_comes_to_the_front_by_hand_is_the_active_one(
    desk: Site, whole_path: str, tmp_path: Path
) -> None:
    # Without all that draws a window, no tab is behind another.
    program = shutil.which("chromium", path=whole_path)
    with Browser.start(Rules(origins=(desk.url,)), folder=tmp_path, path=program) as browser:
        browser.navigate(f"{desk.url}/help")
        browser.open_tab(f"{desk.url}/moving", name="Other")
        chromium = browser._chromium
        assert chromium is not None
        first = chromium.tabs.by_name(browser.tabs()[0]["name"])
        # As by a click on the tab itself: nothing of ours is told about it.
        browser._thread.run(first.page.bring_to_front(), 10)

        until(lambda: [tab["active"] for tab in browser.tabs()] == [True, False])


def test_a_tab_opened_by_the_page_itself_much_later_is_seen(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")
    in_the_page(browser, "() => { setTimeout(() => open('/moving'), 50) }")

    until(lambda: browser.tabs()[-1]["name"] == "Moving - Harbour Desk")
    assert len(browser.tabs()) == 2


def test_an_old_name_still_finds_its_tab(browser: Browser, desk: Site) -> None:
    browser.open_tab(f"{desk.url}/help")
    first = browser.tabs()[-1]["name"]
    assert first == "Tide table - Harbour Desk"

    assert browser.state(tab="Tab 2")["tab"] == first
