"""No way leads out of the allowed origins, nothing is downloaded, and a refusal leaves the tab
where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.browser import Browser
from foreword.demos.site import Site
from foreword.errors import BrowserFailed, OriginRefused
from tests.browser.working import in_the_page, until
from tests.faulty_site import elsewhere

pytestmark = pytest.mark.attack


@pytest.mark.parametrize(
    "way", ["link", "redirect", "twice", "tab", "tab-redirect", "popup", "script", "post"]
)
def test_no_way_out_of_the_allowed_origins_is_taken(browser: Browser, desk: Site, way: str) -> None:
    browser.navigate(f"{desk.url}/ways-out")
    with pytest.raises(
        OriginRefused, match=r"http://localhost:[0-9]+ is not among the allowed origins"
    ) as refusal:
        browser.click(f"#{way}")

    assert refusal.value.state["url"] == f"{desk.url}/ways-out"
    assert [tab["url"] for tab in browser.tabs()] == [f"{desk.url}/ways-out"]
    assert not any("localhost" in request for request in desk.requests)


def test_a_frame_with_another_origin_stays_empty_and_is_told(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/ways-out")
    refused = browser.click("#frame").get("refused", [])

    def is_refused() -> bool:
        if not refused:
            refused.extend(browser.extract("h1").get("refused", []))
        return bool(refused)

    until(is_refused)

    assert refused == [f"{elsewhere(desk)}/help"]
    assert not any("localhost" in request for request in desk.requests)


@pytest.mark.parametrize("path", ["/away", "/away/twice"])
def test_a_redirect_is_refused_when_it_is_navigated_to(
    browser: Browser, desk: Site, path: str
) -> None:
    with pytest.raises(OriginRefused):
        browser.navigate(f"{desk.url}{path}")
    with pytest.raises(OriginRefused):
        browser.open_tab(f"{desk.url}{path}")

    assert [tab["url"] for tab in browser.tabs()] == ["about:blank"]
    assert not any("localhost" in request for request in desk.requests)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "data:text/html,hi", "javascript:1", "chrome://version"]
)
def test_other_schemes_are_never_opened(browser: Browser, url: str) -> None:
    with pytest.raises(OriginRefused):
        browser.navigate(url)
    with pytest.raises(OriginRefused):
        browser.open_tab(url)

    assert browser.tabs() == [{"name": "Main Tab", "url": "about:blank", "active": True}]


def test_a_tab_that_shows_something_else_is_not_read(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")
    in_the_page(
        browser,
        "() => { open(URL.createObjectURL(new Blob(['<h1>made up</h1>'], {type: 'text/html'}))) }",
    )
    until(lambda: len(browser.tabs()) == 2)

    with pytest.raises(OriginRefused, match="only http and https addresses are"):
        browser.extract("h1", tab=browser.tabs()[1]["name"])
    with pytest.raises(OriginRefused):
        browser.dom(tab=browser.tabs()[1]["name"])


def test_a_popup_that_is_no_web_page_is_closed_and_holds_nothing_up(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/ways-out")
    browser.click("#data")

    assert [tab["url"] for tab in browser.tabs()] == [f"{desk.url}/ways-out"]
    assert browser.extract("h1")["found"] == "Ways out"


def test_downloads_are_off_and_told(browser: Browser, desk: Site, tmp_path: Path) -> None:
    browser.navigate(f"{desk.url}/ways-out")
    assert browser.click("#download")["downloads_refused"] == ["letters.csv"]

    with pytest.raises(BrowserFailed, match="/download is a download, and downloads are off"):
        browser.navigate(f"{desk.url}/download")
    assert browser.extract("h1")["found"] == "Ways out"
