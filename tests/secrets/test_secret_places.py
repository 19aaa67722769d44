"""Secrets that are told by the place they stand in: an argument of a command, a parameter of an
address, a line of a file, a field beside another."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, is_secret_name, mask
from foreword.secrets.patterns import _alternatives
from foreword.secrets.token_formats import formats

pytestmark = pytest.mark.attack

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["redis-cli", "-a", "harbour-7"], ["redis-cli", "-a", "[hidden]"]),
        (["curl", "-u", "me:harbour-7", "x"], ["curl", "-u", "me:[hidden]", "x"]),
        (["docker", "run", "-u", "1000:1000"], None),
        (["mysql", "-pharbour7"], ["mysql", "-p[hidden]"]),
        (["mysql", "-p", "harbour"], None),
        (["grep", "-a", "harbour-7"], None),
        (["x", "--password", "harbour-7", "rest"], ["x", "--password", "[hidden]", "rest"]),
        (["x", "--password", "$PASSWORD"], None),
        (["x", "--password", "--verbose"], None),
        (["x", "--name", "harbour-7"], None),
        (["x", 7, None, "--token", 7], None),
    ],
)
def test_an_argument_is_hidden_where_its_flag_or_its_command_says_so(
    command: list[object], shown: list[object] | None
) -> None:
    assert hide(command) == (shown or command)
    assert hide({"run": [command]}) == {"run": [shown or command]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x\npass: kettle\nnext", "x\npass: [hidden]\nnext"),
        ("  - pass: kettle", "  - pass: [hidden]"),
        ("pass: kettle is on", None),
        ("first pass: collect", None),
        ("test pass: kettle9 in", "test pass: [hidden] in"),
        ("PASS: kettle", None),
        ("pass='kettle'", "pass='[hidden]'"),
    ],
)
def test_a_word_under_pass_is_a_password_where_it_stands_alone_or_looks_like_one(
    text: str, shown: str | None
) -> None:
    assert mask(text) == (shown or text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the password is ab1c", "the password is [hidden]"),
        ("the password is ab1", None),
        ("the password is abc-de", "the password is [hidden]"),
        ("the password is kettle.", "the password is [hidden]."),
        ("the password is kettle,", None),
        ("the password is wrong.", None),
        ("the password is 'a b'", "the password is '[hidden]'"),
        ("the password is ${PASSWORD}", None),
        ("the password is getpass()", None),
        ("the token is abcd1234", "the token is [hidden]"),
        ("the token is abc1234", None),
        ("the token is 12345678", None),
    ],
)
def test_a_word_behind_the_password_is_hidden_where_it_could_be_one(
    text: str, shown: str | None
) -> None:
    assert mask(text) == (shown or text)


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("access_token_id", False),
        ("access_token_ids", False),
        ("token_idx", True),
        ("access_tokens", True),
        ("user_tokens", False),
        ("my_next_token", False),
        ("bos.token", False),
        ("mother_maiden_name", True),
        ("password_name", False),
        ("", False),
    ],
)
def test_the_last_words_of_a_name_say_whether_it_is_a_secret_or_about_one(
    name: str, is_secret: bool
) -> None:
    assert is_secret_name(name) == is_secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/login?code=SKU-12345", "/login?code=[hidden]"),
        ("/item?code=SKU-12345&next=/login", "/item?code=[hidden]&next=/login"),
        ("/item?code=SKU-12345 /login", None),
        ("see /login then /item?code=SKU-12345", None),
        ("/item?code=SKU-12345", None),
        ("/r?u=%2Foauth%3Fcode%3DSKU-12345%26x", "/r?u=%2Foauth%3Fcode%3D[hidden]%26x"),
        ("/r?u=%2Fa%3Fcode%3DSKU-12345%26n%3Doauth", "/r?u=%2Fa%3Fcode%3D[hidden]%26n%3Doauth"),
        ("/r?u=%2Fa%3Fcode%3DSKU-12345%26n%3Dlist", None),
    ],
)
def test_a_code_is_a_secret_in_the_address_of_a_login_and_nowhere_else(
    text: str, shown: str | None
) -> None:
    assert mask(text) == (shown or text)


@pytest.mark.parametrize("size", range(6, 12))
@pytest.mark.parametrize("padding", ["=", ""])
def test_a_basic_login_is_hidden_with_and_without_its_padding(size: int, padding: str) -> None:
    written = (
        base64.b64encode(b"me:h4rbour-7xyz"[:size]).decode().rstrip("=" if not padding else "")
    )
    assert mask(f"Authorization: Basic {written}") == "Authorization: Basic [hidden]"


@pytest.mark.parametrize("words", ["no colon here at all", "Basic English grammar"])
def test_what_is_basic_and_no_login_stays(words: str) -> None:
    written = base64.b64encode(words.encode()).decode()
    assert mask(f"Basic {written}") == f"Basic {written}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"eyJ- eyJx {JWT} {JWT} eyJ", "eyJ- eyJx [hidden] [hidden] eyJ"),
        (f"eyJ.{JWT}", "eyJ.[hidden]"),
        (f"a {JWT}, eyJhbGciOiJIUzI1NiJ9 alone", "a [hidden], eyJhbGciOiJIUzI1NiJ9 alone"),
    ],
)
def test_every_signed_token_is_hidden_and_what_only_begins_like_one_is_not(
    text: str, shown: str
) -> None:
    assert mask(text) == shown


@pytest.mark.parametrize("field", ["security_question", "securityQuestions", "recoveryQuestion3"])
def test_the_answer_to_a_security_question_is_hidden(field: str) -> None:
    asked = {field: "the first pet?", "answer": "Rex the dog", "Answer2": "Rex", "note": "x"}
    shown = {**asked, "answer": "[hidden]", "Answer2": "[hidden]"}
    assert hide(asked) == shown
    assert hide({"question": "the way?", "answer": "left"}) == {
        "question": "the way?",
        "answer": "left",
    }


def test_what_json_has_no_writing_for_is_text_without_secrets() -> None:
    assert hide({"a": b"abc", "b": Path("x/y")}) == {"a": "[3 bytes]", "b": "x/y"}
    assert hide([Path("/login?token=harbour-7")]) == ["/login?token=[hidden]"]


def test_secrets_are_learnt_from_commands_and_from_all_that_stands_under_a_name() -> None:
    known = KnownValues()
    known.learn(
        [
            ["x", ["curl", "-u", "me:harbour-77"], {"deep": ["--password", "quay-88-q"]}],
            {"password": {"a": True, "b": None, "c": 47110815, "d": ["kettle-99"]}},
        ]
    )
    text = "harbour quay-88-q True None 47110815 kettle-99 curl --password"
    assert (
        known.hide_known_values(text)
        == "harbour [hidden] True None [hidden] [hidden] curl --password"
    )
    assert known.hide_known_values("as me:harbour-77") == "as [hidden]"


def test_every_format_of_a_token_has_a_beginning_and_a_pattern() -> None:
    every = list(formats())
    assert len(every) > 150
    for beginning, body in every:
        assert re.fullmatch(r"\S+", beginning)
        pattern = re.compile(body)
        assert not pattern.fullmatch("")
        assert "*" not in body[:1]
    assert dict(every)["ghp_"]


@given(st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=8), st.text("ab."))
def test_one_pattern_finds_the_longest_of_many_words(words: list[str], text: str) -> None:
    found = re.compile(_alternatives(sorted(words))).match(text)
    fitting = [word for word in words if text.startswith(word)]
    assert (found[0] if found else "") == max(fitting, key=len, default="")
