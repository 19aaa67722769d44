"""What a piece carries without a query."""

from __future__ import annotations

from foreword.text.layouts import layout_of
from foreword.text.pieces import Piece
from foreword.text.weight import carry

TEXT = """\
# Cache

In this section we will look at the cache.

The cache must never hold more than 512 entries because `evict_oldest` is linear.

People like caches.

The cache must never hold more than 512 entries because `evict_oldest` is linear.

---
"""


def weights() -> dict[int, tuple[str, float]]:
    found = [
        piece
        for piece in layout_of(TEXT, "markdown", lambda at, part: False).pieces
        if piece.kind != "heading"
    ]
    return {
        at: (piece.text, weight)
        for at, (piece, weight) in enumerate(zip(found, carry(found), strict=True))
    }


def test_a_decision_with_names_and_numbers_carries_more_than_filler_or_small_talk() -> None:
    (_, filler), (_, decision), (_, talk), *_ = weights().values()
    assert decision > talk > 0
    assert decision > filler


def test_saying_it_again_carries_little_and_a_rule_nothing() -> None:
    by_place = weights()
    assert by_place[3][1] < 0.5 * by_place[1][1]
    assert by_place[4][1] == 0


def test_the_first_sentence_under_a_heading_counts_for_more() -> None:
    same = [
        Piece(text="## A\n", kind="heading", level=2, start=0),
        Piece(text="Red fox jumps. ", kind="paragraph", level=0, start=5),
        Piece(text="Blue owl waits.", kind="paragraph", level=0, start=20),
    ]
    _, first, second = carry(same)
    assert first > second


def test_nothing_weighs_nothing() -> None:
    assert carry([]) == []
    assert carry([Piece(text="  \n", kind="paragraph", level=0, start=0)]) == [0.0]


def test_naming_what_nobody_else_names_carries_more_than_naming_what_everybody_does() -> None:
    sentences = [f"Then `run_all` was called again by person {letter}. " for letter in "pqrstuvw"]
    sentences.insert(4, "Then `load_ledger` was called again by person z. ")
    places = [sum(map(len, sentences[:at])) for at in range(len(sentences))]
    found = carry(
        [
            Piece(text=text, kind="paragraph", level=0, start=at)
            for text, at in zip(sentences, places, strict=True)
        ]
    )
    assert found.index(max(found)) == 4
