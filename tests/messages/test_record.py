"""The record of a message gives back the message and the JSON that it came as."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.messages.message import Message, edit, keep
from foreword.messages.parts import Image, Part, Text, ToolResult
from foreword.messages.record import from_record, to_record
from foreword.messages.shapes import read_messages
from tests.corpus import check_each, rows
from tests.messages.conversation import MESSAGES


def blocks(message: Message) -> list[Any]:
    """The JSON of a message and of all its parts."""
    found = list[Any]([message.block])
    parts: list[Part] = [*message.parts]
    for part in parts:
        found.append(part.block)
        parts += part.rest if isinstance(part, ToolResult) else ()
    return found


@given(MESSAGES)
def test_a_message_comes_back_from_its_record(message: Message) -> None:
    back = from_record(to_record(message))
    assert back == message
    assert back.tokens == message.tokens
    assert blocks(back) == blocks(message)


def test_what_programs_send_comes_back_from_its_record_with_its_json() -> None:
    def comes_back(case: dict[str, Any]) -> None:
        for message in read_messages(case["messages"], "messages"):
            for kept in (message, edit(message)):
                back = from_record(to_record(kept))
                assert (back, blocks(back)) == (kept, blocks(kept))

    check_each([*rows("messages/sent.jsonl"), *rows("messages/whole.jsonl")], comes_back)


@given(MESSAGES)
def test_a_record_holds_nothing_that_a_database_refuses(message: Message) -> None:
    record = to_record(message)
    assert "\x00" not in record
    record.encode("utf-8")


def test_nul_and_half_characters_survive() -> None:
    odd = "a\x00b\ud800c\udfffd \\u0000 \U0001f600 \ud83d"
    result = ToolResult(odd, odd, rest=(Image(url=odd),))
    message = Message("user", (keep(Text(odd), odd, {odd: [odd]}), result))
    back = from_record(to_record(message))
    assert (back, blocks(back)) == (message, blocks(message))


def test_a_plain_message_is_a_short_record() -> None:
    record = to_record(Message("user", (Text("hi"),)))
    assert record == '{"role":"user","raw":{"parts":[{"type":"text","text":"hi"}]}}'


DAMAGED = [
    "",
    "{",
    "5",
    "[]",
    "{}",
    '{"role":"user"}',
    '{"role":"robot","raw":{"parts":[]}}',
    '{"role":"user","raw":{"parts":5}}',
    '{"role":"user","raw":{"parts":[5]}}',
    '{"role":"user","raw":{"parts":[{"type":"odd"}]}}',
    '{"role":"user","raw":{"parts":[{"type":"text"}]}}',
    '{"role":"user","raw":{"parts":[{"type":"text","text":5}]}}',
    '{"role":"user","raw":{"parts":[{"type":"result","id":"a","text":"x","failed":"no"}]}}',
    '{"role":"user","raw":{"parts":[{"type":"text","text":"x","block":{}}]}}',
    '{"role":"user","shape":"odd","raw":{}}',
    '{"role":"user","shape":"anthropic","raw":{"role":"robot"}}',
    "[" * 100_000,
]


def test_a_damaged_record_is_a_value_error() -> None:
    def is_value_error(damaged: str) -> None:
        with pytest.raises(ValueError, match="not the record of a message"):
            from_record(damaged)

    check_each(DAMAGED, is_value_error)


@given(st.data())
def test_a_record_with_a_piece_missing_never_breaks_in_another_way(data: st.DataObject) -> None:
    record = to_record(data.draw(MESSAGES))
    cut = data.draw(st.integers(0, len(record) - 1))
    with pytest.raises(ValueError, match="not the record of a message"):
        from_record(record[:cut])
