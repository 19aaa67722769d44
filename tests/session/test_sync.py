"""`session.sync`: the client's whole history again and again; what is kept is what the client
holds, in any shape, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foreword
from foreword.errors import BadSource
from foreword.messages.message import Message
from foreword.messages.parts import Text
from tests.examples import examples
from tests.messages.test_requests import REQUESTS
from tests.sessions import Open, numbered_message, words
from tests.statements import statements
from tests.store.databases import KINDS, new_url

Shaped = dict[str, Any]
QUICK = settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(params=KINDS)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[foreword.Session]:
    url = new_url(request.param, tmp_path)
    with foreword.Session.open(url, root=tmp_path, counter="estimate") as opened:
        yield opened


def said(session: foreword.Session) -> list[str]:
    return [message.text for message in session.history()]


def texts(history: list[Shaped]) -> list[str]:
    return [str(message["content"]) for message in history]


def turns(count: int, size: int = 5) -> list[Shaped]:
    return [numbered_message(number, size) for number in range(count)]


def test_what_is_new_is_added_and_an_answer_that_was_appended_is_there_once(
    session: foreword.Session,
) -> None:
    history: list[Shaped] = []
    for number in range(0, 12, 2):
        history.append(numbered_message(number))
        made = session.sync(history)
        assert (made.added, made.known) == (1, number)
        session.context()
        answer = numbered_message(number + 1)
        session.append(answer)
        history.append(answer)
    assert session.sync(history).added == 0
    assert said(session) == texts(history)


def test_an_edit_starts_a_branch_and_what_was_said_behind_it_can_be_recalled(
    session: foreword.Session,
) -> None:
    history = turns(10)
    session.sync(history)
    edited = [*history[:4], {"role": "user", "content": "something else"}]
    made = session.sync(edited)
    assert (made.added, made.known, made.taken_back) == (1, 4, 6)
    assert made.branch in made.warnings[0]
    assert said(session) == texts(edited)
    package = session.context()
    assert "Message 3." in package.text
    assert "Message 4." not in package.text
    kept = foreword.recall(made.branch, url=session.url)
    assert [f"Message {number}." in kept for number in range(3, 10)] == [False, *[True] * 6]
    assert "something else" not in kept
    assert session.sync(edited).added == 0


def test_going_back_to_what_was_edited_keeps_both_and_mixes_nothing(
    session: foreword.Session,
) -> None:
    first, second = turns(6), [*turns(3), {"role": "assistant", "content": "another way"}]
    for history in (first, second, first, second[:1], [], first):
        session.sync(history)
        assert said(session) == texts(history)
        assert session.usage()["messages"] >= len(history)


def test_a_change_in_place_is_seen(session: foreword.Session) -> None:
    history = turns(6)
    session.sync(history)
    history[2]["content"] = "[cleared]"
    assert session.sync(history).taken_back == 4
    assert said(session) == texts(history)


def test_a_second_process_goes_on_where_the_first_was(session: foreword.Session) -> None:
    history = turns(4)
    session.sync(history)
    with foreword.Session.open(session.url, root=session.root) as other:
        assert other.sync(history).added == 0
        assert other.sync(history[:2]).taken_back == 2
    assert session.sync(history).added == 2
    assert said(session) == texts(history)


def test_a_pinned_message_that_is_not_the_clients_stays_through_an_edit(
    session: foreword.Session,
) -> None:
    session.append({"role": "user", "content": "Never push to main."}, pinned=True)
    history = turns(4)
    session.sync(history)
    session.append({"role": "user", "content": "Use tabs."}, pinned=True)
    assert session.sync(history).taken_back == 0
    made = session.sync(history[:2])
    assert made.taken_back == 2
    assert sorted(said(session)) == sorted(
        ["Never push to main.", *texts(history[:2]), "Use tabs."]
    )
    assert session.sync(history).added == 2


def test_what_the_system_says_in_front_is_the_prompt_and_may_change(
    session: foreword.Session,
) -> None:
    history = turns(3)
    session.sync([{"role": "system", "content": "It is Monday."}, *history])
    made = session.sync([{"role": "system", "content": "It is Tuesday."}, *history])
    assert (made.added, made.taken_back) == (0, 0)
    assert session.system_prompt == "It is Tuesday."
    session.sync(history, system=[{"type": "text", "text": "It is Friday."}])
    assert session.system_prompt == "It is Friday."


def test_marks_of_a_cache_and_thinking_that_is_left_out_change_nothing(
    session: foreword.Session,
) -> None:
    history: list[Shaped] = [
        {"role": "user", "content": [{"type": "text", "text": "Read it."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1, "b": 2}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "4 lines"}],
        },
    ]
    session.sync(history)
    later = deepcopy(history)
    later[2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    del later[1]["content"][0]
    later[1]["content"][0]["input"] = {"b": 2, "a": 1}
    assert session.sync(later).taken_back == 0
    later[2]["content"][0]["content"] = "5 lines"
    assert session.sync(later).taken_back == 1


def test_a_compression_of_what_was_taken_back_holds_no_longer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with foreword.Session.open(url, root=tmp_path, window=4_000) as session:
        history = turns(60, size=40)
        session.sync(history)
        session.compress(to=1_500)
        assert "Message 5." not in "".join(said(session)[6:])
        made = session.sync(history[:8])
        assert made.taken_back == 52
        assert all(compression.undone for compression in session.compressions())
        package = session.context()
        assert "Summary of messages" not in package.text
        assert [f"Message {n}." in package.text for n in (0, 7, 8, 59)] == [
            True,
            True,
            False,
            False,
        ]


def test_as_many_statements_for_a_long_history_as_for_a_short_one(tmp_path: Path) -> None:
    counts: list[int] = []
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with (
        statements() as seen,
        foreword.Session.open(url, root=tmp_path, counter="estimate") as session,
    ):
        history: list[Shaped] = []
        for number in range(600):
            history.append(numbered_message(number, 3))
            if number in (20, 599):
                seen.clear()
                session.sync(history)
                counts.append(len(seen))
            elif number in (19, 598):
                session.sync(history)
    assert counts[0] == counts[1]


@pytest.mark.parametrize("value", ["hello", {"role": "user", "content": "x"}, 7, None])
def test_what_is_no_list_is_refused(open_session: Open, value: Any) -> None:
    with pytest.raises(BadSource, match="must be a list of messages"):
        open_session().sync(value)


def test_what_is_not_understood_is_refused_by_its_path_and_nothing_is_kept(
    open_session: Open,
) -> None:
    session = open_session()
    broken = [*turns(2), {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}]
    for _ in range(2):
        with pytest.raises(
            BadSource, match=r"messages\[2\]\.content\[0\]\.tool_use_id: is missing"
        ):
            session.sync(broken)
    assert session.history() == []
    with pytest.raises(BadSource, match=r"messages\[0\]: a message of kind plan"):
        session.sync([Message("user", (Text("a plan"),), kind="plan")])


def test_requests_of_real_agents_go_in_again_and_again(open_session: Open) -> None:
    for number, request in enumerate(REQUESTS):
        body = request["body"]
        history = body.get("messages") or body.get("contents") or body["input"]
        session = open_session(workflow=f"w{number}", counter="estimate")
        for count in range(1, len(history) + 1):
            assert session.sync(deepcopy(history[:count])).taken_back == 0, request["name"]
        again = session.sync(deepcopy(history))
        assert (again.added, again.taken_back) == (0, 0), request["name"]


def test_results_that_come_in_another_order_than_their_calls_are_kept_and_stay_paired(
    open_session: Open,
) -> None:
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}} for n in range(3)]
    history: list[Shaped] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
    ]
    session = open_session(recipe="chat", budget=2_000)
    session.sync(history)
    for n in (2, 0, 1):
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"result {n}"}
        history.append({"role": "user", "content": [result]})
        assert session.sync(deepcopy(history)).added == 1
    results = session.context().to_anthropic()["messages"][-1]["content"]
    found = {block["tool_use_id"]: block["content"] for block in results}
    assert found == {"t0": "result 0", "t1": "result 1", "t2": "result 2"}


def test_a_system_prompt_that_changes_at_every_turn_is_no_edit(open_session: Open) -> None:
    session = open_session(recipe="chat", budget=2_000)
    history: list[Shaped] = []
    for turn in range(5):
        history.append({"role": "user", "content": "ok"})
        prompt = {"role": "system", "content": f"It is {turn} o'clock."}
        made = session.sync([prompt, *history])
        assert (made.added, made.taken_back) == (1, 0)
        written = session.context().to_openai()
        assert written[0]["content"].count("o'clock") == 1
        assert f"{turn} o'clock" in written[0]["content"]
        assert [message["content"] for message in written[1:]] == ["ok"] * (turn + 1)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "add add ok ok append edit rewind regenerate drop_first again reopen context other"
            ).split()
        ),
        st.integers(0, 30),
    ),
    max_size=14,
)


@QUICK
@given(changes=CHANGES)
def test_the_kept_history_is_always_the_clients(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("sync")
    url = f"sqlite:///{folder / 'state.db'}"
    session = foreword.Session.open(url, root=folder, budget=600, window=2_000, counter="estimate")
    history: list[Shaped] = []
    for fresh, (what, number) in enumerate(changes):
        new = {"role": "user", "content": f"{fresh} {words('w', number)}"}
        match what:
            case "add":
                history.append(new)
            case "ok":  # the same words again, and nothing that tells them apart
                history += [{"role": "user", "content": "ok"}] * (1 + number % 3)
            case "regenerate" if history:
                history[-1] = new
            case "drop_first":  # a client that trims its own list
                del history[: number % 3]
            case "other":  # another process with the same history, or a part of it
                with foreword.Session.open(url, root=folder) as other:
                    other.sync(history[: len(history) - number % 2])
            case "append":
                session.sync(history)
                session.append(new)
                history.append(new)
            case "edit" if history:
                at = number % len(history)
                history[at] = {**history[at], "content": history[at]["content"] + " edited"}
            case "rewind":
                del history[number:]
            case "reopen":
                session.close()
                session = foreword.Session.open(url, root=folder)
            case "context":
                assert session.context().report.total_tokens <= 600
        session.sync(history)
        assert said(session) == texts(history)
        total = sum(line["tokens"] for line in _sizes(session))
        assert session.usage(0)["messages"] >= len(history)
        assert _running(session) == total
    session.close()


def _sizes(session: foreword.Session) -> list[dict[str, int]]:
    rows = session.db.rows("SELECT tokens FROM messages WHERE branch = 0")
    return [{"tokens": tokens} for (tokens,) in rows]


def _running(session: foreword.Session) -> int:
    rows = session.db.rows(
        "SELECT running FROM messages WHERE branch = 0 ORDER BY seq DESC LIMIT 1"
    )
    return int(rows[0][0]) if rows else 0
