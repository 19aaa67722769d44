"""The items of OpenAI's Responses API: what comes in goes back, and the assistant's items become
whole messages."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foreword.messages.anthropic import to_anthropic
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import from_responses, to_responses
from foreword.messages.parts import Text, Thinking, ToolCall
from tests.messages.conversation import (
    ARGUMENTS,
    BASE64,
    NAMES,
    OBJECTS,
    TEXT,
    WORDS,
    block,
    conversations,
    optional,
)

STATUS = optional(id=WORDS, status=st.just("completed"))
ADDRESSES = st.just("https://example.org/a.png") | BASE64.map(
    lambda data: f"data:image/png;base64,{data}"
)
DETAIL = optional(detail=st.just("auto"))
TEXTS = block("input_text", optional(cache_control=OBJECTS), text=TEXT)
PICTURES = block("input_image", DETAIL, image_url=ADDRESSES) | block(
    "input_image", DETAIL, file_id=WORDS
)
FILES = block("input_file", file_id=WORDS)
SHOWN = st.lists(TEXTS | PICTURES | FILES, min_size=2, max_size=3)
OUTPUTS = TEXT | SHOWN
SAID = block("output_text", text=WORDS, annotations=st.lists(OBJECTS, max_size=1)) | block(
    "refusal", refusal=WORDS
)
REASONING = block(
    "reasoning",
    optional(
        encrypted_content=st.none() | WORDS,
        content=st.lists(block("reasoning_text", text=WORDS), max_size=1),
        status=st.just("completed"),
    ),
    id=WORDS,
    summary=st.lists(block("summary_text", text=WORDS), max_size=2),
)
SEARCHES = block("web_search_call", id=WORDS, status="completed", action=OBJECTS)
REPLIES = block(
    "message", optional(phase=st.just("commentary")), id=WORDS, role="assistant", status="completed"
)


def turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[dict[str, Any]]:
    role = draw(st.sampled_from(["user", "system", "developer"]))
    asked = {
        "role": role,
        "content": draw(WORDS | SHOWN),
        **draw(optional(type=st.just("message"))),
    }
    items = draw(st.lists(REASONING, max_size=1))
    if not ids or draw(st.booleans()):
        items.append({**draw(REPLIES), "content": draw(st.lists(SAID, min_size=1, max_size=2))})
    items += draw(st.lists(SEARCHES, max_size=1))
    custom = {each: draw(st.booleans()) for each in ids}
    for each in ids:
        kind, field = (
            ("custom_tool_call", "input") if custom[each] else ("function_call", "arguments")
        )
        items.append(draw(block(kind, STATUS, call_id=each, name=NAMES, **{field: ARGUMENTS})))
    for each in draw(st.permutations(ids)):
        kind = "custom_tool_call_output" if custom[each] else "function_call_output"
        items.append(draw(block(kind, STATUS, call_id=each, output=OUTPUTS)))
    return [asked, *items]


@given(conversations(turn))
def test_items_go_back_as_they_came(items: list[dict[str, Any]]) -> None:
    assert to_responses(from_responses(items)) == items


THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Two reads."}],
}
REPLY: list[dict[str, Any]] = [
    THOUGHT | {"encrypted_content": "gAAAA"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look."}],
    },
    {"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"path": "a.py"}'},
    {"type": "function_call", "call_id": "b", "name": "read", "arguments": '{"path": "b.py"}'},
    {"type": "function_call_output", "call_id": "b", "output": "two"},
    {"type": "function_call_output", "call_id": "a", "output": "one"},
]


def test_what_the_assistant_did_in_one_go_is_one_message_for_other_providers() -> None:
    messages = from_responses({"instructions": "Be short.", "input": "Look.", "output": REPLY})
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool"]
    thought, said, *calls = messages[2].parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature, said) == ("Two reads.", "gAAAA", Text("I look."))
    assert all(isinstance(call, ToolCall) for call in calls)
    assert [block["type"] for block in to_anthropic(messages)[1]["content"]] == [
        "text",
        "tool_use",
        "tool_use",
    ]
    assert [message["role"] for message in to_openai(messages)[2:]] == ["assistant", "tool", "tool"]


def test_a_custom_call_that_was_never_answered_gets_an_output_of_its_kind() -> None:
    call = {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "*** Begin"}
    items = to_responses(from_responses([call, {"role": "user", "content": "Well?"}]))
    assert [item.get("type") for item in items] == [
        "custom_tool_call",
        "custom_tool_call_output",
        None,
    ]
