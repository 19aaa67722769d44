"""Exploring and the snapshot see what Playwright's own accessibility snapshot sees, whatever a page
is built of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from foreword.browser import Browser, Rules, explore
from tests.browser.accessibility import ALL, controls_seen, missing
from tests.browser.structures import Structures, pages, structures
from tests.browser.working import counts

# `/loading` has no control, and is waited for in a test of its own.
PATHS = sorted(pages("").keys() - {"/loading"})


@pytest.fixture(scope="module")
def served() -> Iterator[Structures]:
    with structures() as served:
        yield served


@pytest.fixture(scope="module")
def browser(served: Structures, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(origins=(served.url, served.other), action_seconds=3, page_seconds=10)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as browser:
        yield browser


def _elements(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in found["elements"] if one["name"] == name]


@pytest.mark.parametrize("path", PATHS)
def test_every_control_of_the_accessibility_snapshot_is_found_and_its_selector_leads_there(
    browser: Browser, served: Structures, path: str
) -> None:
    browser.navigate(served.url + path)
    found = browser.explore("everything", limit=ALL)

    assert sum(controls_seen(browser).values()) > 0
    assert not missing(browser)
    selectors = [one["selector"] for one in found["elements"]]
    assert counts(browser, selectors) == [1] * len(selectors), selectors
    browser.navigate(served.url + path)  # and again on the page loaded anew
    again = browser.explore("everything", limit=ALL)
    assert [one["selector"] for one in again["elements"]] == selectors


@pytest.mark.parametrize("path", ["/slots", "/contents", "/no-height", "/frames"])
def test_the_snapshot_names_every_control_as_well(
    browser: Browser, served: Structures, path: str
) -> None:
    browser.navigate(served.url + path)
    text = browser.dom().text()

    for _, name in controls_seen(browser):
        assert name.split()[0] in text, name


def test_frames_in_frames_of_another_origin_have_the_way_into_them_in_their_selectors(
    browser: Browser, served: Structures
) -> None:
    browser.navigate(f"{served.url}/frames")
    found = browser.explore("everything", limit=ALL)
    [deep] = _elements(found, "Slotted action")

    assert deep["selector"] == (
        'frame=iframe[name="other"] >> frame=iframe[title="Deep"]'
        ' >> role=button[name="Slotted action"]'
    )
    assert browser.click(deep["selector"])["tab"] == "Main Tab"


def test_names_are_told_without_the_signs_of_icon_fonts(
    browser: Browser, served: Structures
) -> None:
    browser.navigate(f"{served.url}/icons")
    found = browser.explore("save everything")

    assert found["elements"][0]["name"] == "Save all"
    name = r"/^[\p{Co}\s]*Save[\p{Co}\s]+all[\p{Co}\s]*$/u"
    assert found["elements"][0]["selector"] == f"role=button[name={name}]"
    assert [one.get("icon") for one in _elements(found, "")] == ["fa-trash", "icon-gear"]
    assert {one["selector"] for one in _elements(found, "")} == {
        "button.fa-trash",
        "button:has(i.icon-gear)",
    }


def test_two_buttons_of_one_name_are_told_apart_by_what_is_around_them(
    browser: Browser, served: Structures
) -> None:
    browser.navigate(f"{served.url}/twins")
    found = browser.explore("everything")

    assert [one["in"] for one in _elements(found, "Edit")] == ["region Billing", "region Shipping"]
    assert [one["in"] for one in _elements(found, "Book")] == ["Morning", "Evening"]
    selectors = [one["selector"] for one in found["elements"]]
    assert 'role=region[name="Shipping"] >> role=button[name="Edit"]' in selectors
    assert 'tr:has(:text-is("Grace Hopper")) >> role=button[name="Remove"]' in selectors


@pytest.mark.parametrize(
    ("instruction", "name"),
    [
        ("login form", "Log in"),
        ("where do I sign in?", "Log in"),
        ("save or add the person", "Create"),
        ("dismiss it", "Cancel"),
    ],
)
def test_an_instruction_finds_what_means_the_same(
    browser: Browser, served: Structures, instruction: str, name: str
) -> None:
    browser.navigate(f"{served.url}/form")

    first = browser.explore(instruction)["elements"][:3]
    assert name in [one["name"] for one in first]


@pytest.mark.parametrize(
    ("instruction", "selector"),
    [
        ("add a user", 'a[href="/users/add"]'),
        (
            "delete the second entry",
            'tr:has(:text-is("Boat two")) >> button:has(:text-is("delete"))',
        ),
        ("run the 4th one", 'tr:has(:text-is("Boat four")) >> role=button[name="Run"]'),
        ("delete everything", 'role=button[name="Delete all"]'),
        ("archive the boats", 'select[name="action"]'),
        ("next page", 'role=link[name="\u203a"]'),
        ("submit", 'role=button[name="Log out"]'),
        ("by flag", 'summary:text-is("By flag")'),
    ],
)
def test_of_a_back_office_an_instruction_finds_the_one_that_is_meant_first(
    browser: Browser, served: Structures, instruction: str, selector: str
) -> None:
    browser.navigate(f"{served.url}/back-office")

    assert browser.explore(instruction)["elements"][0]["selector"] == selector


def test_the_fields_of_a_form_are_no_rows_and_neither_are_lines(
    browser: Browser, served: Structures
) -> None:
    browser.navigate(f"{served.url}/form")
    found = browser.explore("login form")

    assert [(rows["rows"], rows["like"]) for rows in found["rows"]] == [(60, "Ship 0 Open")]
    names = [one["name"] for one in found["elements"]]
    assert {"User name", "Password", "Pier", "Berth", "Flag", "Log in"} <= set(names[:8])
    assert names.count("Open") == 3
    assert found["more"] == "57 more elements"


def test_a_dialog_that_covers_the_page_is_told_with_what_is_behind_it(
    browser: Browser, served: Structures
) -> None:
    browser.navigate(f"{served.url}/dialog")
    found = browser.explore("delete the berth")

    assert found["covered"] == "a dialog covers the page: Delete the berth"
    assert found["elements"][0]["name"] == "Yes, delete"
    assert "covered" not in found["elements"][0]
    assert all(one["covered"] for one in found["elements"] if one["name"].startswith("Behind"))


def test_a_page_that_is_loading_is_waited_for_and_said_to_be(
    browser: Browser, served: Structures, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{served.url}/loading")
    with monkeypatch.context() as patch:
        patch.setattr(explore, "LOADING_SECONDS", 0.5)
        assert browser.explore("board")["loading"].startswith("the page is still loading")

    browser.navigate(f"{served.url}/late")
    late = browser.explore("anything")
    assert [one["name"] for one in late["elements"]] == ["Arrived"]
    assert "loading" not in late
