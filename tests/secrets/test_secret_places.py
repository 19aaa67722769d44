"""Secrets that are told by the place they stand in: an argument of a command, a parameter of an
address, a line of a file, a field beside another."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, mask

pytestmark = pytest.mark.attack


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
