"""What is done on a page, what is told of it, and what is said when it can't be done."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from foreword.browser import Browser
from foreword.demos.site import ROWS, Site
from foreword.errors import BrowserFailed, UsageError
from tests.browser.working import sign_in


def test_a_form_is_filled_field_by_field(browser: Browser, desk: Site) -> None:
    sign_in(browser, desk, "/form")
    browser.type("#subject", "A new buoy")
    browser.type('role=textbox[name="From"]', "Ada")
    browser.type("#kind", "repair")
    browser.click("text=Urgent")
    result = browser.click('[data-testid="save"]')

    assert result["url"].startswith(f"{desk.url}/sent")
    assert desk.sent[-1] == {
        "subject": "A new buoy",
        "sender": "Ada",
        "kind": "repair",
        "note": "",
        "urgent": "yes",
    }


def test_rows_are_read_with_their_fields(browser: Browser, desk: Site) -> None:
    sign_in(browser, desk, "/list")
    fields = {
        "subject": "td.subject",
        "link": {"selector": "a", "attribute": "href"},
        "none": ".nothing",
    }
    found = browser.extract("tr.letter", fields, many=True)

    assert found["count"] == 5
    assert found["found"][0] == {
        "subject": ROWS[0]["subject"],
        "link": f"{desk.url}/letter/L-101",
        "none": None,
    }


def test_one_text_is_read_and_a_list_without_a_match_is_empty(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")

    assert browser.extract("h1")["found"] == "Tide table"
    empty = browser.extract(".nothing", many=True)
    assert empty["found"] == []
    assert empty["note"] == "nothing on the page matches '.nothing'"


def test_several_matches_for_one_are_an_error(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")

    with pytest.raises(BrowserFailed, match="'li' matches 2 elements, and one was asked for"):
        browser.extract("li")
    with pytest.raises(BrowserFailed, match="'li' matches 2 elements") as failure:
        browser.click("li")
    assert failure.value.hint == "name one of them, for example 'li >> nth=0'"


def test_a_missing_element_is_told_with_similar_ones_and_the_state_of_the_page(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/login")
    with pytest.raises(BrowserFailed) as failure:
        browser.click('role=button[name="Log in"]')

    assert str(failure.value).startswith(
        """nothing on the page matches 'role=button[name="Log in"]' within 1 s"""
    )
    assert """'role=button[name="Sign in"]'""" in str(failure.value)
    assert failure.value.state == {
        "tab": "Main Tab",
        "url": f"{desk.url}/login",
        "title": "Sign in - Harbour Desk",
    }


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ("#invisible", "'#invisible' is on the page and was not visible within 1 s"),
        ("css=[[", "the selector 'css=[[' can't be read"),
        ("role=", "the selector 'role=' can't be read"),
        ("nosuch=engine", "the selector 'nosuch=engine' can't be read"),
        (" ", "a selector is needed, not an empty text"),
        (
            "frame=iframe >> button",
            "nothing on the page matches 'frame=iframe >> button' within 1 s",
        ),
    ],
)
def test_what_is_wrong_with_an_element_is_said(
    browser: Browser, desk: Site, selector: str, words: str
) -> None:
    browser.navigate(f"{desk.url}/hidden")

    with pytest.raises(BrowserFailed) as failure:
        browser.click(selector)
    assert str(failure.value).startswith(words)


def test_what_is_typed_is_in_no_error(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/hidden")
    for selector in ("#nothing", "#invisible", "css=[[", "button"):
        with pytest.raises(BrowserFailed) as failure:
            browser.type(selector, "my-own-pass-77")
        error = f"{failure.value} {failure.value.hint} {json.dumps(failure.value.state)}"
        assert "my-own-pass-77" not in error


def test_a_choice_that_is_not_there_is_told_with_those_that_are(
    browser: Browser, desk: Site
) -> None:
    sign_in(browser, desk, "/form")

    with pytest.raises(
        BrowserFailed, match="'#kind' has no such choice; it has: booking, repair, money, other"
    ):
        browser.type("#kind", "boats")


def test_elements_in_frames_and_shadow_roots_can_be_used(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/frames")
    browser.click("#read")

    assert browser.extract("output")["found"] == "2.4 m"
    assert browser.extract('frame=iframe[title="Tides"] >> h1')["found"] == "Tide table"


def test_waiting_for_an_address_takes_a_part_of_it_or_a_pattern(
    browser: Browser, desk: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{desk.url}/moving")
    browser.click("#push")

    assert browser.wait(url="/moved/")["url"] == browser.wait(url="*/on")["url"]
    monkeypatch.setattr(browser, "rules", replace(browser.rules, page_seconds=0.5))
    with pytest.raises(
        BrowserFailed, match=r"the address did not become '/elsewhere' within 0\.5 s; it"
    ):
        browser.wait(url="/elsewhere")


@pytest.mark.parametrize(
    "wrong", [{}, {"selector": "a", "seconds": 1.0}, {"seconds": -1.0}, {"seconds": 1e9}]
)
def test_waiting_for_nothing_or_too_much_is_refused(
    browser: Browser, wrong: dict[str, float]
) -> None:
    with pytest.raises(UsageError):
        browser.wait(**wrong)  # type: ignore[arg-type]


def test_dialogs_are_answered_and_told(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/dialogs")

    result = browser.click("#confirm")
    assert result["dialogs"] == [
        {"type": "confirm", "message": "Empty the basin?", "answer": "dismissed"}
    ]
    assert browser.extract("#told")["found"] == "confirmed: false"
    assert browser.click("#alert")["dialogs"][0]["message"] == "High water at noon"


def test_a_page_that_asks_before_it_is_left_is_left(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/dialogs")
    browser.click("#leave")
    result = browser.navigate(f"{desk.url}/help")

    assert result["url"] == f"{desk.url}/help"
    assert result["dialogs"][0]["answer"] == "left the page"


def test_a_page_of_a_server_that_failed_is_told_with_its_status(
    browser: Browser, desk: Site
) -> None:
    assert browser.navigate(f"{desk.url}/broken")["status"] == 500
    assert browser.click("text=Dashboard")["title"] != "Something went wrong - Harbour Desk"


def test_a_page_with_a_broken_script_can_still_be_used(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/script-error")

    assert browser.click("#fail")["title"] == "Script error - Harbour Desk"


def test_any_thread_may_call_and_one_thing_is_done_at_a_time(browser: Browser, desk: Site) -> None:
    names = [f"Tab of {number}" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: browser.open_tab(f"{desk.url}/help", name=name), names))
        titles = list(pool.map(lambda name: browser.extract("h1", tab=name)["found"], names))

    assert titles == ["Tide table"] * 4
    assert {tab["name"] for tab in browser.tabs()} == {"Main Tab", *names}
