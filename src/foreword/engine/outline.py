"""The shape of a list of sections: who is essential, who shares tags, in which order they give way.

Pure, and blind to the texts. `fit` decides by it.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from foreword.section import Rule, Section


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
    tiers: Sequence[tuple[int, Sequence[int]]]  # the same, tier by tier
    # not missed when they are not in: kept out by the recipe, or only standing by
    silent: frozenset[int]
    capped: bool


def outline_of(sections: Sequence[Section]) -> Outline:
    """The outline of these sections."""
    times = Tally([section.tag for section in sections])
    # Of 10,000 sections most share a rule: what is asked of each rule is not asked of each section.
    of_sections = [section.rule for section in sections]
    rules = list({id(rule): rule for rule in of_sections}.values())
    essential: list[int] = []
    waiting: list[int] = []
    silent: list[int] = []
    stand_ins: dict[str, int] = {}
    if not any(_is_set_apart(rule, times) for rule in rules):
        waiting = list(range(len(sections)))
    else:
        for index, rule in enumerate(of_sections):
            if rule.excluded:
                silent.append(index)
            elif rule.essential:
                essential.append(index)
            elif rule.stands_in_for in times:
                silent.append(index)
                stand_ins[rule.stands_in_for] = index
            else:
                waiting.append(index)
    _sort_by_rank(waiting, sections)
    tiers = _by_tier(waiting, of_sections, sorted({rule.tier for rule in rules}))
    order = tuple(chain.from_iterable([same for _, same in tiers]))
    lasting: tuple[int, ...] = ()
    if any(rule.forms[-1] != "gone" for rule in rules):
        lasting = tuple([index for index in order if of_sections[index].forms[-1] != "gone"])
    return Outline(
        tags=frozenset(times),
        shared_tags=frozenset([tag for tag, uses in times.items() if uses > 1]),
        essential=tuple(essential),
        lasting=lasting,
        stand_ins=stand_ins,
        order=order,
        tiers=tiers,
        silent=frozenset(silent),
        capped=any(rule.cap for rule in rules),
    )


def _is_set_apart(rule: Rule, tags: Container[str]) -> bool:
    """Whether sections of a rule are no part of the order in which the others give way."""
    return bool(rule.excluded) or rule.essential or rule.stands_in_for in tags


def _by_tier(
    waiting: list[int], rules: Sequence[Rule], tiers: Sequence[int]
) -> list[tuple[int, list[int]]]:
    """Those that wait, tier by tier, each in the order it came in."""
    if len(tiers) == 1:
        return [(tiers[0], waiting)] if waiting else []
    found = {tier: list[int]() for tier in tiers}
    for index in waiting:
        found[rules[index].tier].append(index)
    return [(tier, same) for tier, same in found.items() if same]


def _sort_by_rank(waiting: list[int], sections: Sequence[Section]) -> None:
    """Sort into the order of keeping within a tier: the highest rank first."""
    # One number at a time: plain numbers are compared many times faster than pairs of them, and
    # mostly only the groups differ.
    ranks = [section.rank for section in sections]
    orders = [-rank.order for rank in ranks]
    if any(orders):
        waiting.sort(key=orders.__getitem__)
    waiting.sort(key=[-rank.group for rank in ranks].__getitem__)


def rank_groups(sections: Sequence[Section], waiting: Iterable[int]) -> Iterator[list[int]]:
    """Those of one tier in groups of equal rank, the first to keep first."""
    for _, group in groupby(waiting, key=lambda index: sections[index].rank.group):
        yield list(group)


def sharing_in(sections: Sequence[Section], group: Sequence[int]) -> set[int]:
    """Those that share their room with others of their rank behind them, unless these are of the
    same tag and that goes in order."""
    tags_behind: set[str] = set()
    sharing: set[int] = set()
    for index in reversed(group):
        section = sections[index]
        exempt = {section.tag} if section.rule.in_order else set[str]()
        if tags_behind - exempt:
            sharing.add(index)
        tags_behind.add(section.tag)
    return sharing
