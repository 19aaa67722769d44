"""Where a window begins: nothing is parted, nothing moves before it must, and then it moves far."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.message import Message, Text, ToolCall, ToolResult, group_by_calls
from foreword.session.timeline import Group, Timeline, TimelineMessage, group_messages
from foreword.session.window import AVERAGE, choose, low_water
from tests.examples import examples


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


@settings(deadline=None, max_examples=examples(15))
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


def groups_of(*sizes: int) -> list[Group]:
    """Groups of one message each, of these tokens."""
    return [Group((user_message(at + 1, size),), size) for at, size in enumerate(sizes)]


# Small numbers, so that the bounds are met exactly.
@settings(max_examples=examples(100))
@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 30), st.data())
def test_a_cut_keeps_as_many_of_the_newest_as_the_low_water_mark_holds_and_no_more(
    sizes: list[int], room: int, data: st.DataObject
) -> None:
    low = data.draw(st.integers(0, room))
    window = choose(groups_of(*sizes), room=room, low=low)
    kept = len(window.groups)
    if sum(sizes) <= room:
        assert (kept, window.moved, window.shorten_to) == (len(sizes), False, 0)
        return
    if sizes[-1] > room:
        assert (kept, window.shorten_to) == (1, max(1, low))
        return
    whole = kept - 1 if window.shorten_to else kept
    size = sum(sizes[-whole:])
    assert whole == 1 or size <= low
    assert size + sizes[-whole - 1] > low
    # what stays empty is at most a quarter of the mark; more of it goes to the next one, shortened
    is_much = low - size > low / 4
    assert window.shorten_to == (low - size if is_much else 0)
    assert window.moved == (kept < len(sizes))


def test_a_newest_group_as_large_as_the_room_stays_whole() -> None:
    window = choose(groups_of(3, 5), room=5, low=4)
    assert [group.tokens for group in window.groups] == [5]
    assert not window.shorten_to


def test_a_window_that_shortens_its_oldest_group_has_moved_where_an_older_one_went() -> None:
    window = choose(groups_of(5, 5, 5, 1), room=10, low=9)
    assert [group.tokens for group in window.groups] == [5, 5, 1]
    assert (window.moved, window.shorten_to) == (True, 3)


def test_a_window_whose_oldest_group_is_shortened_and_none_went_has_not_moved() -> None:
    window = choose(groups_of(100, 10), room=50, low=40)
    assert [group.tokens for group in window.groups] == [100, 10]
    assert (window.moved, window.shorten_to) == (False, 30)


def test_a_group_that_would_leave_just_a_quarter_of_the_mark_empty_goes_whole() -> None:
    window = choose(groups_of(100, 30), room=50, low=40)
    assert [group.tokens for group in window.groups] == [30]
    assert (window.moved, window.shorten_to) == (True, 0)


def test_a_newest_group_in_no_room_at_all_is_shortened_to_a_token() -> None:
    assert choose(groups_of(10), room=5, low=0).shorten_to == 1


@given(st.integers(1_000, 100_000), st.integers(1, 100), st.integers(0, 30))
def test_the_middle_between_a_cut_and_the_next_is_the_average_fill_that_is_aimed_at(
    budget: int, share: int, others_share: int
) -> None:
    size = max(2, budget * share // 1_000)  # of every turn: up to a tenth of the budget
    others = budget * others_share // 100
    groups = groups_of(*[size] * 20)
    low = low_water(groups, budget=budget, others=others, room=budget - others)
    just_after, just_before = others + low, budget - size
    assert abs((just_after + just_before) / 2 - AVERAGE * budget) <= 1


def test_of_uneven_turns_the_large_ones_count_for_more_but_never_for_more_than_a_tenth() -> None:
    budget = 10_000
    even = low_water(groups_of(*[100] * 20), budget=budget, others=0, room=budget)
    uneven = groups_of(*[10] * 100, 1_000)
    # half of the tokens are in turns of 10, half in one of 1,000: 505 on average
    assert low_water(uneven, budget=budget, others=0, room=budget) == even - 100 + 505
    giant = groups_of(9_000, 10)
    assert low_water(giant, budget=budget, others=0, room=budget) == even - 100 + 1_000


def test_a_cut_leaves_three_tenths_of_the_room_where_the_other_parts_take_nearly_all() -> None:
    groups = groups_of(*[10] * 20)
    assert low_water(groups, budget=1_000, others=900, room=100) == 30
    assert low_water(groups, budget=1_000, others=100, room=10) == 10
    assert low_water(groups_of(1), budget=100, others=0, room=100) == 63
    assert low_water(groups_of(1), budget=30, others=0, room=30) == 20
