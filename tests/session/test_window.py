"""Where a window begins: nothing is parted, nothing moves before it must, and then it moves far."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.message import Message, Text, ToolCall, ToolResult, group_by_calls
from foreword.session.timeline import Group, Timeline, TimelineMessage, group_messages
from foreword.session.window import choose, low_water


def user_message(seq: int, tokens: int = 10) -> TimelineMessage:
    return TimelineMessage(seq, Message("user", (Text("hello"),)), tokens)


def asks(seq: int, *ids: str) -> TimelineMessage:
    return TimelineMessage(
        seq, Message("assistant", tuple(ToolCall(call, "look", "{}") for call in ids)), 10
    )


def answers(seq: int, *ids: str) -> TimelineMessage:
    return TimelineMessage(
        seq, Message("tool", tuple(ToolResult(call, "found") for call in ids)), 10
    )


def spans(groups: list[Group]) -> list[tuple[int, int]]:
    return [(group.first, group.last) for group in groups]


def test_a_fan_out_of_twelve_calls_is_one_group_however_late_and_mixed_its_results_come() -> None:
    ids = [f"c{number}" for number in range(12)]
    turns = [
        user_message(1),
        asks(2, *ids),
        *(answers(3 + at, call) for at, call in enumerate(reversed(ids))),
        user_message(15),
    ]
    assert spans(group_messages(turns)) == [(1, 1), (2, 14), (15, 15)]


def test_a_result_joins_what_was_said_between_it_and_its_call() -> None:
    turns = [asks(1, "a"), user_message(2), answers(3, "a"), user_message(4)]
    assert spans(group_messages(turns)) == [(1, 3), (4, 4)]


def test_a_result_that_comes_after_the_assistant_spoke_again_joins_nothing() -> None:
    """Providers want results right behind the turn with the calls, so `mend` shows such a result
    as words."""
    turns = [
        asks(1, "a"),
        user_message(2),
        asks(3, "b"),
        answers(4, "b"),
        answers(5, "a"),
        user_message(6),
    ]
    assert spans(group_messages(turns)) == [(1, 1), (2, 2), (3, 4), (5, 5), (6, 6)]


def test_a_second_result_joins_nothing_however_much_lies_between() -> None:
    turns = [
        asks(1, "a"),
        answers(2, "a"),
        *(user_message(seq) for seq in range(3, 50)),
        answers(50, "a"),
    ]
    assert spans(group_messages(turns)) == [(1, 2), *((seq, seq) for seq in range(3, 51))]


def test_a_result_whose_call_was_forgotten_stands_alone() -> None:
    timeline = Timeline()
    timeline.extend([asks(1, "a"), user_message(2)])
    timeline.drop_before(2)
    timeline.add(answers(3, "a"))
    assert spans(timeline.groups) == [(2, 2), (3, 3)]


ids = st.sampled_from("abcd")
messages = st.lists(
    st.one_of(
        st.just(Message("user", (Text("hi"),))),
        st.lists(ids, min_size=1, max_size=3).map(
            lambda calls: Message("assistant", tuple(ToolCall(c, "x", "{}") for c in calls))
        ),
        ids.map(lambda call: Message("tool", (ToolResult(call, "y"),))),
    ),
    max_size=30,
)


@given(messages)
def test_growing_message_by_message_gives_the_same_groups_as_looking_at_all_of_them(
    said: list[Message],
) -> None:
    groups = group_messages(TimelineMessage(at + 1, message, 1) for at, message in enumerate(said))
    assert [group.messages for group in groups] == group_by_calls(said)
    assert [group.tokens for group in groups] == [len(group.turns) for group in groups]


sizes = st.lists(st.integers(1, 400), min_size=1, max_size=40)


@given(sizes, st.integers(1, 4_000), st.floats(0, 1))
def test_a_window_is_the_newest_groups_in_one_run_and_fits(
    tokens: list[int], room: int, share: float
) -> None:
    groups = [Group((user_message(at + 1, size),), size) for at, size in enumerate(tokens)]
    window = choose(groups, room=room, low=round(share * room))
    assert list(window.groups) == groups[len(groups) - len(window.groups) :]
    assert window.groups
    kept = [group.tokens for group in window.groups]
    if window.shorten_to:
        kept[0] = min(kept[0], window.shorten_to)
    assert sum(kept) <= room or (len(kept) == 1 and window.shorten_to == 1)
    assert (len(window.groups) < len(groups)) == window.moved


@settings(deadline=None, max_examples=30)
@given(st.integers(1_000, 50_000), st.integers(20, 60))
def test_over_many_turns_few_calls_move_the_window_and_most_of_the_budget_is_used(
    budget: int, share: int
) -> None:
    size = max(1, budget * share // 10_000)  # of one turn: 0.2% to 0.6% of the budget
    groups = list[Group]()
    moves = used = calls = 0
    for at in range(1, 3 * budget // size):
        groups.append(Group((user_message(at, size),), size))
        low = low_water(groups, budget=budget, others=0, room=budget)
        window = choose(groups, room=budget, low=low)
        moves += window.moved
        groups = list(window.groups)
        if moves:
            calls += 1
            used += sum(group.tokens for group in groups)
    assert moves <= 1 + calls * size / (0.3 * budget)
    assert used >= 0.8 * budget * calls
