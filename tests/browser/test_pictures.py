"""Pictures of a page: what a secret field holds is on none of them."""

from __future__ import annotations

from foreword.browser import Browser
from foreword.demos.site import Site

ONE, OTHER = "secret-one-11111111", "secret-two-22222222"


def is_secret(text: str) -> bool:
    return ONE in text or OTHER in text


def picture(browser: Browser, desk: Site, typed: str, *, known: bool) -> bytes | None:
    """What is seen of a login into whose name something was typed."""
    browser.navigate(f"{desk.url}/login")
    browser.type("#name", typed)
    browser.press("Tab", "#password")
    return browser.live_picture(is_secret if known else lambda text: False)


def test_what_a_field_of_a_secret_holds_is_covered(browser: Browser, desk: Site) -> None:
    covered = [picture(browser, desk, typed, known=True) for typed in (ONE, OTHER)]
    plain = [picture(browser, desk, typed, known=False) for typed in (ONE, OTHER)]
    assert covered[0] == covered[1]
    assert plain[0] != plain[1]
    assert covered[0] is not None
    assert covered[0].startswith(b"\xff\xd8")  # JPEG


def test_a_page_that_shows_a_secret_has_no_picture(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/login?next={ONE}")
    assert browser.live_picture(lambda text: "Harbour" in text) is None
    assert browser.live_picture(is_secret) is not None
