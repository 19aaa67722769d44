"""Hiding secrets: by name, by shape, and the very values wherever they turn up, as they come word by word."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.director.veil import Veil, Veiled

pytestmark = pytest.mark.attack

PASSWORD = "harbour-7"


def veil() -> Veil:
    """One that knows a password by the name it stands under."""
    made = Veil()
    made.learn([{"creds": {"name": "ada", "password": PASSWORD}, "pin_code": 4711}])
    return made


def test_a_value_that_is_secret_in_one_place_is_hidden_in_every_other() -> None:
    page = {"title": f"Welcome {PASSWORD}", "rows": [f"x{PASSWORD}x", {"ada": "name"}], "count": 3}
    assert veil().value(page) == {"title": "Welcome [hidden]", "rows": ["x[hidden]x", {"ada": "name"}], "count": 3}
    assert veil().text(f"/login?p={PASSWORD}&q=harbour%2D7") == "/login?p=[hidden]&q=harbour%2D7"


def test_a_short_secret_is_hidden_where_it_stands_alone() -> None:
    assert veil().text("the pin 4711, room 47113") == "the pin [hidden], room 47113"


def test_what_is_not_secret_is_left_as_it_is() -> None:
    assert veil().value({"name": "ada", "selector": "#password", "n": None}) == {
        "name": "ada", "selector": "#password", "n": None,
    }  # fmt: skip


def test_a_reference_to_a_secret_is_none() -> None:
    made = Veil()
    made.learn([{"selector": "#password", "text": "{{creds.password}}"}])
    assert made.text("type {{creds.password}}") == "type {{creds.password}}"


@given(st.text(alphabet="ab \n7-", max_size=30), st.lists(st.integers(0, 60), max_size=12))
def test_a_stream_says_what_the_whole_text_says_and_never_half_a_secret(around: str, cuts: list[int]) -> None:
    whole = f"{around} the word is {PASSWORD} and {PASSWORD}.\n{around}"
    told: list[str] = []
    stream = Veiled(veil(), told.append)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    for start, end in pairwise(places):
        stream(whole[start:end])
    stream.end()
    assert "".join(told) == stream.text == "\n".join(veil().text(line) for line in whole.split("\n"))
    assert PASSWORD not in stream.text


def test_a_stream_that_begins_again_says_so() -> None:
    told: list[str] = []
    stream = Veiled(veil(), told.append)
    for piece in ("half of", " it ", "", "whole ", "answer"):
        stream(piece)
    stream.end()
    assert told[told.index("") :] == ["", "whole ", "answer"]
    assert stream.text == "whole answer"
