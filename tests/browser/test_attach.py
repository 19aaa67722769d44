"""The user's own browser: what is there is listed and left alone; only what was opened here is
closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from foreword.browser import Browser, Rules
from foreword.demos.site import Site
from foreword.errors import BrowserFailed, OriginRefused
from tests.browser.working import in_the_page, until, users_own
from tests.faulty_site import elsewhere
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def address(desk: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with users_own(
        tmp_path_factory.mktemp("users"), f"{desk.url}/help", f"{elsewhere(desk)}/moving"
    ) as address:
        until(
            lambda: (
                {page["title"] for page in _pages(address)}
                >= {"Tide table - Harbour Desk", "Moving - Harbour Desk"}
            )
        )
        yield address


def _pages(address: str) -> list[dict[str, Any]]:
    with urlopen(f"{address}/json/list", timeout=PATIENCE_SECONDS) as answer:
        return [page for page in json.load(answer) if page["type"] == "page"]


def _places(address: str) -> list[tuple[str, str]]:
    return sorted((page["id"], page["url"]) for page in _pages(address))


def test_listing_the_tabs_changes_nothing(address: str, desk: Site) -> None:
    before = _places(address)
    with Browser.attach(address) as browser:
        tabs = browser.tabs()

    assert {tab["url"] for tab in tabs} == {f"{desk.url}/help", f"{elsewhere(desk)}/moving"}
    assert sum(tab["active"] for tab in tabs) == 1
    assert _places(address) == before


def test_of_the_users_own_browser_nothing_is_saved(address: str, tmp_path: Path) -> None:
    with Browser.attach(address) as browser:
        browser.save(tmp_path / "saved.json")
    assert not list(tmp_path.iterdir())


def test_the_users_tabs_stay_and_ours_are_closed_at_the_end(address: str, desk: Site) -> None:
    before = _places(address)
    with Browser.attach(address, Rules(origins=(desk.url,))) as browser:
        browser.open_tab(f"{desk.url}/frames", name="Ours")
        assert browser.extract("h1")["found"] == "Frames"
        users = next(tab["name"] for tab in browser.tabs() if tab["url"] == f"{desk.url}/help")
        with pytest.raises(BrowserFailed, match="is a tab of the user's own and is not closed"):
            browser.close_tab(users)
        assert len(_pages(address)) == 3

    until(lambda: _places(address) == before)


def test_a_run_that_begins_anew_has_a_tab_of_its_own_and_closes_it_before_the_next(
    address: str, desk: Site
) -> None:
    before = _places(address)
    with Browser.attach(address, Rules(origins=(desk.url,))) as browser:
        for _ in range(2):
            browser.start_anew()
            assert browser.navigate(f"{desk.url}/frames", tab=browser.workflow_tab())
            assert len(_pages(address)) == len(before) + 1

    until(lambda: _places(address) == before)


def test_the_rules_hold_for_tabs_that_are_used_and_not_for_the_users_own(
    address: str, desk: Site
) -> None:
    with Browser.attach(address, Rules(origins=(desk.url,))) as browser:
        users = next(
            tab["name"] for tab in browser.tabs() if tab["url"].startswith(elsewhere(desk))
        )
        with pytest.raises(OriginRefused):
            browser.extract("h1", tab=users)

        browser.open_tab(f"{desk.url}/ways-out", name="Ours")
        for way in ("link", "twice", "tab-redirect"):
            with pytest.raises(OriginRefused):
                browser.click(f"#{way}", tab="Ours")
        in_the_page(browser, "() => { location = '/help?by-the-user' }", tab=users)
        until(lambda: any("help?by-the-user" in tab["url"] for tab in browser.tabs()))
        in_the_page(browser, "() => { location = '/moving' }", tab=users)
        until(lambda: f"{elsewhere(desk)}/moving" in {tab["url"] for tab in browser.tabs()})


def test_an_address_where_no_browser_is_is_an_error() -> None:
    with pytest.raises(
        BrowserFailed, match=r"no browser answers at http://127\.0\.0\.1:1"
    ) as failure:
        Browser.attach("http://127.0.0.1:1")

    assert "--remote-debugging-port=9222" in failure.value.hint


def test_a_browser_that_the_user_has_closed_is_told(desk: Site, tmp_path: Path) -> None:
    with users_own(tmp_path, f"{desk.url}/help") as address:
        browser = Browser.attach(address)
    until(lambda: browser.tabs() == [])

    with pytest.raises(BrowserFailed, match=r"no browser answers at|the browser has ended"):
        browser.click("#a")
    browser.close()
