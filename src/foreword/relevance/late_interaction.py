"""What passages say in other words: each word of the question with its nearest word in a passage.

MaxSim over a static token table: no model runs. Sums of whole numbers below 2**53 are exact in
floating point in any order, so that the same bytes give the same scores on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from foreword.relevance.passage import Passage
from foreword.relevance.question import Question
from foreword.relevance.statistics import Statistics
from foreword.relevance.terms import content_words, stem
from foreword.relevance.token_table import NORM_BITS, TokenTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FULL = 1024  # the likeness of a word with itself
# Below this, words have nothing to do with each other: two at random have 0 on average, 90 as
# deviation. Measured on 60 questions about meetings: within half a point at 300 and at 600.
LEAST_LIKENESS = 460


def closeness(
    table: TokenTable, question: Question, passages: Sequence[Passage], known: Statistics
) -> list[int]:
    """How near each passage is to the question by its nearest words, rare ones weighing most; on
    the scale of a lexical match."""
    import numpy as np

    wanted = [word for word in question.words if table.vector(word) is not None]
    places: dict[str, int] = {}
    rows: list[list[int]] = []
    for passage in passages:
        found = [word for word in _distinct_words(passage.text) if table.vector(word) is not None]
        rows.append([places.setdefault(word, len(places)) for word in found])
    if not wanted or not places:
        return [0] * len(passages)
    gains = _gains(table, list(places), wanted)
    filled = [at for at, row in enumerate(rows) if row]
    flat = np.concatenate([np.array(rows[at]) for at in filled])
    starts = np.cumsum([0, *[len(rows[at]) for at in filled]])[:-1]
    best = np.maximum.reduceat(gains[flat], starts, axis=0)
    worth = np.array([question.words[word] * known.rarity(stem(word)) for word in wanted])
    length = max(1, known.length)
    # As in a lexical match: k1 = 1.2, b = 3/4, here in 1024ths.
    damping = list[int]()
    for at in filled:
        words = 900 * len(rows[at]) * max(1, known.passages)
        damping.append(FULL * (300 * length + words) // (1000 * length))
    parts = worth * best * 2200 // (1000 * (best + np.array(damping)[:, None]))
    scores = [0] * len(passages)
    for at, score in zip(filled, parts.sum(axis=1).tolist(), strict=True):
        scores[at] = score
    return scores


def _gains(table: TokenTable, words: Sequence[str], wanted: Sequence[str]) -> npt.NDArray[np.int64]:
    """What each word gives to each wanted one: from 0 to `FULL` for the same word."""
    import numpy as np

    matrices = []
    lengths = []
    for group in (words, wanted):
        vectors = [vector for word in group if (vector := table.vector(word)) is not None]
        matrices.append(np.stack([vector for vector, _ in vectors]).astype(np.int64))
        lengths.append(np.array([length for _, length in vectors], dtype=np.int64))
    # Not `@`, which hands such a small product to threads that wait in a loop: twice the CPU of a
    # question.
    products = np.einsum("ik,jk->ij", matrices[0], matrices[1])
    scale = FULL << 2 * NORM_BITS
    likeness = products * scale // (lengths[0][:, None] * lengths[1][None, :])
    stems = [stem(word) for word in words]
    for column, word in enumerate(wanted):
        same = [at for at, other in enumerate(stems) if other == stem(word)]
        likeness[same, column] = FULL
    above = np.clip(likeness, LEAST_LIKENESS, FULL) - LEAST_LIKENESS
    gains: npt.NDArray[np.int64] = above * FULL // (FULL - LEAST_LIKENESS)
    return gains


@lru_cache(maxsize=4_096)
def _distinct_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(content_words(text)))
