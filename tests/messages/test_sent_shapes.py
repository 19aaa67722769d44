"""Messages as programs send them, in the shape of each provider: calls beside each other, results
that failed or are lists, pictures by address and by file, documents, citations, thoughts, refusals,
sounds, tools of the server. Each comes back as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foreword.messages.anthropic import to_anthropic
from foreword.messages.bedrock import to_bedrock
from foreword.messages.gemini import to_gemini
from foreword.messages.langchain import to_langchain
from foreword.messages.message import Image, Message
from foreword.messages.ollama import to_ollama
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import to_responses
from foreword.messages.shapes import read_messages
from tests.corpus import check_each, rows

Fields = dict[str, Any]


Write = Callable[[tuple[Message, ...]], list[Fields]]
WRITERS: dict[str, Write] = {
    "anthropic": to_anthropic,
    "openai": to_openai,
    "responses": to_responses,
    "gemini": to_gemini,
    "bedrock": to_bedrock,
}


def test_what_programs_send_comes_back_as_it_was() -> None:
    def comes_back(case: Fields) -> None:
        talk = case["messages"]
        assert WRITERS[case["shape"]](read_messages(talk, "messages")) == talk

    check_each(rows("messages/sent.jsonl"), comes_back)


def test_an_answer_of_gemini_without_parts_says_nothing() -> None:
    talk = [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model"}]
    asked, answer = read_messages(talk, "messages")
    assert (asked.text, answer.role, answer.parts) == ("a", "assistant", ())


def test_pictures_of_ollama_and_of_openrouter_are_told_apart() -> None:
    data = "iVBORw0KGgo="
    drawn = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    for images in ([data], [drawn]):
        (message,) = read_messages([{"role": "assistant", "content": "x", "images": images}], "m")
        (picture,) = [part for part in message.parts if isinstance(part, Image)]
        assert (picture.media_type, picture.data) == ("image/png", data)


def test_a_call_that_langchain_has_among_the_items_of_a_response_is_one_call() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    answer = {
        "type": "ai",
        "data": {
            "content": [{"type": "text", "text": "x"}, call],
            "tool_calls": [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}],
        },
    }
    (message,) = read_messages([answer], "messages")
    assert message.text == "x\n[calls f({})]"


def test_a_call_of_ollama_keeps_its_place_in_the_answer() -> None:
    call = {"id": "a", "function": {"index": 1, "name": "f", "arguments": {"x": 1}}}
    asked = {"role": "assistant", "content": "x", "tool_calls": [call]}
    answer = {"role": "tool", "content": "y", "tool_name": "f", "tool_call_id": "a"}
    assert to_ollama(read_messages([asked, answer], "messages")) == [asked, answer]


def test_a_developer_of_langchain_goes_back_as_one() -> None:
    said = {"content": "x", "additional_kwargs": {"__openai_role__": "developer"}}
    message = {"type": "system", "data": said}
    assert to_langchain(read_messages([message], "messages")) == [message]
