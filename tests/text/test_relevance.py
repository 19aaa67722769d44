"""Ranking passages against a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.text import relevance

PASSAGES = [
    "The weather was fine and everybody was outside.",
    "Retries are configured in the client; retries back off, retries give up after five.",
    "ERR_4012 is raised by `load_settings` when src/app/settings.toml is missing.",
    "Nothing to see here.",
    "Lunch is at noon.",
]


def best(query: str, passages: list[str] = PASSAGES) -> int:
    scores = relevance.rank(passages, query)
    return scores.index(max(scores))


def test_the_passage_with_the_words_comes_first_and_unrelated_ones_get_nothing() -> None:
    scores = relevance.rank(PASSAGES, "how do retries back off?")
    assert scores[1] == max(scores)
    assert scores[4] == 0


def test_a_neighbour_gets_a_share_of_a_strong_passage() -> None:
    scores = relevance.rank(PASSAGES, "retries")
    assert scores[0] == scores[2] == pytest.approx(0.3 * scores[1])


@pytest.mark.parametrize(
    "name", ["ERR_4012", "`load_settings`", "src/app/settings.toml", "settings.toml"]
)
def test_what_the_query_names_wins_over_frequent_words(name: str) -> None:
    assert best(f"why do the retries of the client give up with {name}") == 2


def test_words_match_by_their_stem_and_inside_camel_case() -> None:
    assert best("configuring a retry") == 1
    assert best("converter", ["x y", "see VisionConverter", "z"]) == 1


def test_chinese_is_found_inside_a_longer_run() -> None:
    assert best("测试", ["没有关系", "这是一个测试文件", "天气"]) == 1


def test_a_query_of_stop_words_matches_nothing() -> None:
    assert relevance.rank(PASSAGES, "what is it and how") == [0.0] * len(PASSAGES)
    assert relevance.rank([], "retries") == []


@pytest.mark.parametrize(
    "query",
    ['"', "a AND NOT b", "NEAR(a b)", "body: x", "* ^ -", 'x" OR "y', "\x00\ud800 x", '`"`'],
)
def test_the_query_is_text_and_never_syntax(query: str) -> None:
    assert len(relevance.rank(PASSAGES, query)) == len(PASSAGES)


@given(st.lists(st.text(), max_size=5), st.text())
def test_scores_are_never_negative_and_always_the_same(passages: list[str], query: str) -> None:
    scores = relevance.rank(passages, query)
    assert len(scores) == len(passages)
    assert all(score >= 0 for score in scores)
    assert scores == relevance.rank(passages, query)


def test_mentions_are_whole_words_in_any_case() -> None:
    text = "Write Unit tests and e2e checks for the css of the build."
    assert relevance.mentions(text, ["unit test", "E2E", "CSS", "UI", "check", "est"]) == [
        "unit test",
        "E2E",
        "CSS",
        "check",
    ]


def test_words_are_lower_case_and_chinese_comes_in_pairs() -> None:
    assert relevance.words("Don't Stop 漢字仮") == ["don't", "stop", "漢字", "字仮"]
