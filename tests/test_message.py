"""Messages survive the shapes of both providers, and a tool call is never parted from its result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.message import (
    Message,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    read_message,
    read_messages,
    to_anthropic,
    to_openai,
    together,
)

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "What is in a.py and b.py?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Two reads.", "signature": "sig"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py", "depth": [1, 2]}},
            {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "b.py"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "print('ä')"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": True},
            {"type": "text", "text": "And be quick."},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "a.py prints."}]},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Weather in Oslo and Rome?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}},
            {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "snow"},
    {"role": "tool", "tool_call_id": "c2", "content": "sun"},
    {"role": "assistant", "content": "Snow, and sun."},
]


def ask(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(each, "tool", "{}") for each in ids))


def answer(*ids: str) -> Message:
    return Message("user", tuple(ToolResult(each, f"result of {each}") for each in ids))


def say(text: str) -> Message:
    return Message("user", (Text(text),))


# --- round trips -----------------------------------------------------------------------------------------------


def test_anthropic_messages_come_back_as_they_went_in() -> None:
    assert to_anthropic(read_messages(ANTHROPIC, "here")) == ANTHROPIC


def test_openai_messages_come_back_as_they_went_in() -> None:
    assert to_openai(read_messages(OPENAI, "here")) == OPENAI


def test_the_arguments_of_an_openai_call_stay_byte_for_byte() -> None:
    call = read_messages(OPENAI, "here")[2].parts[0]
    assert call == ToolCall("c1", "weather", '{"city":"Oslo"}')


def test_anthropic_to_openai_keeps_every_call_and_every_result_in_order() -> None:
    shaped = to_openai(read_messages(ANTHROPIC, "here"))
    assert [m["role"] for m in shaped] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert [call["id"] for call in shaped[1]["tool_calls"]] == ["t1", "t2"]
    assert shaped[2] == {"role": "tool", "tool_call_id": "t1", "content": "print('ä')"}
    assert shaped[4] == {"role": "user", "content": "And be quick."}


def test_a_thinking_block_is_not_sent_to_openai_which_would_refuse_it() -> None:
    assistant = to_openai(read_messages(ANTHROPIC, "here"))[1]
    assert assistant["content"] in ("I look.", [{"type": "text", "text": "I look."}])


def test_openai_to_anthropic_puts_parallel_results_into_one_user_message() -> None:
    shaped = to_anthropic(read_messages(OPENAI[1:], "here"))
    assert [m["role"] for m in shaped] == ["user", "assistant", "user", "assistant"]
    assert shaped[1]["content"][0] == {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}
    assert [part["tool_use_id"] for part in shaped[2]["content"]] == ["c1", "c2"]


def test_neighbours_of_one_role_are_joined_for_anthropic() -> None:
    assert to_anthropic([say("one"), say("two")]) == [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    ]


def test_for_anthropic_a_tool_result_stands_before_any_words_that_came_in_between() -> None:
    """The API refuses text between a call and its result, and a user may type while a tool runs."""
    shaped = to_anthropic([say("go"), ask("x"), say("hurry up"), answer("x")])
    assert [part["type"] for part in shaped[-1]["content"]] == ["tool_result", "text"]


def test_for_openai_a_tool_result_follows_its_call_even_if_words_came_in_between() -> None:
    shaped = to_openai([say("go"), ask("x"), say("hurry up"), answer("x")])
    assert [m["role"] for m in shaped] == ["user", "assistant", "tool", "user"]


# --- content that is missing or odd ----------------------------------------------------------------------------


def test_content_null_without_calls_says_nothing_to_either_provider() -> None:
    silent = read_message({"role": "assistant", "content": None})
    assert silent == Message("assistant", ())
    assert to_anthropic([silent]) == to_openai([silent]) == []


def test_content_null_with_calls_stays_null_for_openai() -> None:
    (shaped,) = to_openai([read_message(OPENAI[2])])
    assert shaped["content"] is None
    assert len(shaped["tool_calls"]) == 2


def test_an_empty_text_is_no_block_for_anthropic() -> None:
    assert to_anthropic([Message("assistant", (Text(""), ToolCall("a", "t", "{}")))]) == [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]}
    ]


def test_a_result_made_of_text_parts_is_read_as_its_text() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    message = read_message({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": parts}]})
    assert message.parts == (ToolResult("a", "one\ntwo"),)


def test_arguments_that_are_no_json_still_make_an_object_for_anthropic() -> None:
    (shaped,) = to_anthropic([Message("assistant", (ToolCall("a", "t", '{"path": '),))])
    assert shaped["content"][0]["input"] == {"arguments": '{"path": '}


def test_a_part_we_do_not_know_is_carried_unread() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}
    message = read_message({"role": "user", "content": [image]})
    assert message.parts == (Opaque(json.dumps(image)),)
    assert to_anthropic([message])[0]["content"] == [image]


def test_openais_developer_role_is_read_as_a_system_message() -> None:
    assert read_message({"role": "developer", "content": "Be short."}) == Message("system", (Text("Be short."),))


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("hello", "messages: must be a list"),
        ([{"role": "user", "content": "x"}, "hello"], "messages[1]: must be a mapping"),
        ([{"role": "robot", "content": "x"}], "messages[0].role: 'robot'"),
        ([{"content": "x"}], "messages[0].role: None"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": [7]}], "messages[0].content[0]"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "assistant", "content": None, "tool_calls": 5}], "messages[0].tool_calls"),
    ],
)
def test_what_is_no_message_is_an_error_that_names_the_place(values: object, place: str) -> None:
    with pytest.raises(BadSource, match=r"^history\.json: ") as caught:
        read_messages(values, "history.json")
    assert place in caught.value.message


# --- staying together ------------------------------------------------------------------------------------------


def test_a_call_and_its_result_are_one_group_and_words_are_their_own() -> None:
    first, call, result, last = say("go"), ask("a"), answer("a"), say("done")
    assert together([first, call, result, last]) == [(first,), (call, result), (last,)]


def test_parallel_calls_answered_one_by_one_are_one_group() -> None:
    talk = read_messages(OPENAI[1:], "here")
    assert [len(group) for group in together(talk)] == [1, 3, 1]


def test_calls_that_interleave_end_up_in_one_group() -> None:
    talk = [ask("a"), ask("b"), answer("a"), answer("b"), say("done")]
    assert [len(group) for group in together(talk)] == [4, 1]


def test_an_id_that_is_used_again_binds_to_its_latest_call() -> None:
    talk = [ask("a"), answer("a"), say("next"), ask("a"), answer("a")]
    assert [len(group) for group in together(talk)] == [2, 1, 2]


def test_an_orphan_result_and_an_unanswered_call_stand_alone() -> None:
    talk = [answer("lost"), say("hm"), ask("open"), say("well")]
    assert [len(group) for group in together(talk)] == [1, 1, 1, 1]


IDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
MESSAGES = st.lists(st.one_of(IDS.map(lambda ids: ask(*ids)), IDS.map(lambda ids: answer(*ids)), st.just(say("words"))))


@given(MESSAGES)
def test_grouping_keeps_the_order_and_parts_no_pair(talk: list[Message]) -> None:
    groups = together(talk)
    assert [message for group in groups for message in group] == talk
    assert all(groups)
    home = [index for index, group in enumerate(groups) for _ in group]
    called: dict[str, int] = {}
    for at, message in enumerate(talk):
        for each in message.results:
            assert each not in called or home[called[each]] == home[at]
        called |= dict.fromkeys(message.calls, at)


@given(MESSAGES)
def test_grouping_joins_nothing_that_no_pair_holds_together(talk: list[Message]) -> None:
    for group in together(talk):
        for cut in range(1, len(group)):
            before = {call for message in group[:cut] for call in message.calls}
            after = {call for message in group[cut:] for call in message.results}
            assert before & after, "could have been two groups"


def test_an_id_that_is_used_again_in_a_later_turn_keeps_each_result_with_its_call() -> None:
    def call(text: str) -> list[Message]:
        return [Message("assistant", (ToolCall("call_1", "t", "{}"),)), Message("tool", (ToolResult("call_1", text),))]

    shaped = to_openai([*call("first"), Message("user", (Text("again"),)), *call("second")])
    assert [message["content"] for message in shaped if message["role"] == "tool"] == ["first", "second"]


def test_ids_that_two_calls_share_are_made_different_for_providers() -> None:
    calls = Message("assistant", (ToolCall("x", "a", "{}"), ToolCall("x", "b", "{}")))
    results = Message("user", (ToolResult("x", "one"), ToolResult("x", "two")))
    shaped = to_anthropic([calls, results])
    assert [block["id"] for block in shaped[0]["content"]] == ["x", "x_2"]
    assert [(b["tool_use_id"], b["content"]) for b in shaped[1]["content"]] == [("x", "one"), ("x_2", "two")]


def test_an_image_is_written_as_each_provider_wants_it() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    theirs = {"role": "user", "content": [{"type": "image", "source": source}]}
    (shaped,) = to_openai([read_message(theirs)])
    assert shaped["content"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    (back,) = to_anthropic([read_message(shaped)])
    assert back["content"] == theirs["content"]


def test_ten_thousand_results_to_one_call_stay_together() -> None:
    talk = [Message("assistant", (ToolCall("x", "a", "{}"),)), *[Message("tool", (ToolResult("x", "r"),))] * 10_000]
    assert [len(group) for group in together(talk)] == [10_001]
