"""Decisions and wishes that a later line takes back: the newest form stands, the older is marked.

A line revises another where it says so (instead, no longer, correction ...) and speaks of the same
thing, most of the older line's own words. Lines that merely resemble each other are left alone: two
rules for two things look alike, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.session.summary.facts import Kind
from foreword.text.words import STOP_WORDS, words

if TYPE_CHECKING:
    from foreword.session.summary.candidate_lines import CandidateLine

REPLACED = "[replaced later]"
# Of the words of the older line, for another to speak of the same thing: a revision names the thing
# and leaves out what it had been decided to be.
SAME_SUBJECT = 0.5
LEAST_SHARED = 2  # words: one alone is chance, unless the older line has no more
REPLACED_SHARE = 0.1  # of its weight, for a line that was replaced: it goes first
STEM = 6  # letters of a word by which it is compared: deploy, deployed, deployment

REVISED: tuple[Kind, ...] = ("constraint", "request", "decision")
REVISING: tuple[Kind, ...] = (*REVISED, "failure", "done", "fix", "finding")
USERS: tuple[Kind, ...] = ("constraint", "request")  # what only the user says

_REVISES = lazy_pattern(
    r"\b(?:instead|rather than|no longer|any ?more|any longer|switch\w* (?:back )?(?:to|from)"
    r"|chang\w* (?:my|our|your) mind|change of plan|correction|revis\w+|on second thoughts?"
    r"|scrap that|forget (?:that|about|what)|actually|revert\w* to|back to|replac\w+|supersed\w+"
    r"|overrul\w+|take that back)\b",
    re.IGNORECASE,
)
_GENERIC_WORDS = (
    "actually agreed anymore back change changed choose chose correction decide decided decision"
    " forget going instead longer mind plan rather replace replaced revert revise revised scrap"
    " second should switch switched thought thoughts want"
)
_GENERIC = frozenset(word[:STEM] for word in _GENERIC_WORDS.split())


def with_revisions(lines: Sequence[CandidateLine]) -> list[CandidateLine]:
    """The lines, oldest first; of those that were revised the newest weighs as much as any before
    it, and what it replaces says so and goes first."""
    revised = list(lines)
    stems = [_subject(line.text) if line.kind in REVISED else frozenset() for line in lines]
    places_by_stem = _places_by_stem(stems)
    for newer, line in enumerate(lines):
        if not _revises(line):
            continue
        subject = _subject(line.text)
        for older in _older_on_subject(subject, newer, stems, places_by_stem):
            if lines[older].at == line.at or revised[older].text.endswith(REPLACED):
                continue
            if lines[older].at < 0 and line.at < 0:
                continue  # both stood side by side in an earlier summary, which judged them
            if lines[older].kind in USERS and line.kind not in USERS:
                continue  # an agent that does it otherwise takes back nothing that the user said
            revised[newer] = _standing_for(revised[newer], revised[older])
            revised[older] = _mark_replaced(revised[older])
    return revised


def _revises(line: CandidateLine) -> bool:
    """Whether a line says that something is no longer so."""
    return line.kind in REVISING and _REVISES.search(line.text) is not None


def is_replaced(text: str) -> bool:
    """Whether a line of an earlier summary was replaced already."""
    return text.rstrip().endswith(REPLACED)


def _standing_for(newer: CandidateLine, older: CandidateLine) -> CandidateLine:
    """The newer line, in the place of one that was to last."""
    weight = max(newer.weight, older.weight)
    if older.is_lasting:
        return replace(newer, at=older.at, kind=older.kind, weight=weight)
    kind = newer.kind if newer.kind in REVISED else older.kind
    return replace(newer, kind=kind, weight=weight)


def _mark_replaced(line: CandidateLine) -> CandidateLine:
    return replace(
        line,
        text=f"{line.text} {REPLACED}",
        kind="other",
        weight=REPLACED_SHARE * line.weight,
    )


def _older_on_subject(
    subject: frozenset[str],
    newer: int,
    stems: Sequence[frozenset[str]],
    places_by_stem: Mapping[str, Sequence[int]],
) -> list[int]:
    """The lines before it that speak of the same thing."""
    shared = Counter[int]()
    for stem in subject:
        shared.update(place for place in places_by_stem.get(stem, ()) if place < newer)
    found = list[int]()
    for place, count in sorted(shared.items()):
        size = len(stems[place])
        if count >= min(LEAST_SHARED, size) and count >= SAME_SUBJECT * size:
            found.append(place)
    return found


def _places_by_stem(stems: Sequence[frozenset[str]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, subject in enumerate(stems):
        for stem in subject:
            places.setdefault(stem, []).append(place)
    return places


def _subject(text: str) -> frozenset[str]:
    """The words of a line that say what it is about."""
    stems = {word[:STEM] for word in words(text) if word not in STOP_WORDS}
    return frozenset(stems - _GENERIC)
