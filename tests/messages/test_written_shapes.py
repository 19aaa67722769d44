"""What is written for Bedrock, LangChain, LlamaIndex, Gemini, Ollama, the Responses API and Vercel
reads back as what was said: ids of tools, thinking, pictures, results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.messages.blocks import data_beside_words
from foreword.messages.call_pairs import mend
from foreword.messages.fields import replace_unsent
from foreword.messages.gemini import from_gemini, to_gemini_request
from foreword.messages.langchain import to_langchain
from foreword.messages.llama_index import to_llama_index
from foreword.messages.message import Message, edit
from foreword.messages.ollama import to_ollama
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import from_responses
from foreword.messages.parts import Image, Text, Thinking, ToolCall, ToolResult
from foreword.messages.pydantic_ai import from_pydantic_ai_json
from foreword.messages.record import from_record, to_record
from foreword.messages.shapes import read_messages
from foreword.session.client_history import START, next_chain
from tests.examples import examples
from tests.messages.conversation import (
    BASE64,
    FOREIGN,
    JSON,
    NAMES,
    NEUTRAL,
    OBJECTS,
    WORDS,
    WRITERS,
    block,
    conversations,
    from_anthropic,
    from_openai,
    optional,
)
from tests.messages.test_requests import REQUESTS
from tests.messages.test_requests import read as read_request

READERS: dict[str, Callable[[Any], Iterable[Message]]] = {
    "anthropic": from_anthropic,
    "openai": from_openai,
    "responses": from_responses,
    "gemini": from_gemini,
    "pydantic_ai": from_pydantic_ai_json,
}
WITH_PARTS = ["bedrock", "langchain", "llama_index", "gemini", "responses", "vercel"]


def back(shape: str, messages: Iterable[Message]) -> list[Message]:
    """What is read from messages that were written in a shape."""
    written = WRITERS[shape](messages)
    return list(READERS[shape](written) if shape in READERS else read_messages(written, "messages"))


def parts_of(messages: list[Message]) -> list[Any]:
    """What was said and by whom, message by message or not."""
    said: list[Any] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and not part.text.strip():
                continue
            if isinstance(part, ToolResult):  # what no provider takes is replaced
                part = replace(part, text=replace_unsent(part.text))
            chain = next_chain(START, Message(message.role, (part,)))
            said.append(chain)
    return said


@pytest.mark.parametrize("shape", WRITERS)  # a message of Ollama's has one text
@settings(max_examples=examples(10), deadline=None)
@given(talk=NEUTRAL)
def test_what_is_written_reads_back_as_what_was_said(shape: str, talk: list[Message]) -> None:
    assert sorted(parts_of(back(shape, talk))) == sorted(parts_of(talk))


@pytest.mark.parametrize("shape", ["openai", "responses", "pydantic_ai"])
@settings(deadline=None)  # pydantic-ai is slow when it is first used
@given(talk=NEUTRAL)
def test_neutral_messages_come_back_message_by_message(shape: str, talk: list[Message]) -> None:
    assert back(shape, talk) == talk


@pytest.mark.parametrize("shape", ["anthropic", "openai", "responses", "pydantic_ai"])
@settings(deadline=None)
@given(talk=FOREIGN)
def test_what_another_provider_left_is_written_so_that_it_comes_back_the_same(
    shape: str, talk: list[Message]
) -> None:
    written = WRITERS[shape](talk)
    assert WRITERS[shape](READERS[shape](written)) == written


@pytest.mark.parametrize("shape", WITH_PARTS)
def test_what_coding_agents_really_send_is_written_without_loss(shape: str) -> None:
    for request in REQUESTS:
        said = mend(read_request(request))[0]
        # what the system says later is said by the user in some shapes: that is the only change
        talk = [message for message in said if message.role != "system"]
        assert not set(said_in(talk)) - set(said_in(back(shape, said))), request["name"]


def said_in(messages: list[Message]) -> list[tuple[str, ...]]:
    """Words, calls, results and pictures: what every shape has."""
    found: list[tuple[str, ...]] = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    found.append(("text", text))
                case ToolCall(call, name):
                    found.append(("call", call, name))
                case ToolResult(call, text):
                    found.append(("result", call, replace_unsent(text)))
                case Image(_, data, url):
                    found.append(("image", data or url))
    return found


PICTURE = Image("image/png", "iVBORw0KGgo=")
SCENE = [
    Message("user", (Text("What is this?"), PICTURE)),
    Message("assistant", (Text("I look."), ToolCall("t-1", "look", '{"at": [1, 2]}'))),
    Message("tool", (ToolResult("t-1", "no such place", failed=True, rest=(PICTURE,)),)),
    Message("assistant", (Text("Nothing is there."),)),
]


@pytest.mark.parametrize("shape", ["bedrock", "langchain", "llama_index", "gemini", "vercel"])
def test_pictures_failed_results_and_ids_come_back(shape: str) -> None:
    read = back(shape, SCENE)
    parts = [part for message in read for part in message.parts]
    (call,) = [part for part in parts if isinstance(part, ToolCall)]
    (result,) = [part for part in parts if isinstance(part, ToolResult)]
    (picture,) = [part for part in parts if isinstance(part, Image)]
    assert (call.id, call.name, call.arguments) == ("t-1", "look", '{"at": [1, 2]}')
    assert (result.id, result.text, result.failed) == ("t-1", "no such place", True)
    assert [picture.data, *[one.data for one in result.rest if isinstance(one, Image)]] == [
        PICTURE.data,
        PICTURE.data,
    ]


def test_ollama_has_every_text_every_call_by_its_id_and_every_picture() -> None:
    for request in REQUESTS:
        said = mend(read_request(request))[0]
        written = json.dumps(to_ollama(said), ensure_ascii=False)
        for message in said:
            for part in message.parts:
                if isinstance(part, Text):
                    text = json.dumps(replace_unsent(part.text), ensure_ascii=False)[1:-1]
                    assert text in written, request["name"]
                if isinstance(part, ToolCall | ToolResult):
                    assert json.dumps(part.id) in written, request["name"]
    looked, called, result, *_ = to_ollama(SCENE)
    assert (looked["images"], looked["content"]) == ([PICTURE.data], "What is this?")
    assert called["tool_calls"][0]["function"] == {"name": "look", "arguments": {"at": [1, 2]}}
    assert (result["tool_name"], result["images"]) == ("look", [PICTURE.data])


THOUGHTS = {
    "bedrock": ("bedrock", Thinking("hm", signature="sig", shape="bedrock")),
    "langchain": ("langchain", Thinking("hm", shape="langchain")),
    "claude in langchain": ("langchain", Thinking("hm", signature="sig", shape="anthropic")),
    "llama_index": ("llama_index", Thinking("hm", shape="llama_index")),
    "ollama": ("ollama", Thinking("hm", shape="ollama")),
    "vercel": ("vercel", Thinking("hm", shape="vercel")),
    "gemini": ("gemini", Thinking("hm", signature="c2ln", shape="gemini")),
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_thinking_goes_back_to_where_it_came_from_and_nowhere_else(name: str) -> None:
    shape, thought = THOUGHTS[name]
    talk = [Message("user", (Text("go"),)), Message("assistant", (thought, Text("Done.")))]
    assert thought in back(shape, talk)[1].parts
    foreign = Thinking("hm", signature="sig", shape="somebody")
    other = [talk[0], Message("assistant", (foreign, Text("Done.")))]
    assert not [part for part in back(shape, other)[1].parts if isinstance(part, Thinking)]


LANGCHAIN_BLOCKS = st.one_of(
    block("text", text=WORDS),
    block("text", text=WORDS, cache_control=st.just({"type": "ephemeral"})),
    block("image_url", image_url=st.just({"url": "https://example.org/a.png"})),
    block("image", base64=BASE64, mime_type=st.just("image/png")),
    block("reasoning", reasoning=WORDS),
    block("reasoning", id=st.just("rs_1"), summary=st.just([{"text": "hm"}])),
    block("thinking", thinking=WORDS, signature=WORDS),
    block("video", OBJECTS),
)
LLAMA_BLOCKS = st.one_of(
    st.fixed_dictionaries({"block_type": st.just("text"), "text": WORDS}),
    st.fixed_dictionaries({"block_type": st.just("image"), "image": BASE64}),
    st.fixed_dictionaries({"block_type": st.just("thinking"), "content": WORDS}),
    st.fixed_dictionaries({"block_type": st.just("cache"), "any": OBJECTS}),
)


def langchain_turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[dict[str, Any]]:
    def content() -> Any:
        return draw(WORDS | st.lists(LANGCHAIN_BLOCKS, min_size=1, max_size=3))

    more = {"id": draw(st.none() | WORDS), "response_metadata": draw(OBJECTS)}
    calls = list[dict[str, Any]]()
    results = list[dict[str, Any]]()
    for each in ids:
        name, args = draw(NAMES), draw(OBJECTS)
        calls.append({"name": name, "id": each, "args": args, "type": "tool_call"})
        result = {"content": content(), "tool_call_id": each, "artifact": draw(JSON)}
        results.append({"type": "tool", "data": result | draw(optional(status=st.just("error")))})
    answer = {"content": content(), "tool_calls": calls, "invalid_tool_calls": [], **more}
    asked = {"type": draw(st.sampled_from(["human", "system"])), "data": {"content": content()}}
    return [asked, {"type": "ai", "data": answer}, *results]


def llama_index_turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[dict[str, Any]]:
    def message(role: str, blocks: list[Any], **kwargs: Any) -> dict[str, Any]:
        more = draw(optional(later_field=JSON))
        return {"role": role, "additional_kwargs": kwargs, "blocks": blocks, **more}

    def blocks() -> list[Any]:
        return draw(st.lists(LLAMA_BLOCKS, min_size=1, max_size=3))

    calls = list[dict[str, Any]]()
    for each in ids:
        call = {"tool_call_id": each, "tool_name": draw(NAMES), "tool_kwargs": draw(OBJECTS)}
        calls.append({"block_type": "tool_call", **call})
    results = [message("tool", blocks(), tool_call_id=each) for each in ids]
    answer = message("assistant", [*blocks(), *calls])
    return [message(draw(st.sampled_from(["user", "system"])), blocks()), answer, *results]


@pytest.mark.parametrize(
    ("write", "turn"), [(to_langchain, langchain_turn), (to_llama_index, llama_index_turn)]
)
@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_any_conversation_of_a_framework_comes_back_as_it_was_from_the_store_too(
    write: Callable[[Iterable[Message]], list[Any]], turn: Any, data: st.DataObject
) -> None:
    talk = data.draw(conversations(turn))
    messages = read_messages(talk, "messages")
    assert write(messages) == talk
    stored = [from_record(to_record(message)) for message in messages]
    assert tuple(stored) == messages
    assert write(stored) == talk


def test_pictures_and_calls_in_a_content_are_not_counted_as_text_beside_it() -> None:
    data = "iVBORw0KGgo=" * 100
    pictures = [
        {"type": "image", "base64": data, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    dumped = {"type": "human", "data": {"content": pictures}}
    image = {"block_type": "image", "url": f"data:image/png;base64,{data}"}
    listed = {"role": "user", "blocks": [image], "additional_kwargs": {}}
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "the bar"}}
    called = {"type": "ai", "data": {"content": [call]}}
    for message in read_messages([dumped, listed, called], "messages"):
        assert data_beside_words(message) == ""


def test_what_was_edited_is_written_from_the_view_with_the_fields_beside_it() -> None:
    block = {"type": "text", "text": "long", "cache_control": {"type": "ephemeral"}}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    dumped = {"type": "ai", "data": {"content": [block, use], "id": "m1"}}
    (message,) = read_messages([dumped], "messages")
    shorter = edit(message, parts=(edit(message.parts[0], text="short"), *message.parts[1:]))
    (written,) = to_langchain([shorter])
    data = {"content": [{**block, "text": "short"}, use], "tool_calls": [], "id": "m1"}
    assert written == {"type": "ai", "data": data}


def test_a_result_with_blocks_that_gemini_does_not_know_reaches_it_as_words() -> None:
    found = {"type": "text", "text": "at 06:12"}
    hit = {"type": "search_result", "source": "tide.csv", "title": "Low water", "content": [found]}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [hit]}
    talk = read_messages(
        [
            {"role": "user", "content": "When?"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
            },
            {"role": "user", "content": [result]},
        ],
        "messages",
    )
    answer = to_gemini_request(talk)["contents"][2]["parts"][0]["functionResponse"]
    assert answer["response"] == {"output": "[search_result]\ntide.csv\nLow water\nat 06:12"}
    assert "parts" not in answer


def test_a_signature_without_words_of_gemini_is_no_empty_text_for_others() -> None:
    said = [{"text": "b"}, {"text": "", "thoughtSignature": "c2ln"}]
    talk = read_messages([{"role": "model", "parts": said}], "messages")
    assert to_openai(talk) == [{"role": "assistant", "content": "b"}]


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


def test_an_answer_of_gemini_without_parts_says_nothing() -> None:
    talk = [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model"}]
    asked, answer = read_messages(talk, "messages")
    assert (asked.text, answer.role, answer.parts) == ("a", "assistant", ())
