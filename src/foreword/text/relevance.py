"""Rank passages against a query: BM25 by SQLite's FTS5, in memory, with names and neighbours.

Lexical on purpose: no embeddings, no model, the same bytes give the same scores. What the query
names (paths, identifiers, codes) outweighs words that are merely frequent. What to do with the
scores is the business of `cut`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.text.names import LONGEST_NAME, is_literal, names, parts
from foreword.text.words import STOP_WORDS, bigrams, mentions, words

if TYPE_CHECKING:
    import apsw

__all__ = ["mentions", "rank", "words"]

# Words of the query that are looked for, the most frequent first: a question has ten, a task pasted
# as one may have hundreds, and the rare ones among those are chance.
MOST_TERMS = 64
LEAST_WORDS = 8  # of them are plain words, however many things the query names
LONGEST_QUERY = 4_000  # characters that are read: what is asked stands at the beginning
NEIGHBOUR_SHARE = 0.3  # of a match's score: the sentence beside an answer often belongs to it

_NAMES_WEIGHT = 3.0  # of a match in a passage's names, beside one in its words
_NAMED_BOOST = 2.0  # of a match of what the query names, once more on top
_FEW = 24  # passages: among fewer, BM25 can't tell rare words from frequent ones
_UNUSABLE = lazy_pattern("[\x00\ud800-\udfff]")
_TABLE = (
    "CREATE VIRTUAL TABLE passage USING fts5(body, names, content='', tokenize='porter unicode61"
    " remove_diacritics 2')"
)
_SEARCH = "SELECT rowid, -bm25(passage, 1.0, ?) FROM passage WHERE passage MATCH ? AND rowid < ?"


def rank(passages: Sequence[str], query: str, *, neighbours: bool = True) -> list[float]:
    """A score for each passage: 0 without a match, higher is better; unless `neighbours` have
    nothing to do with each other, a neighbour of a match gets a share of it."""
    named, terms = _terms(_usable(query[:LONGEST_QUERY]))
    if not passages or not (named or terms):
        return [0.0] * len(passages)
    index = _index(passages, {term[:4] for term in named + terms})
    scores = [0.0] * len(passages)
    for wanted, boost in ((named + terms, 1.0), (named, _NAMED_BOOST)):
        for row, score in _search(index, wanted, len(passages)):
            scores[row] += boost * score
    index.close()
    return _with_neighbours(scores) if neighbours else scores


def _terms(query: str) -> tuple[list[str], list[str]]:
    """What the query names, and its other words, most frequent first, each once, no more than
    the cap."""
    found = names(query)
    spelled = [bigrams(name) for name in found]
    named = list(dict.fromkeys([name.strip().lower() for name in spelled if is_literal(name)]))
    content = [word for word in words(query) if word not in STOP_WORDS]
    counts = Counter([word for word in content if len(word) <= LONGEST_NAME])
    plain = dict.fromkeys([word for word, _ in counts.most_common()])  # each once, in order
    for name in found:
        plain.update(dict.fromkeys([part.lower() for part in parts(name)]))
    others = [word for word in plain if word not in named]
    return named[:MOST_TERMS], others[: max(LEAST_WORDS, MOST_TERMS - len(named))]


def _index(passages: Sequence[str], openings: set[str]) -> apsw.Connection:
    import apsw

    connection = apsw.Connection(":memory:")
    connection.execute(_TABLE)
    rows: list[tuple[int, str, str]] = []
    for number, passage in enumerate(passages):
        body, named = _columns(_usable(passage), openings)
        rows.append((number, body, named))
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
    if not any(opening in lowered for opening in openings):
        return bigrams(passage), ""
    found = names(passage)
    inside: list[str] = []
    for name in found:
        inside += parts(name)
    return bigrams(passage), " ".join([*found, *inside])


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
    match = " OR ".join(['"' + term.replace('"', '""') + '"' for term in wanted])
    rows = index.execute(_SEARCH, (_NAMES_WEIGHT, match, count))
    return [(int(row), max(float(score), 1e-9)) for row, score in rows]


def _with_neighbours(scores: list[float]) -> list[float]:
    padded = [0.0, *scores, 0.0]
    return [
        max(score, NEIGHBOUR_SHARE * max(padded[at], padded[at + 2]))
        for at, score in enumerate(scores)
    ]


def _usable(text: str) -> str:
    return _UNUSABLE.sub(" ", text)
