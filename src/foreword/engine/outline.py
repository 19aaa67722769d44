"""The shape of a list of sections: who is essential, who shares tags, in which order they give way.

Pure, and blind to the texts: so an outline outlives a change of one section's words, and `Memory`
hands the last one back where the shape is still the same.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not

from foreword.section import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What `fit` needs to know of the sections besides their words; numbers are places in the
    list."""

    tags: frozenset[str]
    shared_tags: frozenset[str]  # tags of more than one section
    essential: tuple[int, ...]
    lasting: tuple[int, ...]  # may be cut, never lost; the first to keep first
    stand_ins: dict[str, int]  # by the tag they stand in for
    order: tuple[int, ...]  # all that may be lost or cut, the first to keep first
    # the same, tier by tier, equal ranks together
    tiers: Sequence[tuple[int, Sequence[Sequence[int]]]]
    sharing: frozenset[int]  # of equal rank with others: none takes more than half while they wait
    # not missed when they are not in: kept out by the recipe, or only standing by
    silent: frozenset[int]
    capped: bool


def outline_of(sections: Sequence[Section]) -> Outline:
    """The outline of these sections."""
    times = Tally([section.tag for section in sections])
    essential, waiting, silent = [], [], []
    stand_ins = dict[str, int]()
    for index, section in enumerate(sections):
        rule = section.rule
        if rule.excluded:
            silent.append(index)
        elif rule.essential:
            essential.append(index)
        elif rule.stands_in_for in times:
            silent.append(index)
            stand_ins[rule.stands_in_for] = index
        else:
            waiting.append(index)
    ranks = [-section.rank for section in sections]
    waiting.sort(key=ranks.__getitem__)
    if len({id(section.rule) for section in sections}) > 1:
        waiting.sort(key=lambda index: sections[index].rule.tier)
    lasting = [index for index in waiting if sections[index].rule.forms[-1] != "gone"]
    tiers = _by_tier_and_rank(sections, waiting)
    shared = (group for _, groups in tiers for group in groups if len(group) > 1)
    return Outline(
        tags=frozenset(times),
        shared_tags=frozenset(tag for tag, count in times.items() if count > 1),
        essential=tuple(essential),
        lasting=tuple(lasting),
        stand_ins=stand_ins,
        order=tuple(waiting),
        tiers=tiers,
        sharing=frozenset(index for group in shared for index in _sharing(sections, group)),
        silent=frozenset(silent),
        capped=any(section.rule.cap for section in sections),
    )


def _by_tier_and_rank(
    sections: Sequence[Section], waiting: Sequence[int]
) -> list[tuple[int, list[list[int]]]]:
    """Tiers in order, in each the groups of equal rank, the first to keep first."""
    tiers, last = list[tuple[int, list[list[int]]]](), (-1, -1)
    for index in waiting:
        section = sections[index]
        this = (section.rule.tier, math.floor(section.rank))
        if this[0] != last[0]:
            tiers.append((this[0], []))
        if this != last:
            tiers[-1][1].append([])
            last = this
        tiers[-1][1][-1].append(index)
    return tiers


def _sharing(sections: Sequence[Section], group: Sequence[int]) -> list[int]:
    """Those that have others of their rank behind them, unless these are of the same tag and
    that goes in order."""
    behind, sharing = set[str](), list[int]()
    for index in reversed(group):
        section = sections[index]
        if behind - ({section.tag} if section.rule.in_order else set()):
            sharing.append(index)
        behind.add(section.tag)
    return sharing


@dataclass(slots=True)
class Memory:
    """What one assembly may leave for the next: the outline and the labels of the sections it
    saw."""

    sections: list[Section] = field(default_factory=list)
    outline: Outline | None = None
    labels: list[str] = field(default_factory=list)

    def look_at(self, sections: Sequence[Section]) -> Outline:
        """The outline of these sections, worked out anew only where the shape has changed."""
        if (
            self.outline is None
            or len(self.sections) != len(sections)
            or not self._same_shape(sections)
        ):
            self.outline = outline_of(sections)
            self.sections, self.labels = list(sections), []
        return self.outline

    def _same_shape(self, sections: Sequence[Section]) -> bool:
        for at in compress(count(), map(is_not, self.sections, sections)):
            old, new = self.sections[at], sections[at]
            if old.tag != new.tag or old.rank != new.rank or old.rule != new.rule:
                return False
            self.sections[at] = new
            if self.labels:
                self.labels[at] = new.label
        return True

    def listing(self, present: set[int]) -> str:
        """A line for each section but those present."""
        self.labels = self.labels or [section.label for section in self.sections]
        gone = self.labels.copy()
        for index in present:
            gone[index] = ""
        return "".join(gone)
