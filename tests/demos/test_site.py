"""Harbour Desk itself: who may see what, and what it remembers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from foreword.demos.site import NAME, PASSWORD, ROWS, Site, site
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def desk() -> Iterator[Site]:
    with site() as served:
        yield served


@pytest.fixture
def visitor() -> OpenerDirector:
    return build_opener(HTTPCookieProcessor(CookieJar()))


def _read(visitor: OpenerDirector, url: str, **form: str) -> tuple[str, str]:
    """Where a request ends, and the page there."""
    with visitor.open(
        url, urlencode(form).encode() if form else None, timeout=PATIENCE_SECONDS
    ) as answer:
        return answer.url, answer.read().decode()


def _sign_in(visitor: OpenerDirector, desk: Site, onward: str = "/dashboard") -> tuple[str, str]:
    return _read(visitor, f"{desk.url}/login", name=NAME, password=PASSWORD, next=onward)


@pytest.mark.parametrize("path", ["/", "/dashboard", "/list", "/form", "/sent", "/letter/L-101"])
def test_a_stranger_is_sent_to_the_door(desk: Site, visitor: OpenerDirector, path: str) -> None:
    place, _ = _read(visitor, f"{desk.url}{path}")

    assert place.startswith(f"{desk.url}/login?next=")


def test_a_wrong_password_is_told(desk: Site, visitor: OpenerDirector) -> None:
    with pytest.raises(HTTPError) as refusal:
        _read(visitor, f"{desk.url}/login", name=NAME, password="wrong")

    with refusal.value as answer:
        assert answer.code == 401
        assert "Wrong name or password." in answer.read().decode()


def test_the_door_leads_on_to_where_one_wanted_but_never_elsewhere(
    desk: Site, visitor: OpenerDirector
) -> None:
    assert _sign_in(visitor, desk, "/list")[0] == f"{desk.url}/list"
    assert _sign_in(visitor, desk, "//example.com")[0] == f"{desk.url}/dashboard"


def test_the_list_has_all_letters_on_three_pages(desk: Site, visitor: OpenerDirector) -> None:
    _sign_in(visitor, desk)
    pages = [_read(visitor, f"{desk.url}/list?page={number}")[1] for number in (1, 2, 3)]

    listed = list[str]()
    for page in pages:
        listed += re.findall(r'data-id="(.+?)"', page)
    assert listed == [row["number"] for row in ROWS]
    assert _read(visitor, f"{desk.url}/list?page=99")[1] == pages[2]


def test_what_is_registered_is_remembered_and_shown_escaped(
    desk: Site, visitor: OpenerDirector
) -> None:
    _sign_in(visitor, desk)
    place, page = _read(visitor, f"{desk.url}/form", subject="<b>Oars", sender="Ada", kind="other")

    assert place == f"{desk.url}/sent?new=1"
    assert "&lt;b&gt;Oars" in page
    assert desk.sent[-1] == {
        "subject": "<b>Oars",
        "sender": "Ada",
        "kind": "other",
        "note": "",
        "urgent": "",
    }


def test_signing_out_ends_the_session(desk: Site, visitor: OpenerDirector) -> None:
    _sign_in(visitor, desk)
    _read(visitor, f"{desk.url}/logout")

    assert _read(visitor, f"{desk.url}/list")[0] == f"{desk.url}/login?next=/list"
