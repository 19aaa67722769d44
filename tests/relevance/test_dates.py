"""Dates that questions name, and what of them helps a passage."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.relevance import Passage, best_first, rank
from foreword.relevance.dates import asked_days, day_number

EPOCH = date(1970, 1, 1)
TODAY = (date(2024, 6, 13) - EPOCH).days  # a Thursday


def days(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for first, last in asked_days(text, TODAY):
        stretch = (EPOCH.fromordinal(EPOCH.toordinal() + first), last)
        found.append((str(stretch[0]), str(EPOCH.fromordinal(EPOCH.toordinal() + stretch[1]))))
    return found


@given(st.dates(min_value=date(1900, 3, 1), max_value=date(2099, 12, 31)))
def test_a_day_has_its_number_however_it_is_written(day: date) -> None:
    number = (day - EPOCH).days
    month = day.strftime("%B")
    written = [
        day.isoformat(),
        f"{day.isoformat()}T10:00:00+00:00",
        f"{day.day}.{day.month}.{day.year}, 10:20:00",
        f"1:56 pm on {day.day} {month}, {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.year}/{day.month:02}/{day.day:02} (Sun) 15:46",
    ]
    assert [day_number(text) for text in written] == [number] * len(written)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did she do on 8 May 2023?", "2023-05-08", "2023-05-08"),
        ("What happened on May 8th?", "2024-05-08", "2024-05-08"),
        ("Which trips were in July 2023?", "2023-07-01", "2023-07-31"),
        ("What was bought in July?", "2023-07-01", "2023-07-31"),
        ("What changed in 2022?", "2022-01-01", "2022-12-31"),
        ("What did we decide yesterday?", "2024-06-12", "2024-06-12"),
        ("What did we say last week?", "2024-05-30", "2024-06-12"),
        ("Who came last Friday?", "2024-06-07", "2024-06-07"),
        ("What broke three days ago?", "2024-06-10", "2024-06-10"),
    ],
)
def test_questions_name_stretches_of_days(question: str, first: str, last: str) -> None:
    assert days(question) == [(first, last)]


def test_questions_without_a_date_name_none() -> None:
    assert days("May I ask why the march was cancelled in room 2024b?") == []
    assert day_number("31.31.2024") is None


def test_what_was_said_on_the_day_that_is_asked_about_comes_first() -> None:
    passages: list[Passage] = []
    for week in range(8):
        for turn in range(5):
            text = "We walked in the park." if turn else "Hello again."
            day = f"2024-05-{week * 3 + 1:02}"
            passages.append(
                Passage(text=text, session=str(week), position=turn, speaker="Ada", date=day)
            )
    order = best_first(rank(passages, "Where did Ada walk on 7 May?"))
    assert {passages[at].date for at in order[:4]} == {"2024-05-07"}


def test_a_speakers_name_finds_what_they_say_and_not_who_greets_them() -> None:
    turns = [("Ada", "I bake bread."), ("Ben", "Hello Ada! Ada, hello!"), ("Ben", "I bake bread.")]
    passages = [Passage(text=text, speaker=speaker) for speaker, text in turns]
    assert best_first(rank(passages, "What does Ada bake?", semantic=False)) == [0, 2, 1]


def test_a_title_and_headings_say_what_a_passage_is_about() -> None:
    text = "It is kept for a day and then thrown away."
    passages = [
        Passage(text=text),
        Passage(text=text, headings=("The cache",)),
        Passage(text=text, title="Cache"),
        Passage(text=text, path="cache/other/deep/notes.md"),
    ]
    assert best_first(rank(passages, "how long does the cache live?", semantic=False)) == [2, 1]
