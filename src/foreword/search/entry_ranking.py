"""Rank what an index found, by the statistics of all that is in it, in little time.

The ranking is `relevance`'s. Here it is told the terms of each text: to look for every name in it
would take most of the time, so only those are looked for that the question has.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.pattern import lazy_pattern
from foreword.relevance import Passage, Question, Statistics, rank
from foreword.relevance.question import LITERAL
from foreword.relevance.terms import stem
from foreword.text.words import STOP_WORDS, words

_NOT_TERM = lazy_pattern(r"[\W_]+")


def word_terms(text: str) -> tuple[str, ...]:
    """The terms of a text but for the names in it."""
    return tuple([stem(word) for word in words(text) if word not in STOP_WORDS])


def terms_for(question: Question, text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The terms to rank a text by: those that are known, and what the question names, where it is
    in the text as a whole; none of what does not match."""
    literals = [term for term, weight in question.weights.items() if weight == LITERAL]
    if not literals or not known:
        return known
    joined = f"_{_NOT_TERM.sub('_', text.lower())}_"
    found = list[str]()
    for literal in literals:
        if literal not in known:
            found += [literal] * joined.count(f"_{literal}_")
    return (*known, *found)


def with_length(known: Statistics, counted: Sequence[int]) -> Statistics:
    """The statistics of an index, which knows no lengths, with the length of texts as the ranking
    has it: that of those which were found."""
    lengths = [length for length in counted if length]
    length = sum(lengths) * known.passages // max(1, len(lengths))
    return Statistics(known.passages, length, known.holders)


def rank_texts(
    texts: Sequence[str],
    terms: Sequence[tuple[str, ...]],
    question: Question,
    statistics: Statistics,
) -> list[int]:
    """A score for each of some texts, with their `word_terms`, that have nothing to do with each
    other."""
    passages = list[Passage]()
    for at, text in enumerate(texts):
        known_terms = terms_for(question, text, terms[at])
        passages.append(Passage(text=text, session=str(at), terms=known_terms))
    # By words alone: what titles, headings and parts weigh was measured so.
    known = with_length(statistics, [*map(len, terms)])
    return rank(passages, question, statistics=known, semantic=False)
