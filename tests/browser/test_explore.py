"""What is found on a page: the right elements first, each by a selector that works, and no
secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foreword.browser import Browser
from foreword.demos.site import Site
from foreword.errors import BrowserFailed
from tests.browser.working import in_the_page, sign_in
from tests.faulty_site import LARGE_ROWS


def _element(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The element of that name; there must be one."""
    return next(one for one in found["elements"] if one["name"] == name)


def test_the_elements_of_the_login_come_with_role_name_and_selector(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/login")
    found = browser.explore("sign in with the password")

    assert (found["url"], found["title"]) == (f"{desk.url}/login", "Sign in - Harbour Desk")
    assert found["headings"] == ["Sign in"]
    assert found["forms"][0]["fields"] == ["name", "password"]
    assert _element(found, "Name") == {
        "selector": 'role=textbox[name="Name"]',
        "role": "textbox",
        "name": "Name",
        "required": True,
    }
    assert _element(found, "Sign in")["selector"] == 'role=button[name="Sign in"]'
    assert {one["name"] for one in found["elements"][:2]} == {"Sign in", "Password"}


def test_an_alert_is_told(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/login")
    browser.type("#name", "ada")
    browser.type("#password", "wrong")
    with pytest.raises(BrowserFailed, match="status 401; the page says: Wrong name or password"):
        browser.click("text=Sign in >> nth=-1")

    assert browser.explore("what happened")["alerts"] == ["Wrong name or password."]


def test_rows_that_are_alike_are_one_entry_with_the_parts_of_the_first(
    browser: Browser, desk: Site
) -> None:
    sign_in(browser, desk, "/list")
    [rows] = browser.explore("read the letters")["rows"]

    assert (rows["rows"], rows["selector"]) == (
        5,
        '[data-testid="letters"] > tbody > tr.letter',
    )
    subject = {"selector": "td.subject", "text": "Berth for the Alma, 3 nights"}
    assert {"column": "Subject", **subject} in rows["cells"]
    fields = {"subject": "td.subject"}
    assert (
        browser.extract(rows["selector"], fields, many=True)["found"][4]["subject"]
        == "Lost: a green rope, 20 m"
    )


def test_what_is_invisible_is_not_there(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/hidden")
    names = {one["name"] for one in browser.explore("buttons")["elements"]}

    assert {"In plain sight", "More"} <= names
    assert not names & {"Not displayed", "Not visible", "Has hidden", "Folded away"}


def test_frames_and_shadow_roots_are_looked_into(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/frames")
    found = browser.explore("close the tide table")
    inside = _element(found, "Close")

    assert inside["selector"] == 'frame=iframe[title="Tides"] >> role=button[name="Close"]'
    assert browser.extract(inside["selector"])["found"] == "Close"
    assert _element(found, "Read the gauge")["selector"] == 'role=button[name="Read the gauge"]'


def test_values_of_fields_that_hold_secrets_are_hidden(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/settings")
    found = browser.explore("token and password")
    told = json.dumps(found) + browser.dom().text()

    assert _element(found, "Mail")["value"] == "ada@harbour.test"
    for secret in ("harbour-7-secret", "tok_5f1c9a77e0b24d", "839"):
        assert secret not in told
    assert browser.extract("#password")["found"] == "[hidden]"


def test_on_a_large_page_the_row_that_is_spoken_of_comes_first(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/large")
    found = browser.explore("open the log of buoy 37", limit=3)

    assert found["rows"][0]["rows"] == LARGE_ROWS
    assert any(one.get("row", "").startswith("37 Buoy 37") for one in found["elements"])
    assert len(found["elements"]) == 3
    assert found["more"].endswith("more elements")


def test_generated_ids_and_names_that_are_taken_twice_are_no_selectors(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/help")
    buttons = (
        '<button id="b-83746192">Go</button><button>Go</button><button id="r2">Quote'
        ' &quot;it&quot;</button><input id="field-17"><input class="pier" id="x-8f3a2b91">'
    )
    in_the_page(browser, f"() => {{ document.body.innerHTML = {json.dumps(buttons)} }}")
    found = [one["selector"] for one in browser.explore("go")["elements"]]

    assert set(found) == {
        "#b-83746192",
        'role=button[name="Go"] >> nth=1',
        'role=button[name="Quote \\"it\\""]',
        "#field-17",
        "input.pier",
    }
