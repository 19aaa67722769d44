"""A value that is secret in one place is hidden in every other, however it is written there."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.secrets.known_values import KnownValues
from tests.attacks import EXAMPLES
from tests.sessions import Open

pytestmark = pytest.mark.attack

PASSWORD = "harbour-7"


def known_values() -> KnownValues:
    """Knows a password by the name it stands under."""
    made = KnownValues()
    made.learn([{"creds": {"name": "ada", "password": PASSWORD}, "pin_code": 4711}])
    return made


def test_a_value_that_is_secret_in_one_place_is_hidden_in_every_other() -> None:
    page = {"title": f"Welcome {PASSWORD}", "rows": [f"x{PASSWORD}x", {"ada": "name"}], "count": 3}
    shown = {"title": "Welcome [hidden]", "rows": ["x[hidden]x", {"ada": "name"}], "count": 3}
    assert known_values().value(page) == shown
    assert (
        known_values().text(f"/login?p={PASSWORD}&q=harbour%2D7")
        == "/login?p=[hidden]&q=harbour%2D7"
    )


def test_a_short_secret_is_hidden_where_it_stands_alone() -> None:
    assert known_values().text("the pin 4711, room 47113") == "the pin [hidden], room 47113"
    apart = "4711-01-15, 12.4711, 1,4711, 00:4711, a4711, 4711.5"
    assert known_values().hide_known_values(apart) == apart
    assert (
        known_values().hide_known_values('"4711", (4711) 4711. =4711;')
        == '"[hidden]", ([hidden]) [hidden]. =[hidden];'
    )


def test_what_is_not_secret_is_left_as_it_is() -> None:
    open_value = {"name": "ada", "selector": "#password", "n": None}
    assert known_values().value(open_value) == open_value


def test_a_reference_to_a_secret_is_none() -> None:
    made = KnownValues()
    made.learn([{"selector": "#password", "text": "{{creds.password}}"}])
    assert made.text("type {{creds.password}}") == "type {{creds.password}}"
    assert not made


SECRETS = [
    'p&ss "w0rd"/+x',
    "naïve-schlüssel-77",
    "line one\nline two\tx",
    "a<b>c'd&e-12345",
    "correct horse battery",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_however_a_tool_writes_it(secret: str) -> None:
    made = KnownValues()
    made.learn([{"password": secret}])
    ways = {
        "as it is": secret,
        "in an address": quote(secret, safe=""),
        "in a form": quote_plus(secret),
        "in a form, in lower case": re.sub(
            "%..", lambda found: found[0].lower(), quote_plus(secret)
        ),
        "in a path": quote(secret),
        "as a browser encodes an address": quote(secret, safe=";,/?:@&=+$!~*'()#"),
        "in JSON": json.dumps({"it": secret}),
        "in JSON, not in ASCII": json.dumps({"it": secret}, ensure_ascii=False),
        "in JSON in JSON": json.dumps(json.dumps({"it": secret})),
        "in HTML": html.escape(secret),
        "in base64": base64.b64encode(secret.encode()).decode(),
        "behind a user in base64": base64.b64encode(f"ada:{secret}".encode()).decode(),
        "inside other bytes in base64": base64.urlsafe_b64encode(f"no{secret}:x".encode()).decode(),
    }
    for way, written in ways.items():
        hidden = made.hide_known_values(f"<<{written}>>")
        assert "[hidden]" in hidden, way
        assert secret[2:-2] not in hidden, way


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_to_the_letter_and_nothing_beside_it(secret: str) -> None:
    made = KnownValues()
    made.learn_texts([secret])
    in_json = json.dumps(secret)[1:-1]
    plainly = json.dumps(secret, ensure_ascii=False)[1:-1]
    ways = [
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        in_json,
        plainly,
        json.dumps(in_json)[1:-1],
        json.dumps(plainly, ensure_ascii=False)[1:-1],
        html.escape(secret),
        html.escape(secret, quote=False),
    ]
    for written in ways:
        assert made.hide_known_values(f"<<{written}>>") == "<<[hidden]>>", written
    for before in range(3):
        around = base64.b64encode(b"x" * before + secret.encode() + b"zz").decode()
        shown = made.hide_known_values(around).rstrip("=").replace("[hidden]", "")
        assert len(shown) <= 7, "its neighbours, and what shares bits with them"


def test_a_short_secret_is_a_word_of_its_own_and_no_pattern() -> None:
    made = KnownValues()
    made.learn_texts(["a.b7"])
    assert made.hide_known_values("a.b7 xa.b7 axb7 (a.b7)") == "[hidden] xa.b7 axb7 ([hidden])"


def test_half_a_character_in_a_secret_does_no_harm(open_session: Open) -> None:
    secret = "harbour\ud800-77"
    made = KnownValues()
    made.learn_texts([secret])
    assert made.hide_known_values(f"<{secret}>") == "<[hidden]>"
    session = open_session()
    session.set_variable("password", secret, "typed")
    session.append({"role": "user", "content": f"it is {secret}"})
    assert "it is [hidden]" in session.context().text


@given(st.text(min_size=8, max_size=24), st.text(max_size=12), st.text(max_size=12))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_secret_of_eight_characters_is_in_a_text_that_it_was_hidden_in(
    secret: str, front: str, end: str
) -> None:
    made = KnownValues()
    made.learn_texts([secret])
    for written in (secret, json.dumps(secret)[1:-1]):
        hidden = made.hide_known_values(f"{front}{written}{end}")
        assert "[hidden]" in hidden
        assert (
            made.hide_known_values(hidden) == hidden
            or secret in "[hidden]" * 3
            or secret in hidden.replace("[hidden]", "")
        )
    assert made.digest
