"""Ranking passages against a question: what counts, what does not, and that nothing depends on the
machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.relevance import Passage, Statistics, best_first, collect, rank, terms, token_table
from foreword.relevance.terms import stem

CHATTER = "Nothing new from me today, all quiet on this side."


def conversation(*turns: str, session: str = "") -> list[Passage]:
    return [Passage(text=turn, session=session, position=at) for at, turn in enumerate(turns)]


def best(passages: Sequence[Passage], question: str) -> str:
    return passages[best_first(rank(passages, question))[0]].text


def test_a_turn_with_the_answer_comes_before_its_neighbours_and_those_before_the_rest() -> None:
    turns = [CHATTER] * 20
    turns[10] = "We dropped the retry loop since it hid the real error."
    order = best_first(rank(conversation(*turns), "why did we drop the retry loop?"))
    assert order[0] == 10
    assert set(order[1:5]) == {8, 9, 11, 12}


def test_neighbours_end_with_the_session_and_need_a_position() -> None:
    answer = "The retry loop hid the real error."
    passages = [
        *conversation(CHATTER, answer, CHATTER, session="monday"),
        *conversation(CHATTER, CHATTER, session="tuesday"),
        Passage(text=CHATTER, session="monday"),
    ]
    scores = rank(passages, "retry loop")
    assert scores[0] > 0
    assert scores[2] > 0
    assert scores[3:] == [0, 0, 0]


def test_candidates_with_gaps_between_them_are_as_far_apart_as_they_were() -> None:
    near = Passage(text=CHATTER, position=11)
    far = Passage(text=CHATTER, position=30)
    scores = rank([Passage(text="the retry loop", position=10), near, far], "retry loop")
    assert scores[0] > scores[1] > scores[2] >= 0


def test_what_the_question_names_outweighs_words_that_are_merely_there() -> None:
    passages = conversation(
        "cancel cancel the flight booking, the whole flight", CHATTER, "status of HAT078: open"
    )
    assert best(passages, "cancel flight HAT078") == "status of HAT078: open"


def test_a_question_without_a_match_or_without_words_gives_nothing() -> None:
    assert rank(conversation(CHATTER), "zebra crossing") == [0]
    assert rank(conversation(CHATTER), " ?! ") == [0]
    assert rank([], "anything") == []


def test_words_by_which_people_ask_are_not_looked_for() -> None:
    passages = conversation("Let me summarize the discussion.", CHATTER, "Batteries last a year.")
    assert best(passages, "Summarize the discussion about batteries.") == "Batteries last a year."


def test_words_of_a_name_find_it_and_the_name_is_a_term_of_its_own() -> None:
    assert "src_app_main_py" in terms("see src/app/main.py")
    assert {"gettoken", "get_token"} & set(terms("call getToken() first"))
    assert "token" in terms("call getToken() first")
    passages = conversation("nothing of it", "call getToken() first")
    assert best(passages, "where do we read the token?") == "call getToken() first"


def test_forms_of_a_word_are_one_term() -> None:
    assert len({stem(word) for word in ("cancel", "cancels", "cancelled", "cancelling")}) <= 2
    assert stem("batteries") == stem("battery")
    assert stem("\u30c6\u30b9") == "\u30c6\u30b9"


def test_statistics_from_outside_give_the_scores_of_the_whole_collection() -> None:
    turns = [f"turn {number} about the weather" for number in range(40)]
    turns[7] = "the retry loop was dropped"
    turns[23] = "a loop in the road, nothing else"
    everything = conversation(*turns)
    question = "retry loop"
    whole = rank(everything, question)
    candidates = [everything[7], everything[23]]
    some = rank(candidates, question, statistics=collect(everything))
    assert (some[0] > some[1]) == (whole[7] > whole[23])
    assert some[0] > some[1]


def test_the_ranking_is_made_of_whole_numbers_that_never_change() -> None:
    passages = conversation("the retry loop", CHATTER, "a loop", "retry, retry, retry")
    question = "drop the retry loop"
    lexical = [7340032, 4912091, 6014514, 5984289]
    assert rank(passages, question, semantic=False) == lexical
    assert rank(passages, question) == [7340032, 4894542, 5978461, 5804381]


@given(st.lists(st.text(max_size=60), max_size=12), st.text(max_size=60))
def test_any_texts_have_scores_of_zero_or_more(turns: list[str], question: str) -> None:
    scores = rank(conversation(*turns), question)
    assert len(scores) == len(turns)
    assert all(score >= 0 for score in scores)


def test_a_term_that_nobody_holds_is_the_rarest() -> None:
    statistics = Statistics(1000, 20_000, {"often": 900, "once": 1})
    rarities = [statistics.rarity(term) for term in ("often", "once", "never")]
    assert rarities == sorted(rarities)
    assert rarities[0] > 0


def test_a_passage_is_found_by_what_its_words_mean() -> None:
    turns = [CHATTER] * 30
    turns[4] = "My daughter begins school in September."
    turns[20] = "The tram was late and the shop was closed."
    passages = conversation(*turns)
    question = "Does she have a child?"
    assert rank(passages, question, semantic=False) == [0] * 30
    assert best(passages, question) == turns[4]


def test_without_numpy_everything_works_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    token_table.load.cache_clear()
    passages = conversation("the retry loop", CHATTER)
    try:
        assert token_table.load() is None
        assert rank(passages, "retry") == rank(passages, "retry", semantic=False)
    finally:
        token_table.load.cache_clear()


def test_words_are_vectors_of_their_longest_wordpieces() -> None:
    table = token_table.load()
    assert table is not None
    known, length = table.vector("remote") or ([], 0)
    assert len(known) == token_table.DIMENSIONS
    assert length > 0
    assert table.vector("caf\u00e9") is not None
    assert table.vector("x" * 50) is None
    assert table.vector("\U0001f600") is None
