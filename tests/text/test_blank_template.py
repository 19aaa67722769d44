"""Templates that nobody filled in."""

from __future__ import annotations

import pytest

from foreword.text.blank_template import is_blank_template, is_unanswered

BLANK_VISION = """\
# Vision

## Project Name

_What do you call it?_

## Features

_List what it does._

-
-

## Choices

| Choice | Reason |
|--------|--------|
| | |

## Open

- [UNCLEAR]
"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        "# Only\n\n## Headings\n",
        BLANK_VISION,
        "> This file will be populated when you run setup\n",
        (
            "# Goal: [Name]\n\n## Steps\n\n1. **Step: [Name]** -- _What it brings_\n\n##"
            " Status\n\n**Done:** 0 of 0\n"
        ),
        "# Notes: [Topic]\n\n**Date:** [YYYY-MM-DD]\n\n- [Idea 1 -- one sentence]\n",
        (
            "# Stack\n\n- _[Name]_ _[Version]_ - used in `[path]`\n\n```\n[command]   # [what"
            " for]\n```\n"
        ),
    ],
)
def test_prompts_placeholders_and_empty_rows_are_unfilled(text: str) -> None:
    assert is_blank_template(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        BLANK_VISION.replace("_What do you call it?_", "Tinbox"),
        "# Questions\n\n- [UNCLEAR] Which database do we use in production\n",
        "# State\n\n**Status:** In progress\n**Goal:** 2\n",
        "# Plan\n\nWe do it _slowly_ and keep the old path working until March.\n",
        "- [x] Write the parser\n- [ ] Read [the guide](https://example.com)\n",
        "[info] server started on port 80\n[info] ready for more\n",
        '{"version": 1}',
        "values[index] = other[0]\n",
    ],
)
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


@pytest.mark.parametrize(
    ("part", "is_open"),
    [
        ("### Locked\n_Choices the user made._\n\n- [Decision from conversation]\n", True),
        ("**Locked:** _none yet_\n", True),
        ("**Locked:** Stripe\n\n**Deferred:** _none yet_\n", False),
        ("- [LOCKED] Stripe\n", False),
        ("- *Postgres only*\n", False),
        ("### Locked\n- PDFs will be generated on the server\n", False),
        ("Invoices will be created by a nightly job.\n", False),
        ("This section will be filled in later.\n", True),
        ("Goals will be created when you run `/director:blueprint`.\n", True),
        ("### Locked\n- Stripe\n\n### A\n_?_\n\n### B\n_?_\n\n### C\n_?_\n\n### D\n_?_\n", False),
    ],
)
def test_one_answer_in_a_part_of_a_file_is_enough(part: str, is_open: bool) -> None:
    assert is_unanswered(part) is is_open


def test_what_a_project_will_do_is_no_promise_of_its_template() -> None:
    assert not is_blank_template("# Vision\n\nInvoices will be generated from time sheets.\n")
