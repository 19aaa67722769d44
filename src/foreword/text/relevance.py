"""Rank passages against a query: BM25 by SQLite's FTS5, in memory, with names and neighbours.

Lexical on purpose: no embeddings, no model, the same bytes give the same scores. What the query
names (paths, identifiers, codes) outweighs words that are merely frequent. What to do with the
scores is the business of `cut`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foreword.text.words import (
    LONGEST_NAME,
    STOP_WORDS,
    bigrams,
    is_literal,
    mentions,
    names,
    parts,
    words,
)

if TYPE_CHECKING:
    import apsw

__all__ = ["mentions", "rank", "words"]

MOST_TERMS = 64
LONGEST_QUERY = 4_000
NEIGHBOUR_SHARE = 0.3

_NAMES_WEIGHT = 3.0
_NAMED_BOOST = 2.0
_FEW = 24
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_TABLE = (
    "CREATE VIRTUAL TABLE passage USING fts5(body, names, content='', tokenize='porter unicode61"
    " remove_diacritics 2')"
)
_SEARCH = "SELECT rowid, -bm25(passage, 1.0, ?) FROM passage WHERE passage MATCH ? AND rowid < ?"


def rank(passages: Sequence[str], query: str) -> list[float]:
    """A score for each passage: 0 without a match, higher is better; a neighbour of a match gets
    a share of it."""
    named, terms = _terms(_usable(query[:LONGEST_QUERY]))
    if not passages or not (named or terms):
        return [0.0] * len(passages)
    index = _index(passages, {term[:4] for term in named + terms})
    scores = [0.0] * len(passages)
    for wanted, boost in ((named + terms, 1.0), (named, _NAMED_BOOST)):
        for row, score in _search(index, wanted, len(passages)):
            scores[row] += boost * score
    index.close()
    return _with_neighbours(scores)


def _terms(query: str) -> tuple[list[str], list[str]]:
    """What the query names, and its other words, most frequent first, each once, no more than
    the cap."""
    named = list(
        dict.fromkeys(
            name.strip().lower() for name in map(bigrams, names(query)) if is_literal(name)
        )
    )
    counts = Counter(
        word for word in words(query) if word not in STOP_WORDS and len(word) <= LONGEST_NAME
    )
    split_names = dict.fromkeys(part.lower() for name in names(query) for part in parts(name))
    plain = dict.fromkeys([*(word for word, _ in counts.most_common()), *split_names])
    return (
        named[:MOST_TERMS],
        [word for word in plain if word not in named][: max(8, MOST_TERMS - len(named))],
    )


def _index(passages: Sequence[str], openings: set[str]) -> apsw.Connection:
    import apsw

    connection = apsw.Connection(":memory:")
    connection.execute(_TABLE)
    rows = (
        (number, *_columns(passage, openings))
        for number, passage in enumerate(map(_usable, passages))
    )
    with connection:
        connection.executemany("INSERT INTO passage (rowid, body, names) VALUES (?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO passage (rowid, body, names) VALUES (?, ?, '')", _padding(passages)
        )
    return connection


def _columns(passage: str, openings: set[str]) -> tuple[str, str]:
    lowered = passage.lower()
    # Finding names is the dear part, and only a passage where some term could match has any use for
    # them.
    found = names(passage) if any(opening in lowered for opening in openings) else []
    return bigrams(passage), " ".join([*found, *(part for name in found for part in parts(name))])


def _padding(passages: Sequence[str]) -> Iterable[tuple[int, str]]:
    """Rows that match nothing: among very few passages every word is in most, and BM25 could not
    tell them apart."""
    short = max(0, _FEW - len(passages))
    filler = "zqxfiller " * (sum(map(len, passages)) // (6 * len(passages)) + 1) if short else ""
    return [(len(passages) + number, filler) for number in range(short)]


def _search(index: apsw.Connection, wanted: list[str], count: int) -> Iterable[tuple[int, float]]:
    if not wanted:
        return []
    # Quoted, everything inside is text to FTS5: no operator, column or wildcard of the query's own
    # is ever obeyed.
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)
    return [
        (int(row), max(float(score), 1e-9))
        for row, score in index.execute(_SEARCH, (_NAMES_WEIGHT, match, count))
    ]


def _with_neighbours(scores: list[float]) -> list[float]:
    padded = [0.0, *scores, 0.0]
    return [
        max(score, NEIGHBOUR_SHARE * max(padded[at], padded[at + 2]))
        for at, score in enumerate(scores)
    ]


def _usable(text: str) -> str:
    return _UNUSABLE.sub(" ", text)
