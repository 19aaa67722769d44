"""Messages survive the shapes of both providers, and a tool call is never parted from its
result."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.messages.anthropic import to_anthropic
from foreword.messages.call_pairs import NO_RESULT, group_by_calls, mend
from foreword.messages.message import KINDS, NOT_HISTORY, Kind, Message
from foreword.messages.openai_chat import to_openai
from foreword.messages.parts import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from foreword.messages.shapes import read_message, read_messages


def ask(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(each, "tool", "{}") for each in ids))


def answer(*ids: str) -> Message:
    return Message("user", tuple(ToolResult(each, f"result of {each}") for each in ids))


def say(text: str) -> Message:
    return Message("user", (Text(text),))


# --- round trips ----------------------------------------------------------------------------------


def test_a_thinking_block_is_not_sent_to_openai_which_would_refuse_it() -> None:
    thought = Thinking("Two reads.", "sig", shape="anthropic")
    assert to_openai([Message("assistant", (thought, Text("I look.")))]) == [
        {"role": "assistant", "content": "I look."}
    ]


def test_for_anthropic_a_tool_result_stands_before_any_words_that_came_in_between() -> None:
    """The API refuses text between a call and its result, and a user may type while a tool runs."""
    shaped = to_anthropic([say("go"), ask("x"), say("hurry up"), answer("x")])
    assert [part["type"] for part in shaped[-1]["content"]] == ["tool_result", "text"]


def test_for_openai_a_tool_result_follows_its_call_even_if_words_came_in_between() -> None:
    shaped = to_openai([say("go"), ask("x"), say("hurry up"), answer("x")])
    assert [m["role"] for m in shaped] == ["user", "assistant", "tool", "user"]


# --- content that is missing or odd ---------------------------------------------------------------


def test_an_empty_text_is_no_block_for_anthropic() -> None:
    assert to_anthropic([Message("assistant", (Text(""), ToolCall("a", "t", "{}")))]) == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}],
        }
    ]


def test_a_result_made_of_text_parts_is_read_as_its_text() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    theirs = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": parts}],
    }
    (result,) = read_message(theirs).parts
    assert isinstance(result, ToolResult)
    assert (result.text, result.rest) == ("one\ntwo", ())
    assert to_anthropic([ask("a"), read_message(theirs)])[1] == theirs


def test_a_part_we_do_not_know_is_carried_unread() -> None:
    block = {"type": "document", "source": {"type": "file", "file_id": "f1"}, "title": "Berths"}
    message = read_message(
        {"role": "user", "content": [block, {"type": "tool_use", "id": "a", "name": "t"}]}
    )
    assert isinstance(message.parts[0], Opaque)
    assert to_anthropic([message])[0]["content"][0] == block
    assert message.text.startswith("[document]\n")


@pytest.mark.parametrize(
    "more", [{}, {"content": None}, {"content": []}, {"content": None, "tool_calls": None}]
)
def test_a_message_without_content_is_read_as_one_that_says_nothing(more: dict[str, Any]) -> None:
    message = read_message({"role": "assistant", **more})
    assert (message.parts, message.text) == ((), "")
    assert to_anthropic([message]) == to_openai([message]) == []


def test_the_old_function_call_is_paired_by_its_name() -> None:
    talk = [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "tide", "arguments": "{}"},
        },
        {"role": "function", "name": "tide", "content": "high at 04:12"},
    ]
    messages = read_messages(talk, "here")
    assert to_openai(messages) == talk
    asked, answered = to_anthropic(messages)
    assert asked["content"][0]["id"] == answered["content"][0]["tool_use_id"] == "tide"


def test_calls_without_an_id_are_given_one_each() -> None:
    shaped = to_anthropic([ask("", ""), answer("", "")])
    assert [block["id"] for block in shaped[0]["content"]] == ["call", "call_2"]
    assert [block["tool_use_id"] for block in shaped[1]["content"]] == ["call", "call_2"]


# --- what a message is, and what of it is read ----------------------------------------------------


def test_a_picture_is_a_short_mark_in_the_text_and_is_counted() -> None:
    picture = Image("image/png", "A" * 16_384)
    message = Message(
        "user",
        (
            Text("see"),
            picture,
            Image(url="https://example.org/a.png"),
            ToolResult("a", "", rest=(picture,)),
        ),
    )
    assert (
        message.text
        == "see\n[image image/png, 12 KB]\n[image https://example.org/a.png]\n[image image/png,"
        " 12 KB]"
    )
    assert message.images == 3


def test_thinking_is_no_part_of_the_text() -> None:
    assert Message("assistant", (Thinking("hm", "sig" * 900), Text("Yes."))).text == "Yes."


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_may_say_what_it_is_and_that_decides_whether_it_stays(kind: Kind) -> None:
    message = read_message({"role": "user", "content": "# Plan", "kind": kind})
    assert message.kind == kind
    assert message.is_history == (kind not in NOT_HISTORY)


def test_words_that_look_like_a_plan_do_not_make_a_message_one() -> None:
    assert read_message({"role": "user", "content": "<plan>system_prompt</plan>"}).is_history


def test_a_system_message_is_a_system_prompt_unless_it_says_otherwise() -> None:
    assert not Message("system", (Text("x"),)).is_history
    assert Message("system", (Text("x"),), "summary").is_history


def test_a_kind_nobody_knows_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(
        BadSource, match=r"^talk\.json: messages\[1\]\.kind: 'notes' is not one of conversation, "
    ):
        read_messages(
            [{"role": "user", "content": "x"}, {"role": "user", "content": "x", "kind": "notes"}],
            "talk.json",
        )


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("hello", "messages: must be a list"),
        ([{"role": "user", "content": "x"}, "hello"], "messages[1]: must be a mapping"),
        ([{"role": "robot", "content": "x"}], "messages[0].role: 'robot'"),
        ([{"content": "x"}], "messages[0].role: None"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": [7]}], "messages[0].content[0]"),
        (
            [{"role": "user", "content": [{"type": "text", "text": 7}]}],
            "messages[0].content[0].text: must be text, not int",
        ),
        ([{"role": "assistant", "function_call": "tide"}], "messages[0].function_call"),
        (
            [{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}],
            "messages[0].tool_calls[0].function",
        ),
        ([{"role": "assistant", "content": None, "tool_calls": 5}], "messages[0].tool_calls"),
    ],
)
def test_what_is_no_message_is_an_error_that_names_the_place(values: object, place: str) -> None:
    with pytest.raises(BadSource, match=r"^history\.json: ") as caught:
        read_messages(values, "history.json")
    assert place in caught.value.message


# --- staying together -----------------------------------------------------------------------------


def test_a_call_and_its_result_are_one_group_and_words_are_their_own() -> None:
    first, call, result, last = say("go"), ask("a"), answer("a"), say("done")
    assert group_by_calls([first, call, result, last]) == [(first,), (call, result), (last,)]


def test_an_id_that_is_used_again_binds_to_its_latest_call() -> None:
    talk = [ask("a"), answer("a"), say("next"), ask("a"), answer("a")]
    assert [len(group) for group in group_by_calls(talk)] == [2, 1, 2]


IDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
MESSAGES = st.lists(
    st.one_of(
        IDS.map(lambda ids: ask(*ids)), IDS.map(lambda ids: answer(*ids)), st.just(say("words"))
    )
)


@given(MESSAGES)
def test_grouping_keeps_the_order_and_parts_no_pair(talk: list[Message]) -> None:
    groups = group_by_calls(talk)
    assert list(chain.from_iterable(groups)) == talk
    assert all(groups)
    home: list[int] = []  # the group of each message
    for index, group in enumerate(groups):
        home += [index] * len(group)
    waiting: list[tuple[str, int]] = []  # the calls without a result, the oldest first
    for at, message in enumerate(talk):
        if message.role == "assistant" and at and talk[at - 1].role != "assistant":
            waiting = []
        for result in message.results:
            answered = [call for call in waiting if call[0] == result][:1]
            for call in answered:
                waiting.remove(call)
                assert home[call[1]] == home[at]
        waiting += [(call_id, at) for call_id in message.calls]


@given(MESSAGES)
def test_groups_mended_one_by_one_are_the_whole_mended_at_once(talk: list[Message]) -> None:
    """What `group_by_calls` joins is what `mend` pairs: a group never lacks a result that another
    one has."""

    def results(mended: list[Message]) -> list[str]:
        parts = chain.from_iterable(message.parts for message in mended)
        return [part.text for part in parts if isinstance(part, ToolResult)]

    apart: list[Message] = []
    for group in group_by_calls(talk):
        apart += mend([*group, say("")])[0]
    assert results(apart) == results(mend([*talk, say("")])[0])


@given(MESSAGES)
def test_grouping_joins_nothing_that_no_pair_holds_together(talk: list[Message]) -> None:
    for group in group_by_calls(talk):
        for cut in range(1, len(group)):
            before = set(chain.from_iterable(message.calls for message in group[:cut]))
            after = set(chain.from_iterable(message.results for message in group[cut:]))
            assert before & after, "could have been two groups"


def test_an_id_that_is_used_again_in_a_later_turn_keeps_each_result_with_its_call() -> None:
    def call(text: str) -> list[Message]:
        return [
            Message("assistant", (ToolCall("call_1", "t", "{}"),)),
            Message("tool", (ToolResult("call_1", text),)),
        ]

    shaped = to_openai([*call("first"), Message("user", (Text("again"),)), *call("second")])
    assert [message["content"] for message in shaped if message["role"] == "tool"] == [
        "first",
        "second",
    ]


def test_ids_that_two_calls_share_are_made_different_for_providers() -> None:
    calls = Message("assistant", (ToolCall("x", "a", "{}"), ToolCall("x", "b", "{}")))
    results = Message("user", (ToolResult("x", "one"), ToolResult("x", "two")))
    shaped = to_anthropic([calls, results])
    assert [block["id"] for block in shaped[0]["content"]] == ["x", "x_2"]
    assert [(b["tool_use_id"], b["content"]) for b in shaped[1]["content"]] == [
        ("x", "one"),
        ("x_2", "two"),
    ]


def test_ten_thousand_calls_answered_one_by_one_stay_together() -> None:
    talk = [ask(*map(str, range(10_000))), *(answer(str(number)) for number in range(10_000))]
    assert [len(group) for group in group_by_calls(talk)] == [10_001]


def test_only_the_first_result_belongs_to_a_call() -> None:
    """Providers take one; `mend` shows the others as words, and words stand alone."""
    talk = [ask("x"), *[answer("x")] * 10_000]
    assert [len(group) for group in group_by_calls(talk)] == [2, *[1] * 9_999]


# --- mending --------------------------------------------------------------------------------------

SPOKEN = st.lists(
    st.one_of(
        IDS.map(lambda ids: ask(*ids)),
        IDS.map(lambda ids: answer(*ids)),
        st.just(say("words")),
        st.just(Message("assistant", (Text("well"),))),
        IDS.map(lambda ids: Message("user", (*answer(*ids).parts, Text("and words")))),
    ),
    max_size=12,
)


def check_pairs(mended: list[Message]) -> None:
    """Every call is answered right behind its message, once, and nothing else is answered."""
    waiting: list[str] = []
    used: set[str] = set()
    for message in mended:
        for part in message.parts:
            if isinstance(part, ToolResult):
                waiting.remove(part.id)
        if not message.results:
            assert not waiting
        waiting += message.calls
        assert len(set(message.calls)) == len(message.calls)
        assert not used & set(message.calls)
        used |= set(message.calls)
    assert not waiting or mended[-1].calls


@given(SPOKEN)
def test_mending_leaves_every_call_with_its_result_right_behind_it(talk: list[Message]) -> None:
    mended, done = mend(talk)
    check_pairs(mended)
    assert mend(mended) == (mended, [])
    if not done:
        after = sum(len(message.results) for message in mended)
        assert after == sum(len(message.results) for message in talk)


@given(SPOKEN, SPOKEN)
def test_new_messages_change_nothing_before_the_last_turn_of_the_assistant(
    old: list[Message], new: list[Message]
) -> None:
    turn = max(
        (at for at, message in enumerate(old) if message.role == "assistant"), default=len(old)
    )
    while turn and old[turn - 1].role == "assistant":
        turn -= 1
    settled = mend(old[:turn])[0]
    assert mend(old)[0][: len(settled)] == settled
    assert mend(old + new)[0][: len(settled)] == settled


@given(SPOKEN, SPOKEN)
def test_once_the_assistant_has_answered_in_words_nothing_before_changes(
    old: list[Message], new: list[Message]
) -> None:
    settled = [*old, say("so?"), Message("assistant", (Text("done"),))]
    before = mend(settled)[0]
    assert mend([*settled, say("next"), *new])[0][: len(before)] == before


@given(st.permutations(range(12)), st.lists(st.integers(1, 12), max_size=4))
def test_twelve_parallel_calls_answered_in_any_order_are_valid_for_both_providers(
    order: list[int], cuts: list[int]
) -> None:
    edges = sorted({0, 12, *cuts})
    names = [f"c{number}" for number in range(12)]
    in_order = [names[number] for number in order]
    replies = [answer(*in_order[start:end]) for start, end in pairwise(edges)]
    talk = [say("go"), ask(*names), *replies, say("thanks")]
    theirs = to_anthropic(talk)
    assert [message["role"] for message in theirs] == ["user", "assistant", "user"]
    assert [block["type"] for block in theirs[2]["content"]] == ["tool_result"] * 12 + ["text"]
    chat = to_openai(talk)
    assert [message["role"] for message in chat] == ["user", "assistant", *["tool"] * 12, "user"]
    assert {m["tool_call_id"]: m["content"] for m in chat[2:14]} == {
        f"c{n}": f"result of c{n}" for n in range(12)
    }


def test_a_result_that_comes_after_the_assistant_spoke_again_is_shown_as_words() -> None:
    mended, done = mend([ask("a"), say("well?"), ask("b"), answer("b"), answer("a")])
    assert [message.text for message in mended if "a" in message.results] == [NO_RESULT]
    assert mended[-1].parts == (Text("[result of a tool]\nresult of a"),), "not the user's words"
    assert len(done) == 2


def test_one_result_that_is_there_twice_answers_once_and_is_words_the_second_time() -> None:
    same = answer("a")
    mended, done = mend([ask("a"), same, same])
    assert [message.role for message in mended] == ["assistant", "tool", "user"]
    assert len(done) == 1


def test_a_result_keeps_what_its_message_is() -> None:
    ran = Message("tool", (ToolResult("a", "ok"),), "execution_result", tokens=3)
    _, kept, _ = mend([ask("a"), ran, say("next")])[0]
    assert kept is ran


def test_ten_thousand_calls_of_one_id_are_mended_in_no_time() -> None:
    mended, _ = mend([ask("x"), answer("x")] * 10_000)
    assert len(set(chain.from_iterable(message.calls for message in mended))) == 10_000
