"""How often each term occurs in everything there is, by which rare words outweigh frequent ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2

from foreword.relevance.passage import Passage
from foreword.relevance.terms import passage_terms

# Among fewer passages every word is in most of them, and none would seem rare.
LEAST_PASSAGES = 24


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of a whole collection: its passages, the terms in all of them, and how many of them hold
    each term."""

    passages: int
    length: int
    holders: Mapping[str, int]

    def rarity(self, term: str) -> int:
        """How much a term tells, in 1024ths of a bit; a term that nobody holds is the rarest."""
        passages = max(self.passages, LEAST_PASSAGES)
        holders = min(self.holders.get(term, 0), passages)
        # log2(1 + (n - h + 1/2) / (h + 1/2)), the rarity of BM25, which is never below zero
        return _log2(2 * passages + 2) - _log2(2 * holders + 1)


def collect(passages: Iterable[Passage]) -> Statistics:
    """The statistics of passages that are a whole collection."""
    count = 0
    length = 0
    holders = Counter[str]()
    for passage in passages:
        found = passage_terms(passage)
        count += 1
        length += len(found)
        holders.update(set(found))
    return Statistics(count, length, holders)


def _log2(number: int) -> int:
    """The binary logarithm of a positive number in 1024ths, rounded down."""
    return int(1024 * log2(number))
