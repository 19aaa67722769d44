"""Which addresses may be opened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.browser import Rules
from foreword.errors import OriginRefused, UsageError


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8123/a?b#c",
        "http://localhost",
        "https://localhost:1/",
        "http://[::1]:9/",
        "about:blank",
    ],
)
def test_loopback_is_every_port_of_this_machine(url: str) -> None:
    assert Rules().check(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://127.0.0.1.example.com/",
        "http://127.0.0.1@example.com/",
        "http://example.com@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://localhost%2eexample.com/",
        "http://0.0.0.0/",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,hello",
        "blob:http://127.0.0.1/1",
        "view-source:http://127.0.0.1/",
        "chrome://settings",
        "ftp://127.0.0.1/",
        "about:srcdoc",
        "http://",
        "http://127.0.0.1:99999/",
        "127.0.0.1:8000",
        "",
    ],
)
def test_everything_else_is_refused(url: str) -> None:
    with pytest.raises(OriginRefused):
        Rules().check(url)


def test_an_origin_is_scheme_host_and_port() -> None:
    rules = Rules(origins=("https://example.com", "http://127.0.0.1:8123"))

    assert rules.allows("https://EXAMPLE.com:443/path")
    assert rules.allows("http://127.0.0.1:8123")
    assert not rules.allows("http://example.com/")
    assert not rules.allows("https://sub.example.com/")
    assert not rules.allows("http://127.0.0.1:8124/")


def test_a_star_allows_the_web_and_nothing_but_the_web() -> None:
    rules = Rules(origins=("*",))

    assert rules.allows("https://anything.example/at/all")
    assert not rules.allows("file:///etc/passwd")


def test_a_refusal_names_the_origin_and_what_is_allowed() -> None:
    with pytest.raises(
        OriginRefused, match=r"https://example\.com is not among the allowed origins \(loopback\)"
    ) as refusal:
        Rules().check("https://example.com/secret?token=1")

    assert refusal.value.hint == "the user can allow it: --origin https://example.com"


@pytest.mark.parametrize("origin", ["example.com", "file:///", "", "http://"])
def test_an_origin_that_is_none_is_refused_at_once(origin: str) -> None:
    with pytest.raises(UsageError, match="is not an origin"):
        Rules(origins=(origin,))


@given(st.text(max_size=40))
def test_no_text_breaks_the_rules(text: str) -> None:
    assert Rules(origins=("*",)).allows(text) in (True, False)
    assert Rules(origins=()).allows(text) is (text in ("", "about:blank"))
