"""How much each piece of a text carries, when there is no query to ask.

A piece carries much when its words are the document's own (often used, but not everywhere), when it
decides or counts something, or when it names what few others name; little when it announces,
repeats or decorates. Relevance to a query is in `relevance`; choosing by these weights is in
`choose`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import log, log1p

from foreword.pattern import lazy_pattern
from foreword.text.names import has_name, is_literal
from foreword.text.pieces import Piece, is_lead, is_markup
from foreword.text.words import STOP_WORDS, words

_DECIDING = tuple(
    "must never always only not don't cannot because since decide decided decision require requires"
    " required instead unless should shall avoid locked deferred blocked default break breaks fail"
    " fails failed error bug risk critical important warning before until except".split()
)
_DECIDES = lazy_pattern(rf"\b(?:{'|'.join(_DECIDING)})\b", re.IGNORECASE)
_FILLER = lazy_pattern(
    r"\s*(?:[-*>]\s+)?_?(?:in this (?:section|document|chapter|file|guide|part)"
    r"|this (?:section|document|file|guide|page)"
    r" (?:is|will|describes?|contains?|covers?|explains?|provides?|outlines?)"
    r"|the following|as (?:mentioned|noted|described)"
    r"|below (?:is|are)|here (?:is|are)|note that|let us|let's|we will|for more"
    r" (?:information|details)|see also"
    r"|table of contents|last updated|introduction\b)",
    re.IGNORECASE,
)
_NUMBER = lazy_pattern(r"\d(?<![\w.]\d)[\d.,%]*(?![.)]\s)")
_FOLDERS = lazy_pattern(r"(?<!\S)[^\s/]{0,80}/(?:[^\s/]{0,80}/)*")
_KINDS = {  # what a piece of this kind is worth beside one of prose, whose words it has fewer of
    "fence": 0.0,
    "rule": 0.0,
    "heading": 0.5,
    "html": 0.2,
    "front_matter": 0.6,
    "code": 0.5,
    "table": 0.9,
}
_SAME = 0.8  # of two pieces' words in common: the later one says the earlier one again
_NAMING = 1.0  # of naming things, beside being dense in the text's own words, which is up to 1, too
_NAMED_BEFORE = 0.2  # of a name that a denser piece has named already
_OFTEN = 12  # uses of a word or name; more of them make it no weightier
# Characters added to the length of a piece when its names are counted per character, and words to
# its words when they are: without it, a line of one name would be the densest of all.
_NAMING_CHARS = 120
_DENSITY_WORDS = 6
_LETTER = lazy_pattern(r"[^\W\d_]")
_LONG_NUMBER = lazy_pattern(r"\d{4}")
_Words = dict[str, None]  # of a piece, each once, in order
# Without one of these a word is no name (`words.names`), and need not be asked.
_NAME_SIGN = lazy_pattern(r"[`/_#.\d]|[A-Z]{2}|[a-z][A-Z]")


def carry(pieces: Sequence[Piece]) -> list[float]:
    """A weight from 0 up for each piece, by what it says about the whole text it is part of."""
    tokens = [piece.text.split() for piece in pieces]
    glossary = _Glossary(tokens)
    bags = [glossary.content_words(each) for each in tokens]
    distinct = [dict.fromkeys(bag) for bag in bags]
    salience = _salience(bags, distinct)
    densities: list[float] = []
    for bag, own in zip(bags, distinct, strict=True):
        worth = sum(map(salience.__getitem__, own))  # how much of it is the text's own words
        densities.append(worth / (len(bag) + _DENSITY_WORDS))
    top = max(densities, default=0.0) or 1.0
    repeats = _repeats(distinct, salience)
    naming = _naming(pieces, [glossary.names_in(each) for each in tokens])
    weights: list[float] = []
    for at, piece in enumerate(pieces):
        if not bags[at] or is_markup(piece):
            weights.append(0.0)
            continue
        score = densities[at] / top + _NAMING * naming[at] + glossary.bonus(pieces, at, tokens[at])
        weights.append(score * _damping(piece, at in repeats))
    return weights


class _Glossary:
    """What each word of a text says, found out once: to tell is the dear part, and most words come
    again."""

    def __init__(self, tokens: Sequence[Sequence[str]]) -> None:
        """`tokens` are the words of each piece with all that clings to them, as white space parts
        them."""
        self._content: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, str] = {}
        self._naming: set[str] = set()  # tokens with a name anywhere in them
        self._deciding: set[str] = set()
        for token in set().union(*tokens):
            self._add(token)

    def content_words(self, tokens: Sequence[str]) -> list[str]:
        """The words that say something, in order, without the folders of paths and the `s` of a
        plural."""
        return list(chain.from_iterable(map(self._content.__getitem__, tokens)))

    def names_in(self, tokens: Sequence[str]) -> list[str]:
        """What is named, each once, in order."""
        return list(dict.fromkeys(filter(None, map(self._names.get, tokens))))

    def bonus(self, pieces: Sequence[Piece], at: int, tokens: Sequence[str]) -> float:
        """What a piece is worth beyond its words: for deciding, counting and naming something,
        and for standing first under a heading."""
        piece = pieces[at]
        if piece.kind in ("code", "fence", "html"):
            return 0.0
        return (
            0.25 * (not self._deciding.isdisjoint(tokens))
            + 0.15 * (_NUMBER.search(piece.text) is not None)
            + 0.15 * self._has_name(piece.text, tokens)
            + 0.25 * (at > 0 and pieces[at - 1].kind == "heading")
        )

    def _has_name(self, text: str, tokens: Sequence[str]) -> bool:
        # Only what is set in code type can have white space in it.
        return not self._naming.isdisjoint(tokens) or ("`" in text and has_name(text))

    def _add(self, token: str) -> None:
        found = words(_FOLDERS.sub("", token) if "/" in token else token)
        self._content[token] = tuple([_singular(word) for word in found if word not in STOP_WORDS])
        if _DECIDES.search(token):
            self._deciding.add(token)
        if not _NAME_SIGN.search(token):
            return
        is_naming = has_name(token)
        if is_naming:
            self._naming.add(token)
        bare = token.strip("`'\"()[]{}<>.,:;!?*_")
        telling = is_naming if _LETTER.search(bare) else _LONG_NUMBER.search(bare)
        if telling and is_literal(bare):
            self._names[token] = bare


def _singular(word: str) -> str:
    return word[:-1] if word[-1] == "s" and len(word) > 3 else word


def _salience(bags: Sequence[list[str]], distinct: Sequence[_Words]) -> dict[str, float]:
    """Often in the text but not in every piece: frequency with a ceiling, times rarity among the
    pieces."""
    uses = Counter(chain.from_iterable(bags))
    holders = Counter(chain.from_iterable(distinct))
    frequency = {count: log1p(min(count, _OFTEN)) for count in set(uses.values())}
    rarity = {count: max(0.2, log(len(bags) / count)) for count in set(holders.values())}
    return {word: frequency[count] * rarity[holders[word]] for word, count in uses.items()}


def _naming(pieces: Sequence[Piece], names: Sequence[Sequence[str]]) -> list[float]:
    """How densely each piece names things that no denser one has named already, up to 1."""
    worth = _worth(names)
    room = [len(piece.text) + _NAMING_CHARS for piece in pieces]
    named: set[str] = set()
    scores = [0.0] * len(pieces)
    for at in sorted(range(len(pieces)), key=lambda at: -len(names[at]) / room[at]):
        values = [worth[name] * (_NAMED_BEFORE if name in named else 1.0) for name in names[at]]
        scores[at] = sum(values) / room[at]
        named.update(names[at])
    if not scores:
        return []
    # A few pieces are nothing but names (a list of paths); measured by them, no other would seem to
    # name anything.
    top = sorted(scores)[int(0.98 * (len(scores) - 1))] or 1.0
    return [min(1.0, score / top) for score in scores]


def _worth(found: Sequence[Sequence[str]]) -> dict[str, float]:
    """What it is worth to name each name: much where the text comes back to it, nothing where it
    is everywhere."""
    uses = Counter(chain.from_iterable(found))
    whole = log(len(found) + 1)
    return {
        name: log1p(min(count, _OFTEN)) * (1 - log(count) / whole) for name, count in uses.items()
    }


def _damping(piece: Piece, repeated: bool) -> float:
    factor = _KINDS.get(piece.kind, 1.0) * (0.2 if repeated else 1.0)
    split_matter = piece.kind == "front_matter" and not piece.text.startswith("---")
    if _FILLER.match(piece.text) or is_lead(piece) or split_matter:
        factor *= 0.3
    return factor * (0.4 if piece.begins == "middle" else 1.0)


def _repeats(distinct: Sequence[_Words], salience: dict[str, float]) -> set[int]:
    """The pieces that say again what an earlier one said: the same rarest words, and mostly the
    same others."""
    by_rarity = sorted(salience, key=salience.__getitem__)
    place = dict(zip(by_rarity, range(len(by_rarity)), strict=True))
    earlier_words: dict[tuple[int, ...], _Words] = {}  # by the places of their rarest words
    found: set[int] = set()
    for at, own in enumerate(distinct):
        rarest = sorted(map(place.__getitem__, own))[:3]
        earlier = earlier_words.setdefault(tuple(rarest), own)
        if not own or earlier is own:
            continue
        if len(earlier.keys() & own.keys()) >= _SAME * len(earlier.keys() | own.keys()):
            found.add(at)
    return found
