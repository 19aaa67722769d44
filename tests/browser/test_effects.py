"""What happened is told as it happened: clicks whose answer is late, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foreword.browser import Browser
from foreword.errors import BrowserFailed
from tests.browser.post_office import PostOffice
from tests.browser.working import until

ACTION_SECONDS = 0.8
HOLD_SECONDS = 1.0  # longer than an action may take


@pytest.fixture
def browser(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    rules = replace(browser.rules, action_seconds=ACTION_SECONDS)
    monkeypatch.setattr(browser, "rules", rules)
    monkeypatch.setattr("foreword.browser.browser_errors.ANSWER_SECONDS", 0.8)
    return browser


def test_a_click_whose_form_is_answered_late_is_a_click_and_posts_once(
    browser: Browser, office: PostOffice
) -> None:
    browser.navigate(office.url)
    office.answering.clear()
    office.hold_seconds = HOLD_SECONDS
    result = browser.click("#send")

    assert (result["title"], "loading" in result) == ("Posted", False)
    assert office.posts == 1


def test_while_the_next_page_does_not_answer_nothing_is_done_on_the_last_one(
    browser: Browser, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(office.url)
    monkeypatch.setattr(browser, "rules", replace(browser.rules, page_seconds=0.5))
    office.answering.clear()
    assert browser.click("#send")["loading"] == "clicked; the page is still loading"

    for act in (browser.click, browser.extract):
        with pytest.raises(BrowserFailed, match="nothing was done: the tab 'Main Tab' is") as late:
            act("#send")
        assert not late.value.may_have_happened
    office.answering.set()
    assert browser.wait("h1")["title"] == "Posted"
    assert office.posts == 1


def test_a_tab_that_a_form_opens_is_waited_for_though_its_answer_is_late(
    browser: Browser, office: PostOffice
) -> None:
    browser.navigate(f"{office.url}/apart")
    office.answering.clear()
    office.hold_seconds = HOLD_SECONDS
    result = browser.click("#send")

    assert (result["opened"], "loading" in result) == (["Posted"], False)
    assert office.posts == 1


def test_that_a_tab_does_not_come_in_its_time_is_told(
    browser: Browser, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{office.url}/apart")
    monkeypatch.setattr(browser, "rules", replace(browser.rules, page_seconds=0.5))
    office.answering.clear()

    late = browser.click("#send")["loading"]
    office.answering.set()
    assert late == "clicked; a tab that it has opened is still loading"
    until(lambda: len(browser.tabs()) == 2)
    assert office.posts == 1


def test_pages_that_a_script_brings_late_are_pages_of_the_list(
    browser: Browser, office: PostOffice
) -> None:
    browser.navigate(f"{office.url}/pager")
    office.answering.clear()
    office.hold_seconds = HOLD_SECONDS
    rows = []
    while browser.perform("next_page", {"selector": "#next"})["next"]:
        rows += browser.extract("li", many=True)["found"]

    assert rows == [f"row {number}" for number in range(21, 61)]


def test_scrolling_to_the_end_waits_for_rows_that_come_late_inside_of_a_box(
    browser: Browser, office: PostOffice
) -> None:
    office.answering.clear()
    office.hold_seconds = HOLD_SECONDS
    browser.navigate(f"{office.url}/feed")
    browser.perform("scroll", {"to": "end"})

    assert len(browser.extract("li", many=True)["found"]) == 60


def test_a_click_that_found_nothing_is_known_not_to_have_happened(
    browser: Browser, office: PostOffice
) -> None:
    browser.navigate(office.url)

    with pytest.raises(BrowserFailed) as failure:
        browser.click("#nothing")
    assert not failure.value.may_have_happened
