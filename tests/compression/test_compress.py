"""What the built-in compressor of histories promises, seen through `compress`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.compression.extract import summarize
from foreword.compression.plan_status import mark_finished_tasks
from foreword.compression.summary_text import SummaryLine, read, write
from foreword.messages.message import Message
from foreword.messages.parts import Opaque, Text, ToolCall, ToolResult
from foreword.tokens import counter
from tests.examples import examples

ESTIMATE = counter("estimate")
CHATTER = (
    "I had a look around and everything seems to be in the usual place, as one would expect on a"
    " day like this."
)

texts = st.one_of(
    st.text(max_size=400),
    st.sampled_from(
        [
            "Never touch the `billing` table, please.",
            "We decided to use PostgreSQL because SQLite locks under load.",
            "TypeError: cannot read property 'id' of undefined at src/app/cart.ts:41:7",
            "Fixed. The cause was a missing await in src/app/cart.ts.",
            "## Open\n- nothing\n\n- [ ] write the tests",
            "see https://example.com/a/b?c=d and ORD-48213, or run `make check`",
        ]
    ),
)
parts = st.one_of(
    texts.map(Text),
    st.builds(
        ToolCall,
        st.sampled_from("abc"),
        st.just("run"),
        texts.map(lambda text: json.dumps({"command": text})),
    ),
    st.builds(ToolCall, st.sampled_from("abc"), st.just("run"), st.text(max_size=40)),
    st.builds(ToolResult, st.sampled_from("abc"), texts, st.booleans()),
    st.just(Opaque('{"type": "image"}')),
)
messages = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(parts, max_size=3).map(tuple),
    ),
    max_size=12,
)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (Text(text),))


def call(number: int, result: str, **arguments: object) -> list[Message]:
    asked = ToolCall(f"call_{number}", "tool", json.dumps(arguments))
    return [
        Message("assistant", (asked,)),
        Message("tool", (ToolResult(f"call_{number}", result),)),
    ]


def chatter(rounds: int, start: int = 0) -> list[Message]:
    """Talk that matters to nobody, each remark a little different, with files that come and go."""
    said: list[Message] = []
    for number in range(start, start + rounds):
        said += [
            user(f"and what about number {number}?"),
            assistant(f"{CHATTER} That was part {number} of it."),
        ]
        said += call(
            number,
            f"line {number} of the listing\n" * 20,
            file_path=f"/srv/data/part_{number}/rows_{number}.csv",
        )
        said += [
            assistant(
                f"The file rows_{number}.csv contains {number * 7} rows with value_{number} in"
                " them."
            )
        ]
    return said


@settings(max_examples=examples(25), deadline=None)
@given(messages, st.integers(-5, 600), texts, st.sampled_from(["estimate", "o200k"]))
def test_a_summary_is_never_larger_than_its_room(
    said: list[Message], room: int, earlier: str, name: str
) -> None:
    summary = summarize(
        said,
        room,
        counter(name),
        earlier=earlier,
        keep=["ORD-48213"],
        question="what about the cart?",
    )
    assert counter(name).count(summary) <= max(0, room)


@settings(max_examples=examples(15), deadline=None)
@given(messages, st.integers(0, 600), texts)
def test_the_same_messages_give_the_same_bytes(
    said: list[Message], room: int, earlier: str
) -> None:
    assert summarize(said, room, ESTIMATE, earlier=earlier) == summarize(
        said, room, ESTIMATE, earlier=earlier
    )


@settings(max_examples=examples(12), deadline=None)
@given(messages, st.integers(0, 400))
def test_what_was_compressed_can_be_compressed_again(said: list[Message], room: int) -> None:
    first = summarize(said, room, ESTIMATE)
    again = summarize([], room, ESTIMATE, earlier=first)
    assert ESTIMATE.count(again) <= room


@pytest.mark.parametrize("room", [500, 2_000, 8_000])
@pytest.mark.parametrize("name", ["estimate", "o200k"])
def test_the_room_is_filled_where_there_is_enough_to_say(room: int, name: str) -> None:
    summary = summarize(chatter(150), room, counter(name))
    assert 0.97 * room <= counter(name).count(summary) <= room


FACTS = (
    "Always answer in French, even in error messages.",
    "The export must never contain the column `iban_hash`.",
    "We decided to use PostgreSQL for the queue because SQLite locks under load.",
    "We went with polling instead of webhooks since the partner blocks inbound calls.",
)


def facts() -> list[Message]:
    return [
        user(FACTS[0]),
        assistant(CHATTER),
        user(FACTS[1]),
        assistant(FACTS[2]),
        *call(9_000, '{"order": "ORD-48213", "account": "acct_77d1"}', query="open orders"),
        assistant("The order to watch is ORD-48213, paid from acct_77d1."),
        assistant(FACTS[3]),
    ]


@pytest.mark.parametrize("name", ["estimate", "o200k"])
@pytest.mark.parametrize("decisions", [1, 5, 20])
def test_ten_compressions_in_a_row_keep_what_was_decided_and_stay_in_the_room(
    decisions: int, name: str
) -> None:
    summary = summarize(facts() + chatter(20), 1_500, counter(name))
    for turn in range(10):
        new = chatter(20, 100 * turn)
        for number in range(decisions):
            new.append(
                assistant(f"We decided that worker_{turn}_{number} runs alone because it is slow.")
            )
            new.append(user(f"Never let task_{turn}_{number} start twice."))
        summary = summarize(new, 1_500, counter(name), earlier=summary)
        assert counter(name).count(summary) <= 1_500
    assert [fact for fact in (*FACTS, "ORD-48213", "acct_77d1") if fact not in summary] == []
    assert "We decided that worker_9_0 runs alone" in summary or decisions > 1


def test_a_rule_of_the_users_is_not_pushed_out_by_what_is_asked_next() -> None:
    rule = "From now on, never open more than two tabs."
    questions = [f"Question {n}: has anything changed with letter {n}?" for n in range(60)]
    said = [Message("user", (Text(text),)) for text in [rule, *questions]]
    made = summarize(
        said, 200, ESTIMATE, question="Question 61: has anything changed with letter 61?"
    )
    assert rule.removesuffix(".") in made


def test_what_the_plan_refers_to_is_kept_wherever_it_was_said() -> None:
    said = [
        *call(1, "noise\n" * 5 + "token zz-91-qq once\n" + "noise\n" * 400, command="ls"),
        *chatter(60),
    ]
    summary = summarize(
        said,
        800,
        ESTIMATE,
        earlier="- checkout_url was set",
        keep=["zz-91-qq", "checkout_url", "nowhere_1"],
    )
    assert "zz-91-qq" in summary
    assert "checkout_url" in summary
    assert "nowhere_1" not in summary


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_settled_task_is_not_opened_again(status: str) -> None:
    said = [
        assistant("Next I still need to migrate the billing database to version 12."),
        assistant("Remaining: write the release notes."),
    ]
    finished = [("Migrate the billing database", status)]
    lines = summarize(said, 400, ESTIMATE, finished=finished).splitlines()
    assert all(f"({status}, says the plan)" in line for line in lines if "billing database" in line)
    assert any("release notes" in line for line in lines)


@settings(max_examples=examples(12), deadline=None)
@given(messages, st.lists(texts, max_size=3))
def test_there_is_nothing_left_in_a_summary_for_the_plan_to_correct(
    said: list[Message], tasks: list[str]
) -> None:
    finished = [("write the tests", "completed"), *((task, "failed") for task in tasks)]
    text = summarize(said, 500, ESTIMATE, finished=finished)
    assert mark_finished_tasks(text, finished) == text


def test_the_users_constraints_are_kept_over_chatter() -> None:
    said = [user("Never send mails from the test account, use the sandbox only."), *chatter(80)]
    assert "Never send mails from the test account, use the sandbox only." in summarize(
        said, 600, ESTIMATE
    )


def test_the_newest_correction_stands_last() -> None:
    said = [
        user("Use port 8080 for the proxy."),
        *chatter(5),
        user("No, use port 9090 for the proxy."),
        *chatter(5),
    ]
    text = summarize(said, 600, ESTIMATE)
    assert text.find("8080") < text.find("use port 9090 for the proxy")


def test_an_approach_that_failed_is_told_with_its_reason() -> None:
    said = [
        *chatter(10),
        assistant("Retrying with backoff did not work because the token had expired."),
        *chatter(30),
    ]
    assert "did not work because the token had expired" in summarize(said, 700, ESTIMATE)


def test_a_repeated_explanation_appears_once() -> None:
    explained = "The cache is keyed by tenant because two tenants may share one product id."
    said = list[Message]()
    for turn in range(8):
        said += [assistant(explained), *chatter(2, 10 * turn)]
    assert summarize(said, 1_000, ESTIMATE).count("keyed by tenant") == 1


def test_a_value_from_a_result_that_was_used_later_is_kept() -> None:
    listing = "\n".join(f"row {number} session sess_{number:04d} idle" for number in range(300))
    said = [
        *call(1, listing, query="sessions"),
        *call(2, "closed", session="sess_0217"),
        *chatter(20),
    ]
    text = summarize(said, 900, ESTIMATE)
    assert "sess_0217" in text
    assert "sess_0042" not in text


@pytest.mark.parametrize(
    "said",
    [
        [],
        [Message("user", ())],
        [user("")],
        [Message("user", (Opaque('{"type": "image", "source": {}}'),))] * 3,
        [Message("assistant", (Opaque('{"type": "thinking", "thinking": "hm"}'),))],
    ],
)
def test_nothing_said_is_nothing_kept(said: Sequence[Message]) -> None:
    assert summarize(said, 1_000, ESTIMATE) == ""


def test_calls_without_results_and_results_without_calls_are_fine() -> None:
    said = [
        Message("assistant", (ToolCall("a", "read", '{"file_path": "/srv/app/settings.toml"}'),)),
        Message("tool", (ToolResult("zzz", "ValueError: bad value for retry_limit"),)),
    ]
    text = summarize(said, 400, ESTIMATE)
    assert "/srv/app/settings.toml" in text
    assert "retry_limit" in text


@pytest.mark.parametrize(
    "text",
    ["x" * 5_000_000, "word " * 1_000_000, "a.b/c_d" * 700_000, "{" * 5_000_000, "\n" * 5_000_000],
)
def test_a_giant_message_is_only_sampled(text: str) -> None:
    said = [
        user("Keep to the budget of 40 euros."),
        assistant(text),
        Message("tool", (ToolResult("a", text),)),
    ]
    said.append(Message("assistant", (ToolCall("b", "write", json.dumps({"content": text})),)))
    summary = summarize(said, 1_000, ESTIMATE, earlier=text[:1_000_000])
    assert ESTIMATE.count(summary) <= 1_000
    assert "budget of 40 euros" in summary


def test_a_summary_by_a_model_is_folded_in() -> None:
    earlier = """This session is being continued from an earlier one.

1. Primary Request and Intent:
   - The user wants invoices as PDF/A only, never as plain PDF.
2. Key decisions:
   - **Renderer**: we chose weasyprint over wkhtmltopdf, the latter is unmaintained.
3. Errors and fixes:
   - Fonts missing in the container: fixed by installing fonts-noto.
4. Pending Tasks:
   - Sign the documents with key KMS-8841.
"""
    said = [Message("user", (Text(earlier),), kind="summary"), *chatter(60)]
    text = summarize(said, 1_500, ESTIMATE)
    for fact in ("never as plain PDF", "weasyprint over wkhtmltopdf", "fonts-noto", "KMS-8841"):
        assert fact in text


def test_of_lists_of_tasks_only_the_latest_counts() -> None:
    before = [
        {"content": "Draw the map", "status": "pending"},
        {"content": "Colour the map", "status": "pending"},
    ]
    after = [
        {"content": "Draw the map", "status": "completed"},
        {"content": "Colour the map", "status": "pending"},
    ]
    text = summarize(
        [*call(1, "ok", todos=before), *chatter(3), *call(2, "ok", todos=after)], 900, ESTIMATE
    )
    assert "[pending] Colour the map" in text.partition("<called_by_assistant>")[2]
    assert "[completed] Draw the map" in text
    assert "[pending] Draw the map" not in text


def test_a_query_brings_its_answer_in() -> None:
    said = [
        *chatter(40),
        assistant("The backup of the museum server runs at four in the morning."),
        *chatter(40),
    ]
    answer = "backup of the museum server"
    assert answer in summarize(said, 400, ESTIMATE, question="When does the museum backup run?")


def test_an_agent_takes_back_nothing_that_the_user_said_and_says_nothing_in_the_users_name() -> (
    None
):
    rule = "Keep the message queue in SQLite, never in PostgreSQL."
    excuse = "The message queue is in PostgreSQL now instead of SQLite, since SQLite locks."
    summary = ""
    said = [user(rule), *chatter(5), assistant(excuse), *chatter(5, 5)]
    for turn in range(1, 4):
        summary = summarize(said, 900, ESTIMATE, earlier=summary)
        found = read(summary)
        users = [line.text for line in found.lines if line.part == "user"]
        assert rule in users
        assert excuse not in users
        assert "[replaced later]" not in summary
        said = chatter(5, 10 * turn)


def test_two_lines_that_stood_side_by_side_in_a_summary_stand_in_the_next() -> None:
    decided = [
        "We decided on a generic format in the comment of sessionid.go, no year.",
        "The comment of sessionid.go has a generic format instead of a year, we decided.",
    ]
    earlier = write([SummaryLine("assistant", line) for line in decided], [])
    made = summarize(chatter(20), 900, ESTIMATE, earlier=earlier)
    assert "[replaced later]" not in made
    for line in decided:
        assert line.removesuffix(".") in made


def test_rules_for_two_things_that_look_alike_both_stand() -> None:
    rules = [
        "Never use more than two tabs for the shop.",
        "Never use more than five tabs for mail.",
    ]
    said = [user(rules[0]), *chatter(5), user(rules[1]), *chatter(5, 5)]
    made = summarize(said, 900, ESTIMATE)
    assert "[replaced later]" not in made
    for rule in rules:
        assert rule.removesuffix(".") in made


def test_lines_in_other_languages_are_kept_and_never_marked_as_replaced() -> None:
    said = [
        user("Die Frist für den Export ist Freitag."),
        user("Korrektur: Die Frist für den Export ist Montag."),
        *chatter(5, 5),
        user("消息队列改用 PostgreSQL，不再用 SQLite。"),
    ]
    made = summarize(said, 900, ESTIMATE)
    assert "[replaced later]" not in made
    for text in ("Die Frist für den Export ist Freitag", "Korrektur: Die Frist", "消息队列改用"):
        assert text in made


def test_a_name_that_a_line_says_is_not_listed_once_more() -> None:
    said = list[Message]()
    for number in range(60):
        said.append(
            Message("assistant", (Text(f"We decided that load_table_{number} reads once."),))
        )
    summary = summarize(said, 700, ESTIMATE)
    lines, _, ledger = summary.partition("<names_mentioned>")
    listed = [name for name in ledger.partition("</")[0].strip().split(", ") if name]
    assert "load_table_59 reads once" in lines
    assert [name for name in listed if f"{name} " in lines] == []
