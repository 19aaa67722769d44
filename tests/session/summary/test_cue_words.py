"""Cues of other languages are found in those, and not in English."""

from __future__ import annotations

import pytest

from foreword.session.summary import cue_words
from foreword.session.summary.facts import kind_of


@pytest.mark.parametrize(
    "line",
    ["Nunca use a porta 80.", "Isso deve ser feito.", "Niemals den Port 80.", "不要使用 80 端口。"],
)
def test_a_rule_in_another_language_is_one(line: str) -> None:
    assert kind_of(line, "user") == "constraint"


@pytest.mark.parametrize(
    "line", ["Please develop the importer.", "Which development server is it?", "A muscle of mice."]
)
def test_words_of_english_are_no_rules_of_another_language(line: str) -> None:
    assert kind_of(line, "user") == "request"


@pytest.mark.parametrize(
    "line", ["You decide later.", "Substitute the variables in the template.", "Error correction."]
)
def test_words_of_english_are_no_decisions_of_another_language(line: str) -> None:
    assert not cue_words.DECIDES.search(line)
    assert not cue_words.REVISES.search(line)
