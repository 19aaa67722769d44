"""Rank passages against a question: each by itself, by those around it and by its session.

What a match gives to those beside it is less from passage to passage, nothing past a session.
Whole numbers throughout: the same bytes give the same ranking on every machine. What the terms of a
text are is told by `terms`, what a question asks for by `question`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isqrt

from foreword.relevance import token_table
from foreword.relevance.dates import asked_days, day_number
from foreword.relevance.late_interaction import closeness
from foreword.relevance.passage import Passage
from foreword.relevance.question import Question, read_question
from foreword.relevance.statistics import Statistics, collect
from foreword.relevance.terms import passage_terms, terms

# A match by itself, with the few turns around it, and with the stretch of talk it is in. Measured
# on 60 questions about meetings at 2,000 tokens: evidence kept is 28% by the match alone, 51% with
# near neighbours alone, 60% with far ones alone, 60% so. Up to 62% with more for the far ones; but
# then turns around the talk about a thing would come before a lone turn that answers.
OWN_WEIGHT = 2
NEAR_WEIGHT = 2
FAR_WEIGHT = 3
NEAR_DECAY = 621  # in 1024ths, from one passage to the next: a half is left after one or two
FAR_DECAY = 970  # a half is left after thirteen, about a session of a chat
# Passages that are compared by meaning. Measured on the same questions: a point less evidence with
# 150, the same with double; a question of ten words to so many turns takes about 0.04 s.
MOST_CANDIDATES = 600
# Of the best match, what being said on a day that the question names is worth: a fourth, so that a
# word of the question outweighs it, and any turn of that day outweighs one of another without one.
DATED_SHARE = 4
# A speaker's name in the question is mostly about who says it: in the words of others it is a
# greeting, so it counts a third there; and a match by that speaker counts a fourth more.
SPEAKER_DAMPING = 3
TITLE_SHARE = 3  # fourths of what a word in the text is worth; of a heading it is two
_MATCH = 1 << 16  # what the best match gets, lexical and by meaning
_FULL = 1 << 20  # what the best passage of each kind gets
_FARTHEST = 64  # passages; beyond it even the slowest decay leaves nothing that counts


def rank(
    passages: Sequence[Passage],
    question: str | Question,
    *,
    statistics: Statistics | None = None,
    semantic: bool = True,
    today: str = "",
) -> list[int]:
    """A score for each passage: 0 for what has nothing to do with the question, higher is better.

    Without `statistics` the passages are the whole collection. With them the passages may be the
    candidates that an index found, with neighbours or without; scores compare within one call.
    Where numpy is installed (`foreword[semantic]`), the best of them are compared by the meaning of
    their words as well, unless `semantic` is off. `today` is what `last week` is counted from, else
    the newest date of a passage.
    """
    asked = read_question(question) if isinstance(question, str) else question
    if not passages or not asked.weights:
        return [0] * len(passages)
    known = statistics or collect(passages)
    matches = _matches(passages, asked, known)
    if semantic:
        matches = _with_meaning(matches, passages, asked, known)
    matches = _with_dates(matches, passages, asked, today)
    own = [_sharpen(score) for score in matches]
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


def _with_dates(
    matches: list[int], passages: Sequence[Passage], asked: Question, today: str
) -> list[int]:
    """The matches with more for what was said in the days that the question names."""
    days = [day_number(passage.date) if passage.date else None for passage in passages]
    known = [day for day in days if day is not None]
    if not known:
        return matches
    now = day_number(today) if today else None
    wanted = asked_days(asked.text, max(known) if now is None else now)
    inside: list[int] = []
    for at, day in enumerate(days):
        if day is not None and any(first <= day <= last for first, last in wanted):
            inside.append(at)
    # Days in which half of everything was said single nothing out.
    if not inside or 2 * len(inside) > len(passages):
        return matches
    dated = list(matches)
    best = max(matches) or _MATCH
    for at in inside:
        dated[at] += dated[at] // 2 + best // DATED_SHARE
    return dated


def best_first(scores: Sequence[int]) -> list[int]:
    """The places of all scores above 0, the best first; of equal ones the earlier first."""
    places = [at for at, score in enumerate(scores) if score > 0]
    return sorted(places, key=lambda at: (-scores[at], at))


def _matches(passages: Sequence[Passage], asked: Question, known: Statistics) -> list[int]:
    """BM25 of each passage by itself, and what it is called and who says it."""
    speakers = _asked_speakers(passages, asked)
    worth: dict[str, int] = {}
    for term, weight in asked.weights.items():
        worth[term] = weight * known.rarity(term)
        if any(term in names for names in speakers.values()):
            worth[term] //= SPEAKER_DAMPING
    length = max(1, known.length)
    count = max(1, known.passages)
    scores: list[int] = []
    for passage in passages:
        found = passage_terms(passage)
        wanted = Counter([term for term in found if term in worth])
        # k1 = 1.2 and b = 3/4, all multiplied by 1000 and by the length of the collection
        damping = 300 * length + 900 * len(found) * count
        score = 0
        for term, uses in wanted.items():
            score += worth[term] * 2200 * uses * length // (1000 * uses * length + damping)
        for names, share in ((_title_terms(passage), TITLE_SHARE), (_headings(passage), 2)):
            score += sum([worth[term] for term in names if term in worth]) * share // 4
        if score and passage.speaker in speakers:
            score += score // 4
        scores.append(score)
    return scores


def _asked_speakers(passages: Sequence[Passage], asked: Question) -> dict[str, set[str]]:
    """The speakers that the question names, with the terms of their names."""
    found: dict[str, set[str]] = {}
    for speaker in {passage.speaker for passage in passages}:
        names = set(terms(speaker))
        if names and names <= asked.weights.keys():
            found[speaker] = names
    return found


def _title_terms(passage: Passage) -> set[str]:
    """What a passage's document is called: its title, and the last two parts of its path."""
    if not passage.title and not passage.path:
        return set()
    return set(terms(f"{passage.title} {' '.join(passage.path.split('/')[-2:])}"))


def _headings(passage: Passage) -> set[str]:
    return set(terms(" ".join(passage.headings))) if passage.headings else set()


def _sharpen(score: int) -> int:
    """To the power of 3/2: one good match outweighs several weak ones around it."""
    return score * isqrt(score)


def spread(scores: Sequence[int], passages: Sequence[Passage], decay: int) -> list[int]:
    """Each score with those of its neighbours, each less by `decay` 1024ths for every step.

    Passages of a session are neighbours by position, whether or not all of them are here.
    """
    total = list(scores)
    powers = _powers(decay)
    for session in _sessions(passages):
        for direction in (session, session[::-1]):
            reached = 0
            before = direction[0][0]
            for position, at in direction:
                steps = abs(position - before)
                reached = reached * powers[min(steps, _FARTHEST)] >> 20
                total[at] += reached
                reached += scores[at]
                before = position
    return total


def _sessions(passages: Sequence[Passage]) -> list[list[tuple[int, int]]]:
    """The passages of each session that have a position, by it: the position and the place."""
    sessions: dict[str, list[tuple[int, int]]] = {}
    for at, passage in enumerate(passages):
        if passage.position is not None:
            sessions.setdefault(passage.session, []).append((passage.position, at))
    for session in sessions.values():
        session.sort()
    return list(sessions.values())


def _powers(decay: int) -> list[int]:
    """The decay after each number of steps, as fixed-point numbers with 20 fractional bits."""
    powers = [1 << 20]
    for _ in range(_FARTHEST):
        powers.append(powers[-1] * decay >> 10)
    return powers
