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

from foreword.text.pieces import Piece, is_lead, is_markup
from foreword.text.words import STOP_WORDS, has_name, is_literal, words

_DECIDES = re.compile(
    r"\b(?:must|never|always|only|not|don't|cannot|because|since|decided?|decision|requires?|required|instead|unless"
    r"|should|shall|avoid|locked|deferred|blocked|default|breaks?|fails?|failed|error|bug|risk|critical|important"
    r"|warning|before|until|except)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\s*(?:[-*>]\s+)?_?(?:in this (?:section|document|chapter|file|guide|part)"
    r"|this (?:section|document|file|guide|page)"
    r" (?:is|will|describes?|contains?|covers?|explains?|provides?|outlines?)"
    r"|the following|as (?:mentioned|noted|described)"
    r"|below (?:is|are)|here (?:is|are)|note that|let us|let's|we will|for more"
    r" (?:information|details)|see also"
    r"|table of contents|last updated|introduction\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,%]*(?![.)]\s)")
_FOLDERS = re.compile(r"(?<!\S)[^\s/]{0,80}/(?:[^\s/]{0,80}/)*")
_KINDS = {
    "fence": 0.0,
    "rule": 0.0,
    "heading": 0.5,
    "html": 0.2,
    "front_matter": 0.6,
    "code": 0.5,
    "table": 0.9,
}
_SAME = 0.8
_NAMING, _NAMED_BEFORE = 1.0, 0.2
_LETTER = re.compile(r"[^\W\d_]")
_LONG_NUMBER = re.compile(r"\d{4}")


def carry(pieces: Sequence[Piece]) -> list[float]:
    """A weight from 0 up for each piece, by what it says about the whole text it is part of."""
    bags = [_content(piece.text) for piece in pieces]
    salience = _salience(bags)
    dense = [sum(salience[word] for word in dict.fromkeys(bag)) / (len(bag) + 6) for bag in bags]
    top = max(dense, default=0.0) or 1.0
    repeats, naming = _repeats(bags, salience), _naming(pieces)
    return [
        (
            (density / top + _NAMING * naming[at] + _bonus(pieces, at))
            * _damping(pieces, at, at in repeats)
            if bags[at] and not is_markup(pieces[at])
            else 0.0
        )
        for at, density in enumerate(dense)
    ]


def _content(text: str) -> list[str]:
    text = _FOLDERS.sub("", text)
    return [
        word[:-1] if word[-1] == "s" and len(word) > 3 else word
        for word in words(text)
        if word not in STOP_WORDS
    ]


def _salience(bags: list[list[str]]) -> dict[str, float]:
    """Often in the text but not in every piece: frequency with a ceiling, times rarity among the
    pieces."""
    often = Counter(word for bag in bags for word in bag)
    spread = Counter(word for bag in bags for word in dict.fromkeys(bag))
    return {
        word: log1p(min(count, 12)) * max(0.2, log(len(bags) / spread[word]))
        for word, count in often.items()
    }


def _naming(pieces: Sequence[Piece]) -> list[float]:
    """How densely each piece names things that no denser one has named already, up to 1."""
    found = _named(pieces)
    worth = _worth(found)
    room = [len(piece.text) + 120 for piece in pieces]
    named: set[str] = set()
    scores = [0.0] * len(pieces)
    for at in sorted(range(len(pieces)), key=lambda at: -len(found[at]) / room[at]):
        scores[at] = (
            sum(worth[name] * (_NAMED_BEFORE if name in named else 1.0) for name in found[at])
            / room[at]
        )
        named.update(found[at])
    # A few pieces are nothing but names (a list of paths); measured by them, no other would seem to
    # name anything.
    top = sorted(scores)[int(0.98 * (len(scores) - 1))] or 1.0 if scores else 1.0
    return [min(1.0, score / top) for score in scores]


def _worth(found: Sequence[Sequence[str]]) -> dict[str, float]:
    """What it is worth to name each name: much where the text comes back to it, nothing where it
    is everywhere."""
    often = Counter(name for naming in found for name in naming)
    whole = log(len(found) + 1)
    return {name: log1p(min(count, 12)) * (1 - log(count) / whole) for name, count in often.items()}


def _named(pieces: Sequence[Piece]) -> list[list[str]]:
    """The words of each piece that name one thing: paths, identifiers, codes, long numbers."""
    judged: dict[str, str] = {}
    found = []
    for piece in pieces:
        tokens = dict.fromkeys(piece.text.split())
        judged.update((token, _name(token)) for token in tokens if token not in judged)
        found.append([name for name in dict.fromkeys(map(judged.__getitem__, tokens)) if name])
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


def _damping(pieces: Sequence[Piece], at: int, repeated: bool) -> float:
    piece = pieces[at]
    factor = _KINDS.get(piece.kind, 1.0) * (0.2 if repeated else 1.0)
    split_matter = piece.kind == "front_matter" and not piece.text.startswith("---")
    if _FILLER.match(piece.text) or is_lead(piece) or split_matter:
        factor *= 0.3
    return factor * (0.4 if piece.begins == "middle" else 1.0)


def _repeats(bags: list[list[str]], salience: dict[str, float]) -> set[int]:
    """The pieces that say again what an earlier one said: the same rarest words, and mostly the
    same others."""
    seen: dict[tuple[str, ...], frozenset[str]] = {}
    found = set()
    for at, bag in enumerate(bags):
        distinct = frozenset(bag)
        key = tuple(sorted(distinct, key=lambda word: (salience[word], word))[:3])
        earlier = seen.setdefault(key, distinct)
        if (
            bag
            and earlier is not distinct
            and len(earlier & distinct) >= _SAME * len(earlier | distinct)
        ):
            found.add(at)
    return found
