"""OpenAI's chat shape: what comes in goes back, and what others made becomes valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.messages.anthropic import to_anthropic
from foreword.messages.message import Message
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import to_responses
from foreword.messages.parts import Image, Text, ToolCall, ToolResult
from tests.messages.conversation import (
    ARGUMENTS,
    BASE64,
    NAMES,
    OBJECTS,
    TEXT,
    WORDS,
    block,
    conversations,
    from_openai,
    optional,
)

TEXTS = block("text", optional(cache_control=OBJECTS), text=TEXT)
ADDRESSES = st.just("https://example.org/a.png") | BASE64.map(
    lambda data: f"data:image/png;base64,{data}"
)
LINKS = st.builds(
    lambda url, more: {"url": url, **more}, ADDRESSES, optional(detail=st.just("low"))
)
IMAGES = block("image_url", image_url=LINKS)
AUDIO = block("input_audio", input_audio=OBJECTS)
LISTS = st.lists(TEXTS | IMAGES | AUDIO, min_size=2, max_size=4)
ANSWERS = TEXT | st.lists(TEXTS, min_size=2, max_size=3) | LISTS
MORE = optional(
    name=WORDS, refusal=st.none() | WORDS, audio=st.just({"id": "audio_1"}), reasoning_content=WORDS
)


@st.composite
def calls(draw: st.DrawFn, name: str) -> dict[str, Any]:
    more = draw(optional(index=st.integers(0, 9), extra_content=OBJECTS))
    if draw(st.booleans()):
        return {
            "id": name,
            "type": "custom",
            "custom": {"name": draw(NAMES), "input": draw(ARGUMENTS)},
            **more,
        }
    function = {
        "name": draw(NAMES),
        "arguments": draw(ARGUMENTS),
        **draw(optional(strict=st.booleans())),
    }
    return {"id": name, "type": "function", "function": function, **more}


def turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[dict[str, Any]]:
    asked = {
        "role": "user",
        "content": draw(TEXT | LISTS),
        **draw(optional(name=WORDS)),
    }
    reply: dict[str, Any] = {"role": "assistant", "content": draw(WORDS), **draw(MORE)}
    if ids:
        reply |= {
            "content": draw(st.none() | WORDS),
            "tool_calls": [draw(calls(each)) for each in ids],
        }
    results = [
        {
            "role": "tool",
            "tool_call_id": each,
            "content": draw(ANSWERS),
            **draw(optional(name=NAMES)),
        }
        for each in draw(st.permutations(ids))
    ]
    return [asked, reply, *results]


SYSTEM = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "developer"]), "content": WORDS}),
    max_size=2,
)


@given(SYSTEM, conversations(turn))
def test_a_conversation_goes_back_as_it_came(
    system: list[dict[str, Any]], talk: list[dict[str, Any]]
) -> None:
    assert to_openai(from_openai(system + talk)) == system + talk


def test_pictures_in_the_results_of_another_provider_follow_all_the_results() -> None:
    """Tool messages hold only text, and nothing may stand between them."""
    picture = Image("image/png", "AAAA")
    calls = Message("assistant", (ToolCall("a", "t", "{}"), ToolCall("b", "t", "{}")))
    results = [
        Message("user", (ToolResult("a", "seen", rest=(picture,)),)),
        Message("user", (ToolResult("b", "ok"),)),
    ]
    shaped = to_openai([calls, *results, Message("user", (Text("next"),))])
    assert [message["role"] for message in shaped] == ["assistant", "tool", "tool", "user", "user"]
    assert shaped[1]["content"] == "seen\n[image image/png, 1 KB]"
    assert shaped[3]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    ]


@pytest.mark.parametrize("field", [{"refusal": "I can't."}, {"audio": {"id": "audio_1"}}])
def test_a_reply_without_content_is_sent_if_it_says_something_in_another_field(
    field: dict[str, Any],
) -> None:
    reply = {"role": "assistant", "content": None, **field}
    assert to_openai(from_openai([reply])) == [reply]


def test_the_name_of_a_speaker_is_shown_where_a_shape_has_no_field_for_it() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "name": "Ana", "content": "Left."},
        {"role": "user", "name": "Bo", "content": [picture, {"type": "text", "text": "Right."}]},
        {"role": "assistant", "name": "pilot", "content": "Which?"},
    ]
    messages = from_openai(talk)
    assert [message.text for message in messages] == [
        "Ana: Left.",
        "Bo: [image image/png, 1 KB]\nRight.",
        "Which?",
    ]
    said, reply = to_anthropic(messages)
    assert [block.get("text") for block in said["content"]] == ["Ana: Left.", "Bo:", None, "Right."]
    assert reply["content"] == [{"type": "text", "text": "Which?"}]
    assert to_responses(messages)[0] == {"role": "user", "content": "Ana: Left."}
    assert to_openai(messages) == talk


def test_a_speaker_who_says_nothing_is_not_introduced() -> None:
    silent = from_openai([{"role": "user", "name": "Ana", "content": " "}])
    assert (silent[0].text, to_anthropic(silent)) == (" ", [])


@pytest.mark.parametrize("name", ["</turn>", "a\nb", "", " ", 5, "\ud800", "x" * 65])
def test_what_can_be_no_name_is_not_shown_and_goes_back_as_it_came(name: object) -> None:
    message = {"role": "user", "name": name, "content": "Left."}
    (read,) = from_openai([message])
    assert read.text == "Left."
    if name != "\ud800":
        assert to_openai([read]) == [message]
