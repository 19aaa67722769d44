"""Marks in instruction files: what they set apart, and what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.text import marks, parts
from tests.corpus import rows, text_of
from tests.work_done import comes_to_an_end, lines_run

MARKED = text_of("documents/marked.md")
HEADED = text_of("documents/headed.md")


def codes(text: str) -> list[list[object]]:
    return sorted([problem.line, problem.code] for problem in marks.problems(text))


def test_phases_are_what_the_marks_set_apart() -> None:
    found = parts.phases(MARKED)
    assert [(part.name, part.title, part.line, part.after) for part in found] == [
        ("1", "Look", 3, None),
        ("2a", "", 9, ("1",)),
        ("2b", "", 12, ("1",)),
    ]
    assert found[0].text == "## Phase 1: Look\n\nLook around."
    assert codes(MARKED) == []


def test_without_marks_phases_are_headings_up_to_the_next_of_their_rank() -> None:
    first, second = parts.phases(HEADED)
    assert (first.name, first.title, first.line, first.after) == ("1", "Look", 9, None)
    assert first.text.endswith("## Phase 7: not one\n```")
    assert (second.name, second.title, second.line, second.after) == ("2", "Mend", 19, ())
    assert "Notes" not in second.text


def test_lines_are_counted_as_editors_count_them() -> None:
    assert [
        part.line for part in parts.phases("a\fb\u2028c\n\n## Phase 1\r\n\r\n## Phase 2\n")
    ] == [3, 5]


def test_a_phase_that_is_never_closed_reaches_to_the_next() -> None:
    text = "<!-- PHASE:1 -->\na\n<!-- PHASE:2 -->\nb\n"
    assert [part.text for part in parts.phases(text)] == ["a", "b"]


def test_what_stands_in_code_is_no_mark() -> None:
    text = (
        "`<!-- PHASE:1 -->`\n\n```md\n<!-- PHASE:2 -->\n<!-- / PHASE:2 -->\n```\n\n~~~\n<!-- ANCHOR"
        " -->\n~~~\n"
    )
    assert marks.marks(text) == []
    assert codes(text) == []


@pytest.mark.parametrize(("text", "anchored"), rows("documents/anchors.jsonl"))
def test_an_anchor_holds_what_is_between_its_marks_or_the_block_it_stands_at(
    text: str, anchored: list[str]
) -> None:
    assert [part.text for part in parts.anchors(text)] == anchored
    assert codes(text) == []
    rest = parts.without_anchors(text)
    assert "ANCHOR" not in rest
    assert not any(part in rest for part in anchored)


def test_a_tier_is_what_its_author_marked() -> None:
    text = (
        "# P\n<!-- TIER_1_START -->\na\n<!-- TIER_1_END -->\nb\n<!-- TIER_1_START -->\nc\n<!--"
        " TIER_1_END -->\n"
    )
    assert parts.in_tier(text, 1) == "a\n\nc"
    assert parts.in_tier(text, 2) == ""
    assert marks.plain(text) == "# P\na\nb\nc\n"


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (
            "# P\n\nx\n\n## Role\n\na\n\n## Other\n\nb\n\n## Evaluate For\n\nc\n",
            "# P\n\n## Role\n\na\n\n## Evaluate For\n\nc",
        ),
        ("# P\n\n<!-- TIER_1_START -->\na\n<!-- TIER_1_END -->\n\nb\n", "# P\n\na"),
        ("# P\n\nFirst.\n\nSecond.\n", "# P\n\nFirst."),
    ],
)
def test_the_header_of_a_persona_is_its_role_and_what_it_looks_for(text: str, header: str) -> None:
    assert parts.persona_header(text).strip() == header


@pytest.mark.parametrize(("text", "found"), rows("documents/broken_marks.jsonl"))
def test_what_is_wrong_is_told_once_and_where(text: str, found: list[list[object]]) -> None:
    assert codes(text) == found


ROWS = [
    *MARKED.splitlines(),
    "<!-- ANCHOR -->",
    "<!-- /ANCHOR -->",
    "<!-- TIER_1_START -->",
    "<!-- TIER_1_END -->",
    "```",
]


@given(st.lists(st.sampled_from(ROWS), max_size=20).map("\n".join))
def test_any_order_of_marks_can_be_read(text: str) -> None:
    for part in [*parts.phases(text), *parts.anchors(text)]:
        assert part.text in text
    assert [mark.kind for mark in marks.marks(marks.plain(text))] == []
    assert all(1 <= problem.line <= len(text.splitlines()) for problem in marks.problems(text))


def read_all(text: str) -> None:
    list(marks.problems(text))
    parts.phases(text)
    parts.without_anchors(text)


@pytest.mark.parametrize(
    "row",
    [
        "<!-- PHASE:{} -->\n",
        "<!-- /PHASE:{} -->\n",
        "## Phase {}\n",
        "<!-- PHASE:{0} -->\n<!-- /PHASE -->\n",
    ],
)
def test_ten_times_the_marks_take_about_ten_times_the_work(row: str) -> None:
    few = "".join(row.format(number) for number in range(40))
    many = "".join(row.format(number) for number in range(400))
    read_all(few)  # the first time patterns are compiled
    assert lines_run(lambda: read_all(many)) < 15 * lines_run(lambda: read_all(few))


@pytest.mark.parametrize(
    "text",
    [
        "<!-- PHASE:1 -->\nDepends on: " + "1" * 60 + "!",
        "## Phase 1: x\n\nh\n\n" + "--- \n" * 60 + "x\n\n## Phase 2: y",
        "# a" + " " * 100_000 + "b",
        "a" + "`" * 100_000 + "b" * 100_000,
        "".join(f"<!-- PHASE:{number} -->\n" for number in range(2_000))
        + "".join(f"<!-- /PHASE:{number} -->\n" for number in reversed(range(2_000))),
    ],
    ids=["digits", "rules", "blanks", "ticks", "nested"],
)
def test_reading_hostile_files_comes_to_an_end(text: str) -> None:
    with comes_to_an_end():
        read_all(text)


def test_a_line_that_names_what_a_phase_waits_for_may_say_it_in_words() -> None:
    text = "## Phase 3: x\n\n{}\n"
    for line, after in (
        ("> **Depends on:** Phase 1, 2a and 2b", ("1", "2a", "2b")),
        ("Depends on: none", ()),
        ("- **After:** confirm to the customer", None),
        ("**After:** 1", ("1",)),
    ):
        assert parts.phases(text.format(line))[0].after == after


def test_a_closing_mark_without_a_name_closes_the_phase_that_was_opened_last() -> None:
    nested = "<!-- PHASE:1 -->\na\n<!-- PHASE:2 -->\nb\n<!-- /PHASE -->\nc\n<!-- /PHASE:1 -->\n"
    first, second = parts.phases(nested)
    assert first.text.endswith("c")
    assert second.text == "b"
    forgotten = "<!-- PHASE:1 -->\na\n<!-- PHASE:2 -->\nb\n<!-- /PHASE -->\nc\n"
    assert [part.text for part in parts.phases(forgotten)] == ["a", "b"]
    assert [(one.line, one.code) for one in marks.problems(forgotten)] == [(1, "unclosed-marker")]


@given(
    st.lists(
        st.sampled_from(
            [
                "PHASE:1",
                "PHASE:2",
                "PHASE:2A",
                "PHASE:2a",
                "PHASE",
                "/PHASE",
                "/PHASE:1",
                "/PHASE:2",
            ]
        )
    )
)
def test_what_is_told_as_unclosed_is_read_as_unclosed_and_nothing_else(written: list[str]) -> None:
    text = "".join(f"<!-- {mark} -->\ntext {at}\n" for at, mark in enumerate(written))
    told = {one.start for one in marks.problems(text) if one.code == "unclosed-marker"}
    assert {span.mark.start for span in marks.spans_of(text, "PHASE") if not span.is_closed} == told
