"""Rank passages against a question: each by itself, by those around it and by its session.

Whole numbers throughout: the same bytes give the same ranking on every machine. What the terms of a
text are is told by `terms`, what a question asks for by `question`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isqrt

from foreword.relevance import token_table
from foreword.relevance.late_interaction import closeness
from foreword.relevance.neighbours import spread
from foreword.relevance.passage import Passage
from foreword.relevance.question import Question, read_question
from foreword.relevance.statistics import Statistics, collect
from foreword.relevance.terms import passage_terms

# A match by itself, with the few turns around it, and with the stretch of talk it is in. Measured
# on 60 questions about meetings at 2,000 tokens: evidence kept is 28% by the match alone, 51% with
# near neighbours alone, 60% with far ones alone; together 58%, and a single turn that has the
# answer still comes before its neighbours.
OWN_WEIGHT = 1
NEAR_WEIGHT = 2
FAR_WEIGHT = 4
NEAR_DECAY = 621  # in 1024ths, from one passage to the next: a half is left at about the second
FAR_DECAY = 942  # a half is left at about the eighth
# Passages that are compared by meaning. Measured on the same questions: a point less evidence with
# 150, the same with double; a question of ten words to so many turns takes about 0.04 s.
MOST_CANDIDATES = 600
_MATCH = 1 << 16  # what the best match gets, lexical and by meaning
_FULL = 1 << 20  # what the best passage of each kind gets


def rank(
    passages: Sequence[Passage],
    question: str | Question,
    *,
    statistics: Statistics | None = None,
    semantic: bool = True,
) -> list[int]:
    """A score for each passage: 0 for what has nothing to do with the question, higher is better.

    Without `statistics` the passages are the whole collection. With them the passages may be the
    candidates that an index found, with neighbours or without; scores compare within one call.
    Where numpy is installed (`foreword[semantic]`), the best of them are compared by the meaning of
    their words as well, unless `semantic` is off.
    """
    asked = read_question(question) if isinstance(question, str) else question
    if not passages or not asked.weights:
        return [0] * len(passages)
    known = statistics or collect(passages)
    matches = _matches(passages, asked, known)
    if semantic:
        matches = _with_meaning(matches, passages, asked, known)
    own = [_sharpened(score) for score in matches]
    near = spread(own, passages, NEAR_DECAY)
    far = spread(own, passages, FAR_DECAY)
    total = [0] * len(passages)
    for scores, weight in ((own, OWN_WEIGHT), (near, NEAR_WEIGHT), (far, FAR_WEIGHT)):
        best = max(scores) or 1
        for at, score in enumerate(scores):
            total[at] += weight * score * _FULL // best
    return total


def _with_meaning(
    matches: list[int], passages: Sequence[Passage], asked: Question, known: Statistics
) -> list[int]:
    """The matches with what the best of them say in other words; the same where there is no
    table."""
    table = token_table.load()
    if table is None:
        return matches
    around = spread(matches, passages, FAR_DECAY)
    order = sorted(range(len(passages)), key=lambda at: (-around[at], at))
    places = order[:MOST_CANDIDATES]
    near = closeness(table, asked, [passages[at] for at in places], known)
    best = max(matches) or 1
    nearest = max(near, default=0) or 1
    total = [score * _MATCH // best for score in matches]
    for at, score in zip(places, near, strict=True):
        total[at] += score * _MATCH // nearest
    return total


def best_first(scores: Sequence[int]) -> list[int]:
    """The places of all scores above 0, the best first; of equal ones the earlier first."""
    places = [at for at, score in enumerate(scores) if score > 0]
    return sorted(places, key=lambda at: (-scores[at], at))


def _matches(passages: Sequence[Passage], asked: Question, known: Statistics) -> list[int]:
    """BM25 of each passage by itself."""
    worth = {term: weight * known.rarity(term) for term, weight in asked.weights.items()}
    length = max(1, known.length)
    count = max(1, known.passages)
    scores: list[int] = []
    for passage in passages:
        found = passage_terms(passage)
        wanted = Counter([term for term in found if term in worth])
        if not wanted:
            scores.append(0)
            continue
        # k1 = 1.2 and b = 3/4, all multiplied by 1000 and by the length of the collection
        damping = 300 * length + 900 * len(found) * count
        score = 0
        for term, uses in wanted.items():
            score += worth[term] * 2200 * uses * length // (1000 * uses * length + damping)
        scores.append(score)
    return scores


def _sharpened(score: int) -> int:
    """To the power of 3/2: one good match outweighs several weak ones around it."""
    return score * isqrt(score)
