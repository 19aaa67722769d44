"""Where a window begins: nothing moves before it must, and then it moves far."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.session.cut_plan import choose, low_water
from foreword.session.history import Group, TimelineMessage
from tests.examples import examples


def groups_of(*sizes: int) -> list[Group]:
    """Groups of one message each, of these tokens."""
    groups = list[Group]()
    for at, size in enumerate(sizes):
        turn = TimelineMessage(at + 1, Message("user", (Text("hello"),)), size)
        groups.append(Group((turn,), size))
    return groups


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
        assert (kept, window.shorten_to) == (len(sizes), 0)
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


def test_a_window_whose_oldest_group_is_shortened_and_none_went_has_not_moved() -> None:
    window = choose(groups_of(100, 10), room=50, low=40)
    assert [group.tokens for group in window.groups] == [100, 10]
    assert window.shorten_to == 30


def test_a_cut_leaves_three_tenths_of_the_room_where_the_other_parts_take_nearly_all() -> None:
    groups = groups_of(*[10] * 20)
    assert low_water(groups, budget=1_000, others=900, room=100) == 30
    assert low_water(groups, budget=1_000, others=100, room=10) == 10
    assert low_water(groups_of(1), budget=100, others=0, room=100) == 63
    assert low_water(groups_of(1), budget=30, others=0, room=30) == 20
