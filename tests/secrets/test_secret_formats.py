"""The keys and tokens of every issuer are hidden wherever they stand, and nothing is that only
looks random.

No string here is anybody's key: each is made from its format when the tests run.
"""

from __future__ import annotations

import json
import random
import re
import string
from urllib.parse import quote

import pytest

from foreword.secrets.masking import HIDDEN, hide, mask
from tests.attacks import AT_LENGTH
from tests.corpus import check_each, lines, rows

pytestmark = pytest.mark.attack

ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "letter": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "base64": string.ascii_letters + string.digits + "+/",
}


def sample_key(shape: str, seed: str = "") -> str:
    """A string of this format that nobody ever issued; between letters and digits, so that both
    are always there."""
    chance = random.Random(shape + seed)

    def characters(found: re.Match[str]) -> str:
        alphabet, length = ALPHABETS[found[1]], int(found[2])
        drawn = "".join(chance.choice(alphabet) for _ in range(length))
        ends = [one for one in alphabet if one.isalnum()]  # at its ends, a key has no sign
        return chance.choice(ends) + drawn[1:-1] + (chance.choice(ends) if length > 1 else "")

    return re.sub(r"\{(\w+):(\d+)\}", characters, shape)


def test_the_keys_of_every_issuer_are_hidden_wherever_they_stand() -> None:
    def is_hidden(row: str) -> None:
        _, shape = row.split(": ", 1)
        for seed in "abcdefgh" if AT_LENGTH else "ab":
            key = sample_key(shape, seed)
            # of a SAS, the signature: all else says what it is for
            secret = max(re.split(r"[=&:.]", key), key=len)
            for text in (
                f"use {key}, then go on",
                f"({key})",
                f"first\n{key}\nlast",
                f"`{key}`",
                f"<code>{key}</code>",
                f"value={key}",
                f"\x1b[32m{key}\x1b[0m",
                json.dumps({"output": f"it says:\n{key}\n"}),
                json.dumps(json.dumps({"output": f'it says:\t{key}"'})),
                f"https://host/x?redirect={quote(key, safe='')}&a=b",
            ):
                masked = mask(text)
                assert secret not in masked, text
                assert HIDDEN in masked, text
                assert mask(masked) == masked, text

    check_each(lines("secrets/keys.txt"), is_hidden)


@pytest.mark.parametrize("shape", ["{alnum:42}+ACR{alnum:6}", "{base64:76}+ASt{alnum:6}=="])
def test_the_keys_of_azure_are_told_by_the_signature_inside_them(shape: str) -> None:
    assert mask(f"use {sample_key(shape)}, then go on") == f"use {HIDDEN}, then go on"


def test_what_stands_around_a_key_is_left_as_it_is() -> None:
    key = sample_key("ghp_{alnum:36}")
    assert mask(f'a "{key}", b') == f'a "{HIDDEN}", b'
    assert mask(f"https://{key}@host/x.git") == f"https://{HIDDEN}@host/x.git"
    assert (
        mask(f"https://{key}:x-oauth-basic@host/x.git") == f"https://{HIDDEN}:{HIDDEN}@host/x.git"
    )
    assert hide({"a": [key, f"x {key}"]}) == {"a": [HIDDEN, f"x {HIDDEN}"]}


LONG = ("SplxlOBeZQQYbYS6WxSbIA", "4/0AX4XfWhAbCdEf1234_x")
SHORT = ("73b6a4c91d", "a1b2c3")


def test_a_parameter_of_an_address_that_lets_somebody_in_is_hidden_and_nothing_else() -> None:
    def is_hidden(text: str) -> None:
        may_be_short = "code" not in text or "callback" in text
        for secret in LONG + SHORT if may_be_short else LONG:
            # X stands for the secret
            masked = mask(text.replace("X", secret) if "X-" not in text else text[:-1] + secret)
            assert secret not in masked
            assert masked.replace(HIDDEN, "X") == text
            assert mask(masked) == masked

    check_each(rows("secrets/addresses.jsonl"), is_hidden)


def test_what_is_no_secret_is_left_alone() -> None:
    """Some of these stand under names, or look, as secrets do, or talk about them."""

    def is_left_alone(text: str) -> None:
        assert mask(text) == text
        assert hide({"note": text}) == {"note": text}

    check_each(rows("secrets/shown.jsonl"), is_left_alone)


@pytest.mark.parametrize(
    "value",
    [
        {
            "author": "Ann",
            "tokens_used": 12,
            "token_count": "17",
            "max_tokens": 4096,
            "key": "name",
            "keys": ["a"],
        },
        {
            "pinned": "1234",
            "pin_count": 1234,
            "spin": "1234",
            "pin": True,
            "gpio_pin": 17,
            "pins": [1, 2],
        },
        {
            "sort_code_order": "asc",
            "postcode": "12345",
            "code": "E1234",
            "error_code": 1234,
            "country_code": "DE",
        },
        {"question": "First pet?", "answer": "Rex"},
        {"name": "led pin", "value": 13},
        {
            "signature": "def f(a: int) -> str",
            "state": "af0ifjsldkj",
            "hash": "9e107d9d372bb6826bd81d3542a419d6",
        },
    ],
)
def test_values_under_names_that_only_look_like_it_are_left_alone(value: dict[str, object]) -> None:
    assert hide(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"pin": "4711"},
        {"pin": 4711},
        {"door_pin": "004711"},
        {"cardPin": "4711"},
        {"PIN": "4711"},
        {"iban": "DE89370400440532013000"},
        {"IBAN": "DE89 3704 0044 0532 0130 00"},
        {"customer_iban": "DE89370400440532013000"},
        {"security_answer": "Rex"},
        {"securityAnswer2": "Rex"},
        {"secret-answer": "Rex"},
        {"mothers_maiden_name": "Smith"},
        {"card_number": "4111 1111 1111 1111"},
        {"cvc2": "123"},
        {"mfa_code": "123456"},
        {"recovery_codes": ["a1b2", "c3d4"]},
        {"auth_code": "xyz"},
        {"puk": 12345678},
        {"wachtwoord": "geheim"},
    ],
)
def test_more_names_that_promise_a_secret_hide_it_in_values_and_in_texts(
    value: dict[str, object],
) -> None:
    ((name, secret),) = value.items()
    assert hide(value) == {name: HIDDEN}
    if isinstance(secret, str):
        for text in (
            f"{name}: {secret}",
            f"{name}={secret}, and more",
            json.dumps(value),
            f"{name}: '{secret}'",
        ):
            masked = mask(text)
            assert HIDDEN in masked
            assert not set(secret.split()) & set(re.findall(r"\w+", masked))
            assert mask(masked) == masked


def test_the_answer_to_a_security_question_is_hidden_and_a_pin_that_a_field_names() -> None:
    asked = {"security_question": "First pet?", "answer": "Rex"}
    assert hide(asked) == {**asked, "answer": HIDDEN}
    for field in (
        {"name": "pin", "value": "4711"},
        {"selector": "#pin", "text": "4711"},
        {"label": "PIN field", "value": 4711},
    ):
        shown = hide(field)
        assert "4711" not in json.dumps(shown)
        assert HIDDEN in json.dumps(shown)
        assert "4711" not in mask(json.dumps(field))
