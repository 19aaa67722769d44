"""Templates that nobody filled in."""

from __future__ import annotations

import pytest

from foreword.text.blank_template import is_blank_template, is_unanswered
from tests.corpus import rows, text_of

BLANK_VISION = text_of("documents/blank_vision.md")


@pytest.mark.parametrize("text", rows("documents/unfilled.jsonl"))
def test_prompts_placeholders_and_empty_rows_are_unfilled(text: str) -> None:
    assert is_blank_template(text)


@pytest.mark.parametrize("text", rows("documents/filled.jsonl"))
def test_one_real_answer_makes_it_filled(text: str) -> None:
    assert not is_blank_template(text)


@pytest.mark.parametrize(
    "text",
    [
        " _a" * 67_000,
        "<!-- " * 40_000,
        "[" * 200_000,
        "|a\n|" + "-|" * 100_000 + "x",
        "# a\n" * 50_000,
        "*a" * 100_000,
    ],
)
def test_a_text_of_any_length_is_judged_and_a_huge_one_is_nobodys_template(text: str) -> None:
    assert not is_blank_template(text)
    assert is_blank_template(text[:50_000]) is is_blank_template(text[:5_000])  # and at once


def test_a_text_of_blanks_is_unfilled_however_long() -> None:
    assert is_blank_template(" \n" * 100_000)


def test_thousands_of_filled_files_are_judged_without_parsing_them() -> None:
    page = (
        "# Notes\n\nThe pump starts before the valve opens, and the log says so.\n\n##"
        " More\n\n- a\n" + "- b\n" * 500
    )
    assert not any(is_blank_template(f"{page}{number}") for number in range(2_000))


def test_a_long_foreword_does_not_make_a_template_filled() -> None:
    foreword = "This file holds what we want to build and is read by everyone.\n" * 12
    assert is_blank_template(
        foreword + "".join(f"\n## Part {part}\n\n_What is it?_\n" for part in range(10))
    )


def test_a_promise_to_fill_a_file_is_no_answer() -> None:
    assert is_blank_template(
        "# Summary\n\nThis document will be populated when the first research has been done.\n"
    )


def test_long_headings_with_nothing_under_them_are_no_answer() -> None:
    heading = (
        "## What do the people who come here every single week want from us\n\n_Say it here._\n\n"
    )
    assert is_blank_template(heading * 5)


@pytest.mark.parametrize(("part", "is_open"), rows("documents/answered.jsonl"))
def test_one_answer_in_a_part_of_a_file_is_enough(part: str, is_open: bool) -> None:
    assert is_unanswered(part) is is_open


def test_what_a_project_will_do_is_no_promise_of_its_template() -> None:
    assert not is_blank_template("# Vision\n\nInvoices will be generated from time sheets.\n")
