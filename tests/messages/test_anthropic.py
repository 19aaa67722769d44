"""Anthropic's shape: what comes in goes back, and what others made becomes valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.messages.anthropic import as_blocks, to_anthropic, to_anthropic_request
from foreword.messages.message import Message, edit, keep
from foreword.messages.parts import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from tests.messages.conversation import (
    BASE64,
    NAMES,
    OBJECTS,
    TEXT,
    WORDS,
    block,
    conversations,
    from_anthropic,
    optional,
)

CACHED = optional(cache_control=st.just({"type": "ephemeral", "ttl": "1h"}))
TEXTS = block(
    "text", optional(cache_control=OBJECTS, citations=st.lists(OBJECTS, max_size=2)), text=WORDS
)
SOURCES = st.one_of(
    BASE64.map(lambda data: {"type": "base64", "media_type": "image/webp", "data": data}),
    st.just({"type": "url", "url": "https://example.org/a.png"}),
    st.just({"type": "file", "file_id": "file_1"}),
)
IMAGES = block("image", CACHED, source=SOURCES)
DOCUMENTS = block("document", CACHED, source=OBJECTS, title=WORDS)
THINKING = block("thinking", thinking=TEXT, signature=WORDS) | block(
    "redacted_thinking", data=WORDS
)
ANSWERS = TEXT | st.lists(TEXTS | IMAGES | DOCUMENTS, min_size=2, max_size=4)
SAID = st.lists(TEXTS | IMAGES | DOCUMENTS, min_size=1, max_size=3)


def turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[dict[str, Any]]:
    calls = [draw(block("tool_use", CACHED, id=each, name=NAMES, input=OBJECTS)) for each in ids]
    said = draw(st.lists(THINKING, max_size=1)) + draw(
        st.lists(TEXTS, min_size=0 if calls else 1, max_size=2)
    )
    reply = {"role": "assistant", "content": said + calls}
    failed = optional(is_error=st.just(True), cache_control=OBJECTS)
    results = [
        draw(block("tool_result", failed, tool_use_id=each, content=ANSWERS))
        for each in draw(st.permutations(ids))
    ]
    return [reply, {"role": "user", "content": results + draw(SAID)}]


TALKS = conversations(turn)


@given(st.lists(TEXTS, max_size=2), TALKS)
def test_a_request_goes_back_as_it_came(
    system: list[dict[str, Any]], talk: list[dict[str, Any]]
) -> None:
    request = ({"system": system} if system else {}) | {"messages": talk}
    assert to_anthropic_request(from_anthropic(request)) == request


@pytest.mark.parametrize("content", ["words", [{"type": "text", "text": "words"}], ["words"]])
def test_text_content_is_the_same_as_one_block_of_text(content: object) -> None:
    (message,) = from_anthropic([{"role": "user", "content": content}])
    assert message.parts == (Text("words"),)
    (written,) = to_anthropic([message])
    assert as_blocks(written["content"]) == [{"type": "text", "text": "words"}]


def test_what_came_as_a_text_goes_back_as_one() -> None:
    talk = [
        {"role": "user", "content": "Go on."},
        {"role": "system", "content": "Be brief from here on."},
        {"role": "assistant", "content": "Yes."},
    ]
    assert to_anthropic(from_anthropic(talk)) == talk


@pytest.mark.parametrize("answer", [{}, {"content": None}, {"content": []}, {"content": ""}])
def test_an_answer_without_content_is_an_empty_text(answer: dict[str, Any]) -> None:
    result = {"type": "tool_result", "tool_use_id": "a", **answer}
    talk = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}],
        },
        {"role": "user", "content": [result]},
    ]
    request = from_anthropic(talk)
    assert request[1].parts == (ToolResult("a", ""),)
    without_null = {name: value for name, value in result.items() if value is not None}
    assert to_anthropic(request) == [talk[0], {"role": "user", "content": [without_null]}]


def test_an_answer_that_was_shortened_loses_its_old_layout_and_keeps_its_pictures() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
    blocks = [{"type": "text", "text": "one"}, picture, {"type": "text", "text": "two"}]
    (read,) = from_anthropic(
        [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": blocks}],
            }
        ]
    )
    (result,) = read.parts
    assert isinstance(result, ToolResult)
    short = edit(result, text="cut")
    shaped = to_anthropic(
        [Message("assistant", (ToolCall("a", "t", "{}"),)), Message("user", (short,))]
    )
    assert shaped[1]["content"][0]["content"] == [{"type": "text", "text": "cut"}, picture]


def test_thinking_goes_back_only_with_its_signature_and_only_if_it_is_anthropics() -> None:
    thoughts = (
        Thinking("a", "", shape="anthropic"),
        Thinking("b", "sig", shape="responses"),
        Text("Yes."),
    )
    assert to_anthropic([Message("assistant", thoughts)])[0]["content"] == [
        {"type": "text", "text": "Yes."}
    ]


def test_what_another_provider_made_is_words_from_the_user_and_nothing_from_the_assistant() -> None:
    audio = keep(Opaque("input_audio"), "openai", {"type": "input_audio"})
    shaped = to_anthropic(
        [Message("user", (audio, Image())), Message("assistant", (Text("Heard."), audio))]
    )
    assert [[each["text"] for each in message["content"]] for message in shaped] == [
        ["[input_audio]", "[image]"],
        ["Heard."],
    ]


def test_the_fields_of_a_response_are_kept_and_not_sent() -> None:
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": "Yes.",
        "usage": {"output_tokens": 2},
    }
    (message,) = from_anthropic([reply])
    assert message.block is not None
    assert message.block.raw == reply
    assert to_anthropic([message]) == [{"role": "assistant", "content": "Yes."}]
