"""What a question asks for: its terms, each with its weight. Names and literals count most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.relevance.terms import name_terms, stem, whole_name
from foreword.text.names import is_literal, names
from foreword.text.words import STOP_WORDS, words

LONGEST_QUESTION = 4_000  # characters that are read: what is asked stands at the beginning
# Terms that are looked for, the heaviest first: a question has ten, a task that is pasted as one
# may have hundreds, and the rare ones among those are chance.
MOST_TERMS = 64

WORD = 4  # the weight of a plain word; the others are multiples of a quarter of it
PROPER_NAME = 6  # of `Caroline`, which is written with a capital inside a sentence
LITERAL = 12  # of a path, an identifier, a code: who writes one means that one thing
QUOTED = 8  # of the words inside quotation marks

# Words by which people ask; they are rare in what is asked about, and would seem to tell much.
_ASKING_WORDS = """
    answer ask asked comment comments context conversation conversations describe described detail
    details discuss discussed discussing discussion discussions explain explained kind mention
    mentioned mentions opinion opinions question questions regarding said says summarise summarize
    summary talk talked talking tell think thinks thought thoughts told
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())
_QUOTE = lazy_pattern('["\u201c]([^"\u201c\u201d\n]{2,200})["\u201d]')
_CAPITAL = lazy_pattern(r"(?<=[a-z,;:'\u2019)] )[A-Z][^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is looked for."""

    text: str
    weights: dict[str, int]  # of its terms
    words: dict[str, int]  # as they are written, with the same weights


def read_question(text: str) -> Question:
    """The terms of a question, the heaviest first. A question of nothing but little words has
    those."""
    asked = text[:LONGEST_QUESTION]
    uses = Counter([word for word in words(asked) if word not in STOP_WORDS])
    plain = [word for word in uses if word not in ASKING_WORDS] or list(uses) or words(asked)
    weights = dict[str, int]()
    for word in plain:
        weights.setdefault(stem(word), WORD)
    for name in _CAPITAL.findall(asked):
        _raise(weights, [stem(name.lower())], PROPER_NAME)
    for quote in _QUOTE.findall(asked):
        _raise(weights, [stem(word) for word in words(quote)], QUOTED)
    for name in names(asked):
        for term in name_terms(name):
            weights.setdefault(term, WORD)
        if is_literal(name):
            _raise(weights, [_literal_term(name)], LITERAL)
    heaviest = sorted(weights, key=lambda term: -weights[term])[:MOST_TERMS]
    written = {word: weights[stem(word)] for word in plain if stem(word) in heaviest}
    return Question(asked, {term: weights[term] for term in heaviest}, written)


def _literal_term(name: str) -> str:
    """The term that stands for the whole name in a text."""
    found = name_terms(name)
    whole = whole_name(name)
    return whole if whole in found else stem(whole)


def _raise(weights: dict[str, int], found: list[str], weight: int) -> None:
    for term in found:
        if term in weights or weight == LITERAL:
            weights[term] = max(weights.get(term, 0), weight)
