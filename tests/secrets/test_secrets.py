"""What is secret is hidden, by name and by shape, at any depth; what is not is left alone."""

from __future__ import annotations

import copy
import json
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.secrets.assignments import hide_assignments
from foreword.secrets.masking import HIDDEN, hide, is_secret_name, mask
from foreword.secrets.patterns import without_shapes
from tests.corpus import rows
from tests.examples import examples

pytestmark = pytest.mark.attack

SECRET_NAMES = """
    password passwd passphrase passwords pwd user_password dbPassword PGPASSWORD password2
    node7.password secret client_secret clientSecret token access_token accessTokens X-Auth-Token
    csrf.token api_key apikey apiKey API-KEY APIKey x-api-key OPENAI_API_KEY access_key
    aws_secret_access_key private_key ssh-key Authorization Proxy-Authorization auth bearer cookie
    Set-Cookie session_id sessionId PHPSESSID otp totp mfa pin_code user_pin cvv ssn pw db_pw
    card_number recovery_codes seedPhrase Passwort пароль token_idx access_tokens mother_maiden_name
    """.split()
OPEN_NAMES = """
    author authority authors keywords keyboard monkey tokens tokens_used max_tokens token_count
    tokenizer token_limit secretary passwordless public_key primary_key key sort_key keys
    foreign_key pinned pinning spinner opinion session creds gmail_creds credentials
    password_selector auth_type auth_url token_expires_at cookie_banner compass passage bypass_rate
    pin pin_count next_page_token nextPageToken continuation_token cursor eos_token token_id
    tokenErr jwtValidation password_field InputTokens TokenUsage.InputTokens auth_v2
    access_token_id access_token_ids user_tokens my_next_token bos.token password_name
    """.split()

SHAPED: dict[str, str] = dict(rows("secrets/shaped.jsonl"))


def test_a_key_is_told_by_its_shape_wherever_it_stands() -> None:
    for kind, key in SHAPED.items():
        assert mask(key) == HIDDEN, kind
        assert mask(f"use {key}, then go on") == f"use {HIDDEN}, then go on", kind
        assert mask(f"({key})") == f"({HIDDEN})", kind
        assert mask(f'["{key}"]') != f'["{key}"]', kind


def test_a_name_promises_a_secret_or_only_looks_like_it() -> None:
    assert [name for name in SECRET_NAMES if not is_secret_name(name)] == []
    assert [name for name in ["", *OPEN_NAMES] if is_secret_name(name)] == []


def test_a_secret_name_hides_all_of_its_value_whatever_it_is() -> None:
    assert hide(
        {"password": "x", "token": {"a": [1]}, "pin_code": 1234, "cookies": ["a", "b"]}
    ) == {
        "password": HIDDEN,
        "token": HIDDEN,
        "pin_code": HIDDEN,
        "cookies": HIDDEN,
    }


def test_what_carries_nothing_is_shown() -> None:
    nothing: dict[str, object] = {
        "password": None,
        "token": "",
        "secret": [],
        "auth": {},
        "cookie": True,
        "otp": "{{vault.otp}}",
    }
    assert hide(nothing) == nothing


def test_credentials_are_looked_into_and_a_bare_text_under_them_is_hidden() -> None:
    creds = {"email": "user@gmail.com", "password": "x"}
    shown = {"email": "user@gmail.com", "password": HIDDEN}
    assert hide({"gmail_creds": creds, "credentials": [creds]}) == {
        "gmail_creds": shown,
        "credentials": [shown],
    }
    assert hide({"credentials": "bob:x", "creds": ["bob", "x"], "pass": "x"}) == {
        "credentials": HIDDEN,
        "creds": HIDDEN,
        "pass": HIDDEN,
    }
    assert hide({"gmail_pass": "x", "db_pass": "x", "first_pass": "x"}) == {
        "gmail_pass": HIDDEN,
        "db_pass": HIDDEN,
        "first_pass": "x",
    }
    assert hide({"pass": 12, "fail": 3}) == {"pass": 12, "fail": 3}


def test_a_card_is_looked_into_and_its_number_is_hidden() -> None:
    card = {"credit_card_41": {"brand": "visa", "card_number": "4111"}}
    assert hide(card) == {"credit_card_41": {"brand": "visa", "card_number": HIDDEN}}
    assert hide({"credit_card": 4111111111111111}) == {"credit_card": HIDDEN}


@pytest.mark.parametrize(
    "labelled",
    [
        {"name": "X-Api-Key", "value": "x"},
        {"Name": "DB_PASSWORD", "Value": "x"},
        {"NAME": "DB_PASSWORD", "VALUE": "x"},
        {"value": "x", "key": "auth_token"},
        {"type": "password", "value": "x"},
        {"variableName": "db_pass_token", "default": "x"},
        {"variable_name": "apiKey", "Text": "x"},
        {"selector": "#password-input", "text": "x"},
        {"element": "Password field", "ref": "e12", "text": "x"},
    ],
)
def test_a_field_that_names_the_value_beside_it_counts_as_its_name(
    labelled: dict[str, str],
) -> None:
    assert hide([labelled]) == [
        {field: HIDDEN if value == "x" else value for field, value in labelled.items()}
    ]


@pytest.mark.parametrize(
    "labelled",
    [
        {"name": "Accept", "value": "x"},
        {"type": "token", "value": "x"},
        {"name": "token_count", "value": "x"},
        {"key": "author", "value": "x"},
        {"name": "password", "value": "${PASSWORD}"},
        {"name": "password", "note": "x"},
    ],
)
def test_a_field_that_names_something_else_hides_nothing(labelled: dict[str, str]) -> None:
    assert hide(labelled) == labelled


def test_a_flag_names_the_argument_after_it() -> None:
    arguments = [
        "tool",
        "--password",
        "x",
        "--verbose",
        "--api-key",
        "x",
        "--name",
        "x",
        "--token",
        "--token=x",
    ]
    assert hide({"args": arguments}) == {
        "args": [
            "tool",
            "--password",
            HIDDEN,
            "--verbose",
            "--api-key",
            HIDDEN,
            "--name",
            "x",
            "--token",
            "--token=[hidden]",
        ]
    }
    assert hide(["curl", "-u", "me:x1"]) == ["curl", "-u", "me:[hidden]"]
    assert hide(["mysql", "-px1", "db"]) == ["mysql", "-p[hidden]", "db"]
    assert hide(["docker", "run", "-u", "me:x1"]) == ["docker", "run", "-u", "me:x1"]
    assert hide(["cut", "-px1"]) == ["cut", "-px1"]


def test_hiding_makes_a_copy_and_leaves_the_original() -> None:
    value = {"a": [{"password": "x"}, "sk_live_4eC39HqLyjWDarjtT1zdp7dc"]}
    before = copy.deepcopy(value)
    assert hide(value) == {"a": [{"password": HIDDEN}, HIDDEN]}
    assert value == before


def test_depth_and_cycles_end() -> None:
    deep: object = "x"
    for level in range(5000):
        deep = [deep] if level % 2 else {"a": deep}
    assert "[nested too deeply]" in json.dumps(hide(deep))
    cycle: dict[str, object] = {}
    cycle.update(a=cycle, b=[cycle, cycle])
    assert "[nested too deeply]" in json.dumps(hide(cycle))


# Letters that appear nowhere else, so that any six of them in a row come from the secret.
unique = st.text("QXZJ", min_size=6, max_size=40)
plain_names = st.text("abc_", max_size=5)
plain_leaves = st.none() | st.booleans() | st.integers(0, 99) | st.text("abc ,:=\n", max_size=20)
hidden_leaves = st.one_of(
    unique.map(lambda secret: {"user": "bob", "password": secret}),
    unique.map(lambda secret: {"apiKey": {"deep": [secret]}}),
    unique.map(lambda secret: {"name": "auth_token", "value": secret}),
    unique.map(lambda secret: f"see sk-ant-api03-{secret} there"),
    unique.map(lambda secret: f"see https://bob:{secret}@host/x"),
    unique.map(lambda secret: f"password={secret} and more"),
    unique.map(lambda secret: f"eyJ{secret}.{secret}.{secret}"),
    unique.map(lambda secret: f"-----BEGIN PRIVATE KEY-----\n{secret}"),
)
structures = st.recursive(
    plain_leaves | hidden_leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_names, inner, max_size=4),
    max_leaves=20,
)


def shows_a_secret(text: str) -> bool:
    run = 0
    for character in text:
        run = run + 1 if character in "QXZJ" else 0
        if run >= 6:
            return True
    return False


@given(structures)
@settings(max_examples=examples(50), deadline=None)
def test_no_six_characters_of_a_secret_show_at_any_depth(value: object) -> None:
    assert not shows_a_secret(json.dumps(hide(value)))


@given(structures)
@settings(deadline=None)
def test_hiding_twice_is_hiding_once(value: object) -> None:
    assert hide(hide(value)) == hide(value)


@given(
    st.datetimes(timezones=st.none() | st.timezones()),
    st.sampled_from(["T", " "]),
    st.sampled_from(["auto", "seconds", "milliseconds"]),
)
@settings(max_examples=examples(200), deadline=None)
def test_a_timestamp_holds_no_secret_whether_it_is_searched_or_not(
    time: datetime, sign: str, precision: str
) -> None:
    written = time.isoformat(sep=sign, timespec=precision)
    assert hide_assignments(without_shapes(written)) == written
    assert mask(written) == written


def test_a_secret_beside_a_timestamp_is_hidden() -> None:
    time = "2026-11-18T09:10:11.123+00:00"
    for text in (f"{time} password=Xy7kQ2mZ9w", f"password=Xy7kQ2mZ9w {time}"):
        assert "Xy7kQ2mZ9w" not in mask(text)
    assert mask(f"{time}\npassword: Xy7kQ2mZ9w") == f"{time}\npassword: {HIDDEN}"
