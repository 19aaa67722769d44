"""Templates that nobody filled in."""

from __future__ import annotations

import pytest

from foreword.text.template import is_unfilled

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
        "# Goal: [Name]\n\n## Steps\n\n1. **Step: [Name]** -- _What it brings_\n\n## Status\n\n**Done:** 0 of 0\n",
        "# Notes: [Topic]\n\n**Date:** [YYYY-MM-DD]\n\n- [Idea 1 -- one sentence]\n",
        "# Stack\n\n- _[Name]_ _[Version]_ - used in `[path]`\n\n```\n[command]   # [what for]\n```\n",
    ],
)
def test_prompts_placeholders_and_empty_rows_are_unfilled(text: str) -> None:
    assert is_unfilled(text)


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
    assert not is_unfilled(text)
