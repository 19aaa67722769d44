"""The record of a message survives whatever a database does to JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.formats import from_record, to_record
from foreword.message import Image, Message, Opaque, Text, ToolResult
from tests.formats.conversation import MESSAGES


def reordered(value: Any) -> Any:
    """As jsonb gives it back: keys by length, then by name."""
    if isinstance(value, list):
        return [reordered(each) for each in value]
    if isinstance(value, dict):
        return {
            name: reordered(value[name])
            for name in sorted(value, key=lambda name: (len(name), name))
        }
    return value


@given(MESSAGES)
def test_a_message_comes_back_from_its_record(message: Message) -> None:
    back = from_record(to_record(message))
    assert back == message
    assert back.tokens == message.tokens


@given(MESSAGES)
def test_keys_may_be_reordered_and_characters_escaped(message: Message) -> None:
    assert from_record(json.dumps(reordered(json.loads(to_record(message))))) == message


@given(MESSAGES)
def test_a_record_holds_nothing_that_a_database_refuses(message: Message) -> None:
    record = to_record(message)
    record.encode("utf-8")
    assert "\x00" not in json.dumps(json.loads(record), ensure_ascii=False).replace("\\\\", "")
    assert not re.search(r"(?<!\\)(\\\\)*\\u(0000|d[89a-f])", record)


def test_the_mark_itself_nul_and_lone_surrogates_survive() -> None:
    odd = "a\x00b\ud800c\udfffd\ufdd0e\ufdd00000 \\u0000 \U0001f600 \ud83d" + "\ude00"
    message = Message(
        "user", (Text(odd, odd), ToolResult(odd, odd, rest=(Image(url=odd),))), extra=odd
    )
    assert from_record(to_record(message)) == message


def test_a_plain_message_is_a_short_record() -> None:
    assert (
        to_record(Message("user", (Text("hi"),)))
        == '{"role":"user","parts":[{"type":"text","text":"hi"}]}'
    )


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "{",
        "5",
        "[]",
        "{}",
        '{"role":"user"}',
        '{"role":"robot","parts":[]}',
        '{"role":"user","parts":5}',
        '{"role":"user","parts":[5]}',
        '{"role":"user","parts":[{"type":"odd"}]}',
        '{"role":"user","parts":[{"type":"text"}]}',
        '{"role":"user","parts":[{"type":"text","text":5}]}',
        '{"role":"user","parts":[{"type":"text","text":"x","more":1}]}',
        '{"role":"user","parts":[{"type":"result","id":"a","text":"x","failed":"no"}]}',
        '{"role":"user","parts":[{"type":"result","id":"a","text":"x","rest":[{"type":"call"}]}]}',
        '{"role":"user","parts":[],"kind":"notes"}',
        '{"role":"user","parts":[],"kind":[]}',
        '{"role":"user","parts":[],"tokens":"many"}',
        '{"role":"user","parts":[],"extra":{}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_record_is_a_value_error(damaged: str) -> None:
    with pytest.raises(ValueError, match="not the record of a message"):
        from_record(damaged)


@given(st.data())
def test_a_record_with_a_piece_missing_never_breaks_in_another_way(data: st.DataObject) -> None:
    record = to_record(data.draw(MESSAGES))
    cut = data.draw(st.integers(0, len(record)))
    if cut < len(record):
        with pytest.raises(ValueError, match="not the record of a message"):
            from_record(record[:cut])


def test_the_record_of_an_earlier_version_is_read() -> None:
    record = (
        '{"role":"user","parts":[{"type":"opaque","data":"{\\"type\\": \\"document\\"}",'
        '"shape":"anthropic","name":"document"}]}'
    )
    opaque = Opaque('{"type": "document"}', "anthropic", "document")
    assert from_record(record) == Message("user", (opaque,))
