"""The shape of a list of sections: who is essential, who shares tags, in which order they give way.

Pure, and blind to the texts: so an outline outlives a change of one section's words, and `Memory`
hands the last one back where the shape is still the same. `fit` decides by it.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not

from foreword.section import Section

RankGroups = list[list[int]]  # of one tier: places in the list, equal ranks together


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
    essential: list[int] = []
    waiting: list[int] = []
    silent: list[int] = []
    stand_ins: dict[str, int] = {}
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
    return Outline(
        tags=frozenset(times),
        shared_tags=frozenset([tag for tag, uses in times.items() if uses > 1]),
        essential=tuple(essential),
        lasting=tuple(lasting),
        stand_ins=stand_ins,
        order=tuple(waiting),
        tiers=tiers,
        sharing=_sharing(sections, tiers),
        silent=frozenset(silent),
        capped=any(section.rule.cap for section in sections),
    )


def _by_tier_and_rank(
    sections: Sequence[Section], waiting: Sequence[int]
) -> list[tuple[int, RankGroups]]:
    """Tiers in order, in each the groups of equal rank, the first to keep first."""
    tiers: list[tuple[int, RankGroups]] = []
    last_tier = last_rank = -1
    groups: RankGroups = []
    for index in waiting:
        section = sections[index]
        tier = section.rule.tier
        rank = math.floor(section.rank)
        if tier != last_tier:
            groups = []
            tiers.append((tier, groups))
        if (tier, rank) != (last_tier, last_rank):
            groups.append([])
        groups[-1].append(index)
        last_tier, last_rank = tier, rank
    return tiers


def _sharing(
    sections: Sequence[Section], tiers: Iterable[tuple[int, RankGroups]]
) -> frozenset[int]:
    """All that share their room with others of their rank."""
    sharing: set[int] = set()
    for _, groups in tiers:
        for group in groups:
            if len(group) > 1:
                sharing.update(_sharing_in(sections, group))
    return frozenset(sharing)


def _sharing_in(sections: Sequence[Section], group: Sequence[int]) -> list[int]:
    """Those that have others of their rank behind them, unless these are of the same tag and
    that goes in order."""
    tags_behind: set[str] = set()
    sharing: list[int] = []
    for index in reversed(group):
        section = sections[index]
        exempt = {section.tag} if section.rule.in_order else set[str]()
        if tags_behind - exempt:
            sharing.append(index)
        tags_behind.add(section.tag)
    return sharing


@dataclass(slots=True)
class Memory:
    """What one assembly may leave for the next: the outline and the labels of the sections it
    saw."""

    sections: list[Section] = field(default_factory=list)
    outline: Outline | None = None
    labels: list[str] = field(default_factory=list)

    def outline_for(self, sections: Sequence[Section]) -> Outline:
        """The outline of these sections, worked out anew only where the shape has changed."""
        if (
            self.outline is None
            or len(self.sections) != len(sections)
            or not self._has_shape_of(sections)
        ):
            self.outline = outline_of(sections)
            self.sections = list(sections)
            self.labels = []
        return self.outline

    def _has_shape_of(self, sections: Sequence[Section]) -> bool:
        """Whether the outline still holds; sections that only have other words are taken over."""
        # Of 10,000 sections a call changes a few: they are found without a step of Python each.
        changed = compress(count(), map(is_not, self.sections, sections))
        for at in changed:
            old = self.sections[at]
            new = sections[at]
            if old.tag != new.tag or old.rank != new.rank or old.rule != new.rule:
                return False
            self.sections[at] = new
            if self.labels:
                self.labels[at] = new.label
        return True

    def listing(self, present: set[int]) -> str:
        """A line for each section but those present."""
        self.labels = self.labels or [section.label for section in self.sections]
        missing = self.labels.copy()
        for index in present:
            missing[index] = ""
        return "".join(missing)
