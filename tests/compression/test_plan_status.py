"""`mark_finished_tasks`: what the plan has settled is not opened again by any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foreword.compression.plan_status import mark_finished_tasks

SETTLED = [("Migrate the billing database", "completed"), ("Call the supplier", "cancelled")]


def test_a_line_that_speaks_of_a_settled_task_as_open_says_what_the_plan_says() -> None:
    text = "TODO: migrate billing database\nWe will call the supplier tomorrow."
    assert (
        mark_finished_tasks(text, SETTLED)
        == "TODO: migrate billing database (completed, says the plan)\n"
        "We will call the supplier tomorrow. (cancelled, says the plan)"
    )


def test_under_a_heading_of_open_tasks_the_name_is_enough() -> None:
    text = (
        "## Pending Tasks\n- Migrating the billing database\n- Paint the fence\n\n## Done\n- Called"
        " the supplier"
    )
    assert mark_finished_tasks(text, SETTLED).splitlines() == [
        "## Pending Tasks",
        "- Migrating the billing database (completed, says the plan)",
        "- Paint the fence",
        "",
        "## Done",
        "- Called the supplier",
    ]


def test_other_lines_stay_as_they_are() -> None:
    text = (
        "The billing database was migrated on Monday.\nNext: paint the fence.\n- [x] call the"
        " supplier next week"
    )
    assert mark_finished_tasks(text, SETTLED) == text


def test_without_settled_tasks_nothing_changes() -> None:
    assert mark_finished_tasks("next: everything", []) == "next: everything"


@given(
    st.text(max_size=300),
    st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["completed", "failed"]))),
)
def test_it_only_adds_and_only_once(text: str, finished: list[tuple[str, str]]) -> None:
    once = mark_finished_tasks(text, finished)
    assert mark_finished_tasks(once, finished) == once
    assert len(once.split("\n")) == len(text.split("\n"))
