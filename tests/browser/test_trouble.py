"""Pages that are slow, hang or crash, a browser that dies: a clear error each time, and work
goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from socket import socket
from threading import Thread

import pytest

from foreword.browser import Browser, Rules, browser_errors
from foreword.demos.site import Site
from foreword.errors import BrowserFailed, UsageError
from tests.browser.certificate import untrusted
from tests.browser.working import by_protocol, in_the_page, sign_in, until


@pytest.fixture(scope="module")
def shared(desk: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(origins=("loopback",), action_seconds=1, page_seconds=1.5)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as browser:
        yield browser


def test_a_slow_page_is_waited_for(browser: Browser, desk: Site) -> None:
    assert browser.navigate(f"{desk.url}/slow?seconds=0.5")["title"] == "Slow page - Harbour Desk"


def test_a_page_that_never_comes_is_given_up_and_the_tab_can_be_used(
    browser: Browser, desk: Site
) -> None:
    with pytest.raises(BrowserFailed, match=r"/hang did not load within 1\.5 s") as failure:
        browser.navigate(f"{desk.url}/hang")

    assert failure.value.state["tab"] == "Main Tab"
    assert browser.navigate(f"{desk.url}/help")["title"] == "Tide table - Harbour Desk"


def test_that_nobody_answers_is_told_in_words(browser: Browser) -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(BrowserFailed) as failure:
            browser.navigate(url)

    assert str(failure.value) == f"nothing answers at {url} (ERR_CONNECTION_REFUSED)"
    until(lambda: browser.tabs()[0]["url"] == url)


def test_a_certificate_that_nobody_trusts_is_an_error(browser: Browser, tmp_path: Path) -> None:
    with (
        untrusted(tmp_path) as url,
        pytest.raises(BrowserFailed, match=r"is not trusted \(ERR_CERT_AUTH"),
    ):
        browser.navigate(url)


def test_a_page_that_does_not_answer_any_more_is_replaced_on_navigating(
    browser: Browser, desk: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_errors, "ANSWER_SECONDS", 0.8)
    browser.navigate(f"{desk.url}/busy")
    with pytest.raises(BrowserFailed, match="the page did not answer within 1 s") as failure:
        browser.click("#freeze")
    assert failure.value.state["error"] == "the page does not answer"

    with pytest.raises(BrowserFailed, match="the tab 'Main Tab' does not answer") as failure:
        browser.click("#freeze")
    assert failure.value.hint == "navigate it to an address to go on"

    assert browser.navigate(f"{desk.url}/help")["title"] == "Tide table - Harbour Desk"
    assert browser.tabs() == [{"name": "Main Tab", "url": f"{desk.url}/help", "active": True}]


def test_a_tab_that_has_crashed_is_replaced_on_navigating(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/help")
    browser.open_tab(f"{desk.url}/moving", name="Other")
    by_protocol(browser, "Page.crash")

    with pytest.raises(BrowserFailed, match="the tab 'Other' has crashed"):
        browser.click("#push")
    assert browser.state()["error"] == "the tab has crashed"

    assert browser.navigate(f"{desk.url}/help")["tab"] == "Other"
    assert [tab["name"] for tab in browser.tabs()] == ["Main Tab", "Other"]


def test_a_browser_that_has_died_is_started_again_as_it_was_saved(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    sign_in(browser, desk, "/list")
    browser.save(tmp_path / "saved.json")
    by_protocol(browser, "Browser.crash")
    assert browser.tabs() == []

    result = browser.extract("tr.letter", many=True)
    assert (result["count"], result["note"]) == (5, "the browser had ended and was started again")


@pytest.mark.parametrize("is_pressed", [False, True], ids=["waits", "is under way"])
def test_a_click_whose_browser_dies_is_told_as_failed_and_whether_it_may_have_happened(
    browser: Browser, desk: Site, is_pressed: bool
) -> None:
    browser.navigate(f"{desk.url}/busy")
    script = "document.all.freeze.disabled = true"
    if is_pressed:
        script = "addEventListener('mousedown', () => fetch('/help?pressed'))"
    in_the_page(browser, script)

    def crash() -> None:
        if is_pressed:
            until(lambda: any("pressed" in str(request) for request in desk.requests))
        else:
            until(browser._lock.locked)
            # They go the way of the click, one behind the other: by the last of them it is waiting.
            for _ in range(60):
                by_protocol(browser, "Browser.getVersion")
        by_protocol(browser, "Browser.crash")

    thread = Thread(target=crash)
    thread.start()
    with pytest.raises(BrowserFailed, match="the browser has ended or crashed") as failure:
        browser.perform("click", {"selector": "#freeze", "timeout": 20})
    thread.join()
    assert failure.value.may_have_happened == is_pressed


def test_a_closed_browser_says_so(desk: Site, tmp_path: Path) -> None:
    browser = Browser.start(folder=tmp_path)
    browser.close()
    browser.close()

    assert browser.tabs() == []
    with pytest.raises(BrowserFailed, match="the browser is closed"):
        browser.navigate(desk.url)
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_is_not_there_or_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no browser at /nowhere/chromium"):
        Browser.start(path="/nowhere/chromium", folder=tmp_path)
    with pytest.raises(BrowserFailed, match="/bin/false did not start"):
        Browser.start(path="/bin/false", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
