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
from math import log, log1p

from foreword.pattern import lazy_pattern
from foreword.text.pieces import Piece, is_lead, is_markup
from foreword.text.words import STOP_WORDS, has_name, is_literal, words

_DECIDES = lazy_pattern(
    r"\b(?:must|never|always|only|not|don't|cannot|because|since|decided?|decision"
    r"|requires?|required|instead|unless"
    r"|should|shall|avoid|locked|deferred|blocked|default|breaks?"
    r"|fails?|failed|error|bug|risk|critical|important"
    r"|warning|before|until|except)\b",
    re.IGNORECASE,
)
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
_NUMBER = lazy_pattern(r"(?<![\w.])\d[\d.,%]*(?![.)]\s)")
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


def carry(pieces: Sequence[Piece]) -> list[float]:
    """A weight from 0 up for each piece, by what it says about the whole text it is part of."""
    bags = [_content_words(piece.text) for piece in pieces]
    salience = _salience(bags)
    densities = [_density(bag, salience) for bag in bags]
    top = max(densities, default=0.0) or 1.0
    repeats = _repeats(bags, salience)
    naming = _naming(pieces)
    weights: list[float] = []
    for at, piece in enumerate(pieces):
        if not bags[at] or is_markup(piece):
            weights.append(0.0)
            continue
        score = densities[at] / top + _NAMING * naming[at] + _bonus(pieces, at)
        weights.append(score * _damping(piece, at in repeats))
    return weights


def _density(bag: list[str], salience: dict[str, float]) -> float:
    """How much of a piece is the text's own words, each counted once."""
    return sum(salience[word] for word in dict.fromkeys(bag)) / (len(bag) + _DENSITY_WORDS)


def _content_words(text: str) -> list[str]:
    """The words that say something, without the folders of paths and the `s` of a plural."""
    found = [word for word in words(_FOLDERS.sub("", text)) if word not in STOP_WORDS]
    return [word[:-1] if word[-1] == "s" and len(word) > 3 else word for word in found]


def _salience(bags: list[list[str]]) -> dict[str, float]:
    """Often in the text but not in every piece: frequency with a ceiling, times rarity among the
    pieces."""
    uses: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    for bag in bags:
        uses.update(bag)
        holders.update(set(bag))
    return {
        word: log1p(min(count, _OFTEN)) * max(0.2, log(len(bags) / holders[word]))
        for word, count in uses.items()
    }


def _naming(pieces: Sequence[Piece]) -> list[float]:
    """How densely each piece names things that no denser one has named already, up to 1."""
    names = _names_by_piece(pieces)
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
    uses: Counter[str] = Counter()
    for names in found:
        uses.update(names)
    whole = log(len(found) + 1)
    return {
        name: log1p(min(count, _OFTEN)) * (1 - log(count) / whole) for name, count in uses.items()
    }


def _names_by_piece(pieces: Sequence[Piece]) -> list[list[str]]:
    """The words of each piece that name one thing: paths, identifiers, codes, long numbers."""
    name_of: dict[str, str] = {}  # by word: to tell is the dear part, and most words come again
    found: list[list[str]] = []
    for piece in pieces:
        names: dict[str, None] = {}  # each once, in order
        for token in piece.text.split():
            if token not in name_of:
                name_of[token] = _name(token)
            if name_of[token]:
                names[name_of[token]] = None
        found.append(list(names))
    return found


def _name(token: str) -> str:
    """What a word names, without the marks around it, or nothing."""
    bare = token.strip("`'\"()[]{}<>.,:;!?*_")
    telling = has_name(token) if _LETTER.search(bare) else _LONG_NUMBER.search(bare)
    return bare if telling and is_literal(bare) else ""


def _bonus(pieces: Sequence[Piece], at: int) -> float:
    piece = pieces[at]
    if piece.kind in ("code", "fence", "html"):
        return 0.0
    return (
        0.25 * (_DECIDES.search(piece.text) is not None)
        + 0.15 * (_NUMBER.search(piece.text) is not None)
        + 0.15 * has_name(piece.text)
        + 0.25 * (at > 0 and pieces[at - 1].kind == "heading")
    )


def _damping(piece: Piece, repeated: bool) -> float:
    factor = _KINDS.get(piece.kind, 1.0) * (0.2 if repeated else 1.0)
    split_matter = piece.kind == "front_matter" and not piece.text.startswith("---")
    if _FILLER.match(piece.text) or is_lead(piece) or split_matter:
        factor *= 0.3
    return factor * (0.4 if piece.begins == "middle" else 1.0)


def _repeats(bags: list[list[str]], salience: dict[str, float]) -> set[int]:
    """The pieces that say again what an earlier one said: the same rarest words, and mostly the
    same others."""
    earlier_bags: dict[tuple[str, ...], frozenset[str]] = {}  # by their rarest words
    found: set[int] = set()
    for at, bag in enumerate(bags):
        distinct = frozenset(bag)
        rarest = sorted(distinct, key=lambda word: (salience[word], word))[:3]
        earlier = earlier_bags.setdefault(tuple(rarest), distinct)
        if not bag or earlier is distinct:
            continue
        if len(earlier & distinct) >= _SAME * len(earlier | distinct):
            found.add(at)
    return found
