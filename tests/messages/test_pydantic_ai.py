"""pydantic-ai's messages: theirs come back as they were, and ours become theirs."""

from __future__ import annotations

import sys
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from foreword.errors import UsageError
from foreword.extras import install_command
from foreword.messages.anthropic import to_anthropic
from foreword.messages.message import Message
from foreword.messages.parts import Image, Text, Thinking, ToolCall, ToolResult
from foreword.messages.pydantic_ai import (
    from_pydantic_ai,
    to_pydantic_ai,
    to_pydantic_ai_json,
)
from foreword.messages.record import from_record, to_record
from foreword.messages.shapes import read_messages
from tests.messages.conversation import (
    FOREIGN,
    NAMES,
    OBJECTS,
    WORDS,
    conversations,
    from_anthropic,
    optional,
)

TIMES = st.datetimes(timezones=st.just(UTC))
PICTURES = st.binary(max_size=6).map(lambda data: BinaryContent(data, media_type="image/png"))
FILES = PICTURES | st.just(
    BinaryContent(b"%PDF", media_type="application/pdf", identifier="berths")
)
LINKS = st.builds(
    lambda detail: ImageUrl("https://example.org/a.png", vendor_metadata=detail),
    st.none() | OBJECTS,
)
PROMPTS = st.text(max_size=9) | st.lists(
    WORDS | FILES | LINKS | st.just(CachePoint()), min_size=2, max_size=3
)
RETURNS = st.text(max_size=9) | OBJECTS | st.lists(WORDS | FILES | LINKS, max_size=3)
DETAILS = optional(id=WORDS, provider_name=WORDS, provider_details=OBJECTS)


def turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[ModelMessage]:
    asked = UserPromptPart(draw(PROMPTS), timestamp=draw(TIMES))
    system = [SystemPromptPart(draw(WORDS), timestamp=draw(TIMES))] if draw(st.booleans()) else []
    reply: list[Any] = (
        [TextPart(draw(WORDS), **draw(DETAILS))] if not ids or draw(st.booleans()) else []
    )
    if draw(st.booleans()):
        reply.insert(
            0,
            ThinkingPart(
                draw(st.text(max_size=9)), signature=draw(st.none() | WORDS), **draw(DETAILS)
            ),
        )
    if draw(st.booleans()):
        reply.append(FilePart(draw(FILES), **draw(DETAILS)))
    calls = {
        each: ToolCallPart(draw(NAMES), draw(st.none() | WORDS | OBJECTS), each) for each in ids
    }
    returns = [
        ToolReturnPart(
            calls[each].tool_name,
            draw(RETURNS),
            each,
            timestamp=draw(TIMES),
            metadata=draw(OBJECTS),
        )
        for each in draw(st.permutations(ids))
    ]
    response = ModelResponse(
        [*reply, *calls.values()],
        usage=RequestUsage(input_tokens=draw(st.integers(0, 9))),
        timestamp=draw(TIMES),
        model_name=draw(st.none() | WORDS),
    )
    request = ModelRequest([*system, asked], instructions=draw(st.none() | WORDS))
    return [request, response, *([ModelRequest(returns, run_id="returns")] if returns else [])]


def dumped(messages: list[ModelMessage]) -> Any:
    return ModelMessagesTypeAdapter.dump_python(messages, mode="json")


@settings(deadline=None)  # theirs is slow when it is first used
@given(conversations(turn))
def test_their_messages_come_back_as_they_were(talk: list[ModelMessage]) -> None:
    messages = from_pydantic_ai(talk)
    assert dumped(to_pydantic_ai(messages)) == dumped(talk)
    stored = [from_record(to_record(message)) for message in messages]
    assert tuple(stored) == messages
    assert to_pydantic_ai_json(stored) == dumped(talk)


@settings(deadline=None)
@given(FOREIGN)
def test_what_another_provider_left_is_valid_for_pydantic_ai(
    talk: list[Message],
) -> None:
    ModelMessagesTypeAdapter.validate_python(to_pydantic_ai_json(talk))


def test_thinking_of_anthropic_goes_through_with_its_signature() -> None:
    theirs = [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                {"type": "text", "text": "Because."},
            ],
        },
    ]
    assert to_anthropic(from_pydantic_ai(to_pydantic_ai(from_anthropic(theirs)))) == theirs
    part = to_pydantic_ai(from_anthropic(theirs))[1].parts[0]
    assert isinstance(part, ThinkingPart)
    assert (part.provider_name, part.signature) == ("anthropic", "sig")


def test_a_failed_result_with_a_picture_goes_there_and_back() -> None:
    call = Message(
        "assistant",
        (Thinking("", "enc", redacted=True, shape="anthropic"), ToolCall("a", "look", "{}")),
    )
    result = Message(
        "tool", (ToolResult("a", "broken", True, rest=(Image("image/png", "//79+w=="),)),)
    )
    asked = Message("user", (Text("Look."),))
    theirs = to_pydantic_ai([asked, call, result])
    (part,) = theirs[2].parts
    assert isinstance(part, ToolReturnPart)
    assert part.outcome == "failed"
    (_, _, back) = from_pydantic_ai(theirs)
    (answer,) = back.parts
    assert isinstance(answer, ToolResult)
    assert (answer.text, answer.failed, answer.rest) == (
        "broken",
        True,
        (Image("image/png", "//79+w=="),),
    )


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.messages", None)
    with pytest.raises(UsageError) as caught:
        to_pydantic_ai([])
    assert caught.value.hint == install_command("models")


def test_instructions_that_every_request_repeats_are_there_once() -> None:
    def request(words: str) -> dict[str, Any]:
        parts = [{"part_kind": "user-prompt", "content": words}]
        return {"kind": "request", "parts": parts, "instructions": "Answer in one line."}

    answer = {"kind": "response", "parts": [{"part_kind": "text", "content": "06:12"}]}
    read = read_messages([request("When?"), answer, request("And then?")], "messages")
    assert [message.role for message in read] == ["system", "user", "assistant", "user"]
