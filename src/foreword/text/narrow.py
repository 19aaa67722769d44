"""Pieces of a text of any size: all of them, or those of the most promising windows when there are
too many.

Past a megabyte or two, splitting and scoring everything would cost more than any model call that
follows. The opening and the closing windows always stay; between them those that hold the query's
words, else evenly spaced ones.
"""

from __future__ import annotations

from dataclasses import replace
from math import log

from foreword.text.pieces import Piece, split
from foreword.text.relevance import LONGEST_QUERY
from foreword.text.words import STOP_WORDS, names, words

LARGEST_WHOLE = 1_500_000

_WINDOW = 50_000
_MOST_TERMS = 16


def pieces(text: str, largest: int, query: str = "", *, finely: bool = False) -> list[Piece]:
    """The pieces of a text, or of its best windows; `start` is always the place in the whole
    text."""
    if len(text) <= LARGEST_WHOLE:
        return split(text, largest, finely=finely)
    found: list[Piece] = []
    for start, end in _best(text, _windows(text), query):
        here = split(text[start:end], largest, finely=finely)
        found.extend(replace(piece, start=start + piece.start) for piece in here)
    return found


def _windows(text: str) -> list[tuple[int, int]]:
    edges = [0]
    while len(text) - edges[-1] > _WINDOW:
        end = edges[-1] + _WINDOW
        line = text.rfind("\n", end - _WINDOW // 2, end)
        edges.append(line + 1 if line >= 0 else end)
    return list(zip(edges, [*edges[1:], len(text)], strict=True))


def _best(text: str, windows: list[tuple[int, int]], query: str) -> list[tuple[int, int]]:
    """The first, the last, and the best or else evenly spaced ones between, in order."""
    room = LARGEST_WHOLE // _WINDOW - 2
    inner = range(1, len(windows) - 1)
    scores = (
        _scores([text[start:end].lower() for start, end in windows], query[:LONGEST_QUERY])
        if query.strip()
        else {}
    )
    step = max(1, len(inner) // room)
    chosen = sorted(inner, key=lambda at: (-scores.get(at, 0.0), at % step, at))[:room]
    return [windows[at] for at in sorted({0, len(windows) - 1, *chosen})]


def _scores(lowered: list[str], query: str) -> dict[int, float]:
    """How well each window answers, by the query's names and words, rare ones most."""
    wanted = [
        *(name.lower() for name in names(query)),
        *(word for word in words(query) if word not in STOP_WORDS),
    ]
    scores = dict.fromkeys(range(len(lowered)), 0.0)
    for term in list(dict.fromkeys(wanted))[:_MOST_TERMS]:
        counts = {at: window.count(term) for at, window in enumerate(lowered)}
        holders = sum(map(bool, counts.values()))
        for at, count in counts.items():
            if count:
                scores[at] += log(1 + len(lowered) / holders) * (1 + log(count))
    return scores
