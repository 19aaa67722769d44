"""What the views are made of: names in addresses, pages of texts, numbers for people, and the
lines of a chart."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.faces.web import addresses, glossary
from foreword.faces.web.context_monitor import APART, WIDEST, growth
from foreword.faces.web.plan_view import changed_tasks
from foreword.faces.web.rendering import arrows, hue, percent, shares, short, signed_number, why
from foreword.faces.web.text_pages import page_of_text
from foreword.section import FORMS
from foreword.session.limits import limits_for
from tests.faces.web.scene import plan

NAMES = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60
) | st.sampled_from([".", "..", "~", "~1", "a/b", "/", "%2F", "?", "#", "a b", "ש/🙂", ".~2"])


@given(NAMES)
def test_every_name_is_one_piece_of_an_address_and_comes_back(name: str) -> None:
    piece = addresses.piece(name)
    assert addresses.decode_name(unquote(piece)) == name
    assert "/" not in unquote(piece)
    assert unquote(piece) not in (".", "..")
    assert urlsplit(addresses.session(name, "plan")).path == f"/sessions/{piece}/plan"


@given(st.text(st.sampled_from("ab\n"), max_size=400), st.integers(1, 50))
def test_the_pages_of_a_text_joined_are_the_text(text: str, size: int) -> None:
    pages = page_of_text(text, 1, size).pages
    assert "".join(page_of_text(text, place, size).text for place in range(1, pages + 1)) == text
    assert page_of_text(text, pages + 7, size) == page_of_text(text, pages, size)
    assert page_of_text(text, -3, size) == page_of_text(text, 1, size)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0"),
        (950, "950"),
        (1_400, "1.4K"),
        (41_527, "41.5K"),
        (180_000, "180K"),
        (5_499_000, "5.5M"),
    ],
)
def test_large_numbers_are_shortened(count: int, told: str) -> None:
    assert short(count) == told


def test_shares_and_changes_are_told_as_precisely_as_they_matter() -> None:
    assert [percent(share) for share in (0, 0.0004, 0.004, 0.22, 0.996, 1, None)] == [
        "0%",
        "<0.1%",
        "0.4%",
        "22%",
        "99.6%",
        "100%",
        "–",
    ]
    assert [signed_number(count) for count in (1_200, -40, 0)] == ["+1,200", "−40", "0"]


def test_a_difference_and_a_reason_are_told_in_words() -> None:
    assert arrows('task 3 "do in_progress -> x": in_progress -> completed') == (
        'task 3 "do in_progress \u2192 x": in\u00a0progress \u2192 completed'
    )
    assert why("compressed (extract)") == "summed up by the built-in compressor"
    assert why("no room left") == "no room left"


def test_every_form_has_a_meaning_and_only_those_in_use_are_told() -> None:
    assert set(FORMS) <= set(glossary.FORMS)
    assert list(glossary.meanings_of(glossary.FORMS, ["gone", "full", "gone", "unheard of"])) == [
        "full",
        "gone",
    ]


def test_the_parts_of_a_bar_stand_side_by_side() -> None:
    assert shares({"a": 10, "b": 30}, 80) == [("a", 10, 0.0, 12.5), ("b", 30, 12.5, 37.5)]


def test_a_part_of_a_conversation_has_its_colour_wherever_it_stands() -> None:
    assert hue("conversation_history", 1) == hue("conversation_history", 5) == "part-6"
    assert [hue(f"other {place}", place) for place in (0, 7, 8)] == ["part-1", "part-8", "part-1"]


def call(number: int, **parts: int) -> dict[str, object]:
    return {
        "report": number,
        "call": number,
        "created": f"2026-01-0{number}",
        "total_tokens": sum(parts.values()),
        "parts": parts,
    }


def test_the_chart_stacks_the_parts_of_each_call_and_marks_where_a_call_began_anew() -> None:
    log = [call(3, plan=10, history=20), call(2, plan=10, history=90), call(1, plan=10, history=40)]
    cuts = [{"number": 1, "call": 1, "reason": "first call"}]
    cuts += [{"number": 2, "call": 3, "reason": "compressed"}]
    drawn = growth(log, cuts, limits_for())
    assert [layer.name for layer in drawn.layers] == ["plan", "history"]
    assert [slot.call["report"] for slot in drawn.slots] == [1, 2, 3]
    assert [event.at for event in drawn.events] == [pytest.approx(2 * WIDEST)]
    assert drawn.limits == ()  # far away: the picture is of what is there
    heights = [float(point.split()[1]) for point in drawn.edge.removeprefix("M ").split(" L ")]
    assert heights[2] < heights[1] < heights[3]


def test_one_call_is_a_column_and_not_a_slab_and_many_fill_the_width() -> None:
    one = growth([call(1, history=40)], [], limits_for())
    assert [(slot.left, slot.width) for slot in one.slots] == [(0, WIDEST)]
    widths = [float(point.split()[0]) for point in one.edge.removeprefix("M ").split(" L ")]
    assert max(widths) == WIDEST
    many = growth([call(1, history=40)] * 50, [], limits_for())
    assert many.slots[-1].left + many.slots[-1].width == pytest.approx(100)


def test_the_limits_are_in_the_picture_once_they_are_near() -> None:
    drawn = growth([call(1, history=150_000)], [], limits_for())
    assert [(line.name, line.value) for line in drawn.limits] == [
        ("compression", 180_000),
        ("warning", 160_000),
    ]
    assert all(0 < line.at < 100 for line in (*drawn.limits, *drawn.levels))
    assert growth([], [], limits_for()).slots == ()


@pytest.mark.parametrize("warn_at", [2_499, 2_400, 2_000, 900])
@pytest.mark.parametrize("largest", [100, 2_000, 2_600, 90_000])
def test_no_label_of_the_chart_is_over_another(warn_at: int, largest: int) -> None:
    limits = limits_for(budget=2_500, warn_at=warn_at)
    drawn = growth([call(1, history=largest)], [], limits)
    heights = sorted(label.at for label in drawn.labels)
    assert heights
    assert all(high - low > APART for low, high in pairwise(heights))
    assert set(drawn.levels) <= set(drawn.labels)


def test_tasks_are_marked_by_what_became_of_them() -> None:
    old, new = plan(), plan(t2="failed")
    new["phases"][0]["tasks"][0]["notes"] = "other words"
    new["phases"][1]["tasks"][1]["task_id"] = 9
    moved = new["phases"][1]["tasks"].pop(0)
    new["phases"][0]["tasks"].append(moved)
    assert changed_tasks(old, new) == {"1": "edited", "2": "was pending", "3": "moved", "9": "new"}
