"""Find what a question is about in several places at once, and choose as much as a budget holds.

A place gives what its index found and what stands beside that; all of it is ranked together, so
that what was said, written and handed on competes for the same room. What a place looks like inside
is its own business (`conversation_search`, `index_entries`).
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from foreword.relevance import Passage, Question, Statistics, best_first, rank
from foreword.search.entry_ranking import terms_for, with_length
from foreword.search.hit import Hit
from foreword.tokens import Counter

# Of the best matches: for so many, what stands beside them is read, too.
MOST_WITH_NEIGHBOURS = 25
AROUND = 2  # messages or passages on either side of a match that may come with it
# Of the best score: what has less to do with the question is not shown, whatever the room.
SMALLEST_SHARE = 0.1
# Tokens of what stands around each stretch: its heading, a mark for the gap; and of the line over
# each message.
FRAME_TOKENS = 60
LINE_TOKENS = 14
# Steps from one part of a long message to the next, where it is one from message to message: what
# stands in another part of a file says less about a match than what was said before and after it.
# Of 43 questions about three sessions of a coding agent, at four budgets, 132 answers of 172 are
# found at 1, 139 at 4, 142 at 6; as many at 8.
PART_STEPS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that was found, or stands beside one."""

    session: str  # passages of one are neighbours
    number: int  # of its message, or of itself
    part: int = 0  # of its message
    text: str
    terms: tuple[str, ...]  # none of one that does not match
    date: str = ""
    share: int = 1  # what its score is divided by, unless it has most of the question
    item: Any = None  # what its place knows of it


class Place(Protocol):
    """Where something can be found."""

    def matches(self, question: Question) -> tuple[list[FoundPassage], Statistics]:
        """What the index found, and the statistics of all that was asked."""

    def neighbours(
        self, best: Sequence[FoundPassage], known: Sequence[FoundPassage]
    ) -> list[FoundPassage]:
        """What stands beside the best matches and is not known yet."""

    def hits(self, chosen: Sequence[tuple[FoundPassage, int]]) -> list[Hit]:
        """What was chosen, each with its score, in the order it stands in."""


def find(
    places: Sequence[Place], question: Question, *, budget: int, counter: Counter
) -> list[Hit]:
    """The stretches that are about a question, place by place in the order they stand in: about as
    much as a budget has room for."""
    found = [place.matches(question) for place in places]
    statistics = _together([known for _, known in found])
    matches = _in_order([units for units, _ in found])
    lengths = [len(each.unit.terms) for each in matches]
    statistics = with_length(statistics, lengths)
    # by words alone: it only says around which of them to look
    scores = _scores(matches, question, statistics, semantic=False)
    best = [matches[at] for at in best_first(scores)[:MOST_WITH_NEIGHBOURS]]
    with_neighbours = list[list[FoundPassage]]()
    for at, place in enumerate(places):
        own = [each.unit for each in matches if each.place == at]
        own_best = [each.unit for each in best if each.place == at]
        with_neighbours.append([*own, *place.neighbours(own_best, own)])
    units = _in_order(with_neighbours)
    scores = _scores(units, question, statistics, semantic=True)
    chosen = _choose(units, scores, budget=budget, counter=counter)
    by_place: list[list[tuple[FoundPassage, int]]] = [[] for _ in places]
    for one in chosen:
        by_place[units[one].place].append((units[one].unit, scores[one]))
    hits = list[Hit]()
    for place, shown in zip(places, by_place, strict=True):
        hits += place.hits(shown)
    return hits


@dataclass(frozen=True, slots=True)
class _UnitPlace:
    """A unit, the number of its place, and its position among those of its session."""

    unit: FoundPassage
    place: int
    position: int


def _in_order(by_place: Sequence[Sequence[FoundPassage]]) -> list[_UnitPlace]:
    """All units as they stand."""
    placed = list[_UnitPlace]()
    for at, units in enumerate(by_place):
        before: FoundPassage | None = None
        position = 0
        for unit in sorted(units, key=lambda unit: (unit.session, unit.number, unit.part)):
            if before is not None and before.session == unit.session:
                if unit.number > before.number:
                    position += unit.number - before.number
                else:
                    position += PART_STEPS * (unit.part - before.part)
            placed.append(_UnitPlace(unit, at, position))
            before = unit
    return placed


def _together(several: Sequence[Statistics]) -> Statistics:
    holders = Counts[str]()
    for each in several:
        holders.update(each.holders)
    return Statistics(sum(each.passages for each in several), 0, holders)


def _scores(
    placed: Sequence[_UnitPlace], question: Question, statistics: Statistics, *, semantic: bool
) -> list[int]:
    passages = list[Passage]()
    for each in placed:
        unit = each.unit
        passages.append(
            Passage(
                text=unit.text,
                session=f"{each.place} {unit.session}",
                position=each.position,
                date=unit.date,
                terms=terms_for(question, unit.text, unit.terms),
            )
        )
    scores = rank(passages, question, statistics=statistics, semantic=semantic)
    held = list[int]()  # of each passage
    most = 0  # of what was said in words
    for each, passage in zip(placed, passages, strict=True):
        weight = _weight_held(passage.terms or (), question, statistics)
        held.append(weight)
        if each.unit.share == 1:
            most = max(most, weight)
    for at, each in enumerate(placed):
        # A fact may stand in a file that was read and nowhere else: nothing that was said has so
        # much of the question then, and what the file says counts as words do.
        if held[at] <= most:
            scores[at] //= each.unit.share
    return scores


def _weight_held(found: Sequence[str], question: Question, statistics: Statistics) -> int:
    """How much of a question a passage has in it: the weights of its terms, rare ones more."""
    terms = question.weights.keys() & set(found)
    return sum([question.weights[term] * statistics.rarity(term) for term in terms])


def _choose(
    placed: Sequence[_UnitPlace], scores: Sequence[int], *, budget: int, counter: Counter
) -> list[int]:
    """Which are shown, in their order: the best that fit, and one always; what was said in the
    same words once already takes no room again."""
    left = budget
    chosen = set[int]()
    texts = set[str]()
    least = max(scores, default=0) * SMALLEST_SHARE
    for at in best_first(scores):
        if scores[at] < least:
            break
        if placed[at].unit.text in texts:
            continue
        cost = counter.count(placed[at].unit.text) + LINE_TOKENS
        beside = [one for one in (at - 1, at + 1) if one in chosen]
        if not any(_is_beside(placed[one], placed[at]) for one in beside):
            cost += FRAME_TOKENS
        if cost <= left or not chosen:
            chosen.add(at)
            texts.add(placed[at].unit.text)
            left -= cost
    return sorted(chosen)


def _is_beside(one: _UnitPlace, other: _UnitPlace) -> bool:
    is_same = one.place == other.place and one.unit.session == other.unit.session
    return is_same and abs(one.unit.number - other.unit.number) <= 1
