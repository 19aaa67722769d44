"""Input of any form is read, or refused with its place; it never breaks a reader in another way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.messages.anthropic import to_anthropic, to_anthropic_request
from foreword.messages.bedrock import to_bedrock_request
from foreword.messages.gemini import to_gemini_request
from foreword.messages.langchain import to_langchain
from foreword.messages.llama_index import to_llama_index
from foreword.messages.message import Message, keep
from foreword.messages.ollama import to_ollama
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import from_responses, to_responses
from foreword.messages.parts import Opaque, Text, ToolCall, ToolResult
from foreword.messages.pydantic_ai import from_pydantic_ai_json, to_pydantic_ai_json
from foreword.messages.record import from_record, to_record
from foreword.messages.shapes import read_messages
from foreword.messages.vercel import to_vercel
from foreword.transcripts.import_file import read_transcript
from tests.corpus import check_each, rows
from tests.messages.conversation import SCALARS, from_anthropic, from_openai

pytestmark = pytest.mark.attack

NAMES = [
    *(
        "text image thinking redacted_thinking tool_use tool_result image_url input_text"
        " output_text input_image"
    ).split(),
    *(
        "message reasoning function_call function_call_output custom_tool_call web_search_call"
    ).split(),
    *(
        "user assistant system tool function developer base64 url request response binary image-url"
        " file"
    ).split(),
    *(
        "tool-call tool-return user-prompt system-prompt retry-prompt image/png conversation"
    ).split(),
]
FIELDS = [
    *(
        "type role kind part_kind content text source input id name tool_calls function custom"
        " arguments output"
    ).split(),
    *(
        "call_id summary encrypted_content image_url url data media_type signature thinking parts"
        " args"
    ).split(),
    *("tool_name tool_call_id tool_use_id outcome identifier is_error function_call phase").split(),
]
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.floats() | st.sampled_from(["\x00", *NAMES]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=12,
)
LIKELY = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6), max_size=2)
READERS: list[Callable[[object, str], tuple[Message, ...]]] = [
    from_anthropic,
    from_openai,
    from_responses,
    from_pydantic_ai_json,
    read_messages,
    lambda value, where: tuple(read_transcript(json.dumps(value).encode(), where)),
]


@pytest.mark.parametrize("reader", READERS)
@given(VALUES | LIKELY)
def test_what_is_read_can_be_written_in_every_shape_and_the_rest_is_refused_by_name(
    reader: Callable[[object, str], tuple[Message, ...]], value: object
) -> None:
    try:
        messages = reader(value, "talk.json")
    except BadSource as error:
        if error.path != "talk.json":
            raise
        return
    written = [
        write(messages) for write in (to_anthropic, to_openai, to_responses, to_pydantic_ai_json)
    ]
    assert all(json.loads(json.dumps(shaped, allow_nan=False)) == shaped for shaped in written)


# Of every kind of JSON one, and what only Python takes for it: each field refuses most of them.
WRONG: list[Any] = [None, 7, float("nan"), "tea", ["tea"], {"tea": "hot"}]
SENT = [*rows("messages/whole.jsonl"), *rows("messages/sent.jsonl")]
WRITERS: list[Callable[[list[Message]], object]] = [
    to_anthropic_request,
    to_openai,
    to_responses,
    to_gemini_request,
    to_bedrock_request,
    to_ollama,
    to_vercel,
    to_langchain,
    to_llama_index,
]


def with_wrong_field(value: Any, wrong: object) -> Iterator[Any]:
    """The value with something wrong in the place of each of its fields in turn."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        inner = with_wrong_field(member, wrong) if isinstance(member, dict | list) else ()
        for changed in (wrong, *inner):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = changed
            yield copy


def test_a_field_of_another_kind_is_refused_or_what_is_read_can_be_sent() -> None:
    def is_refused_or_sent(case: dict[str, Any]) -> None:
        for wrong in WRONG:
            for talk in with_wrong_field(case["messages"], wrong):
                try:
                    read = read_messages(talk, "talk.json")
                except BadSource:
                    continue
                stored = [from_record(to_record(message)) for message in read]
                for write in WRITERS:
                    strict(write(stored))

    check_each(SENT, is_refused_or_sent)


ODD = r'{"a": NaN, "b": [-Infinity, 1e999, 1.5], "c": "\u0000 \ud83d \ud83d\ude00 \\ud83d \udc00"}'
CLEAN = {"a": None, "b": [None, None, 1.5], "c": "\ufffd \ufffd \U0001f600 \\ud83d \ufffd"}


def strict(shaped: object) -> bytes:
    """As it goes over the wire; an error where JSON or UTF-8 can't hold it."""
    return json.dumps(shaped, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("raw", ["", "\x00", "\ud800"])
def test_numbers_and_characters_that_nobody_takes_reach_no_provider_in_arguments(raw: str) -> None:
    arguments = ODD.replace('"c"', f'"c{raw}"')
    talk = [
        Message("assistant", (ToolCall("a", "t", arguments),)),
        Message("tool", (ToolResult("a", "ok"),)),
    ]
    clean = {
        name + "\ufffd" * len(raw) if name == "c" else name: value for name, value in CLEAN.items()
    }
    assert to_anthropic(talk)[0]["content"][0]["input"] == clean
    assert json.loads(to_openai(talk)[0]["tool_calls"][0]["function"]["arguments"]) == clean
    for write in (to_anthropic, to_openai, to_responses):
        wire = strict(write(talk))
        assert b"NaN" not in wire
        assert b"Infinity" not in wire
        assert b"u0000" not in wire
    assert talk[0].parts == (ToolCall("a", "t", arguments),)


def test_arguments_that_are_no_json_lose_only_the_characters_that_nobody_takes() -> None:
    talk = [Message("assistant", (ToolCall("a", "t", "{\x00\ud800"),))]
    assert to_anthropic(talk)[0]["content"][0]["input"] == {"arguments": "{\ufffd\ufffd"}
    assert to_openai(talk)[0]["tool_calls"][0]["function"]["arguments"] == "{\ufffd\ufffd"


def test_arguments_that_only_speak_of_such_numbers_stay_byte_for_byte() -> None:
    arguments = r'{"code":"let x = Infinity \\u0000 \ud83d\ude00"}'
    talk = [Message("assistant", (ToolCall("a", "t", arguments),))]
    assert to_openai(talk)[0]["tool_calls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("shape", "write"),
    [("anthropic", to_anthropic), ("openai", to_openai), ("responses", to_responses)],
)
def test_foreign_fields_are_made_fit_for_the_wire(
    shape: str, write: Callable[[list[Message]], object]
) -> None:
    odd = json.loads(ODD)
    text = keep(Text("hello"), shape, {"type": "input_text", "text": "hello", "odd": odd})
    file = keep(Opaque("input_file"), shape, {"type": "input_file", "odd": odd})
    message = Message("user", (text, file))
    written = json.loads(strict(write([message])))
    assert json.dumps(CLEAN) in json.dumps(written)
    assert "NaN" not in json.dumps(written)


IDS = ["a b", "toolu.1", "x" * 65, "ä", "functions.read:0", "\ud800", "call\n"]


def test_an_id_that_a_provider_refuses_is_replaced_in_the_call_and_its_result() -> None:
    calls = Message("assistant", tuple(ToolCall(each, "t", "{}") for each in IDS))
    talk = [calls, *(Message("tool", (ToolResult(each, each[:1]),)) for each in IDS)]
    asked, answered = (message["content"] for message in to_anthropic(talk))
    ids = [block["id"] for block in asked]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", each) for each in ids)
    assert len(set(ids)) == len(IDS)
    assert (
        [block["tool_use_id"] for block in answered]
        == ids
        == [block["id"] for block in to_anthropic(talk)[0]["content"]]
    )
    reply, *results = to_openai(talk)
    chat = [call["id"] for call in reply["tool_calls"]]
    assert chat == [message["tool_call_id"] for message in results]
    assert [each for each in chat if each in IDS] == [
        "a b",
        "toolu.1",
        "ä",
        "functions.read:0",
        "call\n",
    ]
    items = [item["call_id"] for item in to_responses(talk)]
    assert items == chat + chat
    assert calls.calls == tuple(IDS)
