"""The layout of a text of any size: all its pieces, or those of its most promising windows.

Past a megabyte or two, splitting and scoring everything would cost more than any model call that
follows. The opening and the closing windows always stay; between them those that hold the query's
words, else evenly spaced ones.

A section tries one text at several sizes. Its pieces are the same as long as no line is larger than
the room, so the layout with all lines whole is cached.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

from foreword.text.names import names
from foreword.text.pieces import Layout, LayoutBuilder, Over, Shape
from foreword.text.relevance import LONGEST_QUERY
from foreword.text.words import STOP_WORDS, words

LARGEST_WHOLE = 1_500_000  # characters that are split and scored, whatever the text's size

# Characters that stay or go together: 30 of them make the largest whole. Smaller ones would tear
# chapters apart, larger ones would leave too few to choose among.
_WINDOW = 50_000
_MOST_TERMS = 16  # of the query that windows are chosen by: each is looked for in the whole text


def layout(text: str, name: str, query: str, over: Over) -> Layout:
    """The pieces of a text, or of its best windows; `start` is always the place in the whole
    text. Lines that are `over` the room are divided."""
    whole, lines = whole_layout(text, name, query)
    is_divided = any(over(start, line) for start, line in lines)
    return _layout(text, name, query, over) if is_divided else whole


# Texts. A context has a few that do not fit whole; at double, a server would hold the pieces of
# eight megabytes of text that nobody may ask for again. Without the cache, to cut 23 documents for
# four rooms each takes 2.7 times as long.
@lru_cache(maxsize=4)
def whole_layout(text: str, name: str, query: str) -> tuple[Layout, list[tuple[int, str]]]:
    """The layout with no line divided, and the lines, with their offsets, that could have been."""
    asked: list[tuple[int, str]] = []

    def over(start: int, line: str) -> bool:
        asked.append((start, line))
        return False

    return _layout(text, name, query, over), asked


def _layout(text: str, name: str, query: str, over: Over) -> Layout:
    from foreword.text.content_type import content_type
    from foreword.text.layouts import layout_of

    kind = content_type(text, name)
    if len(text) <= LARGEST_WHOLE or kind in ("diff", "json"):
        return layout_of(text, kind, over)
    builder = LayoutBuilder()
    shape: Shape = "prose"
    for start, end in _best(text, _windows(text), query):
        builder.start = start
        window_kind = kind if kind in ("log", "rst") else "markdown"
        here = layout_of(text[start:end], window_kind, _over_from(over, start))
        builder.embed(here)
        shape = here.shape
    return builder.layout(shape)


def _over_from(over: Over, start: int) -> Over:
    return lambda at, part: over(start + at, part)


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
    scores: dict[int, float] = {}
    if query.strip():
        lowered = [text[start:end].lower() for start, end in windows]
        scores = _scores(lowered, query[:LONGEST_QUERY])
    step = max(1, len(inner) // room)
    chosen = sorted(inner, key=lambda at: (-scores.get(at, 0.0), at % step, at))[:room]
    return [windows[at] for at in sorted({0, len(windows) - 1, *chosen})]


def _scores(lowered: list[str], query: str) -> dict[int, float]:
    """How well each window answers, by the query's names and words, rare ones most."""
    wanted = [name.lower() for name in names(query)]
    wanted += [word for word in words(query) if word not in STOP_WORDS]
    scores = dict.fromkeys(range(len(lowered)), 0.0)
    for term in list(dict.fromkeys(wanted))[:_MOST_TERMS]:
        counts = [window.count(term) for window in lowered]
        holders = len(counts) - counts.count(0)
        for at, count in enumerate(counts):
            if count:
                scores[at] += log(1 + len(lowered) / holders) * (1 + log(count))
    return scores
